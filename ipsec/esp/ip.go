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

// ipHead is the part of an IP header, IPv4 or IPv6, that lengths and checksum
// are in. As an array it needs one check of bounds for all accesses.
type ipHead = [20]byte

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
	ip := (*ipHead)(frame[m.L3:])
	length := uint16(len(frame) - int(m.L3))
	if m.Kind == packet.IPv6 {
		binary.BigEndian.PutUint16(ip[4:], length-ip6HeaderLen)
		return
	}
	sum := uint32(^binary.BigEndian.Uint16(ip[10:])) +
		uint32(^binary.BigEndian.Uint16(ip[2:])) + uint32(length) +
		uint32(^uint16(old)) + uint32(next)
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(ip[2:], length)
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum))
}
