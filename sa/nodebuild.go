package sa

import (
	"math/bits"
	"slices"
)

// maxSingles is how many single words a set has at most before its bitvec.
const maxSingles = 4

// builtNode is a node while its index is made.
type builtNode struct {
	node
	singles int    // words of node and its rests in front of a bitvec
	shared  uint32 // rest that is all of this node, once something is on top of it
}

// on gives the set of base and of positions, which ascend. Sets on the same base
// share it: prefixes inside a prefix with many policies do not copy these.
func (s *nodeSets) on(base *builtNode, positions []int32) builtNode {
	own := wordsOf(positions)
	if len(own) == 0 {
		return builtNode{node: base.node, singles: base.singles}
	}
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
		n.rest = s.shared(base)
	case len(own) <= maxSingles:
		n.rest, n.singles = s.flat(base), 0
	default:
		n.rest, n.singles = s.flatten(base.node, own), 0
		return n
	}
	for i, w := range own {
		w.rest = n.rest
		if n.singles++; i < len(own)-1 {
			w.rest = s.add(nodeRest{node: w})
			n.rest = w.rest
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

func (s *nodeSets) add(r nodeRest) uint32 {
	if len(*s) == 0 {
		*s = append(*s, nodeRest{})
	}
	*s = append(*s, r)
	return uint32(len(*s) - 1)
}

// shared is a rest that is all of n.
func (s *nodeSets) shared(n *builtNode) uint32 {
	if n.word == noWord {
		return n.rest
	}
	if n.shared == 0 {
		n.shared = s.add(nodeRest{node: n.node})
	}
	return n.shared
}

// flat is a rest that is all of n in one bitvec, and what is built on n from
// now on uses it.
func (s *nodeSets) flat(n *builtNode) uint32 {
	if n.word == noWord && (n.rest == 0 || (*s)[n.rest].vec != nil) {
		return n.rest
	}
	if n.shared == 0 || (*s)[n.shared].vec == nil {
		n.shared = s.flatten(n.node, nil)
	}
	return n.shared
}

// flatten makes one bitvec of n and more words.
func (s *nodeSets) flatten(n node, words []node) uint32 {
	words = append(slices.Clone(words), s.words(n)...)
	slices.SortFunc(words, func(a, b node) int { return int(a.word) - int(b.word) })
	v := &bitvec{}
	for i, w := range words {
		if i > 0 && words[i-1].word == w.word {
			v.words[len(v.words)-1] |= w.bits
			continue
		}
		for len(v.sum) <= int(w.word>>6) {
			v.sum = append(v.sum, 0)
		}
		v.sum[w.word>>6] |= 1 << (w.word & 63)
		v.words = append(v.words, w.bits)
	}
	v.rank = make([]uint32, len(v.sum))
	for i := 1; i < len(v.sum); i++ {
		v.rank[i] = v.rank[i-1] + uint32(bits.OnesCount64(v.sum[i-1]))
	}
	v.words = slices.Clip(v.words)
	return s.add(nodeRest{node: emptyNode, vec: v})
}

// words lists the words of n; one may come more than once.
func (s *nodeSets) words(n node) (words []node) {
	for {
		if n.word != noWord {
			words = append(words, n)
		}
		if n.rest == 0 {
			return words
		}
		r := &(*s)[n.rest]
		if r.vec != nil {
			return append(words, r.vec.list()...)
		}
		n = r.node
	}
}

func (v *bitvec) list() (words []node) {
	for i, s := range v.sum {
		for ; s != 0; s &= s - 1 {
			words = append(words, node{word: uint32(i<<6 + bits.TrailingZeros64(s)), bits: v.words[len(words)]})
		}
	}
	return words
}
