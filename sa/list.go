package sa

import "math/bits"

// The lists that an SA is on. All belong to the DB's writer.
const (
	listAll   = iota // every SA in use, newest first
	listReqID        // those of one reqid
	listKey          // those of one key
	lists
)

// writerState is what the DB's writer keeps in an SA, under the DB's lock.
type writerState struct {
	links    [lists]link
	nonce    *nonceEntry
	print    fingerprint
	start    uint64 // last sequence number sent before the SA was added
	fresh    bool   // added in the running transaction
	leaving  bool   // out of the table that is being made
	removed  bool   // out of the published table
	released bool
	buried   bool // expired: only in lookups
}

type link struct{ prev, next *SA }

// saList is a doubly linked list through writerState.links, so that removal
// needs no search.
type saList struct {
	head *SA
	n    int
}

// insert puts s behind after; nil puts it first.
func (l *saList) insert(kind int, s, after *SA) {
	k := &s.writer.links[kind]
	k.prev = after
	if after == nil {
		k.next, l.head = l.head, s
	} else {
		k.next = after.writer.links[kind].next
		after.writer.links[kind].next = s
	}
	if k.next != nil {
		k.next.writer.links[kind].prev = s
	}
	l.n++
}

// remove takes s out and returns what it was behind.
func (l *saList) remove(kind int, s *SA) (after *SA) {
	k := &s.writer.links[kind]
	if k.prev == nil {
		l.head = k.next
	} else {
		k.prev.writer.links[kind].next = k.next
	}
	if k.next != nil {
		k.next.writer.links[kind].prev = k.prev
	}
	after = k.prev
	*k = link{}
	l.n--
	return after
}

// saLists are lists by some key.
type saLists[K comparable] map[K]*saList

func (m saLists[K]) insert(key K, kind int, s, after *SA) {
	l := m[key]
	if l == nil {
		l = new(saList)
		m[key] = l
	}
	l.insert(kind, s, after)
}

func (m saLists[K]) remove(key K, kind int, s *SA) (after *SA) {
	l := m[key]
	after = l.remove(kind, s)
	if l.n == 0 {
		delete(m, key)
	}
	return after
}

func (m saLists[K]) head(key K) *SA {
	if l := m[key]; l != nil {
		return l.head
	}
	return nil
}

// slots hands out the lowest free numbers.
type slots struct {
	used []uint64 // bits
	low  int      // no free bit in front of this word
	max  int
}

func (s *slots) take() (uint32, bool) {
	for ; s.low < len(s.used); s.low++ {
		if w := s.used[s.low]; w != ^uint64(0) {
			return s.set(s.low, w)
		}
	}
	if len(s.used)*64 >= s.max {
		return 0, false
	}
	s.used = append(s.used, 0)
	return s.set(s.low, 0)
}

func (s *slots) set(word int, w uint64) (uint32, bool) {
	bit := bits.TrailingZeros64(^w)
	n := word*64 + bit
	if n >= s.max {
		return 0, false
	}
	s.used[word] |= 1 << bit
	return uint32(n), true
}

func (s *slots) free(n uint32) {
	word := int(n / 64)
	s.used[word] &^= 1 << (n % 64)
	s.low = min(s.low, word)
}
