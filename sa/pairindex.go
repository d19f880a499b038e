package sa

import "slices"

// pairIndex finds the SAs that a transport-mode template may resolve to: those
// between a packet's own addresses with the template's reqid. The key is a hash
// of these; no two pairs of one DB have the same.
type pairIndex struct {
	slotMap
	// chains are the lists of pairs that have more than one SA, oldest first.
	chains [][]*SA
	free   []uint32 // unused chains
}

// isChain marks the number of a chain in the place of a slot.
const isChain = 1 << 31

func newPairIndex(shards int) pairIndex { return pairIndex{slotMap: newSlotMap(shards)} }

func pairKey(src, dst Addr, v6 bool, reqID uint32) uint64 {
	if v6 {
		return notZero(mix(mixAddr(src)^uint64(reqID), mixAddr(dst)^hashSeed[2]))
	}
	addrs := src.Lo<<32 | dst.Lo&0xffff_ffff
	return notZero(mix(hashWord(addrs)^uint64(reqID), hashSeed[2]))
}

func (s *SA) pairKey() uint64 { return pairKey(s.src, s.dst, s.V6(), s.reqID) }

// isPair reports whether the SA is one of this pair; the hash may lie.
func (i *slotInfo) isPair(f *Flow, reqID uint32) bool {
	return i.dst == f.Dst && i.src == f.Src && i.reqID == reqID && i.v6 == f.V6
}

// pairEditor makes the next pairIndex.
type pairEditor struct {
	*slotEditor
	infos  slotInfos
	chains [][]*SA
	free   []uint32
	copied bool            // chains and free are ours
	owned  map[uint32]bool // chains that are copies already
}

func (x *pairIndex) edit(infos slotInfos) *pairEditor {
	return &pairEditor{
		slotEditor: x.slotMap.edit(hashSelf), infos: infos,
		chains: x.chains, free: x.free, owned: map[uint32]bool{},
	}
}

func (x *pairEditor) done() pairIndex { return pairIndex{x.slotMap, x.chains, x.free} }

// put adds s, which is newer than all others, to the SAs of its pair.
func (x *pairEditor) put(s *SA) {
	key := s.pairKey()
	switch v := x.get(key); {
	case v == noSlot:
		x.slotEditor.put(key, s.slot)
	case v&isChain == 0:
		chain := x.newChain()
		x.chains[chain] = []*SA{x.infos.sa(v), s}
		x.slotEditor.put(key, chain|isChain)
	default:
		chain := v &^ isChain
		x.ownChain(chain)
		x.chains[chain] = append(x.chains[chain], s)
	}
}

// remove takes out those SAs of s's pair that are leaving, s among them.
func (x *pairEditor) remove(s *SA) {
	key := s.pairKey()
	v := x.get(key)
	switch {
	case v == noSlot:
		return
	case v&isChain == 0:
		if v == s.slot {
			x.slotEditor.remove(key)
		}
		return
	case x.owned[v&^isChain]: // filtered already, for another of the pair
		return
	}
	chain := v &^ isChain
	x.ownChain(chain)
	rest := slices.DeleteFunc(x.chains[chain], func(o *SA) bool { return o.writer.leaving })
	x.chains[chain] = rest
	if len(rest) > 1 {
		return
	}
	x.chains[chain] = nil
	x.free = append(x.free, chain)
	if len(rest) == 1 {
		x.slotEditor.put(key, rest[0].slot)
	} else {
		x.slotEditor.remove(key)
	}
}

// ownChain makes chain n one that may be changed.
func (x *pairEditor) ownChain(n uint32) {
	x.copyChains()
	if !x.owned[n] {
		x.owned[n] = true
		x.chains[n] = slices.Clone(x.chains[n])
	}
}

func (x *pairEditor) copyChains() {
	if !x.copied {
		x.copied = true
		x.chains, x.free = slices.Clone(x.chains), slices.Clone(x.free)
	}
}

// newChain returns the number of an unused chain.
func (x *pairEditor) newChain() uint32 {
	x.copyChains()
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
