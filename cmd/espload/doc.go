// Command espload loads a gateway from a host's side and judges captures of
// what came out, for tests that kill gateways. It needs no DPDK: frames go
// through packet sockets (packet(7)), so root or CAP_NET_RAW.
//
//	espload send IFACE      numbered UDP datagrams at a steady rate, until stopped
//	espload await IFACE     returns when an ESP packet passes
//	espload replay IFACE    the ESP packets of a capture once more
//	espload check FILE...   no IV twice under a key, no sequence number again
//	espload again           which datagrams a receiver has taken twice
//
// Every datagram carries a mark and a 64-bit number, so that a capture behind
// the receiving gateway tells which packets it has accepted, and when.
//
// Exit status: 0 done, or nothing wrong was found; 1 something wrong was found,
// or it failed; 2 wrong usage.
package main
