package sa

import (
	"math/bits"
	"slices"
)

// prefixOf is one prefix and the positions of the policies that have it.
type prefixOf struct {
	prefixKey
	positions []int32 // ascending
}

// prefixBuilder makes a prefixIndex.
type prefixBuilder struct {
	prefixIndex
	v6      bool
	sets    *nodeSets
	rootEnd uint8 // bits of the root, of 128
	setIDs  map[string]uint16
	path    []pathNode // the prefixes that cover the one at hand
	used    int
}

type pathNode struct {
	addr, mask Addr
	bits       uint8
	node       *builtNode
}

// buildPrefixIndex makes an index of prefixes, which it sorts. All are longer
// than /0 of the family.
func buildPrefixIndex(ps []prefixOf, v6 bool, sets *nodeSets) prefixIndex {
	slices.SortFunc(ps, func(a, b prefixOf) int {
		if c := a.addr.compare(b.addr); c != 0 {
			return c
		}
		return int(a.bits) - int(b.bits)
	})
	b := prefixBuilder{v6: v6, sets: sets, rootEnd: rootBits, setIDs: map[string]uint16{}}
	if len(ps) <= fewPrefixes {
		b.rootEnd = 0
	}
	if !v6 {
		b.rootEnd += 96
	}
	b.short = []node{emptyNode}
	b.chooseLengths(ps)
	bottom := &builtNode{node: emptyNode}
	for i := range ps {
		b.add(&ps[i], bottom)
	}
	return b.prefixIndex
}

func (a Addr) compare(b Addr) int {
	if c := compare(a.Hi, b.Hi); c != 0 {
		return c
	}
	return compare(a.Lo, b.Lo)
}

// chooseLengths finds the lengths beyond the root of every block.
func (b *prefixBuilder) chooseLengths(ps []prefixOf) {
	var all [129]bool
	long := 0
	for i := range ps {
		if n := ps[i].bits; n > b.rootEnd {
			all[n] = true
			long++
		}
	}
	if long == 0 {
		return
	}
	size := 1 << bits.Len(uint(long)*3/2)
	if b.v6 {
		b.table6 = make([]prefixEntry[prefixKey], size)
	} else {
		b.table4 = make([]prefixEntry[uint64], size)
	}
	if few := maskLens(&all); len(few) <= fewLengths || len(ps) <= fewPrefixes {
		b.few = few
		return
	}
	b.prefixIndex.sets = [][]maskLen{nil}
	b.block = make([]uint16, 1<<rootBits)
	for i := 0; i < len(ps); {
		block, lengths := rootOf(ps[i].addr, b.v6), [129]bool{}
		for ; i < len(ps) && rootOf(ps[i].addr, b.v6) == block; i++ {
			lengths[ps[i].bits] = ps[i].bits > b.rootEnd
		}
		b.block[block] = b.setOf(&lengths)
	}
}

func maskLens(lengths *[129]bool) (set []maskLen) {
	for n, is := range lengths {
		if is {
			set = append(set, maskLen{maskOf(uint8(n)), uint8(n)})
		}
	}
	return set
}

func (b *prefixBuilder) setOf(lengths *[129]bool) uint16 {
	set := maskLens(lengths)
	if len(set) == 0 {
		return 0
	}
	key := make([]byte, 0, len(set))
	for _, m := range set {
		key = append(key, m.bits)
	}
	id, ok := b.setIDs[string(key)]
	if !ok {
		id = uint16(len(b.prefixIndex.sets))
		b.setIDs[string(key)] = id
		b.prefixIndex.sets = append(b.prefixIndex.sets, set)
	}
	return id
}

// add enters the next prefix in order; bottom is what is below all prefixes.
func (b *prefixBuilder) add(p *prefixOf, bottom *builtNode) {
	for len(b.path) > 0 {
		if top := &b.path[len(b.path)-1]; p.addr.and(top.mask) == top.addr {
			break
		}
		b.path = b.path[:len(b.path)-1]
	}
	base := bottom
	if len(b.path) > 0 {
		base = b.path[len(b.path)-1].node
	}
	n := new(b.sets.on(base, p.positions))
	if p.bits <= b.rootEnd {
		b.addShort(p, n.node)
	} else {
		b.addLong(p, n.node)
	}
	b.path = append(b.path, pathNode{p.addr, maskOf(p.bits), p.bits, n})
}

func (b *prefixBuilder) addShort(p *prefixOf, n node) {
	if b.root == nil {
		b.root = make([]uint32, 1<<rootBits)
	}
	b.short = append(b.short, n)
	first := rootOf(p.addr, b.v6)
	blocks := b.root[first : first+1<<(b.rootEnd-p.bits)]
	for i := range blocks {
		blocks[i] = uint32(len(b.short) - 1)
	}
}

// addLong enters a prefix beyond the root, and the markers that lead a search
// to it.
func (b *prefixBuilder) addLong(p *prefixOf, n node) {
	set := b.lengths(rootOf(p.addr, b.v6))
	for lo, hi := 0, len(set); lo < hi; {
		mid := int(uint(lo+hi) >> 1)
		switch m := &set[mid]; {
		case m.bits == p.bits:
			b.put(p.prefixKey, n)
			return
		case m.bits < p.bits:
			b.mark(prefixKey{p.addr.and(m.mask), m.bits})
			lo = mid + 1
		default:
			hi = mid
		}
	}
}

// mark enters a marker, unless there is one or the prefix itself. A marker
// holds the node of the longest prefix that covers it.
func (b *prefixBuilder) mark(k prefixKey) {
	if b.probe(k) != nil {
		return
	}
	covering := emptyNode
	for i := len(b.path) - 1; i >= 0; i-- {
		if b.path[i].bits <= k.bits {
			covering = b.path[i].node.node
			break
		}
	}
	b.put(k, covering)
}

func (b *prefixBuilder) probe(k prefixKey) *node {
	if b.v6 {
		return probe(b.table6, k, hashKey6(k))
	}
	k4 := key4(k.addr.Lo, k.bits)
	return probe(b.table4, k4, hashKey4(k4))
}

// put enters a key that is not there, or a prefix in the place of its marker.
func (b *prefixBuilder) put(k prefixKey, n node) {
	if at := b.probe(k); at != nil {
		*at = n
		return
	}
	b.used++
	if b.v6 {
		b.table6 = putPrefix(b.table6, prefixEntry[prefixKey]{k, n}, b.used, hashKey6)
		return
	}
	k4 := key4(k.addr.Lo, k.bits)
	b.table4 = putPrefix(b.table4, prefixEntry[uint64]{k4, n}, b.used, hashKey4)
}

func putPrefix[K comparable](table []prefixEntry[K], e prefixEntry[K], used int, hash func(K) uint64) []prefixEntry[K] {
	var free K
	if used*4 > len(table)*3 {
		old := table
		table = make([]prefixEntry[K], 2*len(old))
		for _, e := range old {
			if e.key != free {
				table = putPrefix(table, e, 0, hash)
			}
		}
	}
	i := hash(e.key)
	for table[i&uint64(len(table)-1)].key != free {
		i++
	}
	table[i&uint64(len(table)-1)] = e
	return table
}
