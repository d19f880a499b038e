package sa

import "slices"

// pairEntry holds the SAs of one source, destination and reqid, newest first.
// Most have one, which needs no slice.
type pairEntry struct {
	hash  uint64
	first *SA   // nil: free
	more  []*SA // behind first
}

// pairIndex finds the SAs that a transport-mode template may resolve to: those
// between a packet's own addresses with the template's reqid. It is built like
// spiIndex.
type pairIndex struct {
	shards [][]pairEntry
}

func newPairIndex(shards int) pairIndex { return pairIndex{make([][]pairEntry, shards)} }

func (s *SA) isPair(src, dst Addr, v6 bool, reqID uint32) bool {
	return s.dst == dst && s.src == src && s.reqID == reqID && s.V6() == v6
}

func (x *pairIndex) find(src, dst Addr, v6 bool, reqID uint32) *pairEntry {
	h := hashPair(src, dst, reqID)
	shard := x.shards[h>>32&uint64(len(x.shards)-1)]
	if len(shard) == 0 {
		return nil
	}
	for i := h; ; i++ {
		e := &shard[i&uint64(len(shard)-1)]
		if e.first == nil {
			return nil
		}
		if e.hash == h && e.first.isPair(src, dst, v6, reqID) {
			return e
		}
	}
}

// pairEditor makes the next pairIndex.
type pairEditor struct {
	pairIndex
	owned map[int]bool
}

func (x *pairIndex) edit() *pairEditor {
	return &pairEditor{
		pairIndex: pairIndex{append([][]pairEntry(nil), x.shards...)},
		owned:     map[int]bool{},
	}
}

func (x *pairEditor) put(s *SA) {
	h, n := x.own(s)
	if e := x.find(s.src, s.dst, s.V6(), s.reqID); e != nil {
		all := append([]*SA{s, e.first}, e.more...)
		slices.SortStableFunc(all, func(a, b *SA) int { return compare(b.order, a.order) })
		e.first, e.more = all[0], all[1:]
		return
	}
	shard := x.shards[n]
	used := 1
	for i := range shard {
		if shard[i].first != nil {
			used++
		}
	}
	if used*4 > len(shard)*3 {
		shard = rehashPairs(shard, max(2*len(shard), 4))
		x.shards[n] = shard
	}
	placePair(shard, pairEntry{hash: h, first: s})
}

func (x *pairEditor) remove(s *SA) {
	_, n := x.own(s)
	e := x.find(s.src, s.dst, s.V6(), s.reqID)
	if e == nil {
		return
	}
	rest := make([]*SA, 0, len(e.more))
	for _, o := range append([]*SA{e.first}, e.more...) {
		if o != s {
			rest = append(rest, o)
		}
	}
	if len(rest) > 0 {
		e.first, e.more = rest[0], rest[1:]
		return
	}
	e.first = nil
	x.shards[n] = rehashPairs(x.shards[n], len(x.shards[n]))
}

func (x *pairEditor) own(s *SA) (h uint64, n int) {
	h = hashPair(s.src, s.dst, s.reqID)
	n = int(h >> 32 & uint64(len(x.shards)-1))
	if !x.owned[n] {
		x.owned[n] = true
		x.shards[n] = append([]pairEntry(nil), x.shards[n]...)
	}
	return h, n
}

func rehashPairs(old []pairEntry, size int) []pairEntry {
	shard := make([]pairEntry, size)
	for _, e := range old {
		if e.first != nil {
			placePair(shard, e)
		}
	}
	return shard
}

func placePair(shard []pairEntry, e pairEntry) {
	i := e.hash
	for shard[i&uint64(len(shard)-1)].first != nil {
		i++
	}
	shard[i&uint64(len(shard)-1)] = e
}

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
