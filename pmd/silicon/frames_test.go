package silicon_test

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// Addresses of the tests' frames.
var (
	peerMAC   = []byte{0x02, 0, 0, 0, 0, 0x77}
	broadcast = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	host4     = netip.MustParseAddr("14.0.0.52")
	peer4     = netip.MustParseAddr("14.0.0.70")
	host6     = netip.MustParseAddr("2001:db8:14::52")
	peer6     = netip.MustParseAddr("2001:db8:14::70")
)

// counting is n octets that count.
func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return b
}

// checksum is RFC 1071's over the parts in a row, in the plainest way. A part with an
// odd number of octets must be the last.
func checksum(parts ...[]byte) uint16 {
	b := slices.Concat(parts...)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	s := 0
	for i := 0; i < len(b); i += 2 {
		s += int(b[i])*256 + int(b[i+1])
		if s > 0xffff {
			s -= 0xffff
		}
	}
	return ^uint16(s)
}

// pseudo is the pseudo header of TCP and UDP, of a packet without options or extension
// headers. The length is of what follows the IP header.
func pseudo(ip []byte, protocol byte, length int) []byte {
	addresses := ip[12:20]
	if ip[0]>>4 == 6 {
		addresses = ip[8:40]
	}
	return slices.Concat(addresses, []byte{0, protocol}, binary.BigEndian.AppendUint16(nil, uint16(length)))
}

// ethernet is a frame to mac, of the kind that the IP packet in it is, behind VLAN tags.
func ethernet(mac, ip []byte, tags ...uint16) []byte {
	f := slices.Concat(mac, peerMAC)
	for _, tag := range tags {
		f = binary.BigEndian.AppendUint16(append(f, 0x81, 0x00), tag)
	}
	kind := []byte{0x08, 0x00}
	if ip[0]>>4 == 6 {
		kind = []byte{0x86, 0xdd}
	}
	return slices.Concat(f, kind, ip)
}

// toCard is a frame to the card.
func toCard(ip []byte, tags ...uint16) []byte { return ethernet(cardMAC[:], ip, tags...) }

// packet4 is an IPv4 packet without options; its checksum is right.
func packet4(src, dst netip.Addr, protocol byte, payload []byte) []byte {
	return packet4Options(src, dst, protocol, nil, payload)
}

// packet4Options has options, a multiple of 4 octets.
func packet4Options(src, dst netip.Addr, protocol byte, options, payload []byte) []byte {
	header := 20 + len(options)
	h := []byte{0x40 | byte(header/4), 0, 0, 0, 0x12, 0x34, 0, 0, 64, protocol, 0, 0}
	binary.BigEndian.PutUint16(h[2:], uint16(header+len(payload)))
	h = slices.Concat(h, src.AsSlice(), dst.AsSlice(), options)
	binary.BigEndian.PutUint16(h[10:], checksum(h))
	return append(h, payload...)
}

// fragment4 is an IPv4 packet that says it is a fragment; its checksum is right.
func fragment4(ip []byte, field uint16) []byte {
	ip = slices.Clone(ip)
	binary.BigEndian.PutUint16(ip[6:], field)
	ip[10], ip[11] = 0, 0
	binary.BigEndian.PutUint16(ip[10:], checksum(ip[:20]))
	return ip
}

func packet6(src, dst netip.Addr, next byte, payload []byte) []byte {
	h := []byte{0x60, 0, 0, 0, 0, 0, next, 64}
	binary.BigEndian.PutUint16(h[4:], uint16(len(payload)))
	return slices.Concat(h, src.AsSlice(), dst.AsSlice(), payload)
}

// ipOf is an IP packet of the version that its addresses have.
func ipOf(src, dst netip.Addr, protocol byte, payload []byte) []byte {
	if src.Is6() {
		return packet6(src, dst, protocol, payload)
	}
	return packet4(src, dst, protocol, payload)
}

// udp is a packet of UDP with a right checksum.
func udp(src, dst netip.Addr, from, to uint16, payload []byte) []byte {
	h := []byte{byte(from >> 8), byte(from), byte(to >> 8), byte(to), 0, 0, 0, 0}
	binary.BigEndian.PutUint16(h[4:], uint16(8+len(payload)))
	return summed(ipOf(src, dst, 17, append(h, payload...)), 17, 6)
}

// tcp is a packet of TCP with a right checksum and no options.
func tcp(src, dst netip.Addr, from, to uint16, payload []byte) []byte {
	h := []byte{byte(from >> 8), byte(from), byte(to >> 8), byte(to), 1, 2, 3, 4, 5, 6, 7, 8, 5 << 4, 0x10}
	h = append(h, 0x20, 0, 0, 0, 0, 0)
	return summed(ipOf(src, dst, 6, append(h, payload...)), 6, 16)
}

// ipHeader is the length of a packet's header.
func ipHeader(ip []byte) int {
	if ip[0]>>4 == 6 {
		return 40
	}
	return int(ip[0]&15) * 4
}

// summed fills a checksum in that stands at an offset of the L4 header.
func summed(ip []byte, protocol byte, at int) []byte {
	l4 := ip[ipHeader(ip):]
	l4[at], l4[at+1] = 0, 0
	v := checksum(pseudo(ip, protocol, len(l4)), l4)
	if v == 0 && protocol == 17 {
		v = 0xffff
	}
	binary.BigEndian.PutUint16(l4[at:], v)
	return ip
}

// forOffload has the pseudo header's sum in the L4 checksum field, as a driver leaves
// it for the card.
func forOffload(ip []byte, protocol byte, at int) []byte {
	ip = slices.Clone(ip)
	l4 := ip[ipHeader(ip):]
	binary.BigEndian.PutUint16(l4[at:], ^checksum(pseudo(ip, protocol, len(l4))))
	return ip
}
