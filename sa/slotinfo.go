package sa

import "sync/atomic"

// slotInfo is what a lookup must know about an SA before it may choose it: one
// cache line, and the lines of all SAs beside each other, so that a lookup among
// 100,000 SAs touches two places and not the SAs themselves. A slot is not used
// again before all workers have let go of the SA that had it.
type slotInfo struct {
	src, dst Addr
	spi      uint32
	reqID    uint32
	v6       bool
	status   atomic.Uint32
	sa       *SA
	_        [8]byte
}

// The status word. The packet path sets its state bits.
const (
	statusDir     = 7      // bits of the Direction
	statusDying   = 1 << 3 // a soft limit was reached
	statusExpired = 1 << 4 // a hard limit was reached
	statusMatch   = 1 << 5 // the SA's selector must be compared as a whole
	statusProto   = 8      // shift of the selector's protocol, 0 for any
)

const infosPerChunk = 1 << 10

// infoChunk holds the infos of some slots, and the SAs once more, denser.
type infoChunk struct {
	infos [infosPerChunk]slotInfo
	sas   [infosPerChunk]*SA
}

// slotInfos are the infos of all slots, in chunks that never move.
type slotInfos []*infoChunk

func newSlotInfos(slots int) slotInfos {
	return make(slotInfos, (slots+infosPerChunk-1)/infosPerChunk)
}

func (x slotInfos) at(slot uint32) *slotInfo {
	return &x[slot/infosPerChunk].infos[slot%infosPerChunk]
}

func (x slotInfos) sa(slot uint32) *SA {
	return x[slot/infosPerChunk].sas[slot%infosPerChunk]
}

// set gives the slot of s to it, before anybody sees s.
func (x slotInfos) set(s *SA) *slotInfo {
	chunk := &x[s.slot/infosPerChunk]
	if *chunk == nil {
		*chunk = new(infoChunk)
	}
	(*chunk).sas[s.slot%infosPerChunk] = s
	info := x.at(s.slot)
	info.src, info.dst, info.v6 = s.src, s.dst, s.V6()
	info.spi, info.reqID, info.sa = s.spi, s.reqID, s
	info.status.Store(s.selectorStatus())
	return info
}

// clear lets go of what had the slot.
func (x slotInfos) clear(slot uint32) {
	x[slot/infosPerChunk].sas[slot%infosPerChunk] = nil
	x.at(slot).sa = nil
}

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
func (i *slotInfo) sends(status uint32, f *Flow, spi uint32) bool {
	if Direction(status&statusDir) != DirOut {
		return false
	}
	if proto := uint8(status >> statusProto); proto != 0 && proto != f.Proto {
		return false
	}
	return (spi == 0 || spi == i.spi) && (status&statusMatch == 0 || i.sa.sel.matches(f))
}
