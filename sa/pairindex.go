package sa

import "slices"

// pairIndex finds the SAs that a transport-mode template may resolve to: those
// between a packet's own addresses with the template's reqid.
type pairIndex struct {
	v4 cowMap[pairKey4, pairSAs]
	v6 cowMap[pairKey6, pairSAs]
	// chains are the lists of pairs that have more than one SA, oldest first.
	chains [][]*SA
	free   []uint32 // unused chains; 0 is never used
}

type pairKey4 struct {
	addrs uint64 // source, destination: never 0
	reqID uint32
}

type pairKey6 struct {
	src, dst Addr
	reqID    uint32
}

// pairSAs are the SAs of one pair: one, as most have, or a list.
type pairSAs struct {
	sa    *SA    // the newest
	slot  uint32 // of sa
	chain uint32 // index in chains; 0: only sa
}

func newPairIndex(shards int) pairIndex {
	return pairIndex{
		v4:     newCowMap[pairKey4, pairSAs](shards, hashPair4),
		v6:     newCowMap[pairKey6, pairSAs](shards, hashPair6),
		chains: make([][]*SA, 1),
	}
}

func pairKeyOf4(src, dst Addr, reqID uint32) pairKey4 {
	return pairKey4{src.Lo<<32 | dst.Lo&0xffff_ffff, reqID}
}

func (x *pairIndex) find(f *Flow, reqID uint32) *pairSAs {
	if f.V6 {
		k := pairKey6{f.Src, f.Dst, reqID}
		return x.v6.find(k, hashPair6(k))
	}
	k := pairKeyOf4(f.Src, f.Dst, reqID)
	return x.v4.find(k, hashPair4(k))
}

// pairEditor makes the next pairIndex.
type pairEditor struct {
	v4     *cowEditor[pairKey4, pairSAs]
	v6     *cowEditor[pairKey6, pairSAs]
	chains [][]*SA
	free   []uint32
	copied bool            // chains and free are ours
	owned  map[uint32]bool // chains that are copies already
}

func (x *pairIndex) edit() *pairEditor {
	return &pairEditor{
		v4: x.v4.edit(), v6: x.v6.edit(),
		chains: x.chains, free: x.free, owned: map[uint32]bool{},
	}
}

func (x *pairEditor) done() pairIndex {
	return pairIndex{x.v4.cowMap, x.v6.cowMap, x.chains, x.free}
}

// put adds s, which is newer than all others, to the SAs of its pair.
func (x *pairEditor) put(s *SA) {
	v := x.get(s)
	switch {
	case v == nil:
		x.set(s, &pairSAs{sa: s, slot: s.slot})
	case v.chain == 0:
		chain := x.newChain()
		x.chains[chain] = []*SA{v.sa, s}
		x.set(s, &pairSAs{sa: s, slot: s.slot, chain: chain})
	default:
		x.own(v.chain)
		x.chains[v.chain] = append(x.chains[v.chain], s)
		x.set(s, &pairSAs{sa: s, slot: s.slot, chain: v.chain})
	}
}

// remove takes out those SAs of s's pair that are leaving, s among them.
func (x *pairEditor) remove(s *SA) {
	v := x.get(s)
	if v == nil {
		return
	}
	rest := []*SA{v.sa}
	if v.chain != 0 {
		if x.owned[v.chain] { // filtered already, by another of the pair
			return
		}
		x.own(v.chain)
		rest = x.chains[v.chain]
	}
	rest = slices.DeleteFunc(rest, func(o *SA) bool { return o.writer.leaving })
	chain := v.chain
	if len(rest) < 2 && chain != 0 {
		x.chains[chain] = nil
		x.free = append(x.free, chain)
		chain = 0
	}
	if chain != 0 {
		x.chains[chain] = rest
	}
	if len(rest) == 0 {
		x.set(s, nil)
		return
	}
	newest := rest[len(rest)-1]
	x.set(s, &pairSAs{sa: newest, slot: newest.slot, chain: chain})
}

func (x *pairEditor) get(s *SA) *pairSAs {
	if s.V6() {
		return x.v6.get(pairKey6{s.src, s.dst, s.reqID})
	}
	return x.v4.get(pairKeyOf4(s.src, s.dst, s.reqID))
}

// set makes v the SAs of s's pair; nil is none.
func (x *pairEditor) set(s *SA, v *pairSAs) {
	k4, k6 := pairKeyOf4(s.src, s.dst, s.reqID), pairKey6{s.src, s.dst, s.reqID}
	switch {
	case s.V6() && v == nil:
		x.v6.remove(k6)
	case s.V6():
		x.v6.put(k6, *v)
	case v == nil:
		x.v4.remove(k4)
	default:
		x.v4.put(k4, *v)
	}
}

// own makes chain n one that may be changed.
func (x *pairEditor) own(n uint32) {
	x.copy()
	if !x.owned[n] {
		x.owned[n] = true
		x.chains[n] = slices.Clone(x.chains[n])
	}
}

func (x *pairEditor) copy() {
	if !x.copied {
		x.copied = true
		x.chains, x.free = slices.Clone(x.chains), slices.Clone(x.free)
	}
}

// newChain returns the index of an unused chain.
func (x *pairEditor) newChain() uint32 {
	x.copy()
	n := uint32(len(x.chains))
	if last := len(x.free) - 1; last >= 0 {
		n, x.free = x.free[last], x.free[:last]
	} else {
		x.chains = append(x.chains, nil)
	}
	x.owned[n] = true
	return n
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
