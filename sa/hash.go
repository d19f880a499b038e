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

func hashPair4(k pairKey4) uint64 {
	return mix(mix(k.addrs^hashSeed[0], hashSeed[1])^uint64(k.reqID), hashSeed[2])
}

func hashPair6(k pairKey6) uint64 {
	s := mix(k.src.Hi^hashSeed[0], k.src.Lo^hashSeed[1])
	d := mix(k.dst.Hi^hashSeed[1], k.dst.Lo^hashSeed[2])
	return mix(s^uint64(k.reqID), d^hashSeed[2])
}
