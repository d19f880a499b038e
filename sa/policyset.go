package sa

import "slices"

// policySet is the policies of one direction and family. It never changes.
//
// A classifier takes milliseconds to make when there are many policies, so a
// change of few makes a small one for those that were added since the big one
// was made, and leaves out those that were removed: two lookups instead of one,
// until so many have changed that the big one is made anew.
type policySet struct {
	base   *classifier
	dead   []uint64    // positions of base that were removed; nil: none
	gone   int         // how many these are
	recent *classifier // nil: none
}

// Below smallSet policies every change makes one classifier of all.
const smallSet = 256

// maxRecent is how many policies may be recent or dead beside n.
func maxRecent(n int) int { return 64 + n/64 }

func newPolicySet(ps []*PolicyState, v6 bool) *policySet {
	return &policySet{base: newClassifier(ps, v6)}
}

// changed makes the set without those removed and with those added, or returns
// nil if it should be made anew.
func (s *policySet) changed(added, removed []*PolicyState) *policySet {
	n := len(s.base.at)
	if n < smallSet || len(added)+len(removed) > maxRecent(n) {
		return nil
	}
	next := *s
	var recent []*PolicyState
	if s.recent != nil {
		for i := range s.recent.at {
			recent = append(recent, s.recent.at[i].state)
		}
	}
	recent = append(recent, added...)
	recent = slices.DeleteFunc(recent, func(p *PolicyState) bool { return slices.Contains(removed, p) })
	next.dead = slices.Clone(s.dead)
	for _, p := range removed {
		if at, ok := s.base.position(p); ok {
			if next.dead == nil {
				next.dead = make([]uint64, len(s.base.any))
			}
			next.dead[at>>6] |= 1 << (at & 63)
			next.gone++
		}
	}
	if len(recent) > maxRecent(n) || next.gone > maxRecent(n) {
		return nil
	}
	next.recent = nil
	if len(recent) > 0 {
		next.recent = newClassifier(recent, s.base.v6)
	}
	return &next
}

// position finds p in SPD order.
func (c *classifier) position(p *PolicyState) (at int, ok bool) {
	at, _ = slices.BinarySearchFunc(c.at, p, func(e policyEntry, p *PolicyState) int {
		if e.state.before(p) {
			return -1
		}
		return 1
	})
	return at, at < len(c.at) && c.at[at].state == p
}

// first returns the policy that decides about f, nil if none does.
func (s *policySet) first(f *Flow) *policyEntry {
	p := s.base.first(f, s.dead)
	if s.recent == nil {
		return p
	}
	return earlier(p, s.recent.first(f, nil))
}

// earlier returns the one of two matches that comes first in the SPD.
func earlier(p, q *policyEntry) *policyEntry {
	if p == nil || q != nil && q.state.before(p.state) {
		return q
	}
	return p
}

// search walks the policies that match a flow, in SPD order.
type search struct {
	base, recent cursor
	p, q         *policyEntry // the next of each
}

func (s *search) start(set *policySet, f *Flow, by searchBy) {
	s.base.start(set.base, f, by, set.dead)
	s.p = s.base.next()
	if set.recent != nil {
		s.recent.start(set.recent, f, by, nil)
		s.q = s.recent.next()
	}
}

// next returns the next match, nil at the end.
func (s *search) next() *policyEntry {
	e := earlier(s.p, s.q)
	switch {
	case e == nil:
	case e == s.p:
		s.p = s.base.next()
	default:
		s.q = s.recent.next()
	}
	return e
}
