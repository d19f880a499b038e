package ipsec

import (
	"sync/atomic"

	"espgw/pmd"
)

// handoff carries packets from one worker to a lane of another, where the first
// has no transmit queue on the port. One worker puts, one takes.
type handoff struct {
	slots [64]atomic.Pointer[pmd.Mbuf]
	_     [56]byte
	added atomic.Uint32 // how many were put
	_     [60]byte
	taken atomic.Uint32
}

// put is false when all slots are full.
func (h *handoff) put(m *pmd.Mbuf) bool {
	n := h.added.Load()
	if n-h.taken.Load() == uint32(len(h.slots)) {
		return false
	}
	h.slots[n%uint32(len(h.slots))].Store(m)
	h.added.Store(n + 1)
	return true
}

// take returns nil when there is none.
func (h *handoff) take() *pmd.Mbuf {
	n := h.taken.Load()
	if n == h.added.Load() {
		return nil
	}
	m := h.slots[n%uint32(len(h.slots))].Load()
	h.taken.Store(n + 1)
	return m
}
