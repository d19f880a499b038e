package sa

import "slices"

// newClassifier makes the classifier of policies of one family.
func newClassifier(ps []*PolicyState, v6 bool) *classifier {
	ordered := slices.Clone(ps)
	slices.SortFunc(ordered, func(a, b *PolicyState) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	words := (len(ordered) + 63) / 64
	c := &classifier{
		v6: v6, at: make([]policyEntry, len(ordered)), sets: newNodeSets(words), any: make([]dimWords, words), anySum: make([]dimWords, (words+63)/64),
	}
	src, dst := map[prefixKey][]int32{}, map[prefixKey][]int32{}
	proto, srcPort, dstPort := map[uint8][]int32{}, map[uint16][]int32{}, map[uint16][]int32{}
	for i, p := range ordered {
		s, at := &p.policy.Sel, int32(i)
		c.at[i] = p.entry()
		addOrAny(c, dimSrc, s.Src.Bits() == 0, src, prefixKey{p.match.src, prefixBits(s.Src)}, at)
		addOrAny(c, dimDst, s.Dst.Bits() == 0, dst, prefixKey{p.match.dst, prefixBits(s.Dst)}, at)
		addOrAny(c, dimProto, s.Proto == 0, proto, s.Proto, at)
		addOrAny(c, dimSrcPort, s.SrcMask != 0xffff, srcPort, s.SrcPort, at)
		addOrAny(c, dimDstPort, s.DstMask != 0xffff, dstPort, s.DstPort, at)
		c.partial = c.partial || isPartial(s.SrcMask) || isPartial(s.DstMask)
	}
	c.src = buildPrefixIndex(prefixList(src), v6, &c.sets)
	c.dst = buildPrefixIndex(prefixList(dst), v6, &c.sets)
	c.proto = c.sets.protoIndex(proto)
	c.srcPort, c.dstPort = c.sets.portIndex(srcPort), c.sets.portIndex(dstPort)
	c.fine = c.proto != nil || c.srcPort != nil || c.dstPort != nil || c.partial
	return c
}

func isPartial(mask uint16) bool { return mask != 0 && mask != 0xffff }

// addOrAny notes the policy at position at under its value, or among those that
// accept every value.
func addOrAny[K comparable](c *classifier, dim int, any bool, m map[K][]int32, value K, at int32) {
	if !any {
		m[value] = append(m[value], at)
		return
	}
	c.any[at>>6][dim] |= 1 << (at & 63)
	c.anySum[at>>12][dim] |= 1 << (at >> 6 & 63)
}

func prefixList(m map[prefixKey][]int32) []prefixOf {
	list := make([]prefixOf, 0, len(m))
	for k, positions := range m {
		list = append(list, prefixOf{k, positions})
	}
	return list
}

func (s *nodeSets) protoIndex(m map[uint8][]int32) *[256]*node {
	if len(m) == 0 {
		return nil
	}
	x := new([256]*node)
	for proto, positions := range m {
		x[proto] = s.node(positions)
	}
	return x
}

func (s *nodeSets) portIndex(m map[uint16][]int32) *portIndex {
	if len(m) == 0 {
		return nil
	}
	x := new(portIndex)
	for port, positions := range m {
		page := &x[port>>8]
		if *page == nil {
			*page = new([256]*node)
		}
		(*page)[port&0xff] = s.node(positions)
	}
	return x
}

// node is the set of positions, on its own.
func (s *nodeSets) node(positions []int32) *node {
	return new(s.on(&builtNode{node: emptyNode}, positions).node)
}
