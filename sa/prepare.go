package sa

import "slices"

// Prepare makes the next snapshot without publishing it, so that whatever the
// SAs need (engine sessions, flow rules) can be set up before they carry
// packets. The error wraps ErrInvalid if a direction that follows from the
// policies does not go with an SA's settings.
func (tx *Tx) Prepare() (*Change, error) {
	if tx.done {
		return nil, errTxDone
	}
	tx.evictTombs()
	base := tx.db.table.Load()
	t := &Table{
		spis: base.spis, pairs: base.pairs, status: base.status, out: base.out, in: base.in,
	}
	d := &tx.db.policies.defaults
	t.blockOut = d[DirOut] == ActionBlock
	t.blockIn = d[DirIn] == ActionBlock || d[DirForward] == ActionBlock
	c := &Change{Table: t}
	for _, s := range tx.removed {
		if !s.writer.fresh {
			c.Removed = append(c.Removed, s)
		}
	}
	for _, s := range tx.added {
		if tx.db.states[s.key()] == s {
			c.Added = append(c.Added, s)
		}
	}
	tx.prepareStates(t, c)
	tx.preparePolicies(t)
	if err := tx.prepareDirs(t, c); err != nil {
		return nil, err
	}
	c.Warnings = tx.warnings
	tx.change = c
	return c, nil
}

func (tx *Tx) prepareStates(t *Table, c *Change) {
	if len(c.Removed)+len(c.Added) == 0 {
		return
	}
	spis, pairs := t.spis.edit(), t.pairs.edit()
	for _, s := range c.Removed {
		s.writer.leaving = true
	}
	for _, s := range c.Removed {
		spis.remove(s)
		pairs.remove(s)
	}
	for _, s := range c.Removed {
		s.writer.leaving = false
	}
	for _, s := range c.Added {
		spis.put(s)
		pairs.put(s)
	}
	t.spis, t.pairs = spis.done(), pairs.done()
}

func (tx *Tx) preparePolicies(t *Table) {
	var out, in [2]bool // by family
	for _, p := range tx.policies {
		family := 0
		if p.match.v6 {
			family = 1
		}
		if p.policy.Dir == DirOut {
			out[family] = true
		} else {
			in[family] = true
		}
	}
	tx.rebuild(&t.out, out, true)
	tx.rebuild(&t.in, in, false)
}

func (tx *Tx) rebuild(d *spd, changed [2]bool, out bool) {
	for family, c := range []**classifier{&d.v4, &d.v6} {
		if !changed[family] {
			continue
		}
		var ps []*PolicyState
		for _, p := range tx.db.policies.newest {
			if p.match.v6 == (family == 1) && (p.policy.Dir == DirOut) == out {
				ps = append(ps, p)
			}
		}
		*c = newClassifier(ps, family == 1)
	}
}

// evictTombs keeps the number of expired SAs in lookups bounded.
func (tx *Tx) evictTombs() {
	db := tx.db
	for len(db.tombs) > maxTombs {
		s := db.tombAge[0]
		db.tombAge = db.tombAge[1:]
		if db.tombs[s.key()] == s {
			tx.dropTomb(s.key())
		}
	}
	if len(db.tombAge) > 2*maxTombs {
		db.tombAge = slices.DeleteFunc(db.tombAge, func(s *SA) bool { return db.tombs[s.key()] != s })
	}
}

// Commit makes what Prepare made the DB's Table, or prepares first. No worker
// may see Change.Table before: an SA that was added sends nothing until Commit
// has made sure that nothing else sends under its key and identity.
func (tx *Tx) Commit() error {
	if tx.done {
		return errTxDone
	}
	if tx.change == nil {
		if _, err := tx.Prepare(); err != nil {
			return err
		}
	}
	db, c := tx.db, tx.change
	for _, s := range c.Added {
		s.takeOverLive()
		s.fitWindow(db.options.DefaultWindow)
		s.writer.nonce.takeOver(s.live, s.writer.start)
		s.live.setLimits(&s.Params().Limits)
		db.clock.schedule(s.live)
	}
	for _, l := range tx.limits {
		if db.states[l.sa.key()] == l.sa {
			l.sa.params.Store(l.params)
			l.sa.live.setLimits(&l.params.Limits)
			db.clock.schedule(l.sa.live)
		}
	}
	for _, d := range tx.dirs {
		if !d.sa.writer.fresh {
			d.sa.turn(d.dir)
			d.sa.fitWindow(db.options.DefaultWindow)
		}
	}
	db.table.Store(c.Table)
	for _, s := range c.Removed {
		s.writer.removed = true
	}
	for _, s := range tx.added {
		if db.states[s.key()] != s { // came and went within the Tx
			s.Params().Key.Wipe()
			db.slots.free(s.slot)
			s.writer.released = true
		}
	}
	tx.finish()
	return nil
}

// takeOverLive makes s the SA whose live state this is. The packet path may be
// changing the state at the same time.
func (s *SA) takeOverLive() {
	s.live.sa = s
	s.live.status.Store(s.status)
	s.status.Or(stateStatus(s.live.state.Load()))
}
