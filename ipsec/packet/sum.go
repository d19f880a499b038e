package packet

import (
	"encoding/binary"
	"math/bits"
)

// Sum is the one's complement sum of b's 16-bit words, not inverted (RFC 1071);
// an odd last octet counts as the high half of a word. It is 0 for octets that
// are all zero only; over a header that holds a right checksum it is 0xffff.
func Sum(b []byte) uint16 {
	var sum, carry uint64
	for len(b) >= 8 {
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b), carry)
		b = b[8:]
	}
	var rest uint64
	if len(b) >= 4 {
		rest = uint64(binary.BigEndian.Uint32(b))
		b = b[4:]
	}
	if len(b) >= 2 {
		rest += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		rest += uint64(b[0]) << 8
	}
	sum, carry = bits.Add64(sum, rest, carry)
	sum, carry = bits.Add64(sum, 0, carry)
	return fold(sum, carry)
}

// AddSums adds two sums of Sum.
func AddSums(a, b uint16) uint16 { return fold(uint64(a)+uint64(b), 0) }

func fold(sum, carry uint64) uint16 {
	sum = sum>>32 + sum&0xffffffff + carry
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	return uint16(sum)
}
