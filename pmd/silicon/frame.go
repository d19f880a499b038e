package silicon

import "encoding/binary"

// Protocols of IP.
const (
	protocolTCP  = 6
	protocolUDP  = 17
	protocolSCTP = 132
)

// frameView is what the receiver sees in a frame. Offsets are from its beginning.
type frameView struct {
	tag       uint16
	tags      int // VLAN tags
	l3        int // the IP header; 0: no IP
	l4        int // behind the IP headers; 0: none
	end       int // of the IP packet
	protocol  byte
	v6        bool
	fragment  bool
	options   bool // IPv4 options
	extension bool // an IPv6 extension header comes first
	snap      bool
}

// look parses a frame of at least 14 octets.
func look(frame []byte) (v frameView) {
	at := etherTypeAt(frame)
	v.tags = (at - 12) / 4
	if v.tags > 0 {
		v.tag = binary.BigEndian.Uint16(frame[14:])
	}
	kind := binary.BigEndian.Uint16(frame[at:])
	rest := frame[at+2:]
	switch {
	case kind < 0x600:
		v.snap = true
	case kind == 0x0800 && len(rest) >= 20 && rest[0]>>4 == 4:
		v.ipv4(rest, at+2)
	case kind == 0x86dd && len(rest) >= 40 && rest[0]>>4 == 6:
		v.ipv6(rest, at+2)
	}
	return v
}

func (v *frameView) ipv4(ip []byte, at int) {
	header, total := int(ip[0]&0xf)*4, int(binary.BigEndian.Uint16(ip[2:]))
	if header < 20 || total < header || total > len(ip) {
		return
	}
	v.l3, v.l4, v.end = at, at+header, at+total
	v.protocol, v.options = ip[9], header > 20
	v.fragment = binary.BigEndian.Uint16(ip[6:])&0x3fff != 0
}

func (v *frameView) ipv6(ip []byte, at int) {
	total := 40 + int(binary.BigEndian.Uint16(ip[4:]))
	if total > len(ip) {
		return
	}
	v.l3, v.l4, v.end, v.v6, v.protocol = at, at+40, at+total, true, ip[6]
	switch v.protocol {
	case 44:
		v.fragment, v.extension = true, true
	case 0, 43, 60, 135:
		v.extension = true
	}
}

// addresses are source and destination, 4 or 16 octets each, of an IP packet.
func (v *frameView) addresses(frame []byte) (src, dst []byte) {
	if v.v6 {
		return frame[v.l3+8 : v.l3+24], frame[v.l3+24 : v.l3+40]
	}
	return frame[v.l3+12 : v.l3+16], frame[v.l3+16 : v.l3+20]
}

// ipsec says whether the receiver takes the packet for one of IPsec (7.13.10).
func (v *frameView) ipsec() bool {
	return v.l3 != 0 && (v.protocol == protocolESP || v.protocol == protocolAH) && !v.extension
}

// plainL4 says whether ports stand at l4.
func (v *frameView) plainL4() bool {
	return v.l3 != 0 && !v.fragment && !v.extension &&
		(v.protocol == protocolTCP && v.l4+20 <= v.end || v.protocol == protocolUDP && v.l4+8 <= v.end)
}
