package sa

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// ivLabel separates this use of a key from every other.
const ivLabel = "espgw ESP IV 1"

// IVMask derives the 64-bit constant that makes an SA's IVs: the IV on the wire
// is the 64-bit sequence number XOR this constant (RFC 4106, section 3.1 leaves
// the choice of IVs to the sender as long as none repeats under a key).
//
// It is the first 8 octets, read as a big-endian number, of HKDF-SHA256
// (RFC 5869) over key and salt, without a salt of its own, with the info
// "espgw ESP IV 1" || SPI || family (4 or 6) || source || destination, the
// addresses in 16 octets. So two SAs that share a key have constants that have
// nothing to do with each other, and both gateways of an SA know the same one.
func IVMask(p *Params) uint64 {
	info := make([]byte, 0, len(ivLabel)+4+1+32)
	info = append(info, ivLabel...)
	info = binary.BigEndian.AppendUint32(info, p.SPI)
	family := byte(6)
	if p.Dst.Is4() {
		family = 4
	}
	info = append(info, family)
	src, dst := p.Src.As16(), p.Dst.As16()
	info = append(info, src[:]...)
	info = append(info, dst[:]...)
	out, err := hkdf.Key(sha256.New, p.Key.Bytes(), nil, string(info), 8)
	if err != nil { // only for lengths that this one is not
		panic(fmt.Sprintf("sa: HKDF: %v", err))
	}
	return binary.BigEndian.Uint64(out)
}
