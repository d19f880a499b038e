package packet

import (
	"encoding/binary"
	"math/bits"

	"espgw/sa"
)

const ip4Len = 20 // without options

// parse4 reads the IPv4 header at l3 (RFC 791). Its fixed part is loaded once,
// as three words, and all fields and the checksum are taken from these.
func parse4(frame []byte, l3 int, m *Meta) {
	if len(frame) < l3+ip4Len {
		m.Fault = Malformed
		return
	}
	h := frame[l3:]
	w0, w1, w2 := binary.BigEndian.Uint64(h), binary.BigEndian.Uint64(h[8:]), binary.BigEndian.Uint32(h[16:])
	head := int(w0>>56&0x0f) * 4
	total := int(w0 >> 32 & 0xffff)
	if w0>>60 != 4 || head < ip4Len || total < head || total > len(h) || headerSum(w0, w1, w2, h[ip4Len:head]) != 0xffff {
		m.Fault = Malformed
		return
	}
	m.End = int32(l3 + total)
	insert, next := uint16(l3+head), uint16(l3+9)
	m.Insert, m.InsertNext, m.Upper, m.UpperNext = insert, next, insert, next
	m.Flow.Src = sa.Addr{Lo: mapped | w1&0xffff_ffff}
	m.Flow.Dst = sa.Addr{Lo: mapped | uint64(w2)}
	m.Flow.Proto = uint8(w1 >> 48)
	m.Flow.Frag = fragment(uint16(w0&0x1fff), w0&0x2000 != 0)
	ports(frame[:l3+total], m)
}

// mapped is what stands in front of an IPv4 address in a sa.Addr.
const mapped = 0xffff << 32

// headerSum is Sum of the header of which w0, w1 and w2 are the fixed part.
func headerSum(w0, w1 uint64, w2 uint32, options []byte) uint16 {
	sum, carry := bits.Add64(w0, w1, 0)
	sum, carry = bits.Add64(sum, uint64(w2), carry)
	if len(options) > 0 {
		sum, carry = bits.Add64(sum, uint64(Sum(options)), carry)
	}
	sum, carry = bits.Add64(sum, 0, carry)
	return fold(sum, carry)
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
