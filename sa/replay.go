package sa

import "sync/atomic"

// blockBits is how many sequence numbers one slot of a window holds (2^5).
const blockBits = 5

// MaxWindow is the largest anti-replay window in packets.
const MaxWindow = 1 << 16

// window is an anti-replay window (RFC 4303, 3.4.3) in the ring form of
// RFC 6479, but every word of the ring carries the number of the block that it
// is about. A slot found with an older block is empty. So an advance clears
// nothing, however far it goes, and one compare-and-swap on one slot both checks
// and marks a number: two lcores never accept the same one, and a slot that
// moved on to a newer block refuses what is older, whatever value of the highest
// number a caller saw.
//
// A slot is, from the top: 1 bit moved (see resized), 31 low bits of the block
// number (sequence number >> 5), 32 bits for the numbers of that block. Blocks
// are compared modulo 2^31: a slot would have to be missed by every packet out
// of 2^35 in a row to be taken for a newer one, which only the peer can arrange,
// against itself.
//
// The highest number (top) is kept by the owner, because it outlives a change
// of the window's size.
type window struct {
	size  uint64 // 1..MaxWindow
	slots []atomic.Uint64
}

const slotMoved = 1 << 63

// moved is the answer of a window that another has replaced.
const moved Admission = 0xff

// newWindow makes a window that has received nothing but top (0: nothing).
func newWindow(size uint32, top uint64) *window {
	n := 2
	for n < int(size>>blockBits)+2 {
		n <<= 1
	}
	w := &window{size: uint64(size), slots: make([]atomic.Uint64, n)}
	newest := top >> blockBits
	for i := range w.slots {
		// The newest block not above top's that lives in this slot. It may be
		// below 0: blocks are compared modulo 2^31.
		back := (newest - uint64(i)) & uint64(n-1)
		w.slots[i].Store(slotOf(newest - back))
	}
	if top != 0 {
		w.mark(top, top)
	}
	return w
}

// slotOf is an empty slot of a block.
func slotOf(block uint64) uint64 { return block << 33 >> 1 }

// ageOf says how many blocks seq is ahead of slot v.
func ageOf(seq, v uint64) int32 { return int32(uint32(seq>>blockBits)-uint32(v>>32)) << 1 }

func (w *window) slot(seq uint64) *atomic.Uint64 {
	return &w.slots[(seq>>blockBits)&uint64(len(w.slots)-1)]
}

// old says that seq lies below the window under the highest number top: exactly
// top-size+1..top are inside.
func (w *window) old(seq, top uint64) bool { return top >= w.size && seq <= top-w.size }

// check says what mark would say, and changes nothing.
func (w *window) check(seq, top uint64) Admission {
	v := w.slot(seq).Load()
	switch age := ageOf(seq, v); {
	case v&slotMoved != 0:
		return moved
	case w.old(seq, top) || age < 0:
		return ReplayOld
	case age == 0 && v>>(seq&(1<<blockBits-1))&1 != 0:
		return ReplayDuplicate
	}
	return OK
}

// mark takes seq as received, unless it is old or was received before.
func (w *window) mark(seq, top uint64) Admission {
	slot := w.slot(seq)
	for {
		why := w.check(seq, top)
		if why != OK {
			return why
		}
		v := slot.Load()
		next := v
		switch age := ageOf(seq, v); {
		case v&slotMoved != 0 || age < 0:
			continue // changed since the check
		case age > 0:
			next = slotOf(seq >> blockBits)
		}
		bit := uint64(1) << (seq & (1<<blockBits - 1))
		if next&bit == 0 && slot.CompareAndSwap(v, next|bit) {
			return OK
		}
	}
}

// received reports whether seq, which lies in the window under top, is marked.
func (w *window) received(seq, top uint64) bool {
	return seq <= top && w.check(seq, top) == ReplayDuplicate
}

// inferHigh gives the 64-bit sequence number for the low half on the wire
// (RFC 4303, appendix A2.2). ok is false where it would lie beyond 2^64. With
// the high half still 0 there is no earlier half, so numbers that would belong
// to it are taken as ahead; the ICV decides.
//
// A receiver that missed more than 2^32-size packets in a row infers wrong
// numbers from then on, and their ICVs fail: resynchronisation (appendix A3) is
// not done.
func inferHigh(low uint32, top, size uint64) (seq uint64, ok bool) {
	topLow, high := uint32(top), top>>32
	bottom := topLow - uint32(size) + 1
	if uint64(topLow) >= size-1 { // the window lies in one half
		if low < bottom {
			high++
		}
	} else if low >= bottom && high > 0 {
		high--
	}
	return high<<32 | uint64(low), high <= 1<<32-1
}
