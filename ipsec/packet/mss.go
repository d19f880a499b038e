package packet

import (
	"encoding/binary"
	"math/bits"

	"espgw/sa"
)

// Of the TCP header (RFC 9293, 3.1).
const (
	tcpFlagsAt    = 13
	tcpChecksumAt = 16
	tcpSYN        = 0x02

	tcpOptionEnd  = 0
	tcpOptionNone = 1 // one octet of padding, without a length
	tcpOptionMSS  = 2
	tcpMSSLen     = 4
)

// ClampMSS lowers the maximum segment size that a TCP SYN announces (RFC 9293,
// 3.7.1) to mss octets where it is larger, and reports whether it changed the
// frame. The checksum is updated (RFC 1624, equation 3): a right one stays right
// and a wrong one stays wrong by the same amount, so it has to be a finished one
// (see FinishChecksum). A SYN without the option is left alone: then the peer
// keeps to 536 octets over IPv4 and 1220 over IPv6 anyway.
//
// frame and *m are as after Parse or ParseUpper; fragments and all that is not
// TCP are left alone. A bad option ends the search, as nobody can tell where the
// next one starts; an MSS option whose length is not 4 is passed over. It may be
// called for every packet: without the SYN flag it costs next to nothing.
func ClampMSS(frame []byte, m *Meta, mss uint16) (changed bool) {
	if at := int(m.Upper) + tcpFlagsAt; at < len(frame) && frame[at]&tcpSYN != 0 {
		return clampSYN(frame, m, mss)
	}
	return false
}

// clampSYN is the part of ClampMSS that few packets need; apart, so that the others
// are not charged for its stack frame.
func clampSYN(frame []byte, m *Meta, mss uint16) (changed bool) {
	if !m.IsIP() || m.Flow.Proto != ProtoTCP || m.Flow.Frag != sa.FragNone || int(m.End) > len(frame) {
		return false
	}
	u := frame[m.Upper:m.End]
	if len(u) < tcpLen {
		return false
	}
	head := int(u[12]>>4) * 4
	if head > len(u) {
		return false
	}
	// Less than 5 words leave no place for options either.
	for at := tcpLen; at < head; {
		switch u[at] {
		case tcpOptionEnd:
			return changed
		case tcpOptionNone:
			at++
			continue
		}
		if at+1 == head {
			return changed
		}
		n := int(u[at+1])
		if n < 2 || at+n > head {
			return changed
		}
		if u[at] == tcpOptionMSS && n == tcpMSSLen && binary.BigEndian.Uint16(u[at+2:]) > mss {
			putMSS(u, at+2, mss)
			changed = true
		}
		at += n
	}
	return changed
}

// putMSS writes mss at u[at:] and updates the checksum of the TCP header u. At an
// odd offset the two octets belong to two words; swapped they add the same, as a
// one's complement sum does not depend on the order of octets (RFC 1071, 2B).
func putMSS(u []byte, at int, mss uint16) {
	was, now := binary.BigEndian.Uint16(u[at:]), mss
	binary.BigEndian.PutUint16(u[at:], mss)
	if at%2 != 0 {
		was, now = bits.ReverseBytes16(was), bits.ReverseBytes16(now)
	}
	sum := uint64(^binary.BigEndian.Uint16(u[tcpChecksumAt:])) + uint64(^was) + uint64(now)
	binary.BigEndian.PutUint16(u[tcpChecksumAt:], ^fold(sum, 0))
}
