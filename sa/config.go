package sa

import (
	"cmp"
	"iter"
	"slices"
)

// Config returns copies of all settings that the Tx sees, oldest first, so that
// adding them in order gives the same again. The caller wipes the keys when it
// is done (Config.Wipe).
func (tx *Tx) Config() *Config {
	c := &Config{Defaults: tx.Defaults()}
	for s := range tx.States(nil) {
		c.States = append(c.States, s.Params().clone())
	}
	slices.Reverse(c.States) // States lists the newest first
	states := slices.Collect(tx.Policies(nil))
	slices.SortFunc(states, func(a, b *PolicyState) int { return cmp.Compare(a.order, b.order) })
	for _, p := range states {
		settings := *p.policy
		settings.Templates = slices.Clone(p.policy.Templates)
		c.Policies = append(c.Policies, &settings)
	}
	return c
}

// Wipe overwrites the keys of c.
func (c *Config) Wipe() {
	for _, p := range c.States {
		p.Key.Wipe()
	}
}

// ExpiredStates goes through the SAs that have reached a hard limit and stay in
// lookups so that their packets are counted as expired, oldest first.
func (tx *Tx) ExpiredStates() iter.Seq[*SA] {
	var expired []*SA
	for _, s := range tx.db.tombs {
		expired = append(expired, s)
	}
	slices.SortFunc(expired, func(a, b *SA) int { return cmp.Compare(a.order, b.order) })
	return slices.Values(expired)
}
