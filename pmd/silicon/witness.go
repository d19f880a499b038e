package silicon

import "fmt"

// Breach is a kind of what a driver, or the program above it, must not do.
type Breach string

// The breaches. Those that end up on the wire come first.
const (
	// BreachClear: a packet asked for IPsec while SA lookups or the engine were off.
	BreachClear Breach = "tx-clear"
	// BreachNoSA: a packet asked for an SA that is not in the table.
	BreachNoSA Breach = "tx-sa-not-programmed"
	// BreachAliased: one SA of the table sealed packets of two SPIs, as when a context is
	// taken for another's.
	BreachAliased Breach = "tx-aliased-context"
	// BreachIV: an SA sealed two packets with one IV.
	BreachIV Breach = "tx-iv-repeated"
	// BreachNoContext: a packet needs a context that its queue does not have.
	BreachNoContext Breach = "tx-context-missing"
	// BreachNotESP: a packet asked for ESP and is none, or has options or extension
	// headers in front of it, or is a fragment.
	BreachNotESP Breach = "tx-not-esp"
	// BreachFraming: the lengths of IP header, frame and descriptors disagree, so that
	// there is no room for the ICV where the card writes it.
	BreachFraming Breach = "tx-icv-room"
	// BreachICV: the room for the ICV is not filled with zeros.
	BreachICV Breach = "tx-icv-not-zero"
	// BreachESPLength: the context's ESP_LEN is not padding + 18.
	BreachESPLength Breach = "tx-esp-length"
	// BreachPadding: the padding is not 1, 2, 3… (RFC 4303, 2.4) or not aligned to 4.
	BreachPadding Breach = "tx-esp-padding"
	// BreachVersion: the context's IPV4 bit contradicts the packet.
	BreachVersion Breach = "tx-ip-version"
	// BreachHeaders: the context's MACLEN or IPLEN contradicts the packet.
	BreachHeaders Breach = "tx-header-lengths"
	// BreachOffloads: segmentation or L4 checksums together with IPsec.
	BreachOffloads Breach = "tx-ipsec-with-offloads"
	// BreachMode: the context asks for AH, or does not ask for encryption.
	BreachMode Breach = "tx-ipsec-mode"
	// BreachLong: a frame of more than 9.5 KB while the path stores and forwards
	// (7.13.2.2).
	BreachLong Breach = "tx-frame-too-long"
	// BreachDescriptor: a descriptor that the card does not know, or of no sense.
	BreachDescriptor Breach = "tx-descriptor"
	// BreachDMA: an address that leads nowhere.
	BreachDMA Breach = "dma-fault"
	// BreachRing: a ring's address, length or tail.
	BreachRing Breach = "ring"
	// BreachBusyTable: an SA was overwritten or removed, or the lookups of its direction
	// were switched off, while descriptors asked for it.
	BreachBusyTable Breach = "table-change-under-traffic"
	// BreachBusyEngine: the engine was switched while descriptors asked for IPsec.
	BreachBusyEngine Breach = "engine-change-under-traffic"
	// BreachTooMany: a transmit SA above 255, which DPDK's driver takes for another.
	BreachTooMany Breach = "tx-too-many-sas"
	// BreachDuplicate: two receive SAs of one SPI and address are valid.
	BreachDuplicate Breach = "rx-duplicate-sa"
	// BreachIndex: an index beyond a table's end.
	BreachIndex Breach = "table-index"
)

// remarksMax bounds the remarks in words that are kept, of all frames and of the one in hand.
const remarksMax = 50

type witness struct {
	breaches map[Breach]uint64
	remarks  []string
	frame    []string // on the frame in hand
}

func (w *witness) init() { w.breaches = map[Breach]uint64{} }

// breach counts one and keeps the first ones in words.
func (c *Card) breach(b Breach, format string, args ...any) {
	w := &c.witness
	w.breaches[b]++
	text := string(b) + ": " + fmt.Sprintf(format, args...)
	if w.breaches[b] <= 5 && len(w.remarks) < remarksMax {
		w.remarks = append(w.remarks, text)
	}
	if len(w.frame) < remarksMax { // where nothing is sent, nobody empties it
		w.frame = append(w.frame, text)
	}
}
