package sa

import (
	"fmt"
	"net/netip"
)

// stateError says what was being done to which SA.
func stateError(verb string, id *ID, err error) error {
	return fmt.Errorf("%s SA SPI 0x%08x to %v: %w", verb, id.SPI, id.Dst, err)
}

// AddState adds an SA. The settings are copied, the key too; the caller may
// wipe its own. The error wraps ErrExists if there is an SA of that
// destination, protocol and SPI in use, ErrTableFull beyond MaxSAs,
// ErrNonceOverlap, or what Validate reports.
func (tx *Tx) AddState(p *Params) error {
	if _, err := tx.addState(p, nil); err != nil {
		return stateError("add", &p.ID, err)
	}
	return nil
}

func (tx *Tx) addState(p *Params, keep *live) (*SA, error) {
	if tx.done {
		return nil, errTxDone
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	db := tx.db
	key := p.ID.key()
	if old := db.states[key]; old != nil {
		if !old.Expired() {
			return nil, ErrExists
		}
		tx.onRollback(db.bury(old))
	}
	if n := db.all.n; n >= db.options.MaxSAs {
		return nil, fmt.Errorf("%w: the limit is %d", ErrTableFull, db.options.MaxSAs)
	}
	p = p.clone()
	print := db.nonces.fingerprint(p.Key)
	mask := db.options.IVMask(p)
	entry, undo, err := db.nonces.admit(p, print, mask)
	if err != nil {
		p.Key.Wipe()
		return nil, err
	}
	slot, ok := db.slots.take()
	if !ok {
		undo()
		p.Key.Wipe()
		return nil, fmt.Errorf("%w: SAs wait to be released", ErrTableFull)
	}
	s := db.newSA(p, slot, mask, keep)
	s.writer.print, s.writer.nonce, s.writer.fresh = print, entry, true
	if db.kept != nil && keep == nil {
		s.live.keep(db.kept, s.identity())
	}
	tx.warnState(s)
	tx.dropTomb(key)
	db.link(s)
	tx.added = append(tx.added, s)
	n := len(tx.added) - 1
	tx.onRollback(func() {
		tx.added = tx.added[:n]
		db.unlink(s)
		db.slots.free(slot)
		undo()
		p.Key.Wipe()
	})
	return s, nil
}

// identity is what the SA's sequence numbers belong to.
func (s *SA) identity() Identity {
	return Identity{
		Print: s.writer.print, Mask: s.ivMask, SPI: s.spi, Src: s.src, Dst: s.dst, V6: s.V6(), ESN: s.ESN(),
	}
}

func (p *Params) clone() *Params {
	c := *p
	c.Key = p.Key.Clone()
	if p.Sel != nil {
		c.Sel = new(*p.Sel)
	}
	if p.Encap != nil {
		c.Encap = new(*p.Encap)
	}
	if p.Offload != nil {
		c.Offload = new(*p.Offload)
	}
	return &c
}

// newSA makes the live object; keep is the live state that it goes on with.
func (db *DB) newSA(p *Params, slot uint32, mask uint64, keep *live) *SA {
	db.order++
	s := &SA{
		src: AddrFrom(p.Src), dst: AddrFrom(p.Dst), spi: p.SPI, reqID: p.ReqID,
		slot: slot, ivMask: mask, live: keep, order: db.order, status: &db.status[slot],
	}
	esn := p.Flags&FlagESN != 0
	if esn {
		s.flags |= saESN
	}
	if p.Dst.Is6() {
		s.flags |= saV6
	}
	if p.Encap != nil {
		s.flags |= saEncap
	}
	if p.Sel != nil {
		s.sel = new(compile(p.Sel))
	}
	s.params.Store(p)
	if keep == nil {
		l := newLive(esn, db.options.Now())
		l.events, l.sa = &db.events, s
		l.sequence.Store(p.ReplayOSeq | closed) // until Commit
		s.writer.start = p.ReplayOSeq
		l.top.Store(p.ReplaySeq)
		l.setLimits(&p.Limits)
		l.status.Store(s.status)
		s.live = l
	}
	s.status.Store(s.selectorStatus())
	return s
}

// setLimits puts limits in force.
func (l *live) setLimits(m *Limits) {
	l.useTime.Store(m.SoftUse > 0 || m.HardUse > 0)
	if *m == (Limits{}) { // nothing was said
		m = new(Unlimited())
	}
	if m.SoftBytes&m.HardBytes&m.SoftPackets&m.HardPackets == NoLimit {
		l.limits.Store(nil)
		return
	}
	l.limits.Store(new(*m))
}

func (tx *Tx) warnState(s *SA) {
	if s.spi < 256 {
		tx.warnings.add(warnSPI, "SA %v: SPIs from 1 to 255 are reserved (RFC 4303, 2.1)", s)
	}
	if o := tx.db.byKey.head(s.writer.print); o != nil {
		tx.warnings.add(warnKey, "SA %v and SA %v share a key: RFC 4106 asks for one key per SA", s, o)
	}
}

// dropTomb takes an expired SA out of lookups.
func (tx *Tx) dropTomb(key stateKey) {
	db := tx.db
	s := db.tombs[key]
	if s == nil {
		return
	}
	delete(db.tombs, key)
	n := len(tx.removed)
	tx.removed = append(tx.removed, s)
	tx.onRollback(func() {
		db.tombs[key] = s
		tx.removed = tx.removed[:n]
	})
}

// UpdateState changes an SA in use. Sequence numbers, window and counters go
// on; changed limits are put in force in place, and anything else by an SA in
// the place of the old one, over the same state. Another key, algorithm, source
// or ESN flag starts anew. The error wraps ErrNotFound if there is no such SA,
// or is one of AddState's.
func (tx *Tx) UpdateState(p *Params) error {
	if err := tx.updateState(p); err != nil {
		return stateError("update", &p.ID, err)
	}
	return nil
}

func (tx *Tx) updateState(p *Params) error {
	if tx.done {
		return errTxDone
	}
	if err := p.Validate(); err != nil {
		return err
	}
	old := tx.GetState(p.ID)
	if old == nil {
		return ErrNotFound
	}
	was := tx.paramsOf(old)
	if was.equalButLimits(p) {
		if was.Limits != p.Limits {
			c := *was
			c.Limits = p.Limits
			tx.limits[old] = &c
			tx.onRollback(func() { delete(tx.limits, old) })
		}
		return nil
	}
	mark := len(tx.undo)
	tx.remove(old)
	var keep *live
	if was.sameState(p) {
		keep = old.live
	}
	s, err := tx.addState(p, keep)
	if err != nil {
		for len(tx.undo) > mark {
			tx.undo[len(tx.undo)-1]()
			tx.undo = tx.undo[:len(tx.undo)-1]
		}
		return err
	}
	if keep != nil {
		s.writer.start = old.writer.start
	}
	return nil
}

// paramsOf returns the settings of s as the Tx has them.
func (tx *Tx) paramsOf(s *SA) *Params {
	if p := tx.limits[s]; p != nil {
		return p
	}
	return s.Params()
}

// DeleteState removes the SA of that destination, protocol and SPI; a valid src
// must be its source. The error wraps ErrNotFound.
func (tx *Tx) DeleteState(id ID, src netip.Addr) error {
	s := tx.GetState(id)
	if s == nil || src.IsValid() && AddrFrom(src) != s.src {
		return stateError("delete", &id, ErrNotFound)
	}
	tx.remove(s)
	return nil
}

// remove takes s out of use.
func (tx *Tx) remove(s *SA) {
	n := len(tx.removed)
	tx.removed = append(tx.removed, s)
	back := tx.db.unlink(s)
	tx.onRollback(func() {
		back()
		tx.removed = tx.removed[:n]
	})
}

// DeleteAll removes the SAs that filter chooses and returns how many they were.
func (tx *Tx) DeleteAll(filter StateFilter) int {
	n := 0
	for s := range tx.States(filter) {
		tx.remove(s)
		n++
	}
	return n
}

// FlushStates removes every SA and returns how many they were.
func (tx *Tx) FlushStates() int {
	n := tx.DeleteAll(nil)
	for key := range tx.db.tombs {
		tx.dropTomb(key)
	}
	return n
}
