package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// What a datagram carries behind its UDP header: mark, then its number, big-endian.
const (
	mark       = "espload\x00"
	payloadLen = 8 + 8
)

// Octets of headers.
const (
	ethernetLen = 14
	ip4Len      = 20 // without options
	ip6Len      = 40
	udpLen      = 8
	espLen      = 8 // SPI and sequence number (RFC 4303, 2)
	ivLen       = 8 // of AES-GCM and ChaCha20-Poly1305 (RFC 4106, 3.1; RFC 7634, 2)
)

const (
	protoUDP = 17
	protoESP = 50
)

// The datagrams' ports: any one, and discard.
const (
	sourcePort      = 40000
	destinationPort = 9
)

// flow is who sends to whom.
type flow struct{ src, dst netip.Addr }

// parseFlow reads SRC,DST: two addresses of one family.
func parseFlow(text string) (flow, error) {
	from, to, _ := strings.Cut(text, ",")
	src, err := netip.ParseAddr(from)
	if err != nil {
		return flow{}, err
	}
	dst, err := netip.ParseAddr(to)
	if err != nil {
		return flow{}, err
	}
	if src.Is4() != dst.Is4() || src.Zone() != "" || dst.Zone() != "" {
		return flow{}, fmt.Errorf("%s: two addresses of one family are needed, without zones", text)
	}
	return flow{src, dst}, nil
}

// datagram is an Ethernet frame with a UDP datagram in it, whose number can be changed.
type datagram struct {
	frame []byte
	udp   int    // where the UDP header starts
	sum   uint32 // of what the UDP checksum covers, without the number
}

// newDatagram makes the frame; its number is 0 and its checksum not set yet.
func newDatagram(fl flow, smac, dmac net.HardwareAddr) *datagram {
	const length = udpLen + payloadLen
	b := append([]byte(nil), dmac...)
	b = append(b, smac...)
	if fl.src.Is4() {
		b = append(b, 0x08, 0x00)
		b = appendIPv4(b, fl, length)
	} else {
		b = append(b, 0x86, 0xdd)
		b = append(b, 0x60, 0, 0, 0, 0, length, protoUDP, 64)
		b = append(append(b, fl.src.AsSlice()...), fl.dst.AsSlice()...)
	}
	d := &datagram{udp: len(b)}
	b = binary.BigEndian.AppendUint16(b, sourcePort)
	b = binary.BigEndian.AppendUint16(b, destinationPort)
	b = append(b, 0, length, 0, 0)
	b = append(b, mark...)
	d.sum = sum(b[d.udp:]) + sum(fl.src.AsSlice()) + sum(fl.dst.AsSlice()) + protoUDP + length
	d.frame = append(b, make([]byte, 8)...)
	return d
}

func appendIPv4(b []byte, fl flow, length uint16) []byte {
	at := len(b)
	b = append(b, 0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protoUDP, 0, 0) // don't fragment
	b = append(append(b, fl.src.AsSlice()...), fl.dst.AsSlice()...)
	binary.BigEndian.PutUint16(b[at+2:], ip4Len+length)
	binary.BigEndian.PutUint16(b[at+10:], fold(sum(b[at:])))
	return b
}

// number sets the number and, with it, the UDP checksum.
func (d *datagram) number(n uint64) {
	at := d.udp + udpLen + len(mark)
	binary.BigEndian.PutUint64(d.frame[at:], n)
	c := fold(d.sum + sum(d.frame[at:]))
	if c == 0 { // RFC 768: zero says that there is none
		c = 0xffff
	}
	binary.BigEndian.PutUint16(d.frame[d.udp+6:], c)
}

// numberOf is the number of a datagram of ours in an Ethernet frame without tags.
func numberOf(frame []byte) (n uint64, ok bool) {
	_, proto, p := ipPayload(frame)
	if proto != protoUDP || len(p) < udpLen+payloadLen || string(p[udpLen:udpLen+len(mark)]) != mark {
		return 0, false
	}
	return binary.BigEndian.Uint64(p[udpLen+len(mark):]), true
}

// ipPayload is what stands behind the IP header of an Ethernet frame without
// tags, as far as the frame goes, and where it goes to. proto is 0 for what is
// no IP, has options or extension headers, or is cut off in the headers.
func ipPayload(frame []byte) (dst netip.Addr, proto byte, payload []byte) {
	if len(frame) < ethernetLen+ip4Len {
		return dst, 0, nil
	}
	p := frame[ethernetLen:]
	switch {
	case frame[12] == 0x08 && frame[13] == 0x00 && p[0] == 0x45:
		end := min(len(p), int(binary.BigEndian.Uint16(p[2:])))
		if end < ip4Len {
			return dst, 0, nil
		}
		return netip.AddrFrom4([4]byte(p[16:20])), p[9], p[ip4Len:end]
	case frame[12] == 0x86 && frame[13] == 0xdd && p[0]>>4 == 6 && len(p) >= ip6Len:
		end := min(len(p), ip6Len+int(binary.BigEndian.Uint16(p[4:])))
		return netip.AddrFrom16([16]byte(p[24:40])), p[6], p[ip6Len:end]
	}
	return dst, 0, nil
}

// espPacket is what the wire shows of an ESP packet.
type espPacket struct {
	dst      netip.Addr
	spi      uint32
	sequence uint32 // the low half, with ESN
	iv       uint64
}

// parseESP reads the ESP packet of an Ethernet frame without tags.
func parseESP(frame []byte) (espPacket, bool) {
	dst, proto, p := ipPayload(frame)
	if proto != protoESP || len(p) < espLen+ivLen {
		return espPacket{}, false
	}
	return espPacket{dst, binary.BigEndian.Uint32(p), binary.BigEndian.Uint32(p[4:]), binary.BigEndian.Uint64(p[8:])}, true
}

// sum is the sum of b as big-endian 16-bit words (RFC 1071); b has an even number of octets.
func sum(b []byte) uint32 {
	s := uint32(0)
	for ; len(b) > 1; b = b[2:] {
		s += uint32(binary.BigEndian.Uint16(b))
	}
	return s
}

// fold makes the Internet checksum of a sum.
func fold(s uint32) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}
