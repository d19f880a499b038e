package sa

import "fmt"

// State is what an SA has counted, as it can be kept over a restart: a receiver
// that is restored from it still refuses what it had received and accepts what
// it had missed.
type State struct {
	ID         ID
	LastSent   uint64
	Highest    uint64
	Window     uint32
	Bitmap     []uint64 // bit i of word i/64: Highest-i was received
	Packets    uint64
	Bytes      uint64
	FirstUseNs int64 // Unix nanoseconds, 0: not used yet
	LastUseNs  int64
}

// Dump returns the SA's state. Under traffic it is that of a moment only for
// each value by itself; stop the workers for an exact one.
func (s *SA) Dump() State {
	l := s.live
	d := State{
		ID: s.ID(), LastSent: s.LastSent(), Window: s.Window(),
		Packets: s.Packets(), Bytes: s.Bytes(),
		FirstUseNs: l.firstUse.Load(), LastUseNs: l.lastUse.Load(),
	}
	d.Highest = s.Highest()
	w := l.window.Load()
	if w == nil {
		return d
	}
	d.Bitmap = make([]uint64, (w.size+63)/64)
	for i := range min(w.size, d.Highest) {
		if w.received(d.Highest-i, d.Highest) {
			d.Bitmap[i/64] |= 1 << (i % 64)
		}
	}
	return d
}

// RestoreState gives an SA that this Tx added the state of d, over its settings
// and never below what was sent in this run. The error wraps ErrNotFound, or
// ErrInvalid if the SA is not new or d does not fit it.
func (tx *Tx) RestoreState(d *State) error {
	s := tx.GetState(d.ID)
	if s == nil {
		return stateError("restore", &d.ID, ErrNotFound)
	}
	l := s.live
	if !s.writer.fresh || l.sa != s {
		return stateError("restore", &d.ID, fmt.Errorf("%w: it is in use already", ErrInvalid))
	}
	if d.LastSent > l.maxOut || !s.ESN() && d.Highest > maxSequence {
		return stateError("restore", &d.ID, fmt.Errorf("%w: sequence number out of range", ErrInvalid))
	}
	s.writer.start = max(s.writer.start, d.LastSent)
	l.sequence.Store(s.writer.start | closed)
	l.top.Store(max(d.Highest, l.top.Load()))
	l.packets.Store(d.Packets)
	l.bytes.Store(d.Bytes)
	l.firstUse.Store(d.FirstUseNs)
	l.lastUse.Store(d.LastUseNs)
	if w := restoreWindow(s.Params(), d, tx.db.options.DefaultWindow); w != nil {
		l.window.Store(w)
	}
	return nil
}

func restoreWindow(p *Params, d *State, size uint32) *window {
	if p.ReplayWindowSet {
		size = p.ReplayWindow
	}
	if size == 0 || len(d.Bitmap) == 0 {
		return nil
	}
	w := newWindow(size, d.Highest)
	for i := range min(uint64(size), d.Highest) {
		// What the old window did not cover may have been received.
		if i >= uint64(d.Window) || d.Bitmap[i/64]>>(i%64)&1 != 0 {
			w.mark(d.Highest-i, d.Highest)
		}
	}
	return w
}
