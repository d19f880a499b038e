package sa

// spiIndex finds SAs by destination and SPI. An IPv4 key is one word, so that
// 100,000 SAs take 2 MB.
type spiIndex struct {
	v4 cowMap[uint64, *SA]
	v6 cowMap[spiKey6, *SA]
}

type spiKey6 struct {
	dst Addr
	spi uint32 // never 0
}

func spiKey4(dst Addr, spi uint32) uint64 { return dst.Lo<<32 | uint64(spi) }

func newSPIIndex(shards int) spiIndex {
	return spiIndex{newCowMap[uint64, *SA](shards, hashSPI4), newCowMap[spiKey6, *SA](shards, hashSPI6)}
}

func (x *spiIndex) find(dst Addr, v6 bool, spi uint32) *SA {
	var s **SA
	if v6 {
		k := spiKey6{dst, spi}
		s = x.v6.find(k, hashSPI6(k))
	} else {
		k := spiKey4(dst, spi)
		s = x.v4.find(k, hashSPI4(k))
	}
	if s == nil {
		return nil
	}
	return *s
}

// spiEditor makes the next spiIndex.
type spiEditor struct {
	v4 *cowEditor[uint64, *SA]
	v6 *cowEditor[spiKey6, *SA]
}

func (x *spiIndex) edit() *spiEditor { return &spiEditor{x.v4.edit(), x.v6.edit()} }

func (x *spiEditor) done() spiIndex { return spiIndex{x.v4.cowMap, x.v6.cowMap} }

// put adds s, in the place of what has the same key.
func (x *spiEditor) put(s *SA) {
	if s.V6() {
		x.v6.put(spiKey6{s.dst, s.spi}, s)
	} else {
		x.v4.put(spiKey4(s.dst, s.spi), s)
	}
}

// remove takes s out, if it is s that is there.
func (x *spiEditor) remove(s *SA) {
	if s.V6() {
		k := spiKey6{s.dst, s.spi}
		if v := x.v6.get(k); v != nil && *v == s {
			x.v6.remove(k)
		}
		return
	}
	k := spiKey4(s.dst, s.spi)
	if v := x.v4.get(k); v != nil && *v == s {
		x.v4.remove(k)
	}
}
