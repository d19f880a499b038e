package packet

import (
	"encoding/binary"

	"espgw/sa"
)

const (
	protoAH      = 51
	dontFragment = 0x40 // in the octet at 6 of an IPv4 header
	groupBit     = 0x01 // in the first octet of a MAC address: multicast or broadcast
)

// MayAnswer reports whether the sender of a packet may be told that it was too
// large (RFC 1122, 3.2.2; RFC 1812, 4.3.2.7; RFC 4443, 2.4(e)). It may not where
// the packet
//
//   - is no IP packet, or a fragment other than the first;
//   - is an IPv4 packet that may be fragmented: DF is not set;
//   - is an ICMP error or redirect itself, or may be one: an ICMP type that is not
//     known to be a query, a message without its first octet, ICMP or further
//     headers behind AH. What is inside ESP counts as no error, as it does for
//     every router;
//   - was sent to a group of stations, or by one: MAC addresses;
//   - has an address that is not of one host. The broadcast address of a subnet
//     cannot be known here.
//
// RFC 4443 would allow the answer to an IPv6 multicast packet; but the answer's
// source is the packet's destination (see TooBig), and a group is no source. frame
// and *m are as after Parse.
func MayAnswer(frame []byte, m *Meta) bool {
	if !m.IsIP() || m.Flow.Frag == sa.FragLater || int(m.End) > len(frame) || (frame[0]|frame[6])&groupBit != 0 {
		return false
	}
	h := frame[m.L3:m.End]
	if m.Kind == IPv4 {
		return h[6]&dontFragment != 0 && isHost4(h[12]) && isHost4(h[16]) && !mayBeError(frame[m.Upper:m.End], m)
	}
	return isHost6(h[8:24]) && isHost6(h[24:40]) && !mayBeError(frame[m.Upper:m.End], m)
}

// mayBeError judges the upper layer u.
func mayBeError(u []byte, m *Meta) bool {
	icmp := icmpOf(m.Kind)
	if m.Flow.Proto != icmp && m.Flow.Proto != protoAH {
		return false
	}
	if len(u) == 0 {
		return true
	}
	switch {
	case m.Flow.Proto == protoAH: // the octet is AH's next header
		return u[0] == icmp || u[0] == protoAH || m.Kind == IPv6 && isExtension(u[0])
	case m.Kind == IPv4:
		return !isQuery4(u[0])
	}
	return u[0] < icmp6FirstInformation || u[0] == icmp6Redirect
}

// isHost4 judges an IPv4 address by its first octet: not "this network" (which
// the unspecified address is of), loopback, multicast, class E or broadcast.
func isHost4(first byte) bool { return first != 0 && first != 127 && first < 224 }

// isHost6 reports whether a, of 16 octets, is not unspecified, loopback or
// multicast.
func isHost6(a []byte) bool {
	low := binary.BigEndian.Uint64(a[8:])
	return a[0] != 0xff && (binary.BigEndian.Uint64(a) != 0 || low > 1)
}
