package packet

import "encoding/binary"

var (
	macs = []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1}
	src4 = []byte{192, 0, 2, 1}
	dst4 = []byte{198, 51, 100, 2}
	src6 = []byte{0x20, 1, 0xd, 0xb8, 0, 0xa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
	dst6 = []byte{0x20, 1, 0xd, 0xb8, 0, 0xb, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}
)

func concat(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// ether is an Ethernet frame; types are the EtherType and, before it, the TPIDs
// of tags.
func ether(payload []byte, types ...uint16) []byte {
	b := concat(macs)
	for i, t := range types {
		b = binary.BigEndian.AppendUint16(b, t)
		if i < len(types)-1 {
			b = binary.BigEndian.AppendUint16(b, uint16(0x2000+i))
		}
	}
	return append(b, payload...)
}

// ip4 is an IPv4 packet; fragment is the flags and offset field.
func ip4(proto byte, fragment uint16, options, payload []byte) []byte {
	b := concat([]byte{0x45 + byte(len(options)/4), 0, 0, 0, 0x12, 0x34, 0, 0, 64, proto, 0, 0}, src4, dst4, options, payload)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	binary.BigEndian.PutUint16(b[6:], fragment)
	checksum4(b)
	return b
}

// checksum4 computes the header checksum word by word.
func checksum4(b []byte) {
	b[10], b[11] = 0, 0
	binary.BigEndian.PutUint16(b[10:], 0xffff-naiveSum(b[:min(len(b), int(b[0]&15)*4)]))
}

func naiveSum(b []byte) uint16 {
	sum := 0
	for i, v := range b {
		if i%2 == 0 {
			sum += int(v) << 8
		} else {
			sum += int(v)
		}
	}
	for sum > 0xffff {
		sum = sum/0x10000 + sum%0x10000
	}
	return uint16(sum)
}

// ip6 is an IPv6 packet whose first header is of type next.
func ip6(next byte, parts ...[]byte) []byte {
	payload := concat(parts...)
	b := concat([]byte{0x60, 0, 0, 0, 0, 0, next, 64}, src6, dst6, payload)
	binary.BigEndian.PutUint16(b[4:], uint16(len(payload)))
	return b
}

// ext is an extension header of 8+8*more octets.
func ext(next, more byte) []byte {
	return append([]byte{next, more}, make([]byte, 6+8*int(more))...)
}

// frag is a fragment header; v is offset (in octets) and the M flag.
func frag(next byte, v uint16) []byte {
	return []byte{next, 0, byte(v >> 8), byte(v), 0, 0, 0, 7}
}

func ports4(src, dst uint16, more ...byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, src)
	return append(binary.BigEndian.AppendUint16(b, dst), more...)
}
