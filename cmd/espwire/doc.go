// Command espwire is a wire between two DPDK ports, for labs and tests only: it
// forwards every frame unchanged in both directions, records them all in one
// pcap file, and can flip a bit of, or lose, a frame that is named by its number.
//
// Usage: espwire [EAL options] -- --pair 0,1 [options].
//
// It copies each frame into the recording on the packet path, which a gateway
// must not do.
package main
