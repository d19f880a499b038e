package sa

// cowMap is a hash table that does not change once it is published: copy on
// write. It is cut into shards; the next snapshot shares all but those that
// changed, so adding an entry costs the same beside 1 as beside 100,000.
//
// A lookup reads two places: the shard's slice header and the entry, which
// holds the whole key. What counts at 100,000 entries is the number of pages
// and cache lines in play, so entries are small and the shards are filled to
// four fifths; their sizes are no powers of two.
//
// The zero K marks a free entry and is no valid key.
type cowMap[K comparable, V any] struct {
	shards [][]cowEntry[K, V] // a power of two
	hash   func(K) uint64
}

type cowEntry[K comparable, V any] struct {
	key K
	val V
}

func newCowMap[K comparable, V any](shards int, hash func(K) uint64) cowMap[K, V] {
	return cowMap[K, V]{make([][]cowEntry[K, V], shards), hash}
}

// find returns the value of key, whose hash is h, nil if there is none.
func (m *cowMap[K, V]) find(key K, h uint64) *V {
	shard := m.shards[h&uint64(len(m.shards)-1)]
	if len(shard) == 0 {
		return nil
	}
	var free K
	for i := h >> 32 * uint64(len(shard)) >> 32; ; {
		e := &shard[i]
		if e.key == key {
			return &e.val
		}
		if e.key == free {
			return nil
		}
		if i++; i == uint64(len(shard)) {
			i = 0
		}
	}
}

// cowEditor makes the next cowMap.
type cowEditor[K comparable, V any] struct {
	cowMap[K, V]
	owned map[uint64]int // shards that are copies already; their entries
}

func (m *cowMap[K, V]) edit() *cowEditor[K, V] {
	shards := append([][]cowEntry[K, V](nil), m.shards...)
	return &cowEditor[K, V]{cowMap[K, V]{shards, m.hash}, map[uint64]int{}}
}

func (m *cowEditor[K, V]) get(key K) *V { return m.find(key, m.hash(key)) }

// put sets the value of key.
func (m *cowEditor[K, V]) put(key K, val V) {
	h := m.hash(key)
	n := m.own(h)
	if v := m.find(key, h); v != nil {
		*v = val
		return
	}
	shard := &m.shards[n]
	used := m.owned[n] + 1
	if used*5 > len(*shard)*4 || used == len(*shard) {
		*shard = m.resized(*shard, used+used/3+3)
	}
	place(*shard, cowEntry[K, V]{key, val}, h)
	m.owned[n] = used
}

// remove takes key out.
func (m *cowEditor[K, V]) remove(key K) {
	h := m.hash(key)
	n := m.own(h)
	v := m.find(key, h)
	if v == nil {
		return
	}
	shard := &m.shards[n]
	var free cowEntry[K, V]
	for i := range *shard {
		if (*shard)[i].key == key {
			(*shard)[i] = free
		}
	}
	m.owned[n]--
	if m.owned[n] == 0 {
		*shard = nil
		return
	}
	size := len(*shard)
	if m.owned[n]*2 < size {
		size = m.owned[n] + m.owned[n]/3 + 3
	}
	*shard = m.resized(*shard, size)
}

// own makes the shard of h one that may be changed, and returns its number.
func (m *cowEditor[K, V]) own(h uint64) uint64 {
	n := h & uint64(len(m.shards)-1)
	if _, ok := m.owned[n]; ok {
		return n
	}
	shard := append([]cowEntry[K, V](nil), m.shards[n]...)
	used := 0
	var free K
	for i := range shard {
		if shard[i].key != free {
			used++
		}
	}
	m.shards[n], m.owned[n] = shard, used
	return n
}

func (m *cowEditor[K, V]) resized(old []cowEntry[K, V], size int) []cowEntry[K, V] {
	shard := make([]cowEntry[K, V], size)
	var free K
	for _, e := range old {
		if e.key != free {
			place(shard, e, m.hash(e.key))
		}
	}
	return shard
}

func place[K comparable, V any](shard []cowEntry[K, V], e cowEntry[K, V], h uint64) {
	var free K
	i := h >> 32 * uint64(len(shard)) >> 32
	for shard[i].key != free {
		if i++; i == uint64(len(shard)) {
			i = 0
		}
	}
	shard[i] = e
}
