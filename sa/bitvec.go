package sa

import "math/bits"

// node is the set of policies that one value of one dimension belongs to: one
// position, and where the rest is. Most sets are one position.
type node struct {
	at   uint32 // noPosition: none
	rest uint32 // 0: none; isVector|n: a bit vector; else a word
}

const (
	// noPosition is the position of a node that has none of its own.
	noPosition = ^uint32(0)
	// isVector marks the place of a bit vector in the place of a word's.
	isVector = 1 << 31
)

var emptyNode = node{at: noPosition}

// setWord is a word of a set, and where the rest is, as in a node.
type setWord struct {
	bits uint64
	word uint32
	rest uint32
}

// nodeSets is where the rests of nodes are: those of prefixes inside a prefix
// share its set.
type nodeSets struct {
	words []setWord // 0 is not used
	// vectors are sparse bit vectors, one behind the other: for every 64 words
	// a bit for each that is not 0 and the number of those in front, and then
	// these words. So one look at memory tells what a vector has, and a second
	// gets it.
	vectors []uint64
	sums    int // 64 words each
}

// sumAt tells which of the words 64*i..64*i+63 of n may differ from 0.
func (s *nodeSets) sumAt(n *node, i int) uint64 {
	var sum uint64
	if int(n.at>>12) == i {
		sum = 1 << (n.at >> 6 & 63)
	}
	if n.rest != 0 {
		sum |= s.restSumAt(n.rest, i)
	}
	return sum
}

func (s *nodeSets) restSumAt(rest uint32, i int) (sum uint64) {
	for rest != 0 {
		if rest&isVector != 0 {
			return sum | s.vectors[int(rest&^isVector)+2*i]
		}
		n := &s.words[rest]
		if int(n.word>>6) == i {
			sum |= 1 << (n.word & 63)
		}
		rest = n.rest
	}
	return sum
}

// wordAt gives word k of n.
func (s *nodeSets) wordAt(n *node, k int) uint64 {
	var w uint64
	if int(n.at>>6) == k {
		w = 1 << (n.at & 63)
	}
	if n.rest != 0 {
		w |= s.restWordAt(n.rest, k)
	}
	return w
}

func (s *nodeSets) restWordAt(rest uint32, k int) (w uint64) {
	for rest != 0 {
		if rest&isVector != 0 {
			return w | s.vectorWordAt(int(rest&^isVector), k)
		}
		n := &s.words[rest]
		if int(n.word) == k {
			w |= n.bits
		}
		rest = n.rest
	}
	return w
}

func (s *nodeSets) vectorWordAt(start, k int) uint64 {
	sum := s.vectors[start+2*(k>>6) : start+2*(k>>6)+2]
	if sum[0]>>(k&63)&1 == 0 {
		return 0
	}
	before := int(sum[1]) + bits.OnesCount64(sum[0]&(1<<(k&63)-1))
	return s.vectors[start+2*s.sums+before]
}
