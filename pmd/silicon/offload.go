package silicon

import "encoding/binary"

// L4 types of a context.
const (
	l4UDP = 0
	l4TCP = 1
)

// fillIPv4 computes the IPv4 header checksum. For IPsec packets the card sums 20
// octets whatever IPLEN says.
func (c *Card) fillIPv4(context *txContext, frame []byte, ipsec bool) {
	start, length := context.macLen(), context.ipLen()
	if ipsec {
		length = 20
	}
	if length < 20 || start+length > len(frame) || frame[start]>>4 != 4 || int(frame[start]&0xf)*4 != length {
		c.breach(BreachHeaders, "IPv4 checksum over %d octets from %d on", length, start)
		return
	}
	header := frame[start : start+length]
	header[10], header[11] = 0, 0
	binary.BigEndian.PutUint16(header[10:], ^fold(sum(header, 0)))
}

// fillL4 finishes the TCP or UDP checksum, whose field holds the sum of the pseudo
// header.
func (c *Card) fillL4(context *txContext, frame []byte) {
	start := context.macLen() + context.ipLen()
	at := start + 6
	if context.l4Type() == l4TCP {
		at = start + 16
	}
	if context.l4Type() > l4TCP || at+2 > len(frame) {
		c.breach(BreachHeaders, "L4 checksum of type %d from %d on", context.l4Type(), start)
		return
	}
	v := ^fold(sum(frame[start:], 0))
	if v == 0 && context.l4Type() == l4UDP {
		v = 0xffff
	}
	binary.BigEndian.PutUint16(frame[at:], v)
}

// segment cuts a packet of TCP into segments of the context's size, each with headers
// of its own (7.2.4).
func (c *Card) segment(n int, high uint64, context *txContext, frame []byte) {
	l3, l4 := context.macLen(), context.macLen()+context.ipLen()
	data := l4 + context.l4Len()
	size := context.segmentSize()
	v4 := l3 < len(frame) && frame[l3]>>4 == 4
	least := 40
	if v4 {
		least = 20
	}
	if context.l4Type() != l4TCP || size == 0 || context.l4Len() < 20 || context.ipLen() < least || data > len(frame) {
		c.breach(BreachHeaders, "segmentation: headers of %d, %d, %d octets, segments of %d",
			l3, context.ipLen(), context.l4Len(), size)
		return
	}
	if v4 != context.v4() {
		c.breach(BreachVersion, "segmentation: IPV4 is %v, the packet's version %d", context.v4(), frame[l3]>>4)
	}
	if int(high>>46) != len(frame)-data {
		c.breach(BreachFraming, "segmentation: PAYLEN is %d of %d octets", high>>46, len(frame)-data)
	}
	id, sequence, flags := binary.BigEndian.Uint16(frame[l3+4:]), binary.BigEndian.Uint32(frame[l4+4:]), frame[l4+13]
	segment := make([]byte, 0, data+size+4+60)
	for at, k := data, 0; at < len(frame); k++ {
		end := min(at+size, len(frame))
		segment = append(append(segment[:0], frame[:data]...), frame[at:end]...)
		if v4 {
			binary.BigEndian.PutUint16(segment[l3+2:], uint16(len(segment)-l3))
			binary.BigEndian.PutUint16(segment[l3+4:], id+uint16(k))
			c.fillIPv4(context, segment, false)
		} else {
			binary.BigEndian.PutUint16(segment[l3+4:], uint16(len(segment)-l3-40))
		}
		binary.BigEndian.PutUint32(segment[l4+4:], sequence+uint32(at-data))
		segment[l4+13] = segmentFlags(flags, k == 0, end == len(frame))
		// The field holds the pseudo header's sum without the length.
		partial := uint64(binary.BigEndian.Uint16(segment[l4+16:]))
		segment[l4+16], segment[l4+17] = 0, 0
		binary.BigEndian.PutUint16(segment[l4+16:], ^fold(sum(segment[l4:], partial+uint64(len(segment)-l4))))
		c.emit(n, high, context, segment)
		at = end
	}
}

// segmentFlags are a segment's TCP flags: FIN and PSH belong to the last, CWR to the first
// (RFC 3168, 6.1.2). The card has masks for that, DTXTCPFLGL and DTXTCPFLGH; that this is
// their default was not looked up.
func segmentFlags(flags byte, first, last bool) byte {
	if !last {
		flags &^= 0x09
	}
	if !first {
		flags &^= 0x80
	}
	return flags
}

// sum adds up the 16-bit words of b (RFC 1071), not folded.
func sum(b []byte, start uint64) uint64 {
	s := start
	for len(b) >= 8 {
		v := binary.BigEndian.Uint64(b)
		s += v>>48 + v>>32&0xffff + v>>16&0xffff + v&0xffff
		b = b[8:]
	}
	for len(b) >= 2 {
		s += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		s += uint64(b[0]) << 8
	}
	return s
}

func fold(s uint64) uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return uint16(s)
}
