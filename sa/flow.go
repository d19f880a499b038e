package sa

import (
	"encoding/binary"
	"net/netip"
)

// Addr is an IP address as the tables key it: two big-endian halves. IPv4
// addresses are mapped (::ffff:a.b.c.d); Flow.V6 tells them from IPv6 packets
// that carry such an address.
type Addr struct{ Hi, Lo uint64 }

// AddrFrom4 reads an IPv4 address from the first 4 octets of b.
func AddrFrom4(b []byte) Addr {
	return Addr{0, 0xffff_0000_0000 | uint64(binary.BigEndian.Uint32(b))}
}

// AddrFrom16 reads an IPv6 address from the first 16 octets of b.
func AddrFrom16(b []byte) Addr {
	return Addr{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:16])}
}

// AddrFrom converts a netip.Addr; the zero netip.Addr gives the zero Addr.
func AddrFrom(a netip.Addr) Addr {
	if !a.IsValid() {
		return Addr{}
	}
	b := a.As16()
	return AddrFrom16(b[:])
}

// Fragment says what part of a datagram a packet is.
type Fragment uint8

// The fragment kinds. An IPv6 atomic fragment is FragNone.
const (
	FragNone  Fragment = iota
	FragFirst          // offset 0, more to come
	FragLater          // offset above 0: no ports to see
)

// Flow is what the SPD sees of one packet.
type Flow struct {
	Src, Dst         Addr
	SrcPort, DstPort uint16 // host order; ICMP type and code; 0 where there are none
	Proto            uint8  // upper-layer protocol
	V6               bool
	Frag             Fragment
}

// Verdict is what the tables say about a packet.
type Verdict uint8

// The verdicts.
const (
	// Pass: send it on unchanged (no policy, an allow policy without
	// templates, or only optional templates without an SA).
	Pass Verdict = iota
	// Protect: seal it with Decision.SA (outbound only).
	Protect
	// Block: an explicit block policy, or the default policy.
	Block
	// NoState: protection is demanded and no usable SA exists (outbound).
	NoState
	// Expired: as NoState, but an SA that would fit has reached a hard limit.
	Expired
	// Mismatch: the packet came in clear where ESP is demanded, or under an SA
	// that the policy's template does not name (inbound).
	Mismatch
	// StateMismatch: the SA's own selector does not cover what was inside
	// (inbound).
	StateMismatch
	// Fragmented: the packet is a fragment and protection is demanded, or
	// would be if its ports were known.
	Fragmented
)

// Decision is a Verdict with what led to it. Policy is nil when the default
// applied.
type Decision struct {
	Verdict Verdict
	SA      *SA
	Policy  *PolicyState
}

// netip converts back, for people.
// As16 is the address in network byte order, an IPv4 address as ::ffff:a.b.c.d.
func (a Addr) As16() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:], a.Hi)
	binary.BigEndian.PutUint64(b[8:], a.Lo)
	return b
}

func (a Addr) netip(v6 bool) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], a.Hi)
	binary.BigEndian.PutUint64(b[8:], a.Lo)
	if v6 {
		return netip.AddrFrom16(b)
	}
	return netip.AddrFrom16(b).Unmap()
}
