package sa

// fitWindow gives an SA that may open the window of its settings.
func (s *SA) fitWindow(defaultSize uint32) {
	p, l := s.Params(), s.live
	size := defaultSize
	if p.ReplayWindowSet {
		size = p.ReplayWindow
	}
	w := l.window.Load()
	switch {
	case s.Dir() == DirOut || w != nil && w.size == uint64(size):
	case size == 0:
		l.window.Store(nil)
	case w != nil:
		l.window.Store(w.resized(size, l))
	case l.packets.Load() == 0 && !l.resumed: // nothing came in yet
		l.window.Store(newWindow(size, l.top.Load()))
	default: // there was no window, or only before a restart: what came in is not known
		l.window.Store(newWindow(size, l.top.Load()).filled(l.top.Load(), 0))
	}
}

// resized makes a window of another size that has received what w has, while
// others go on marking: from the moment that a slot is read, w answers moved
// for it, and its numbers have to wait for the new window. What w no longer
// covers counts as received.
func (w *window) resized(size uint32, l *live) *window {
	slots := make([]uint64, len(w.slots))
	for i := range w.slots {
		slots[i] = w.slots[i].Or(slotMoved) &^ slotMoved
	}
	// Whoever marked a number before that may not have raised the highest yet.
	top := l.top.Load()
	next := newWindow(size, top)
	for _, v := range slots {
		block := top>>blockBits - uint64(int64(ageOf(top, v)>>1))
		for n := range uint64(1 << blockBits) {
			if v>>n&1 != 0 {
				next.mark(block<<blockBits|n, top)
			}
		}
	}
	return next.filled(top, w.size)
}

// filled marks the numbers from top-from downwards.
func (w *window) filled(top, from uint64) *window {
	for i := from; i < w.size && i < top; i++ {
		w.mark(top-i, top)
	}
	return w
}
