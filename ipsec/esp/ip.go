package esp

import (
	"encoding/binary"

	"espgw/ipsec/packet"
)

const ip6HeaderLen = 40

// tooLong reports whether an IP packet of n octets, header included, is more
// than its length field can say.
func tooLong(m *packet.Meta, n int) bool {
	if m.Kind == packet.IPv6 {
		n -= ip6HeaderLen
	}
	return n > maxLength
}

// setLength makes the header of ip, which is all of an IP packet, fit its
// length: IPv4 total length and header checksum, IPv6 payload length. m.Insert
// must be as it was when the packet was parsed.
func setLength(ip []byte, m *packet.Meta) {
	if m.Kind == packet.IPv6 {
		binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-ip6HeaderLen))
		return
	}
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	binary.BigEndian.PutUint16(ip[10:], 0)
	binary.BigEndian.PutUint16(ip[10:], ^packet.Sum(ip[:m.Insert-m.L3]))
}
