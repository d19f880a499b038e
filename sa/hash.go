package sa

import (
	"math/bits"
	"math/rand/v2"
)

// The seeds of this process: nobody can choose SPIs or addresses that collide.
var hashSeed = [3]uint64{rand.Uint64() | 1, rand.Uint64() | 1, rand.Uint64() | 1}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

func hashSPI(dst Addr, spi uint32) uint64 {
	return mix(mix(dst.Hi^hashSeed[0], dst.Lo^hashSeed[1])^uint64(spi), hashSeed[2])
}

func hashPair(src, dst Addr, reqID uint32) uint64 {
	s := mix(src.Hi^hashSeed[0], src.Lo^hashSeed[1])
	d := mix(dst.Hi^hashSeed[1], dst.Lo^hashSeed[2])
	return mix(s^uint64(reqID), d^hashSeed[2])
}
