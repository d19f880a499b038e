package sa

import "slices"

// policyKey tells policies apart as the kernel does: 10.0.0.9/8 and 10.0.0.0/8
// match alike and are two policies.
type policyKey struct {
	dir Direction
	sel Selector
}

// policyStore is the writer's SPD.
type policyStore struct {
	byKey    map[policyKey]*PolicyState
	byIndex  map[uint32]*PolicyState
	newest   []*PolicyState // by age, oldest first
	indexGen uint32
	defaults [DirForward + 1]Action
}

func newPolicyStore() policyStore {
	return policyStore{byKey: map[policyKey]*PolicyState{}, byIndex: map[uint32]*PolicyState{}}
}

func (p *PolicyState) key() policyKey { return policyKey{p.policy.Dir, p.policy.Sel} }

// link puts p in at its age.
func (s *policyStore) link(p *PolicyState) {
	s.byKey[p.key()] = p
	s.byIndex[p.index] = p
	n, _ := slices.BinarySearchFunc(s.newest, p, byAge)
	s.newest = slices.Insert(s.newest, n, p)
}

func (s *policyStore) unlink(p *PolicyState) {
	delete(s.byKey, p.key())
	delete(s.byIndex, p.index)
	n, _ := slices.BinarySearchFunc(s.newest, p, byAge)
	s.newest = slices.Delete(s.newest, n, n+1)
}

func byAge(a, b *PolicyState) int { return compare(a.order, b.order) }

// index gives a new policy its number as the kernel does (xfrm_gen_index): the
// wished one if it is free, else the next of a count in steps of 8 with the
// direction in the low 3 bits.
func (s *policyStore) index(dir Direction, wish uint32) uint32 {
	for {
		n := wish
		if wish == 0 {
			n = s.indexGen | indexBits(dir)
			s.indexGen += 8
			if n == 0 {
				n = 8
			}
		}
		wish = 0
		if s.byIndex[n] == nil {
			return n
		}
	}
}

// of lists the policies of one table: those out, or those in and fwd.
func (s *policyStore) of(out, v6 bool) (list []*PolicyState) {
	for _, p := range s.newest {
		if (p.policy.Dir == DirOut) == out && p.match.v6 == v6 {
			list = append(list, p)
		}
	}
	return list
}
