package sa

// rootBits is how many leading bits of an address the root of a prefixIndex
// tells apart.
const rootBits = 16

// fewLengths is up to how many lengths beyond the root are searched in every
// block, without asking which the block has. An index of up to fewPrefixes has
// no root at all: its arrays would be larger than the rest.
const (
	fewLengths  = 2
	fewPrefixes = 1024
)

// prefixIndex finds the node of the longest prefix that covers an address. The
// node is the set of the policies of all prefixes that do, so that is all there
// is to find.
//
// The leading 16 bits of the address choose a block: its node under prefixes of
// up to 16 bits, and the list of longer lengths that the block has. Over these
// lengths a binary search runs through one hash table (Waldvogel et al. 1997,
// with markers that already hold the node of the best match). So it takes one
// probe where all prefixes have one length, as in most SPDs, however many there
// are, and no more than 5 (IPv4) or 7 (IPv6) for the worst mix.
//
// The multibit trie of gaissmai/bart was tried first and is the better choice
// for one lookup in a big routing table. Here two lookups and the policy behind
// them must stay within three times their cost for one policy, and what a trie
// costs grows with the levels that it reads: six times from 1 to 10,000 random
// prefixes, with nodes of several hundred octets.
type prefixIndex struct {
	few    []maskLen   // the lengths of every block; nil: see block
	block  []uint16    // index of sets by block; nil: no prefix beyond the root
	sets   [][]maskLen // ascending lengths
	root   []uint32    // index of short by block; nil: no prefix up to the root
	short  []node      // nodes of prefixes up to the root; 0 is empty
	table4 []prefixEntry[uint64]
	table6 []prefixEntry[prefixKey]
}

type maskLen struct {
	mask Addr
	bits uint8 // of 128
}

type prefixKey struct {
	addr Addr
	bits uint8 // of 128
}

// prefixEntry is a prefix or a marker; the zero key is a free entry.
type prefixEntry[K comparable] struct {
	key  K
	node node
}

func rootOf(a Addr, v6 bool) uint64 {
	if v6 {
		return a.Hi >> 48
	}
	return a.Lo >> 16 & 0xffff
}

// key4 packs an IPv4 prefix, of which it takes the low 32 bits. Its length is
// never 0 here.
func key4(a uint64, bits uint8) uint64 { return a<<32>>24 | uint64(bits) }

func hashKey4(k uint64) uint64 { return mix(k^hashSeed[0], hashSeed[1]) }

func hashKey6(k prefixKey) uint64 {
	return mix(k.addr.Hi^hashSeed[0]+uint64(k.bits), k.addr.Lo^hashSeed[1])
}

func (x *prefixIndex) lengths(block uint64) []maskLen {
	if x.few != nil {
		return x.few
	}
	if x.block != nil {
		return x.sets[x.block[block]]
	}
	return nil
}

func (x *prefixIndex) find4(a Addr) *node {
	block := rootOf(a, false)
	set := x.lengths(block)
	var best *node
	for lo, hi := 0, len(set); lo < hi; {
		mid := int(uint(lo+hi) >> 1)
		m := &set[mid]
		k := key4(a.Lo&m.mask.Lo, m.bits)
		if n := probe(x.table4, k, hashKey4(k)); n != nil {
			best, lo = n, mid+1
		} else {
			hi = mid
		}
	}
	if best != nil {
		return best
	}
	return x.rootNode(block)
}

func (x *prefixIndex) find6(a Addr) *node {
	block := rootOf(a, true)
	set := x.lengths(block)
	var best *node
	for lo, hi := 0, len(set); lo < hi; {
		mid := int(uint(lo+hi) >> 1)
		k := prefixKey{a.and(set[mid].mask), set[mid].bits}
		if n := probe(x.table6, k, hashKey6(k)); n != nil {
			best, lo = n, mid+1
		} else {
			hi = mid
		}
	}
	if best != nil {
		return best
	}
	return x.rootNode(block)
}

func (x *prefixIndex) rootNode(block uint64) *node {
	if x.root != nil {
		return &x.short[x.root[block]]
	}
	return &emptyNode
}

func probe[K comparable](table []prefixEntry[K], key K, h uint64) *node {
	var free K
	for mask := uint64(len(table) - 1); ; h++ {
		e := &table[h&mask]
		if e.key == key {
			return &e.node
		}
		if e.key == free {
			return nil
		}
	}
}
