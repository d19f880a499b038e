package packet

import "encoding/binary"

// EtherTypes that Parse looks behind (IEEE 802.1Q, 802.1ad, and the TPID that
// predates it).
const (
	etherIPv4  = 0x0800
	etherIPv6  = 0x86dd
	etherCTag  = 0x8100
	etherSTag  = 0x88a8
	etherQinQ  = 0x9100
	etherFirst = 0x0600 // smaller values are lengths

	etherLen = 14
	tagLen   = 4
	maxTags  = 2
)

// Parse reads frame, which starts at the destination MAC address, and
// overwrites *m. It does not keep frame.
func Parse(frame []byte, m *Meta) {
	*m = Meta{}
	if len(frame) < etherLen {
		m.Fault = Malformed
		return
	}
	l3, etherType := etherLen, binary.BigEndian.Uint16(frame[etherLen-2:])
	if isTag(etherType) {
		if l3, etherType = parseTags(frame, etherType, m); m.Fault != OK {
			m.EtherType = etherType
			return
		}
	}
	m.EtherType, m.L3 = etherType, uint16(l3)
	switch {
	case etherType == etherIPv4:
		m.Kind = IPv4
		parse4(frame, l3, m)
	case etherType == etherIPv6:
		m.Kind = IPv6
		parse6(frame, m)
	case etherType < etherFirst:
		if len(frame) > l3 {
			m.LLC = frame[l3]
		}
	}
}

// parseTags goes over the tags, of which the first has the TPID given, and
// returns where the header behind them starts and its EtherType.
func parseTags(frame []byte, tpid uint16, m *Meta) (l3 int, etherType uint16) {
	l3, etherType = etherLen, tpid
	for isTag(etherType) {
		if m.Tags == maxTags {
			m.Fault = Unparsed
			return l3, etherType
		}
		l3 += tagLen
		if len(frame) < l3 {
			m.Fault = Malformed
			return l3, etherType
		}
		m.Tags++
		etherType = binary.BigEndian.Uint16(frame[l3-2:])
	}
	return l3, etherType
}

func isTag(t uint16) bool { return t == etherCTag || t == etherSTag || t == etherQinQ }

// ParseUpper reads the upper layer of an IP packet again after its ESP header
// was removed: frame is the opened frame, proto names the header that now
// stands at m.Upper, and *m is what Parse said about the sealed frame. IPv6
// extension headers that were inside ESP are followed under Parse's rules, so
// hop-by-hop options in there are malformed and an inner fragment header makes
// the packet a fragment. It sets Fault, End, Upper, UpperNext and the flow's
// protocol, ports and fragment kind.
func ParseUpper(frame []byte, proto uint8, m *Meta) {
	l3, at := int(m.L3), int(m.Upper)
	if !m.IsIP() || at > len(frame) {
		m.Fault = Malformed
		return
	}
	end := l3 + int(binary.BigEndian.Uint16(frame[l3+2:]))
	if m.Kind == IPv6 {
		end = l3 + ip6Len + int(binary.BigEndian.Uint16(frame[l3+4:]))
	}
	if end < at || end > len(frame) || m.Kind == IPv6 && proto == hopByHop {
		m.Fault = Malformed
		return
	}
	m.End = int32(end)
	m.Flow.SrcPort, m.Flow.DstPort = 0, 0
	if m.Kind == IPv6 {
		chain(frame[:end], at, int(m.UpperNext), proto, m)
		return
	}
	m.Flow.Proto = proto
	ports(frame[:end], m)
}
