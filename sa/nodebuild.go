package sa

import (
	"math/bits"
	"slices"
)

// maxSingles is how many single words a set has at most before its vector.
const maxSingles = 4

// builtNode is a node while its index is made.
type builtNode struct {
	node
	singles int    // words of node and its rests in front of a vector
	shared  uint32 // rest that is all of this node, once something is on top of it
}

// newNodeSets makes room for sets of that many words.
func newNodeSets(words int) nodeSets {
	return nodeSets{nodes: make([]node, 1), sums: (words + 63) / 64}
}

// on gives the set of base and of positions, which ascend. Sets on the same base
// share it: prefixes inside a prefix with many policies do not copy these.
func (s *nodeSets) on(base *builtNode, positions []int32) builtNode {
	own := wordsOf(positions)
	if len(own) == 1 && (base.word == noWord || base.word == own[0].word) {
		n := builtNode{node: own[0], singles: base.singles}
		n.bits |= base.bits
		n.rest = base.rest
		if base.word == noWord {
			n.singles++
		}
		if n.singles <= maxSingles {
			return n
		}
	}
	n := builtNode{node: emptyNode, singles: base.singles}
	switch {
	case len(own)+base.singles <= maxSingles:
		n.rest = s.share(base)
	case len(own) <= maxSingles:
		n.rest, n.singles = s.flat(base), 0
	default:
		n.rest, n.singles = s.vector(base.node, own), 0
		return n
	}
	for i, w := range own {
		w.rest = n.rest
		if n.singles++; i < len(own)-1 {
			n.rest = s.add(w)
			continue
		}
		n.node = w
	}
	return n
}

// wordsOf cuts ascending positions into words.
func wordsOf(positions []int32) (words []node) {
	for _, p := range positions {
		k := uint32(p >> 6)
		if n := len(words); n == 0 || words[n-1].word != k {
			words = append(words, node{word: k})
		}
		words[len(words)-1].bits |= 1 << (p & 63)
	}
	return words
}

func (s *nodeSets) add(n node) uint32 {
	s.nodes = append(s.nodes, n)
	return uint32(len(s.nodes) - 1)
}

// share is a rest that is all of n.
func (s *nodeSets) share(n *builtNode) uint32 {
	if n.word == noWord {
		return n.rest
	}
	if n.shared == 0 {
		n.shared = s.add(n.node)
	}
	return n.shared
}

// flat is a rest that is all of n in one vector, and what is built on n from
// now on uses it.
func (s *nodeSets) flat(n *builtNode) uint32 {
	if n.word == noWord && (n.rest == 0 || n.rest&isVector != 0) {
		return n.rest
	}
	if n.shared&isVector == 0 {
		n.shared = s.vector(n.node, nil)
	}
	return n.shared
}

// vector makes one vector of n and more words.
func (s *nodeSets) vector(n node, words []node) uint32 {
	words = append(slices.Clone(words), s.words(n)...)
	slices.SortFunc(words, func(a, b node) int { return int(a.word) - int(b.word) })
	start := len(s.vectors)
	s.vectors = append(s.vectors, make([]uint64, 2*s.sums)...)
	for i, w := range words {
		if i > 0 && words[i-1].word == w.word {
			s.vectors[len(s.vectors)-1] |= w.bits
			continue
		}
		s.vectors[start+2*int(w.word>>6)] |= 1 << (w.word & 63)
		s.vectors = append(s.vectors, w.bits)
	}
	for i := 1; i < s.sums; i++ {
		before := s.vectors[start+2*i-2:]
		before[3] = before[1] + uint64(bits.OnesCount64(before[0]))
	}
	return uint32(start) | isVector
}

// words lists the words of n; one may come more than once.
func (s *nodeSets) words(n node) (words []node) {
	for {
		if n.word != noWord {
			words = append(words, n)
		}
		switch {
		case n.rest == 0:
			return words
		case n.rest&isVector != 0:
			return append(words, s.vectorWords(int(n.rest&^isVector))...)
		}
		n = s.nodes[n.rest]
	}
}

func (s *nodeSets) vectorWords(start int) (words []node) {
	for k := range 64 * s.sums {
		if w := s.vectorWordAt(start, k); w != 0 {
			words = append(words, node{word: uint32(k), bits: w})
		}
	}
	return words
}
