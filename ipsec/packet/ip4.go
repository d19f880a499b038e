package packet

import (
	"encoding/binary"

	"espgw/sa"
)

const ip4Len = 20 // without options

// parse4 reads the IPv4 header at m.L3 (RFC 791).
func parse4(frame []byte, m *Meta) {
	l3 := int(m.L3)
	m.Fault = Malformed
	if len(frame) < l3+ip4Len || frame[l3]>>4 != 4 {
		return
	}
	h := frame[l3:]
	head := int(h[0]&0x0f) * 4
	total := int(binary.BigEndian.Uint16(h[2:]))
	if head < ip4Len || total < head || total > len(h) || Sum(h[:head]) != 0xffff {
		return
	}
	m.Fault = OK
	m.End = int32(l3 + total)
	m.Insert, m.InsertNext = uint16(l3+head), uint16(l3+9)
	m.Upper, m.UpperNext = m.Insert, m.InsertNext
	m.Flow.Src, m.Flow.Dst = sa.AddrFrom4(h[12:16]), sa.AddrFrom4(h[16:20])
	m.Flow.Proto = h[9]
	m.Flow.Frag = fragment(binary.BigEndian.Uint16(h[6:])&0x1fff, h[6]&0x20 != 0)
	ports(frame[:l3+total], m)
}

func fragment(offset uint16, more bool) sa.Fragment {
	switch {
	case offset != 0:
		return sa.FragLater
	case more:
		return sa.FragFirst
	}
	return sa.FragNone
}
