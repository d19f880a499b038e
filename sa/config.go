package sa

import (
	"cmp"
	"maps"
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

// expired are the SAs that are in lookups only, oldest first.
func (db *DB) expired() []*SA {
	return slices.SortedFunc(maps.Values(db.tombs), func(a, b *SA) int { return cmp.Compare(a.order, b.order) })
}
