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
	singles int    // positions and words in front of a vector
	shared  uint32 // rest that is all of this node, once something is on top of it
}

// newNodeSets makes room for sets of that many words.
func newNodeSets(words int) nodeSets {
	return nodeSets{words: make([]setWord, 1), sums: (words + 63) / 64}
}

// on gives the set of base and of positions, which ascend. Sets on the same base
// share it: prefixes inside a prefix with many policies do not copy these.
func (s *nodeSets) on(base *builtNode, positions []int32) builtNode {
	own := wordsOf(positions)
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
	n.singles += len(own)
	if len(positions) == 1 {
		n.at = uint32(positions[0])
		return n
	}
	for _, w := range own {
		w.rest = n.rest
		n.rest = s.add(w)
	}
	return n
}

// wordsOf cuts ascending positions into words.
func wordsOf(positions []int32) (words []setWord) {
	for _, p := range positions {
		k := uint32(p >> 6)
		if n := len(words); n == 0 || words[n-1].word != k {
			words = append(words, setWord{word: k})
		}
		words[len(words)-1].bits |= 1 << (p & 63)
	}
	return words
}

func (s *nodeSets) add(w setWord) uint32 {
	s.words = append(s.words, w)
	return uint32(len(s.words) - 1)
}

func (n *node) own() setWord {
	return setWord{bits: 1 << (n.at & 63), word: n.at >> 6, rest: n.rest}
}

// share is a rest that is all of n.
func (s *nodeSets) share(n *builtNode) uint32 {
	if n.at == noPosition {
		return n.rest
	}
	if n.shared == 0 {
		n.shared = s.add(n.own())
	}
	return n.shared
}

// flat is a rest that is all of n in one vector, and what is built on n from
// now on uses it.
func (s *nodeSets) flat(n *builtNode) uint32 {
	if n.at == noPosition && (n.rest == 0 || n.rest&isVector != 0) {
		return n.rest
	}
	if n.shared&isVector == 0 {
		n.shared = s.vector(n.node, nil)
	}
	return n.shared
}

// vector makes one vector of n and more words.
func (s *nodeSets) vector(n node, words []setWord) uint32 {
	words = append(slices.Clone(words), s.list(n)...)
	slices.SortFunc(words, func(a, b setWord) int { return int(a.word) - int(b.word) })
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

// list gives the words of n; one may come more than once.
func (s *nodeSets) list(n node) (words []setWord) {
	if n.at != noPosition {
		words = append(words, n.own())
	}
	rest := n.rest
	for ; rest != 0 && rest&isVector == 0; rest = s.words[rest].rest {
		words = append(words, s.words[rest])
	}
	if rest == 0 {
		return words
	}
	for k := range 64 * s.sums {
		if w := s.vectorWordAt(int(rest&^isVector), k); w != 0 {
			words = append(words, setWord{word: uint32(k), bits: w})
		}
	}
	return words
}
