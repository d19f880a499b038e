package sa

import "runtime"

// ReserveOut takes sequence numbers for a run of n packets of together bytes
// IP octets (before sealing) and counts them. The numbers are first,
// first+1, … first+admitted-1. now is the time in Unix nanoseconds; a coarse
// clock does.
//
// admitted is below n when the sequence space ends (Exhausted), no more of it is
// reserved for now (NoReserve), or a hard limit
// was reached or the SA was removed (StateExpired). Sequence numbers never wrap:
// the last is 2^32-1, with ESN 2^48-1. A run that fits in part is admitted in
// part; its octets are then not counted, because only the caller knows which:
// it calls AddBytes. Limits are exact where n is 1 (see Limited); a longer run
// is admitted or refused as a whole.
func (s *SA) ReserveOut(n int, bytes uint64, now int64) (first uint64, admitted int, why Admission) {
	l := s.live
	if n <= 0 {
		return 0, 0, OK
	}
	if l.state.Load() == stateExpired {
		return 0, 0, StateExpired
	}
	if last := l.sequence.Load(); last >= l.ceiling.Load() { // keep the counter from growing
		return 0, 0, l.refuse(last)
	}
	if lim := l.limits.Load(); lim != nil {
		if !l.count(lim, uint64(n), bytes) {
			return 0, 0, StateExpired
		}
	} else {
		l.packets.Add(uint64(n))
		l.bytes.Add(bytes)
	}
	end := l.sequence.Add(uint64(n))
	first = end - uint64(n) + 1
	if end >= l.alert.Load() {
		return l.reserveLast(first, n, bytes, now)
	}
	l.touch(now)
	return first, n, OK
}

// reserveLast ends a reservation near the end of what may be sent: of the
// sequence space, or of what is reserved of it. Numbers above the end that this
// or another lcore has taken are not used, now or later.
func (l *live) reserveLast(first uint64, n int, bytes uint64, now int64) (uint64, int, Admission) {
	end := l.ceiling.Load()
	if first > end {
		l.uncount(uint64(n), bytes)
		return 0, 0, l.refuse(first)
	}
	l.touch(now)
	if first+uint64(n) > l.warnOut() {
		l.raiseOnce(raisedLow)
	}
	if end < l.maxOut {
		l.kept.want()
	}
	if fit := end - first + 1; uint64(n) > fit {
		l.uncount(uint64(n)-fit, bytes)
		return first, int(fit), l.refuse(first + uint64(n))
	}
	return first, n, OK
}

// refuse says why nothing can be reserved at sequence.
func (l *live) refuse(sequence uint64) Admission {
	switch {
	case sequence&closed != 0:
		return StateExpired
	case sequence < l.maxOut && l.kept != nil:
		l.kept.want()
		return NoReserve
	}
	l.raiseOnce(raisedExhausted)
	return Exhausted
}

// AddBytes counts the octets of a run that ReserveOut admitted in part.
func (s *SA) AddBytes(bytes uint64) { s.live.bytes.Add(bytes) }

// CheckIn says whether an inbound packet with the sequence number seqLow on the
// wire may be new, and gives its whole number (RFC 4303, 3.4.3 and appendix A2).
// It changes nothing: the packet is not authenticated yet.
func (s *SA) CheckIn(seqLow uint32) (seq uint64, why Admission) {
	l := s.live
	seq = uint64(seqLow)
	if l.state.Load() == stateExpired {
		return seq, StateExpired
	}
	for {
		w := l.window.Load()
		if w == nil {
			if s.ESN() { // refused when added; nothing can be inferred
				return seq, ReplayOld
			}
			return seq, OK
		}
		top := l.top.Load()
		if s.ESN() {
			var ok bool
			if seq, ok = inferHigh(seqLow, top, w.size); !ok {
				return seq, ReplayOld
			}
		}
		if seq == 0 {
			return seq, ReplayOld
		}
		why = w.check(seq, top)
		// A slot may have moved on between the two loads: look again.
		if why == OK || why != moved && l.top.Load() == top {
			return seq, why
		}
	}
}

// MarkIn takes seq, which CheckIn gave, as received once the packet's ICV was
// good. Of several packets with one number one gets OK, the others
// ReplayDuplicate, on whatever lcores they are.
func (s *SA) MarkIn(seq uint64) Admission {
	l := s.live
	for w := l.window.Load(); w != nil; w = l.window.Load() {
		why := w.mark(seq, l.top.Load())
		if why == OK {
			break
		}
		if why != moved {
			return why
		}
		runtime.Gosched() // the writer is about to store the next window
	}
	for {
		top := l.top.Load()
		if seq <= top {
			return OK
		}
		if l.top.CompareAndSwap(top, seq) {
			if l.kept != nil {
				l.kept.advanced()
			}
			return OK
		}
	}
}

// CountIn counts n accepted packets of together bytes IP octets (after opening)
// and enforces the limits: StateExpired refuses them.
func (s *SA) CountIn(n int, bytes uint64, now int64) Admission {
	l := s.live
	if l.state.Load() == stateExpired {
		return StateExpired
	}
	if lim := l.limits.Load(); lim != nil {
		if !l.count(lim, uint64(n), bytes) {
			return StateExpired
		}
	} else {
		l.packets.Add(uint64(n))
		l.bytes.Add(bytes)
	}
	l.touch(now)
	return OK
}

// CommitIn is MarkIn and CountIn for one packet of bytes IP octets.
func (s *SA) CommitIn(seq, bytes uint64, now int64) Admission {
	if why := s.MarkIn(seq); why != OK {
		return why
	}
	return s.CountIn(1, bytes, now)
}
