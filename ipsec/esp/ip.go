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

// setHeader writes next where the header in front of ESP names what follows, and
// makes the IP header fit the packet's new length: IPv4 total length and header
// checksum, IPv6 payload length. frame starts at the Ethernet header and ends
// where the packet ends; at is the octet that names what follows.
//
// The checksum is updated, not computed again (RFC 1624, equation 3): Parse has
// verified it, and reading back the words that were just written would stall the
// CPU. The result is what a full computation gives, since the sum of a header
// is never zero and so has one representation only.
func setHeader(frame []byte, m *packet.Meta, at uint16, next uint8) {
	old := frame[at]
	frame[at] = next
	ip := frame[m.L3:]
	if m.Kind == packet.IPv6 {
		binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-ip6HeaderLen))
		return
	}
	sum := uint32(^binary.BigEndian.Uint16(ip[10:])) +
		uint32(^binary.BigEndian.Uint16(ip[2:])) + uint32(len(ip)) +
		uint32(^uint16(old)) + uint32(next)
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum))
}
