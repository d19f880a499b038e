package sa

import "math/bits"

// The dimensions of a policy's selector.
const (
	dimSrc = iota
	dimDst
	dimProto
	dimSrcPort
	dimDstPort
	dims
)

// classifier finds the policies of one direction and family that match a flow,
// in the order of the SPD. It never changes.
//
// Every policy has a position, in SPD order, and every dimension of a selector
// (two prefixes, protocol, two ports) maps a packet's value to the set of
// positions that it belongs to, a bit vector. The and of these vectors is the
// answer, its first bit the policy that decides (bit vector classification,
// Lakshman and Stiliadis 1998; with a summary bit for every word, Baboescu and
// Varghese 2001). Policies that accept every value of a dimension are not in
// the vectors of its values but in one vector of that dimension's own.
//
// Compared with hashing by the lengths of the two prefixes (tuple space) its
// cost does not depend on how many combinations of lengths there are: two
// searches for a prefix, and then a few words, because a word is only looked at
// when the summaries of all dimensions have it. At 10,000 policies there are 3
// words of summaries. What no mix of policies can exceed is one look at each of
// their N/64 words. See bench_test.go for what it costs.
//
// A port under a mask other than 0 and 0xffff counts as every port here and is
// compared with the policy itself.
type classifier struct {
	v6       bool
	fine     bool          // protocols or ports matter
	partial  bool          // some port masks are neither 0 nor 0xffff
	at       []policyEntry // by position
	any      []dimWords    // by word: policies that accept every value
	anySum   []dimWords    // by 64 words: which of any are not 0
	sets     nodeSets
	src, dst prefixIndex
	proto    *[256]*node
	srcPort  *portIndex
	dstPort  *portIndex
}

type dimWords [dims]uint64

// portIndex finds the node of a port, in two steps because few pages are used.
type portIndex [256]*[256]*node

func (x *portIndex) find(port uint16) *node {
	if x != nil {
		if page := x[port>>8]; page != nil {
			if n := page[port&0xff]; n != nil {
				return n
			}
		}
	}
	return &emptyNode
}

func (c *classifier) findProto(proto uint8) *node {
	if c.proto != nil {
		if n := c.proto[proto]; n != nil {
			return n
		}
	}
	return &emptyNode
}

func (c *classifier) findAddrs(f *Flow) (src, dst *node) {
	if c.v6 {
		return c.src.find6(f.Src), c.dst.find6(f.Dst)
	}
	return c.src.find4(f.Src), c.dst.find4(f.Dst)
}

// first returns the policy that decides about f, nil if none does. Positions in
// dead, a bit each, are left out; nil is none.
func (c *classifier) first(f *Flow, dead []uint64) *policyEntry {
	if len(c.at) == 0 {
		return nil
	}
	if c.fine {
		var s cursor
		s.start(c, f, byPorts, dead)
		return s.next()
	}
	src, dst := c.findAddrs(f)
	for i := range c.anySum {
		a := &c.anySum[i]
		sum := (a[dimSrc] | c.sets.sumAt(src, i)) & (a[dimDst] | c.sets.sumAt(dst, i))
		for ; sum != 0; sum &= sum - 1 {
			k := i<<6 + bits.TrailingZeros64(sum)
			a := &c.any[k]
			word := (a[dimSrc] | c.sets.wordAt(src, k)) & (a[dimDst] | c.sets.wordAt(dst, k))
			if dead != nil {
				word &^= dead[k]
			}
			if word != 0 {
				return &c.at[k<<6+bits.TrailingZeros64(word)]
			}
		}
	}
	return nil
}
