package sa

// spiEntry is one SA under its key; the key is beside the pointer so that a
// lookup ends without touching the SA.
type spiEntry struct {
	dst Addr
	spi uint32
	v6  bool
	sa  *SA // nil: free
}

// spiIndex finds SAs by destination and SPI: a hash table cut into shards, each
// an open-addressed table that does not change once published. The next
// snapshot shares all shards but those that changed, so adding an SA costs the
// same beside 1 as beside 100,000, and a lookup reads two places.
type spiIndex struct {
	shards [][]spiEntry // power of two; nil: empty
}

func newSPIIndex(shards int) spiIndex { return spiIndex{make([][]spiEntry, shards)} }

func (x *spiIndex) find(dst Addr, v6 bool, spi uint32) *SA {
	h := hashSPI(dst, spi)
	shard := x.shards[h>>32&uint64(len(x.shards)-1)]
	if len(shard) == 0 {
		return nil
	}
	for i := h; ; i++ {
		e := &shard[i&uint64(len(shard)-1)]
		if e.sa == nil {
			return nil
		}
		if e.spi == spi && e.dst == dst && e.v6 == v6 {
			return e.sa
		}
	}
}

// spiEditor makes the next spiIndex.
type spiEditor struct {
	spiIndex
	owned map[int]bool // shards that are copies already
}

func (x *spiIndex) edit() *spiEditor {
	return &spiEditor{
		spiIndex: spiIndex{append([][]spiEntry(nil), x.shards...)},
		owned:    map[int]bool{},
	}
}

// put adds s, in the place of what has the same key.
func (x *spiEditor) put(s *SA) {
	n := x.own(s)
	e := spiEntry{s.dst, s.spi, s.V6(), s}
	shard := x.shards[n]
	used := 1
	for i := range shard {
		if o := &shard[i]; o.sa != nil {
			if o.spi == e.spi && o.dst == e.dst && o.v6 == e.v6 {
				o.sa = s
				return
			}
			used++
		}
	}
	if used*4 > len(shard)*3 {
		shard = rehashSPI(shard, max(2*len(shard), 4), nil)
		x.shards[n] = shard
	}
	placeSPI(shard, e)
}

// remove takes s out, if it is s that is there.
func (x *spiEditor) remove(s *SA) {
	if x.find(s.dst, s.V6(), s.spi) != s {
		return
	}
	n := x.own(s)
	x.shards[n] = rehashSPI(x.shards[n], len(x.shards[n]), s)
}

// own makes s's shard one that may be changed, and returns its number.
func (x *spiEditor) own(s *SA) int {
	n := int(hashSPI(s.dst, s.spi) >> 32 & uint64(len(x.shards)-1))
	if !x.owned[n] {
		x.owned[n] = true
		x.shards[n] = append([]spiEntry(nil), x.shards[n]...)
	}
	return n
}

func rehashSPI(old []spiEntry, size int, without *SA) []spiEntry {
	shard := make([]spiEntry, size)
	empty := true
	for _, e := range old {
		if e.sa != nil && e.sa != without {
			placeSPI(shard, e)
			empty = false
		}
	}
	if empty && without != nil {
		return nil
	}
	return shard
}

func placeSPI(shard []spiEntry, e spiEntry) {
	i := hashSPI(e.dst, e.spi)
	for shard[i&uint64(len(shard)-1)].sa != nil {
		i++
	}
	shard[i&uint64(len(shard)-1)] = e
}
