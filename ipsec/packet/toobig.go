package packet

import "encoding/binary"

// Sizes in octets, and fields, of the answers that TooBig makes.
const (
	answerMax4 = 576  // of an ICMP error, IP header included (RFC 1812, 4.3.2.3)
	answerMax6 = 1280 // of an ICMPv6 error (RFC 4443, 2.4(c))
	leastMTU4  = 68   // RFC 791, 3.2
	leastMTU6  = 1280 // RFC 8200, section 5

	answerTTL = 255
	// answerClass is precedence internetwork control (RFC 1812, 4.3.2.5), which
	// is class selector 6 (RFC 2474), in IPv4's TOS and IPv6's traffic class.
	answerClass = 0xc0
)

// TooBig turns the frame at buf[start:], an IP packet that is larger than mtu, in
// place into the answer that tells its sender so: ICMP "fragmentation needed"
// (RFC 1191, section 4) or ICMPv6 "packet too big" (RFC 4443, 3.2). The answer is
// buf[newStart:newEnd]. buf is all the room there is; *m is what Parse said about
// the frame, and is not true for the answer. What is behind the frame in buf may
// be overwritten.
//
// MAC addresses change places and VLAN tags stay. The answer comes from the
// packet's destination, as a bump in the wire has no address of its own; hosts
// take an error from anyone and match it by the packet that it quotes. That is
// quoted as far as the size of an error allows, unchanged: so TooBig has to be
// asked before anything else changes the packet.
//
// mtu is in octets of IP packet. Less than 68 is said as 68 over IPv4, where 0
// would mean that the router does not know, and less than 1280 as 1280 over IPv6,
// where senders do not go below (RFC 8201, section 4).
//
// It reports false, and has changed nothing, where MayAnswer forbids an answer or
// buf has no room for it: with 48 octets in front of start (28 for IPv4) it never
// needs more. How often to answer is the caller's business.
func TooBig(buf []byte, start int, m *Meta, mtu int) (newStart, newEnd int, ok bool) {
	if start < 0 || start > len(buf) || !MayAnswer(buf[start:], m) {
		return 0, 0, false
	}
	head, most := ip4Len+icmpErrorLen, answerMax4
	if m.Kind == IPv6 {
		head, most = ip6Len+icmpErrorLen, answerMax6
	}
	l3 := int(m.L3)
	quoted := min(m.IPLen(), most-head)
	newStart = max(start-head, 0)
	ip := newStart + l3
	newEnd = ip + head + quoted
	if newEnd > len(buf) {
		return 0, 0, false
	}
	// The link header moves forward by what headroom there is, and the packet back
	// by what is missing: neither moves over the other.
	copy(buf[newStart:ip], buf[start:start+l3])
	copy(buf[ip+head:newEnd], buf[start+l3:])
	swapMACs(buf[newStart:])
	if m.Kind == IPv6 {
		putTooBig6(buf[ip:newEnd], mtu)
	} else {
		putTooBig4(buf[ip:newEnd], mtu)
	}
	return newStart, newEnd, true
}

func swapMACs(frame []byte) {
	dst, src := [6]byte(frame), [6]byte(frame[6:])
	copy(frame, src[:])
	copy(frame[6:], dst[:])
}

// putTooBig4 writes the headers of the answer p, in which the quoted packet is.
func putTooBig4(p []byte, mtu int) {
	clear(p[:ip4Len+icmpErrorLen])
	icmp := p[ip4Len:]
	quote := icmp[icmpErrorLen:]
	p[0], p[1] = 4<<4|ip4Len/4, answerClass
	binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
	p[8], p[9] = answerTTL, ProtoICMP
	copy(p[12:16], quote[16:20])
	copy(p[16:20], quote[12:16])
	binary.BigEndian.PutUint16(p[10:], ^Sum(p[:ip4Len]))

	icmp[0], icmp[1] = icmpUnreachable, icmpFragmentation
	binary.BigEndian.PutUint16(icmp[6:], uint16(min(max(mtu, leastMTU4), 0xffff)))
	binary.BigEndian.PutUint16(icmp[2:], ^Sum(icmp))
}

// putTooBig6 is putTooBig4 for IPv6.
func putTooBig6(p []byte, mtu int) {
	clear(p[:ip6Len+icmpErrorLen])
	icmp := p[ip6Len:]
	quote := icmp[icmpErrorLen:]
	binary.BigEndian.PutUint32(p, 6<<28|answerClass<<20)
	binary.BigEndian.PutUint16(p[4:], uint16(len(icmp)))
	p[6], p[7] = ProtoICMPv6, answerTTL
	copy(p[8:24], quote[24:40])
	copy(p[24:40], quote[8:24])

	icmp[0] = icmp6PacketTooBig
	binary.BigEndian.PutUint32(icmp[4:], uint32(min(max(mtu, leastMTU6), 0xffff_ffff)))
	pseudo := AddSums(Sum(p[8:40]), AddSums(uint16(len(icmp)), ProtoICMPv6))
	binary.BigEndian.PutUint16(icmp[2:], ^AddSums(Sum(icmp), pseudo))
}
