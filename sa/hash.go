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

func mixAddr(a Addr) uint64 { return mix(a.Hi^hashSeed[0], a.Lo^hashSeed[1]) }

// hashWord is the hash of a key that is exact.
func hashWord(k uint64) uint64 { return mix(k^hashSeed[0], hashSeed[1]) }

// hashSelf is the hash of a key that is a hash.
func hashSelf(k uint64) uint64 { return k }

// notZero keeps a hash from being the key of a free entry.
func notZero(h uint64) uint64 { return h + isZero(h) }
