package sa

// What a device did with an SA on its own is known by bounds only. When the SA comes
// back from it, numbers that the device may have used are skipped.

// SkipOut uses up the outbound sequence numbers up to and including to, so that none
// of them is given out any more. It is for concurrent use.
func (s *SA) SkipOut(to uint64) {
	l := s.live
	for {
		last := l.sequence.Load()
		if last&closed != 0 || last >= to {
			return
		}
		if l.sequence.CompareAndSwap(last, to) {
			return
		}
	}
}

// SkipIn takes every inbound sequence number up to and including to as received. No
// packet of the SA may be accepted meanwhile.
func (s *SA) SkipIn(to uint64) {
	l := s.live
	if to <= l.top.Load() {
		return
	}
	if w := l.window.Load(); w != nil {
		l.window.Store(newWindow(uint32(w.size), to).filled(to, 0))
	}
	l.top.Store(to)
	if l.kept != nil {
		l.kept.advanced()
	}
}

// SendableTo is the last sequence number that the SA may send for now.
func (s *SA) SendableTo() uint64 { return s.live.ceiling.Load() }

// Fresh says that the SA has neither sent nor accepted anything, in this run or an
// earlier one that is remembered, and was not told to start from a number.
func (s *SA) Fresh() bool {
	l := s.live
	return l.sequence.Load()&^closed == 0 && l.top.Load() == 0 && !l.resumed
}
