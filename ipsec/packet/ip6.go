package packet

import (
	"encoding/binary"

	"espgw/sa"
)

const (
	ip6Len     = 40
	maxHeaders = 8 // extension headers; more is malformed
)

// Extension headers (RFC 8200, 4.1). ESP and AH count as upper layers.
const (
	hopByHop     = 0
	routing      = 43
	fragmentHdr  = 44
	destOptions  = 60
	extensionLen = 8 // the smallest, and the unit of their lengths
)

// parse6 reads the IPv6 header at m.L3 (RFC 8200) and follows the chain.
func parse6(frame []byte, m *Meta) {
	l3 := int(m.L3)
	if len(frame) < l3+ip6Len || frame[l3]>>4 != 6 {
		m.Fault = Malformed
		return
	}
	h := frame[l3:]
	end := l3 + ip6Len + int(binary.BigEndian.Uint16(h[4:]))
	if end > len(frame) {
		m.Fault = Malformed
		return
	}
	m.End = int32(end)
	m.Insert, m.InsertNext = uint16(l3+ip6Len), uint16(l3+6)
	m.Flow.Src, m.Flow.Dst = sa.AddrFrom16(h[8:24]), sa.AddrFrom16(h[24:40])
	m.Flow.V6 = true
	chain(frame[:end], l3+ip6Len, l3+6, h[6], m)
}

// chain follows extension headers in p, which ends where the IP packet ends.
// proto names the header at at and stands at offset name. A jumbogram has
// payload length 0 and hop-by-hop options behind it, so it ends here too.
func chain(p []byte, at, name int, proto uint8, m *Meta) {
	for isExtension(proto) {
		if m.headers == maxHeaders || len(p) < at+extensionLen ||
			proto == hopByHop && m.headers != 0 {
			m.Fault = Malformed
			return
		}
		m.headers++
		m.routed = m.routed || proto == routing
		size := extensionLen
		if proto == fragmentHdr {
			if !fragmentHeader(p, at, m) {
				return
			}
		} else {
			size += int(p[at+1]) * extensionLen
		}
		if len(p) < at+size {
			m.Fault = Malformed
			return
		}
		last := proto
		proto, name, at = p[at], at, at+size
		if last != destOptions {
			m.Insert, m.InsertNext = uint16(at), uint16(name)
		}
		if m.Flow.Frag == sa.FragLater {
			break
		}
	}
	m.Upper, m.UpperNext, m.Flow.Proto = uint16(at), uint16(name), proto
	ports(p, m)
}

// fragmentHeader reads the fragment header at at and reports whether the chain
// may be followed. What a later fragment carries can only be told where its
// header names the upper layer itself: behind further extension headers it
// could belong to anything, also to what a policy protects.
func fragmentHeader(p []byte, at int, m *Meta) bool {
	if m.fragmentSeen {
		m.Fault = Malformed
		return false
	}
	m.fragmentSeen = true
	v := binary.BigEndian.Uint16(p[at+2:])
	m.Flow.Frag = fragment(v>>3, v&1 != 0)
	if m.Flow.Frag == sa.FragLater && isExtension(p[at]) {
		m.Fault = Unparsed
		return false
	}
	return true
}

func isExtension(proto uint8) bool {
	return proto == hopByHop || proto == routing || proto == fragmentHdr || proto == destOptions
}
