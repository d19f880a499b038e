package sa

import "fmt"

// Config is a whole configuration, as a file holds it.
type Config struct {
	States   []*Params
	Policies []*Policy
	Defaults map[Direction]Action
}

// Reconcile applies the difference between two configurations: it removes what
// only old has, adds what new has and is not there, and updates what is not the
// same in both. What both have alike is left alone, with its state, also when it
// was deleted or has expired since: an SA that was replaced over the control
// socket must not come back as the newest one. What neither has stays. Either may
// be nil for an empty one.
func (tx *Tx) Reconcile(old, new *Config) error {
	if old == nil {
		old = &Config{}
	}
	if new == nil {
		new = &Config{}
	}
	if err := tx.reconcileStates(old, new); err != nil {
		return fmt.Errorf("apply configuration: %w", err)
	}
	if err := tx.reconcilePolicies(old, new); err != nil {
		return fmt.Errorf("apply configuration: %w", err)
	}
	for _, dir := range []Direction{DirIn, DirOut, DirForward} {
		if old.Defaults[dir] == new.Defaults[dir] {
			continue
		}
		if err := tx.SetDefault(dir, new.Defaults[dir]); err != nil {
			return fmt.Errorf("apply configuration: %w", err)
		}
	}
	return nil
}

func (tx *Tx) reconcileStates(old, new *Config) error {
	was := map[stateKey]*Params{}
	for _, p := range old.States {
		was[p.ID.key()] = p
	}
	is := map[stateKey]bool{}
	for _, p := range new.States {
		is[p.ID.key()] = true
	}
	for _, p := range old.States {
		if s := tx.GetState(p.ID); s != nil && !is[p.ID.key()] {
			tx.remove(s)
		}
	}
	for _, p := range new.States {
		running := tx.GetState(p.ID)
		var err error
		before := was[p.ID.key()]
		if running == nil && before != nil && before.Equal(p) {
			continue
		}
		if running == nil {
			err = tx.AddState(p)
		} else if before == nil || !before.Equal(p) {
			err = tx.UpdateState(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) reconcilePolicies(old, new *Config) error {
	key := func(p *Policy) policyKey { return policyKey{p.Dir, p.Sel} }
	was := map[policyKey]*Policy{}
	for _, p := range old.Policies {
		was[key(p)] = p
	}
	is := map[policyKey]bool{}
	for _, p := range new.Policies {
		is[key(p)] = true
	}
	for _, p := range old.Policies {
		if s := tx.GetPolicy(p.Dir, p.Sel); s != nil && !is[key(p)] {
			tx.removePolicy(s)
		}
	}
	for _, p := range new.Policies {
		running := tx.GetPolicy(p.Dir, p.Sel)
		var err error
		before := was[key(p)]
		if running == nil && before != nil && before.Equal(p) {
			continue
		}
		if running == nil {
			err = tx.AddPolicy(p)
		} else if before == nil || !before.Equal(p) {
			err = tx.UpdatePolicy(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
