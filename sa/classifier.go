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

// first returns the policy that decides about f, nil if none does.
func (c *classifier) first(f *Flow) *policyEntry {
	if c.fine {
		var s search
		s.start(c, f, byPorts)
		return s.next()
	}
	if len(c.at) == 0 {
		return nil
	}
	src, dst := c.findAddrs(f)
	for i := range c.anySum {
		a := &c.anySum[i]
		sum := (a[dimSrc] | c.sets.sumAt(src, i)) & (a[dimDst] | c.sets.sumAt(dst, i))
		for ; sum != 0; sum &= sum - 1 {
			k := i<<6 + bits.TrailingZeros64(sum)
			a := &c.any[k]
			word := (a[dimSrc] | c.sets.wordAt(src, k)) & (a[dimDst] | c.sets.wordAt(dst, k))
			if word != 0 {
				return &c.at[k<<6+bits.TrailingZeros64(word)]
			}
		}
	}
	return nil
}

// What a search looks at besides the addresses.
type searchBy uint8

const (
	byAddrs searchBy = iota // addresses only
	byProto                 // and the protocol
	byPorts                 // and the ports
)

// search walks the policies that match a flow, in SPD order.
type search struct {
	c                *classifier
	f                *Flow
	by               searchBy
	src, dst         *node
	proto            *node
	srcPort, dstPort *node

	i    int    // of anySum
	sum  uint64 // its words yet to look at
	k    int    // of any
	word uint64 // its policies yet to look at
}

// start starts a walk.
func (s *search) start(c *classifier, f *Flow, by searchBy) {
	s.c, s.f, s.by, s.i = c, f, by, -1
	if len(c.at) == 0 {
		return
	}
	s.src, s.dst = c.findAddrs(f)
	if !c.fine {
		s.by = byAddrs
		return
	}
	if by != byAddrs {
		s.proto = c.findProto(f.Proto)
	}
	if by == byPorts {
		s.srcPort, s.dstPort = c.srcPort.find(f.SrcPort), c.dstPort.find(f.DstPort)
	}
}

// next returns the next match, nil at the end.
func (s *search) next() *policyEntry {
	for {
		for s.word == 0 {
			for s.sum == 0 {
				if s.i++; s.i >= len(s.c.anySum) {
					return nil
				}
				s.sum = s.sumAt(s.i)
			}
			s.k = s.i<<6 + bits.TrailingZeros64(s.sum)
			s.sum &= s.sum - 1
			s.word = s.wordAt(s.k)
		}
		p := &s.c.at[s.k<<6+bits.TrailingZeros64(s.word)]
		s.word &= s.word - 1
		if !s.c.partial || s.by != byPorts || p.state.match.matchesPorts(s.f) {
			return p
		}
	}
}

func (s *search) sumAt(i int) uint64 {
	a, sets := &s.c.anySum[i], s.c.sets
	sum := (a[dimSrc] | sets.sumAt(s.src, i)) & (a[dimDst] | sets.sumAt(s.dst, i))
	if s.by != byAddrs {
		sum &= a[dimProto] | sets.sumAt(s.proto, i)
	}
	if s.by == byPorts {
		sum &= (a[dimSrcPort] | sets.sumAt(s.srcPort, i)) & (a[dimDstPort] | sets.sumAt(s.dstPort, i))
	}
	return sum
}

func (s *search) wordAt(k int) uint64 {
	a, sets := &s.c.any[k], s.c.sets
	word := (a[dimSrc] | sets.wordAt(s.src, k)) & (a[dimDst] | sets.wordAt(s.dst, k))
	if s.by != byAddrs {
		word &= a[dimProto] | sets.wordAt(s.proto, k)
	}
	if s.by == byPorts {
		word &= (a[dimSrcPort] | sets.wordAt(s.srcPort, k)) & (a[dimDstPort] | sets.wordAt(s.dstPort, k))
	}
	return word
}
