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
	tx.warnLinks(t)
	if err := tx.prepareDirs(t, c); err != nil {
		return nil, err
	}
	tx.findSenders(c)
	c.Warnings = tx.Warnings()
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

// preparePolicies makes the sets that have changed.
func (tx *Tx) preparePolicies(t *Table) {
	type which struct{ out, v6 bool }
	type change struct{ added, removed []*PolicyState }
	changes := map[which]*change{}
	for _, p := range tx.policies {
		w := which{p.policy.Dir == DirOut, p.match.v6}
		c := changes[w]
		if c == nil {
			c = &change{}
			changes[w] = c
		}
		if tx.db.policies.byIndex[p.index] == p {
			c.added = append(c.added, p)
		} else {
			c.removed = append(c.removed, p)
		}
	}
	for w, c := range changes {
		d := &t.in
		if w.out {
			d = &t.out
		}
		set := &d.v4
		if w.v6 {
			set = &d.v6
		}
		next := (*set).changed(c.added, c.removed)
		if next == nil {
			next = newPolicySet(tx.db.policies.of(w.out, w.v6), w.v6)
		}
		*set = next
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
		s.writer.nonce.takeOver(s.live, s.writer.start)
		s.fitWindow(db.options.DefaultWindow)
		s.live.setLimits(&s.Params().Limits)
		db.clock.schedule(s.live)
	}
	for s, p := range tx.limits {
		if db.states[s.key()] == s {
			s.params.Store(p)
			s.live.setLimits(&p.Limits)
			db.clock.schedule(s.live)
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
		if s.live.sa == s {
			db.clock.drop(s.live)
		}
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
