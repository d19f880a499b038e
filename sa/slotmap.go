package sa

import "math/bits"

// slotMap maps 64-bit keys to slots. It does not change once it is published:
// copy on write. It is cut into shards; the next snapshot shares all but those
// that changed, so adding an entry costs the same beside 1 as beside 100,000.
//
// A bucket is one cache line of five entries that are compared without a
// branch, and four out of five lookups in a well-filled table end with it:
// with 100,000 random keys the processor then neither waits for memory nor
// guesses wrong, and goes on with the next packet meanwhile. There are no
// pointers in it, which keeps it aligned and out of the garbage collector's way.
type slotMap struct {
	shards [][]slotBucket // a power of two
}

const bucketSize = 5

type slotBucket struct {
	keys  [bucketSize]uint64 // 0: free
	slots [bucketSize]uint32
	over  uint32 // not 0: entries of this bucket may be in the next
}

// noSlot is what find returns if there is none.
const noSlot = ^uint32(0)

func newSlotMap(shards int) slotMap { return slotMap{make([][]slotBucket, shards)} }

// find returns the slot of key, whose hash is h.
func (m *slotMap) find(key, h uint64) uint32 {
	shard := m.shards[h&uint64(len(m.shards)-1)]
	if len(shard) == 0 {
		return noSlot
	}
	for i := bucketOf(h, shard); ; {
		b := &shard[i]
		if hit := b.match(key); hit != 0 {
			return b.slots[bits.TrailingZeros64(hit)%bucketSize]
		}
		if b.over == 0 {
			return noSlot
		}
		if i++; i == uint64(len(shard)) {
			i = 0
		}
	}
}

func bucketOf(h uint64, shard []slotBucket) uint64 { return h >> 32 * uint64(len(shard)) >> 32 }

// match gives a bit for every entry that has key.
func (b *slotBucket) match(key uint64) uint64 {
	return isZero(b.keys[0]^key) | isZero(b.keys[1]^key)<<1 | isZero(b.keys[2]^key)<<2 |
		isZero(b.keys[3]^key)<<3 | isZero(b.keys[4]^key)<<4
}

func isZero(x uint64) uint64 {
	_, borrow := bits.Sub64(x, 1, 0)
	return borrow
}

// slotEditor makes the next slotMap.
type slotEditor struct {
	slotMap
	hash   func(key uint64) uint64
	copied bool
	owned  map[uint64]int // shards that are copies already; their entries
}

func (m *slotMap) edit(hash func(uint64) uint64) *slotEditor {
	return &slotEditor{slotMap: *m, hash: hash, owned: map[uint64]int{}}
}

func (m *slotEditor) get(key uint64) uint32 { return m.find(key, m.hash(key)) }

// put sets the slot of key.
func (m *slotEditor) put(key uint64, slot uint32) {
	h := m.hash(key)
	n := m.own(h)
	if at := m.entry(key, h); at != nil {
		*at = slot
		return
	}
	shard := &m.shards[n]
	used := m.owned[n] + 1
	if used*5 > len(*shard)*18 { // 3.6 a bucket
		*shard = m.resized(*shard, used/3+1)
	}
	place(*shard, key, slot, h)
	m.owned[n] = used
}

// remove takes key out.
func (m *slotEditor) remove(key uint64) {
	h := m.hash(key)
	if m.find(key, h) == noSlot {
		return
	}
	n := m.own(h)
	shard := &m.shards[n]
	for i := bucketOf(h, *shard); ; i = (i + 1) % uint64(len(*shard)) {
		b := &(*shard)[i]
		if hit := b.match(key); hit != 0 {
			b.keys[bits.TrailingZeros64(hit)] = 0
			break
		}
	}
	if m.owned[n]--; m.owned[n] == 0 {
		*shard = nil
	} else if m.owned[n] < len(*shard) {
		*shard = m.resized(*shard, m.owned[n]/3+1)
	}
}

// entry is where the slot of key is, nil if it is not there.
func (m *slotEditor) entry(key, h uint64) *uint32 {
	shard := m.shards[h&uint64(len(m.shards)-1)]
	if len(shard) == 0 {
		return nil
	}
	for i := bucketOf(h, shard); ; i = (i + 1) % uint64(len(shard)) {
		b := &shard[i]
		if hit := b.match(key); hit != 0 {
			return &b.slots[bits.TrailingZeros64(hit)]
		}
		if b.over == 0 {
			return nil
		}
	}
}

// own makes the shard of h one that may be changed, and returns its number.
func (m *slotEditor) own(h uint64) uint64 {
	n := h & uint64(len(m.shards)-1)
	if _, ok := m.owned[n]; ok {
		return n
	}
	if !m.copied {
		m.copied = true
		m.shards = append([][]slotBucket(nil), m.shards...)
	}
	shard := append([]slotBucket(nil), m.shards[n]...)
	used := 0
	for i := range shard {
		for _, k := range shard[i].keys {
			if k != 0 {
				used++
			}
		}
	}
	m.shards[n], m.owned[n] = shard, used
	return n
}

func (m *slotEditor) resized(old []slotBucket, size int) []slotBucket {
	shard := make([]slotBucket, size)
	for i := range old {
		for j, key := range old[i].keys {
			if key != 0 {
				place(shard, key, old[i].slots[j], m.hash(key))
			}
		}
	}
	return shard
}

// place enters a key that is not there into a shard with room.
func place(shard []slotBucket, key uint64, slot uint32, h uint64) {
	for i := bucketOf(h, shard); ; i = (i + 1) % uint64(len(shard)) {
		b := &shard[i]
		if free := b.match(0); free != 0 {
			j := bits.TrailingZeros64(free)
			b.keys[j], b.slots[j] = key, slot
			return
		}
		b.over = 1
	}
}
