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

// maxRootPrefixes is how many prefixes a root can number.
const maxRootPrefixes = 60000

// prefixBuilder makes a prefixIndex.
type prefixBuilder struct {
	prefixIndex
	v6      bool
	nodes   *nodeSets
	rootEnd uint8      // prefixes up to here, of 128, are in the root
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
func buildPrefixIndex(ps []prefixOf, v6 bool, nodes *nodeSets) prefixIndex {
	if len(ps) == 0 {
		return prefixIndex{}
	}
	slices.SortFunc(ps, func(a, b prefixOf) int {
		if c := a.addr.compare(b.addr); c != 0 {
			return c
		}
		return int(a.bits) - int(b.bits)
	})
	b := prefixBuilder{v6: v6, nodes: nodes}
	b.chooseRoot(ps)
	b.makeTable(ps)
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

// chooseRoot finds what the sorted prefixes have in common, and gives each block
// behind that the list of its lengths.
func (b *prefixBuilder) chooseRoot(ps []prefixOf) {
	var all [129]bool
	common := commonBits(ps[0].addr, ps[len(ps)-1].addr)
	for i := range ps {
		all[ps[i].bits] = true
		common = min(common, ps[i].bits)
	}
	b.mask = maskOf(common)
	b.common = ps[0].addr.and(b.mask)
	b.rootEnd = common
	if few := maskLens(&all); len(few) <= fewLengths || len(ps) > maxRootPrefixes {
		b.few, b.rootEnd = few, 0
		return
	}
	b.rootEnd += uint8(min(bits.Len(uint(len(ps)))+2, maxRootBits, 128-int(common)))
	b.shift = 128 - b.rootEnd
	b.root = make([]rootBlock, 1<<(b.rootEnd-common))
	b.short, b.sets = []node{emptyNode}, [][]maskLen{nil}
	ids := map[string]uint16{"": 0}
	for i := 0; i < len(ps); {
		block, lengths := b.blockOf(ps[i].addr), [129]bool{}
		for ; i < len(ps) && b.blockOf(ps[i].addr) == block; i++ {
			lengths[ps[i].bits] = ps[i].bits > b.rootEnd
		}
		b.root[block].set = b.setOf(&lengths, ids)
	}
}

func commonBits(a, b Addr) uint8 {
	if a.Hi != b.Hi {
		return uint8(bits.LeadingZeros64(a.Hi ^ b.Hi))
	}
	return uint8(64 + bits.LeadingZeros64(a.Lo^b.Lo))
}

func maskLens(lengths *[129]bool) (set []maskLen) {
	for n, is := range lengths {
		if is {
			set = append(set, maskLen{maskOf(uint8(n)), uint8(n)})
		}
	}
	return set
}

func (b *prefixBuilder) setOf(lengths *[129]bool, ids map[string]uint16) uint16 {
	set := maskLens(lengths)
	key := make([]byte, 0, len(set))
	for _, m := range set {
		key = append(key, m.bits)
	}
	id, ok := ids[string(key)]
	if !ok {
		id = uint16(len(b.sets))
		ids[string(key)] = id
		b.sets = append(b.sets, set)
	}
	return id
}

func (b *prefixBuilder) makeTable(ps []prefixOf) {
	long := 0
	for i := range ps {
		if ps[i].bits > b.rootEnd {
			long++
		}
	}
	size := 1 << bits.Len(uint(long)*3/2)
	if b.v6 {
		b.table6 = make([]prefixEntry[prefixKey], size)
	} else {
		b.table4 = make([]prefixEntry[uint64], size)
	}
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
	n := new(b.nodes.on(base, p.positions))
	if p.bits > b.rootEnd {
		b.addLong(p, n.node)
	} else {
		b.addShort(p, n.node)
	}
	b.path = append(b.path, pathNode{p.addr, maskOf(p.bits), p.bits, n})
}

// addShort enters a prefix into all blocks that it covers. Those inside it come
// later and take their part.
func (b *prefixBuilder) addShort(p *prefixOf, n node) {
	b.short = append(b.short, n)
	first := b.blockOf(p.addr)
	blocks := b.root[first : first+1<<(b.rootEnd-p.bits)]
	for i := range blocks {
		blocks[i].short = uint16(len(b.short) - 1)
	}
}

// addLong enters a prefix beyond the root, and the markers that lead a search
// to it.
func (b *prefixBuilder) addLong(p *prefixOf, n node) {
	set := b.few
	if b.root != nil {
		set = b.sets[b.root[b.blockOf(p.addr)].set]
	}
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
