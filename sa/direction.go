package sa

import "fmt"

// prepareDirs decides the directions that change: those of the SAs that come,
// and, where policies change, of the SAs that these may be about.
func (tx *Tx) prepareDirs(t *Table, c *Change) error {
	tx.dirs = tx.dirs[:0]
	tx.warnings.forget(warnDirection)
	for _, s := range c.Added {
		if err := tx.prepareDir(t, s, true); err != nil {
			return err
		}
	}
	for s := range tx.affected() {
		if !s.writer.fresh {
			if err := tx.prepareDir(t, s, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (tx *Tx) prepareDir(t *Table, s *SA, fresh bool) error {
	dir := tx.direction(t, s)
	if !fresh && dir == s.Dir() {
		return nil
	}
	p := tx.paramsOf(s)
	if dir != DirOut && s.ESN() && p.ReplayWindowSet && p.ReplayWindow == 0 {
		return stateError("use", &p.ID, errESNWindow)
	}
	if dir == DirAmbiguous {
		tx.warnings.add(warnDirection, "SA %v fits policies of both directions and is used in neither: write `dir in` or `dir out`", s)
	}
	if fresh { // nobody sees it yet
		s.turn(dir)
		if s.live.sa == s {
			s.fitWindow(tx.db.options.DefaultWindow)
		}
		return nil
	}
	tx.dirs = append(tx.dirs, dirChange{s, dir})
	return nil
}

// findSenders lists the SAs that begin to send.
func (tx *Tx) findSenders(c *Change) {
	for _, s := range c.Added {
		if s.Dir() == DirOut {
			c.Senders = append(c.Senders, s)
		}
	}
	for _, d := range tx.dirs {
		if d.dir == DirOut {
			c.Senders = append(c.Senders, d.sa)
		}
	}
}

// ResumesAfter is the last number that was sent, or may have been, under the
// SA's identity and key: it sends above. It is for an SA that a running
// transaction adds or turns round.
func (s *SA) ResumesAfter() uint64 { return max(s.writer.start, s.writer.nonce.sent()) }

// affected are the SAs whose direction the changed policies may decide.
func (tx *Tx) affected() map[*SA]struct{} {
	seen := map[*SA]struct{}{}
	walked := map[uint32]bool{}
	walk := func(l *saList, kind int) {
		for s := l.head; s != nil; s = s.writer.links[kind].next {
			if dir, _ := s.Params().explicitDir(); dir == DirNone {
				seen[s] = struct{}{}
			}
		}
	}
	for _, p := range tx.policies {
		switch {
		case p.tmpl == nil:
		case p.tmpl.ReqID == 0 && p.policy.Dir != DirOut: // any reqid
			walk(&tx.db.all, listAll)
			return seen
		case !walked[p.tmpl.ReqID]:
			walked[p.tmpl.ReqID] = true
			if l := tx.db.byReqID[p.tmpl.ReqID]; l != nil {
				walk(l, listReqID)
			}
		}
	}
	return seen
}

// direction is that of the settings, else that of the policies which the SA
// meets, else out if something was ever sent under this identity and key.
func (tx *Tx) direction(t *Table, s *SA) Direction {
	if dir, _ := s.Params().explicitDir(); dir != DirNone {
		return dir
	}
	out, in := t.out.meets(s, true), t.in.meets(s, false)
	switch {
	case out && in:
		return DirAmbiguous
	case out:
		return DirOut
	case in:
		return DirIn
	case s.writer.nonce.sent() > 0:
		return DirOut
	}
	return DirNone
}

// meets reports whether a policy's template is about s: reqid (strictly, for
// sending), SPI, the template's addresses where given, and the SA's addresses
// within the policy's selector.
func (d *spd) meets(s *SA, strict bool) bool {
	f := Flow{Src: s.src, Dst: s.dst, V6: s.V6()}
	var w search
	w.start(d.of(&f), &f, byAddrs)
	for p := w.next(); p != nil; p = w.next() {
		if t := p.state.tmpl; t != nil && t.names(s, strict) {
			return true
		}
	}
	return false
}

func (t *Template) names(s *SA, strict bool) bool {
	if t.ReqID != s.reqID && (strict || t.ReqID != 0) {
		return false
	}
	p := s.Params()
	fits := func(want, have fmt.Stringer, any bool) bool { return any || want == have }
	return (t.SPI == 0 || t.SPI == s.spi) &&
		fits(t.Src, p.Src, !t.Src.IsValid() || t.Src.IsUnspecified()) &&
		fits(t.Dst, p.Dst, !t.Dst.IsValid() || t.Dst.IsUnspecified())
}

// turn gives s its direction.
func (s *SA) turn(dir Direction) {
	s.dir.Store(uint32(dir))
	setDir(s.status, dir)
}
