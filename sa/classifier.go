package sa

import "slices"

// classifier finds the policies that match a flow, in the order of the SPD.
type classifier struct {
	ordered []*PolicyState
}

func newClassifier(ps []*PolicyState) *classifier {
	c := &classifier{ordered: slices.Clone(ps)}
	slices.SortFunc(c.ordered, func(a, b *PolicyState) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return c
}

// search walks the policies that match.
type search struct {
	c     *classifier
	f     *Flow
	ports bool
	next_ int
}

// search starts a walk over the policies whose family, addresses and protocol
// match f and, with ports, whose ports do.
func (c *classifier) search(f *Flow, ports bool) search { return search{c: c, f: f, ports: ports} }

// next returns the next match, nil at the end.
func (s *search) next() *PolicyState {
	for s.next_ < len(s.c.ordered) {
		p := s.c.ordered[s.next_]
		s.next_++
		if p.match.matchesAddrs(s.f) && (!s.ports || p.match.matchesPorts(s.f)) {
			return p
		}
	}
	return nil
}
