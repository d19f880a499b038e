package packet

import "espgw/sa"

// Kind is what a frame carries.
type Kind uint8

// The kinds. Other is everything that is not IP or could not be reached.
const (
	Other Kind = iota
	IPv4
	IPv6
)

// Fault says why a frame is not fit for further work.
type Fault uint8

// The faults.
const (
	// OK: an IP packet of which all offsets are valid, or a frame of another
	// EtherType or with an LLC header, which is the caller's to let through or
	// not: MPLS, PPPoE and SNAP, for example, may hide IP packets.
	OK Fault = iota
	// Malformed: cut off, or contradicting itself.
	Malformed
	// Unparsed: may be sound, but what it carries cannot be told: a third tag,
	// or a later IPv6 fragment behind further extension headers.
	Unparsed
)

// Meta is what Parse knows about a frame. Offsets count octets from the frame's
// first octet and are valid where Kind is IPv4 or IPv6 and Fault is OK; then
// L3 < Insert <= Upper <= End <= len(frame).
type Meta struct {
	Kind  Kind
	Fault Fault
	// Tags is the number of VLAN tags, 0 to 2.
	Tags uint8
	// LLC is the LLC destination address (DSAP, IEEE 802.2) where EtherType is a
	// length (below 0x600), otherwise 0.
	LLC uint8
	// EtherType is the innermost one; values below 0x600 are LLC lengths. With
	// a third tag it is that tag's TPID.
	EtherType uint16
	// L3 is where the IP header starts.
	L3 uint16
	// Insert is where an outbound ESP header goes (RFC 4303, 3.1.1): behind
	// IPv4 options; behind hop-by-hop, routing and fragment headers and behind
	// destination options that precede one of these. InsertNext is the octet
	// that names what stands there: the protocol or a next header field.
	Insert, InsertNext uint16
	// Upper is the upper-layer header and UpperNext the octet that names it.
	// ESP is an upper layer; nothing behind it has been looked at.
	Upper, UpperNext uint16
	// End is one past the IP packet, not the frame's end.
	End int32
	// Flow is what the SPD is asked about.
	Flow sa.Flow

	headers      uint8 // extension headers seen so far
	fragmentSeen bool
	routed       bool // a routing header was among them
}

// Whole reports whether the packet is no fragment. An atomic fragment is whole.
func (m *Meta) Whole() bool { return m.Flow.Frag == sa.FragNone }

// Routed reports whether an IPv6 routing header was seen, so that the address in
// the IPv6 header need not be the final one.
func (m *Meta) Routed() bool { return m.routed }

// IsIP reports whether the frame is an IP packet with valid offsets.
func (m *Meta) IsIP() bool { return m.Kind != Other && m.Fault == OK }

// IPLen is the length in octets of the IP packet, its header included.
func (m *Meta) IPLen() int { return int(m.End) - int(m.L3) }
