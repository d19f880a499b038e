package packet

import (
	"encoding/binary"

	"espgw/sa"
)

// ErrorKind is what an ICMP error says about an ESP packet.
type ErrorKind uint8

// The kinds of errors.
const (
	// NotAbout: no ICMP error, or none in which an ESP packet can be seen.
	NotAbout ErrorKind = iota
	// PathMTU: the packet was too large for a link (RFC 1191, RFC 8201).
	PathMTU
	// OtherError: any other error or redirect.
	OtherError
	// BadChecksum: would be one of the above but for the ICMP checksum.
	BadChecksum
)

// QuotedESP is what an ICMP error shows of the ESP packet that it is about. An
// attacker can make up all of it.
type QuotedESP struct {
	// Src and Dst are those of the quoted IP header, so not the final
	// destination where a routing header follows; V6 is its version.
	Src, Dst sa.Addr
	V6       bool
	// Encap says that a UDP header stands before ESP (RFC 3948); the ports are
	// its ports then, otherwise 0.
	Encap            bool
	SrcPort, DstPort uint16
	// SPI is never 0. Sequence is the low half where the SA has ESN.
	SPI, Sequence uint32
	// MTU is the next hop's, in octets, for PathMTU only. Over IPv4 it is 0 where
	// the router does not say (RFC 1191, section 5).
	MTU int
}

// AboutESP tells whether the packet is an ICMP or ICMPv6 error that quotes an ESP
// packet, and fills *q unless it is NotAbout. frame and *m are as after Parse.
//
// ESP is seen where the quote reaches as far as the sequence number, bare or in
// UDP. A quoted UDP datagram on any ports counts, if it is long enough and does
// not start with the non-ESP marker: the caller has to compare the ports (for
// BadChecksum too) before it believes that this is ESP. Extension headers of a
// quoted IPv6 packet are followed. Fragments, both around the error and
// later ones in it, are NotAbout; so is an error behind a routing header, of which
// the checksum cannot be told to be right.
func AboutESP(frame []byte, m *Meta, q *QuotedESP) ErrorKind {
	if m.Flow.Proto != icmpOf(m.Kind) || !m.IsIP() || !m.Whole() || m.routed || int(m.End) > len(frame) {
		return NotAbout
	}
	u := frame[m.Upper:m.End]
	if len(u) < icmpErrorLen {
		return NotAbout
	}
	var e QuotedESP
	kind, ok := OtherError, false
	if m.Kind == IPv4 {
		if !isError4(u[0]) || !quoted4(u[icmpErrorLen:], &e) {
			return NotAbout
		}
		if u[0] == icmpUnreachable && u[1] == icmpFragmentation {
			kind, e.MTU = PathMTU, int(binary.BigEndian.Uint16(u[6:]))
		}
		ok = Sum(u) == 0xffff
	} else {
		if u[0] >= icmp6FirstInformation || !quoted6(u[icmpErrorLen:], &e) {
			return NotAbout
		}
		if u[0] == icmp6PacketTooBig {
			kind, e.MTU = PathMTU, int(binary.BigEndian.Uint32(u[4:]))
		}
		ok = AddSums(Sum(u), pseudoHeader(frame, m, len(u))) == 0xffff
	}
	*q = e
	if !ok {
		return BadChecksum
	}
	return kind
}

// quoted4 reads the IPv4 packet p, which is cut off somewhere. Its total length
// and header checksum are not looked at: there are routers that quote what they
// had changed already.
func quoted4(p []byte, q *QuotedESP) bool {
	if len(p) < ip4Len || p[0]>>4 != 4 {
		return false
	}
	head := int(p[0]&0x0f) * 4
	if head < ip4Len || len(p) < head || binary.BigEndian.Uint16(p[6:])&0x1fff != 0 {
		return false
	}
	q.Src, q.Dst = sa.AddrFrom4(p[12:]), sa.AddrFrom4(p[16:])
	return quotedUpper(p[9], p[head:], q)
}

// quoted6 reads the IPv6 packet p, which is cut off somewhere.
func quoted6(p []byte, q *QuotedESP) bool {
	if len(p) < ip6Len || p[0]>>4 != 6 {
		return false
	}
	q.Src, q.Dst, q.V6 = sa.AddrFrom16(p[8:24]), sa.AddrFrom16(p[24:40]), true
	next, p := p[6], p[ip6Len:]
	for n := 0; isExtension(next); n++ {
		if n == maxHeaders || len(p) < extensionLen {
			return false
		}
		size := extensionLen
		if next != fragmentHdr {
			size += int(p[1]) * extensionLen
		} else if binary.BigEndian.Uint16(p[2:])>>3 != 0 {
			return false
		}
		if len(p) < size {
			return false
		}
		next, p = p[0], p[size:]
	}
	return quotedUpper(next, p, q)
}

// quotedUpper reads SPI and sequence number from the upper layer u of a quoted
// packet, behind a UDP header where proto is UDP.
func quotedUpper(proto uint8, u []byte, q *QuotedESP) bool {
	const spiAndSequence = 8
	switch proto {
	case ProtoESP:
	case ProtoUDP:
		if len(u) < udpLen || binary.BigEndian.Uint16(u[4:]) < udpLen+spiAndSequence {
			return false
		}
		q.Encap = true
		q.SrcPort, q.DstPort = binary.BigEndian.Uint16(u), binary.BigEndian.Uint16(u[2:])
		u = u[udpLen:]
	default:
		return false
	}
	if len(u) < spiAndSequence {
		return false
	}
	q.SPI, q.Sequence = binary.BigEndian.Uint32(u), binary.BigEndian.Uint32(u[4:])
	return q.SPI != 0
}
