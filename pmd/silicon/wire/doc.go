// Package wire is what the connector of a modelled card is plugged into: an interface of
// the kernel (tap.go, packetsocket.go), files of frames (pcap.go), a socket whose peer is
// the other end (unix.go), another card (pair.go), itself, or nothing. All of them are a
// silicon.Wire: one goroutine sends and receives, nothing blocks, and what cannot be sent
// is counted as lost.
//
// A [Recorder] writes what passed cards, with the witness's remarks, as pcapng.
package wire
