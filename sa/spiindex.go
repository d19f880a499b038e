package sa

import "math/bits"

// spiIndex finds SAs by destination and SPI. It does not change once it is
// published: copy on write, in shards, as cowMap.
//
// A bucket is one cache line of three entries that are compared without a
// branch, and most lookups end with the first bucket: among 100,000 random keys
// the processor then seldom guesses wrong while it waits for memory, and goes on
// with the next packet meanwhile.
type spiIndex struct {
	shards [][]spiBucket // a power of two
}

const spiBucketSize = 3

type spiBucket struct {
	addrs [spiBucketSize]uint64 // see spiKey; 0: free
	sas   [spiBucketSize]*SA
	spis  [spiBucketSize]uint32
	// over: not 0 says that entries of this bucket are in the next. Not all buckets of a
	// shard may have it, or a lookup would not end.
	over uint32
}

func newSPIIndex(shards int) spiIndex { return spiIndex{make([][]spiBucket, shards)} }

// spiKey tells destinations apart: an IPv4 address by itself, an IPv6 address
// by a 64-bit hash under a seed of this process. It is never 0.
func spiKey(dst Addr, v6 bool) uint64 {
	if v6 {
		h := mix(dst.Hi^hashSeed[0], dst.Lo^hashSeed[1])
		return h + isZero(h)
	}
	return dst.Lo
}

func hashSPI(addr uint64, spi uint32) uint64 {
	return mix(addr^hashSeed[0]^uint64(spi)<<32, hashSeed[1])
}

func (x *spiIndex) find(dst Addr, v6 bool, spi uint32) *SA {
	addr := spiKey(dst, v6)
	h := hashSPI(addr, spi)
	shard := x.shards[h&uint64(len(x.shards)-1)]
	if len(shard) == 0 {
		return nil
	}
	for i := h >> 32 * uint64(len(shard)) >> 32; ; {
		b := &shard[i]
		if hit := b.match(addr, spi); hit != 0 {
			return b.sas[hit>>1%spiBucketSize]
		}
		if b.over == 0 {
			return nil
		}
		if i++; i == uint64(len(shard)) {
			i = 0
		}
	}
}

// match gives 1, 2 or 4 for the entry with this key.
func (b *spiBucket) match(addr uint64, spi uint32) uint64 {
	return isZero(b.addrs[0]^addr|uint64(b.spis[0]^spi)) |
		isZero(b.addrs[1]^addr|uint64(b.spis[1]^spi))<<1 |
		isZero(b.addrs[2]^addr|uint64(b.spis[2]^spi))<<2
}

func isZero(x uint64) uint64 {
	_, borrow := bits.Sub64(x, 1, 0)
	return borrow
}

// spiEditor makes the next spiIndex.
type spiEditor struct {
	spiIndex
	copied bool
	owned  map[uint64]int // shards that are copies already; their entries
}

func (x *spiIndex) edit() *spiEditor { return &spiEditor{spiIndex: *x, owned: map[uint64]int{}} }

func (x *spiEditor) done() spiIndex { return x.spiIndex }

func (s *SA) hashSPI() uint64 { return hashSPI(spiKey(s.dst, s.V6()), s.spi) }

// put adds s, in the place of what has the same key.
func (x *spiEditor) put(s *SA) {
	n := x.own(s.hashSPI())
	if b, i := x.entry(s); b != nil {
		b.sas[i] = s
		return
	}
	shard := &x.shards[n]
	used := x.owned[n] + 1
	if used*2 > len(*shard)*4 {
		*shard = resizedSPIs(*shard, used*5/9+1)
	}
	placeSPI(*shard, s)
	x.owned[n] = used
}

// remove takes s out, if it is s that is there.
func (x *spiEditor) remove(s *SA) {
	n := x.own(s.hashSPI())
	b, i := x.entry(s)
	if b == nil || b.sas[i] != s {
		return
	}
	b.addrs[i], b.spis[i], b.sas[i] = 0, 0, nil
	shard := &x.shards[n]
	x.owned[n]--
	switch used := x.owned[n]; {
	case used == 0:
		*shard = nil
	case used < len(*shard):
		*shard = resizedSPIs(*shard, used*5/9+1)
	case overflowed(*shard):
		// Marks of what has gone must not stay: a shard is filled to two thirds at most, so
		// those of what is there are not everywhere.
		*shard = resizedSPIs(*shard, len(*shard))
	}
}

func overflowed(shard []spiBucket) bool {
	for i := range shard {
		if shard[i].over != 0 {
			return true
		}
	}
	return false
}

// entry is where the key of s is, nil if it is not there.
func (x *spiEditor) entry(s *SA) (b *spiBucket, n int) {
	shard := x.shards[s.hashSPI()&uint64(len(x.shards)-1)]
	if len(shard) == 0 {
		return nil, 0
	}
	for i := int(s.hashSPI() >> 32 * uint64(len(shard)) >> 32); ; i = (i + 1) % len(shard) {
		b := &shard[i]
		if hit := b.match(spiKey(s.dst, s.V6()), s.spi); hit != 0 {
			return b, int(hit >> 1)
		}
		if b.over == 0 {
			return nil, 0
		}
	}
}

// own makes the shard of h one that may be changed, and returns its number.
func (x *spiEditor) own(h uint64) uint64 {
	n := h & uint64(len(x.shards)-1)
	if _, ok := x.owned[n]; ok {
		return n
	}
	if !x.copied {
		x.copied = true
		x.shards = append([][]spiBucket(nil), x.shards...)
	}
	x.shards[n] = append([]spiBucket(nil), x.shards[n]...)
	used := 0
	for i := range x.shards[n] {
		for _, s := range x.shards[n][i].sas {
			if s != nil {
				used++
			}
		}
	}
	x.owned[n] = used
	return n
}

func resizedSPIs(old []spiBucket, size int) []spiBucket {
	shard := make([]spiBucket, size)
	for i := range old {
		for _, s := range old[i].sas {
			if s != nil {
				placeSPI(shard, s)
			}
		}
	}
	return shard
}

// placeSPI enters an SA that is not there into a shard that has room.
func placeSPI(shard []spiBucket, s *SA) {
	for i := int(s.hashSPI() >> 32 * uint64(len(shard)) >> 32); ; i = (i + 1) % len(shard) {
		b := &shard[i]
		for j := range b.sas {
			if b.sas[j] == nil {
				b.addrs[j], b.spis[j], b.sas[j] = spiKey(s.dst, s.V6()), s.spi, s
				return
			}
		}
		b.over = 1
	}
}
