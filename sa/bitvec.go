package sa

import "math/bits"

// bitvec is a sparse set of policy positions: a bit of sum for every word that
// is not 0, and those words one behind the other.
type bitvec struct {
	sum   []uint64
	rank  []uint32 // words in front of those of sum[i]
	words []uint64
}

func (v *bitvec) sumAt(i int) uint64 {
	if i < len(v.sum) {
		return v.sum[i]
	}
	return 0
}

func (v *bitvec) wordAt(k int) uint64 {
	i, b := k>>6, uint(k&63)
	if i >= len(v.sum) || v.sum[i]>>b&1 == 0 {
		return 0
	}
	return v.words[int(v.rank[i])+bits.OnesCount64(v.sum[i]&(1<<b-1))]
}

// node is the set of policies that one value of one dimension belongs to: one
// word of it, and where the rest is.
type node struct {
	bits uint64
	word uint32 // noWord: none
	rest uint32 // index of a nodeRest; 0: none
}

// nodeRest is the rest of a set: another word and the rest of that, or a
// bitvec, which is always the last.
type nodeRest struct {
	node
	vec *bitvec
}

// noWord is the word of a node that has none of its own.
const noWord = ^uint32(0)

var emptyNode = node{word: noWord}

// nodeSets is where the rests of nodes are; 0 is not used.
type nodeSets []nodeRest

// sumAt tells which of the words 64*i..64*i+63 of n may differ from 0.
func (s nodeSets) sumAt(n *node, i int) uint64 {
	var sum uint64
	if int(n.word>>6) == i {
		sum = 1 << (n.word & 63)
	}
	if n.rest != 0 {
		sum |= s.restSumAt(n.rest, i)
	}
	return sum
}

func (s nodeSets) restSumAt(rest uint32, i int) (sum uint64) {
	for rest != 0 {
		r := &s[rest]
		if r.vec != nil {
			return sum | r.vec.sumAt(i)
		}
		if int(r.word>>6) == i {
			sum |= 1 << (r.word & 63)
		}
		rest = r.rest
	}
	return sum
}

// wordAt gives word k of n.
func (s nodeSets) wordAt(n *node, k int) uint64 {
	var w uint64
	if int(n.word) == k {
		w = n.bits
	}
	if n.rest != 0 {
		w |= s.restWordAt(n.rest, k)
	}
	return w
}

func (s nodeSets) restWordAt(rest uint32, k int) (w uint64) {
	for rest != 0 {
		r := &s[rest]
		if r.vec != nil {
			return w | r.vec.wordAt(k)
		}
		if int(r.word) == k {
			w |= r.bits
		}
		rest = r.rest
	}
	return w
}
