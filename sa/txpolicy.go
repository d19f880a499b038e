package sa

import (
	"fmt"
	"slices"
)

func policyError(verb string, p *Policy, err error) error {
	return fmt.Errorf("%s policy dir %v src %v dst %v: %w", verb, p.Dir, p.Sel.Src, p.Sel.Dst, err)
}

// AddPolicy adds a policy; the settings are copied. The error wraps ErrExists
// if the direction has one of that selector, or what Validate reports.
func (tx *Tx) AddPolicy(p *Policy) error {
	if err := tx.putPolicy(p, false); err != nil {
		return policyError("add", p, err)
	}
	return nil
}

// UpdatePolicy replaces the policy of that direction and selector, or adds it,
// as the kernel does. Index, and packet count, go on; so does the age unless the
// priority changes.
func (tx *Tx) UpdatePolicy(p *Policy) error {
	if err := tx.putPolicy(p, true); err != nil {
		return policyError("update", p, err)
	}
	return nil
}

func (tx *Tx) putPolicy(p *Policy, replace bool) error {
	if tx.done {
		return errTxDone
	}
	if err := p.Validate(); err != nil {
		return err
	}
	db := tx.db
	c := *p
	c.Templates = slices.Clone(p.Templates)
	ps := &PolicyState{match: compile(&c.Sel), policy: &c, added: db.options.Now()}
	ps.acquire.events = &db.acquires
	if len(c.Templates) > 0 && c.Action == ActionAllow {
		ps.tmpl = &c.Templates[0]
	}
	db.order++
	ps.order = db.order
	if old := db.policies.byKey[ps.key()]; old != nil {
		if !replace {
			return ErrExists
		}
		tx.removePolicy(old)
		c.Index = old.index
		ps.packets.Store(old.packets.Load())
		ps.lastUse.Store(old.lastUse.Load())
		if old.policy.Priority == c.Priority {
			ps.order = old.order
		}
	}
	ps.index = db.policies.index(c.Dir, c.Index)
	c.Index = ps.index
	db.policies.link(ps)
	tx.policies = append(tx.policies, ps)
	tx.onRollback(func() { db.policies.unlink(ps) })
	return nil
}

func (tx *Tx) removePolicy(p *PolicyState) {
	db := tx.db
	db.policies.unlink(p)
	tx.policies = append(tx.policies, p)
	tx.onRollback(func() { db.policies.link(p) })
}

// GetPolicy returns the policy of that direction and selector, nil if there is
// none.
func (tx *Tx) GetPolicy(dir Direction, sel Selector) *PolicyState {
	return tx.db.policies.byKey[policyKey{dir, sel}]
}

// GetPolicyIndex returns the policy of that index, nil if there is none or it
// is of another direction.
func (tx *Tx) GetPolicyIndex(dir Direction, index uint32) *PolicyState {
	if p := tx.db.policies.byIndex[index]; p != nil && p.policy.Dir == dir {
		return p
	}
	return nil
}

// DeletePolicy removes the policy of that direction and selector. The error
// wraps ErrNotFound.
func (tx *Tx) DeletePolicy(dir Direction, sel Selector) error {
	p := tx.GetPolicy(dir, sel)
	if p == nil {
		return policyError("delete", &Policy{Dir: dir, Sel: sel}, ErrNotFound)
	}
	tx.removePolicy(p)
	return nil
}

// DeletePolicyIndex removes the policy of that direction and index. The error
// wraps ErrNotFound.
func (tx *Tx) DeletePolicyIndex(dir Direction, index uint32) error {
	p := tx.GetPolicyIndex(dir, index)
	if p == nil {
		return fmt.Errorf("delete policy dir %v index %d: %w", dir, index, ErrNotFound)
	}
	tx.removePolicy(p)
	return nil
}

// DeletePolicies removes the policies that filter chooses and returns how many
// they were.
func (tx *Tx) DeletePolicies(filter PolicyFilter) int {
	chosen := slices.Collect(tx.Policies(filter))
	for _, p := range chosen {
		tx.removePolicy(p)
	}
	return len(chosen)
}

// FlushPolicies removes every policy and returns how many they were.
func (tx *Tx) FlushPolicies() int { return tx.DeletePolicies(nil) }
