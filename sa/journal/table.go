package journal

import (
	"hash/maphash"
	"time"
)

// slot is an entry in memory.
type slot struct {
	id       Identity
	reserved uint64
	highest  uint64
	removed  int64  // seconds since 1970, 0: in use
	number   uint32 // of the entry in the file as it is now
	next     Index  // another entry whose identity has this hash
}

func (s *slot) entry() Entry {
	e := Entry{Identity: s.id, Reserved: s.reserved, Highest: s.highest}
	if s.removed != 0 {
		e.Removed = time.Unix(s.removed, 0).UTC()
	}
	return e
}

// table is all entries, by index and by identity. A map by hash, and not by
// identity, spares a second copy of each identity.
type table struct {
	slots []*slot // by Index-1; nil: forgotten
	first map[uint64]Index
	hash  func(*Identity) uint64
	count int // slots that are not nil
}

func newTable(size int) table {
	seed := maphash.MakeSeed()
	return table{
		slots: make([]*slot, 0, size), first: make(map[uint64]Index, size),
		hash: func(id *Identity) uint64 { return maphash.Comparable(seed, *id) },
	}
}

func (t *table) at(i Index) *slot {
	if i == 0 || int64(i) > int64(len(t.slots)) {
		return nil
	}
	return t.slots[i-1]
}

func (t *table) find(id *Identity) Index {
	for i := t.first[t.hash(id)]; i != 0; i = t.slots[i-1].next {
		if t.slots[i-1].id == *id {
			return i
		}
	}
	return 0
}

// add is for identities that find does not know.
func (t *table) add(s *slot) {
	hash := t.hash(&s.id)
	s.next = t.first[hash]
	t.slots = append(t.slots, s)
	t.first[hash] = Index(len(t.slots))
	t.count++
}

// undoAdd takes back the last add.
func (t *table) undoAdd() {
	last := len(t.slots)
	t.forget(Index(last))
	t.slots = t.slots[:last-1]
}

// forget leaves a hole: an index is not given twice.
func (t *table) forget(i Index) {
	s := t.slots[i-1]
	hash := t.hash(&s.id)
	switch at := t.first[hash]; {
	case at != i:
		for t.slots[at-1].next != i {
			at = t.slots[at-1].next
		}
		t.slots[at-1].next = s.next
	case s.next != 0:
		t.first[hash] = s.next
	default:
		delete(t.first, hash)
	}
	t.slots[i-1] = nil
	t.count--
}
