package sa

import "math/bits"

// What a search looks at besides the addresses.
type searchBy uint8

const (
	byAddrs searchBy = iota // addresses only
	byProto                 // and the protocol
	byPorts                 // and the ports
)

// cursor walks the policies of a classifier that match a flow, in SPD order.
type cursor struct {
	c                *classifier
	dead             []uint64
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
func (s *cursor) start(c *classifier, f *Flow, by searchBy, dead []uint64) {
	s.c, s.f, s.by, s.dead, s.i = c, f, by, dead, -1
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
func (s *cursor) next() *policyEntry {
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
			if s.dead != nil {
				s.word &^= s.dead[s.k]
			}
		}
		p := &s.c.at[s.k<<6+bits.TrailingZeros64(s.word)]
		s.word &= s.word - 1
		if !s.c.partial || s.by != byPorts || p.state.match.matchesPorts(s.f) {
			return p
		}
	}
}

func (s *cursor) sumAt(i int) uint64 {
	a, sets := &s.c.anySum[i], &s.c.sets
	sum := (a[dimSrc] | sets.sumAt(s.src, i)) & (a[dimDst] | sets.sumAt(s.dst, i))
	if s.by != byAddrs {
		sum &= a[dimProto] | sets.sumAt(s.proto, i)
	}
	if s.by == byPorts {
		sum &= (a[dimSrcPort] | sets.sumAt(s.srcPort, i)) & (a[dimDstPort] | sets.sumAt(s.dstPort, i))
	}
	return sum
}

func (s *cursor) wordAt(k int) uint64 {
	a, sets := &s.c.any[k], &s.c.sets
	word := (a[dimSrc] | sets.wordAt(s.src, k)) & (a[dimDst] | sets.wordAt(s.dst, k))
	if s.by != byAddrs {
		word &= a[dimProto] | sets.wordAt(s.proto, k)
	}
	if s.by == byPorts {
		word &= (a[dimSrcPort] | sets.wordAt(s.srcPort, k)) & (a[dimDstPort] | sets.wordAt(s.dstPort, k))
	}
	return word
}
