package packet

import (
	"encoding/binary"
	"hash/crc32"
)

// FinishChecksum completes a transport checksum that the sender left to its
// network card: plaintext from a kernel's virtual interface may hold only the
// sum of the pseudo header in TCP's or UDP's checksum field, and zero in
// SCTP's. Inside ESP nobody could repair that later. A checksum that looks
// finished, right or wrong, is left alone; so is every fragment. It reports
// false where the checksum is unfinished and the lengths do not allow to finish
// it. Behind a routing header, where another address than the IPv6 header's may
// have been counted, nothing is touched. frame and *m are as after Parse.
func FinishChecksum(frame []byte, m *Meta) bool {
	if !m.IsIP() || !m.Whole() || m.routed {
		return true
	}
	u := frame[m.Upper:m.End]
	if m.Flow.Proto == ProtoSCTP {
		finishSCTP(u)
		return true
	}
	at, ok := checksumAt(u, m)
	if !ok {
		return true
	}
	pseudo := pseudoHeader(frame, m, len(u))
	if binary.BigEndian.Uint16(u[at:]) != pseudo {
		return true
	}
	if m.Flow.Proto == ProtoUDP && int(binary.BigEndian.Uint16(u[4:])) != len(u) {
		return false
	}
	putChecksum(u, at, pseudo, m.Flow.Proto)
	return true
}

// MendChecksum makes the checksum of TCP, UDP or ICMPv6 right again after a NAT
// changed the addresses outside ESP (RFC 3948, 3.1.2), and reports whether it
// had to. It computes the whole checksum, as the addresses that the sender
// counted are not known; the ICV has already shown that the octets are the
// sender's. UDP's zero, which means none, stays, and so does whatever is behind
// a routing header. frame and *m are as after Parse or ParseUpper.
func MendChecksum(frame []byte, m *Meta) bool {
	if !m.IsIP() || !m.Whole() || m.routed {
		return false
	}
	u := frame[m.Upper:m.End]
	at, ok := checksumAt(u, m)
	if !ok {
		return false
	}
	if m.Flow.Proto == ProtoUDP {
		n := int(binary.BigEndian.Uint16(u[4:]))
		if binary.BigEndian.Uint16(u[at:]) == 0 || n < udpLen || n > len(u) {
			return false
		}
		u = u[:n]
	}
	pseudo := pseudoHeader(frame, m, len(u))
	if AddSums(Sum(u), pseudo) == 0xffff {
		return false
	}
	putChecksum(u, at, pseudo, m.Flow.Proto)
	return true
}

const (
	udpLen  = 8
	tcpLen  = 20
	sctpLen = 12
)

// checksumAt is where protocols with a pseudo header have their checksum in u.
func checksumAt(u []byte, m *Meta) (at int, ok bool) {
	switch m.Flow.Proto {
	case ProtoTCP:
		return 16, len(u) >= tcpLen
	case ProtoUDP:
		return 6, len(u) >= udpLen
	case ProtoICMPv6:
		return 2, len(u) >= 4 && m.Kind == IPv6
	}
	return 0, false
}

// pseudoHeader sums the pseudo header for n octets of upper layer (RFC 768, RFC
// 9293, RFC 8200 section 8.1).
func pseudoHeader(frame []byte, m *Meta, n int) uint16 {
	h := frame[m.L3:]
	rest := uint64(m.Flow.Proto) + uint64(uint16(n))
	if m.Kind == IPv4 {
		addresses := binary.BigEndian.Uint64(h[12:])
		return fold(rest+addresses>>32+addresses&0xffff_ffff, 0)
	}
	return AddSums(fold(rest, 0), Sum(h[8:40]))
}

func putChecksum(u []byte, at int, pseudo uint16, proto uint8) {
	u[at], u[at+1] = 0, 0
	c := ^AddSums(Sum(u), pseudo)
	if c == 0 && proto == ProtoUDP {
		c = 0xffff
	}
	binary.BigEndian.PutUint16(u[at:], c)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// finishSCTP computes the CRC32c of an SCTP packet whose checksum is zero (RFC
// 9260, appendix A).
func finishSCTP(u []byte) {
	if len(u) < sctpLen || binary.BigEndian.Uint32(u[8:]) != 0 {
		return
	}
	binary.LittleEndian.PutUint32(u[8:], crc32.Checksum(u, castagnoli))
}
