package sa

import "sync/atomic"

// A status word is what a lookup must know about an SA before it may choose it.
// The words of all SAs lie in one array by slot, so that a lookup among 100,000
// SAs need not touch the SAs themselves. A slot is not used again before all
// workers have let go of the SA that had it.
const (
	statusDir     = 7      // bits of the Direction
	statusDying   = 1 << 3 // a soft limit was reached
	statusExpired = 1 << 4 // a hard limit was reached
	statusMatch   = 1 << 5 // the SA's selector must be compared as a whole
	statusProto   = 8      // shift of the selector's protocol, 0 for any
)

func stateStatus(state uint32) uint32 {
	switch state {
	case stateDying:
		return statusDying
	case stateExpired:
		return statusExpired
	}
	return 0
}

// selectorStatus says what of the SA's selector its own addresses leave open.
func (s *SA) selectorStatus() uint32 {
	if s.sel == nil {
		return 0
	}
	status := uint32(s.sel.proto) << statusProto
	if s.sel.hasPorts() || !s.sel.covers(s.src, s.dst) {
		status |= statusMatch
	}
	return status
}

// setDir changes the direction in a status word whose state bits the packet
// path may be changing.
func setDir(w *atomic.Uint32, dir Direction) {
	for {
		v := w.Load()
		if w.CompareAndSwap(v, v&^statusDir|uint32(dir)) {
			return
		}
	}
}

// sends reports whether an SA with this status word is one to send f with,
// whatever its state.
func (s *SA) sends(status uint32, f *Flow, spi uint32) bool {
	if Direction(status&statusDir) != DirOut {
		return false
	}
	if proto := uint8(status >> statusProto); proto != 0 && proto != f.Proto {
		return false
	}
	return (spi == 0 || spi == s.spi) && (status&statusMatch == 0 || s.sel.matches(f))
}
