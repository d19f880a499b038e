// Package silicon is a model of an Intel 82599 network card, from its registers
// outwards: what a driver writes to the card's memory and to its descriptor rings
// has the effect that the card's documentation promises. DPDK's own, unchanged
// ixgbe driver runs against it (command nicmodel), without a card.
//
// The package knows nothing of DPDK and nothing of how the registers are shared.
// A [Card] is given three things: its registers (a slice of 32-bit words that the
// driver's process maps, too), the host's memory (a [Memory], for DMA), and what its
// connector is plugged into (a [Wire]). [Card.Step] does what there is to do, and is
// called over and over by one goroutine:
//
//	registers (control.go, link.go) ── tables and engine of IPsec (ipsec*.go)
//	descriptors (transmit.go) → segmentation, checksums (offload.go) → seal.go → Wire
//	Wire → filters, RSS (filter.go, rss.go) → open.go → descriptors (receive.go)
//
// Accesses to registers that somebody watches come to [Card.Read] and [Card.Write] and
// have their effect at once (package trap). At the others the card looks in each step: of
// several writes only the last is seen, reads are not seen at all. Where nothing is
// watched the card still works, but its statistics stay 0, and a driver that does not
// wait long enough for an answer goes on without one.
//
// The model is a witness, too. Each thing that a driver does and the card's contract
// forbids, or that would send in clear text what was to be sealed, is counted by name
// ([Breach]) and told in words.
//
// Where the documents are silent or contradict each other, [Settings] choose.
//
// Sources: the Intel X550 datasheet 333369-009 (sections 4.6.12, 7.2.3, 7.13: the same
// block), Linux's and DPDK's ixgbe drivers. Numbers of registers and bits are in
// registers.go with their names.
package silicon
