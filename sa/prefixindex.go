package sa

// maxRootBits is how many bits of an address the root of a prefixIndex tells
// apart at most.
const maxRootBits = 16

// fewLengths is up to how many lengths beyond the root are searched in every
// block, without asking which the block has.
const fewLengths = 2

// prefixIndex finds the node of the longest prefix that covers an address. The
// node is the set of the policies of all prefixes that do, so that is all there
// is to find.
//
// The bits behind those that all prefixes have in common, up to 16, choose a
// block: its node under prefixes that end there, and the list of longer lengths
// that the block has. Over these lengths a binary search runs through one hash
// table (Waldvogel et al. 1997, with markers that already hold the node of the
// best match). So it takes one probe where all prefixes have one length, as in
// most SPDs, however many there are, one or two for a random mix of lengths, and
// no more than 5 (IPv4) or 7 (IPv6) for the worst.
//
// The multibit trie of gaissmai/bart was tried first and is the better choice
// for one lookup in a big routing table. Here two lookups and the policy behind
// them must stay within three times their cost for one policy, and what a trie
// costs grows with the levels that it reads: six times from 1 to 10,000 random
// prefixes, with nodes of several hundred octets.
type prefixIndex struct {
	common Addr      // what all prefixes begin with
	mask   Addr      // how long that is
	few    []maskLen // the lengths of every block; nil: see root
	// root has for each block the number of its lengths in sets, and that of
	// its node in short; nil: there is but one block, with lengths few.
	root   []rootBlock
	shift  uint8 // the block is in the bits above
	sets   [][]maskLen
	short  []node
	table4 []prefixEntry[uint64]
	table6 []prefixEntry[prefixKey]
}

type rootBlock struct{ set, short uint16 }

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

// key4 packs an IPv4 prefix, of which it takes the low 32 bits. Its length is
// never 0 here.
func key4(a uint64, bits uint8) uint64 { return a<<32>>24 | uint64(bits) }

func hashKey4(k uint64) uint64 { return mix(k^hashSeed[0], hashSeed[1]) }

func hashKey6(k prefixKey) uint64 {
	return mix(k.addr.Hi^hashSeed[0]+uint64(k.bits), k.addr.Lo^hashSeed[1])
}

// blockOf is the number of an address's block in root.
func (x *prefixIndex) blockOf(a Addr) uint64 {
	v := a.Hi<<1<<(63-x.shift&63) | a.Lo>>(x.shift&63)
	if x.shift >= 64 {
		v = a.Hi >> (x.shift & 63)
	}
	return v & uint64(len(x.root)-1)
}

func (x *prefixIndex) find4(a Addr) *node {
	if (a.Lo^x.common.Lo)&x.mask.Lo != 0 {
		return &emptyNode
	}
	set, best := x.few, &emptyNode
	if x.root != nil {
		b := &x.root[a.Lo>>(x.shift&63)&uint64(len(x.root)-1)]
		set, best = x.sets[b.set], &x.short[b.short]
	}
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
	return best
}

func (x *prefixIndex) find6(a Addr) *node {
	if a.and(x.mask) != x.common {
		return &emptyNode
	}
	set, best := x.few, &emptyNode
	if x.root != nil {
		b := &x.root[x.blockOf(a)]
		set, best = x.sets[b.set], &x.short[b.short]
	}
	for lo, hi := 0, len(set); lo < hi; {
		mid := int(uint(lo+hi) >> 1)
		k := prefixKey{a.and(set[mid].mask), set[mid].bits}
		if n := probe(x.table6, k, hashKey6(k)); n != nil {
			best, lo = n, mid+1
		} else {
			hi = mid
		}
	}
	return best
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
