package sa

import (
	"iter"
	"sync/atomic"
)

// Identity is what sequence numbers belong to: an SA identity under a key. The
// same identity under the same key makes the same IVs, in this run and in any
// later one, so its numbers must go on where they were.
type Identity struct {
	Print    [16]byte // keyed one-way fingerprint of key and salt
	Mask     uint64   // the SA's IV constant (see IVMask)
	SPI      uint32
	Src, Dst Addr
	V6, ESN  bool
}

// Past is what an earlier run left behind of an identity.
type Past struct {
	Identity
	Reserved uint64 // nothing above was ever sent
	Highest  uint64 // highest number known to have been accepted
}

// Durable makes a DB keep its sequence numbers over a restart: SAs send only
// what was granted to them (Kept.Grant), and SAs that were there in an earlier
// run go on above it. Whoever sets it watches Wake, Wanting and Advanced.
type Durable struct {
	// Secret is the key of fingerprints; the same in every run.
	Secret [32]byte
	// Past is what earlier runs left.
	Past iter.Seq[Past]
}

// Kept are the sequence numbers of one SA in a DB with Durable. An SA that
// replaces another one over the same state has the same Kept.
type Kept struct {
	live  *live
	id    Identity
	store *keptStore

	wanting  atomic.Bool // on the stack of those that want numbers
	advances atomic.Bool // on the stack of those whose highest number is higher
	next     [2]*Kept    // links of both stacks
}

// The stacks of keptStore.
const (
	stackWanting = iota
	stackAdvanced
)

// keptStore collects, without lock or allocation, the SAs that whoever keeps
// the numbers has to look at.
type keptStore struct {
	heads [2]atomic.Pointer[Kept]
	wake  chan struct{} // holds one token while somebody wants numbers
}

func newKeptStore() *keptStore { return &keptStore{wake: make(chan struct{}, 1)} }

func (k *Kept) push(stack int) {
	head := &k.store.heads[stack]
	for {
		top := head.Load()
		k.next[stack] = top
		if head.CompareAndSwap(top, k) {
			return
		}
	}
}

// want asks for more numbers. It costs a load while an answer is awaited.
func (k *Kept) want() {
	if k.wanting.Load() || k.wanting.Swap(true) {
		return
	}
	k.push(stackWanting)
	select {
	case k.store.wake <- struct{}{}:
	default:
	}
}

// advanced notes that the highest accepted number has moved. It costs a load
// until Highest is asked for.
func (k *Kept) advanced() {
	if k.advances.Load() || k.advances.Swap(true) {
		return
	}
	k.push(stackAdvanced)
}

// take empties a stack.
func (s *keptStore) take(stack int) []*Kept {
	var all []*Kept
	for k := s.heads[stack].Swap(nil); k != nil; {
		next := k.next[stack]
		all = append(all, k)
		k = next
	}
	return all
}

// Wake receives a token when an SA has begun to want numbers; nil without
// Durable.
func (db *DB) Wake() <-chan struct{} {
	if db.kept == nil {
		return nil
	}
	return db.kept.wake
}

// Wanting returns the SAs that have used up half of what was granted to them,
// or all of it, since the last call. They are not returned again before they
// want more after a Grant.
func (db *DB) Wanting() []*Kept {
	if db.kept == nil {
		return nil
	}
	return db.kept.take(stackWanting)
}

// Advanced returns the SAs that have accepted a number above their highest since
// the last call. A number that is accepted after this call makes its SA come up
// in the next.
func (db *DB) Advanced() []*Kept {
	if db.kept == nil {
		return nil
	}
	all := db.kept.take(stackAdvanced)
	for _, k := range all {
		k.advances.Store(false) // before the caller asks for the number
	}
	return all
}

// Kept returns the SA's numbers, nil without Durable.
func (s *SA) Kept() *Kept { return s.live.kept }

// Identity is what the numbers belong to.
func (k *Kept) Identity() Identity { return k.id }

// LastSent is the last sequence number sent.
func (k *Kept) LastSent() uint64 { return k.live.lastSent() }

// Highest is the highest sequence number accepted.
func (k *Kept) Highest() uint64 { return k.live.top.Load() }

// Granted is the last sequence number that may be sent.
func (k *Kept) Granted() uint64 { return k.live.ceiling.Load() }

// Limit is the last sequence number that can ever be granted: 2^32-1, with ESN
// 2^48-1.
func (k *Kept) Limit() uint64 { return k.live.maxOut }

// Grant lets the SA send the numbers up to ceiling, at most Limit, which must be
// reserved where a later run finds them. From the number ask on it wants more.
// Grants only ever raise what was granted. They come from one goroutine at a
// time.
func (k *Kept) Grant(ceiling, ask uint64) {
	l := k.live
	if ceiling = min(ceiling, l.maxOut); ceiling > l.ceiling.Load() {
		l.ceiling.Store(ceiling)
	}
	alert := l.warnOut()
	if c := l.ceiling.Load(); c < l.maxOut {
		alert = min(alert, ask, c)
	}
	l.alert.Store(alert)
	k.wanting.Store(false)
}

// keep makes the numbers of a new live state kept ones: nothing may be sent
// before the first Grant.
func (l *live) keep(store *keptStore, id Identity) {
	l.ceiling.Store(0)
	l.alert.Store(0)
	l.kept = &Kept{live: l, id: id, store: store}
}
