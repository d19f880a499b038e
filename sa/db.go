package sa

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the settings of a DB; zero values mean the defaults.
type Options struct {
	// MaxSAs is how many SAs may be in use at once (131072).
	MaxSAs int
	// DefaultWindow is the anti-replay window of inbound SAs that do not say
	// (1024 packets, at most MaxWindow).
	DefaultWindow uint32
	// Now is the clock (time.Now).
	Now func() time.Time
	// IVMask replaces the function IVMask. For tests only: two SAs of one key
	// whose constants are alike are never added, whatever it says.
	IVMask func(*Params) uint64
	// Durable is set where sequence numbers are kept over a restart.
	Durable *Durable
}

func (o Options) withDefaults() Options {
	if o.MaxSAs <= 0 {
		o.MaxSAs = 131072
	}
	if o.DefaultWindow == 0 {
		o.DefaultWindow = 1024
	}
	o.DefaultWindow = min(o.DefaultWindow, MaxWindow)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.IVMask == nil {
		o.IVMask = IVMask
	}
	return o
}

// DB holds SAD and SPD and is their one writer. Changes are made in a Tx, which
// makes the next Table; the packet path reads Table.
type DB struct {
	options Options
	table   atomic.Pointer[Table]

	mu       sync.Mutex // all below
	states   map[stateKey]*SA
	tombs    map[stateKey]*SA // expired, in lookups only
	tombAge  []*SA            // oldest first
	all      saList
	byReqID  saLists[uint32]
	byKey    saLists[fingerprint]
	nonces   nonceMemory
	slots    slots
	status   []atomic.Uint32 // by slot
	order    uint64
	policies policyStore
	events   eventStack
	acquires acquireStack
	queued   []Event
	rearm    []rearm
	clock    deadlines
	kept     *keptStore // nil without Options.Durable
}

type stateKey struct {
	dst Addr
	spi uint32
	v6  bool
}

func (s *SA) key() stateKey { return stateKey{s.dst, s.spi, s.V6()} }

func (id *ID) key() stateKey { return stateKey{AddrFrom(id.Dst), id.SPI, id.Dst.Is6()} }

// sasPerShard is what a full table has in a shard, on average.
const sasPerShard = 512

// maxTombs bounds how many expired SAs stay in lookups.
const maxTombs = 1024

// NewDB makes an empty DB whose default policies allow.
func NewDB(o Options) *DB {
	o = o.withDefaults()
	db := &DB{
		options:  o,
		states:   map[stateKey]*SA{},
		tombs:    map[stateKey]*SA{},
		byReqID:  saLists[uint32]{},
		byKey:    saLists[fingerprint]{},
		nonces:   newNonceMemory(),
		slots:    slots{max: 2*o.MaxSAs + maxTombs},
		policies: newPolicyStore(),
	}
	if d := o.Durable; d != nil {
		db.kept = newKeptStore()
		db.nonces.recall(d)
	}
	db.status = make([]atomic.Uint32, db.slots.max)
	shards := 1 << bits.Len(uint(o.MaxSAs-1)/sasPerShard)
	empty := spd{newPolicySet(nil, false), newPolicySet(nil, true)}
	db.table.Store(&Table{
		spis: newSPIIndex(max(1, shards/4)), pairs: newPairIndex(shards),
		out: empty, in: empty, status: db.status,
	})
	return db
}

// Table is the current snapshot. A worker loads it once per turn.
func (db *DB) Table() *Table { return db.table.Load() }

// Slots is the bound of SA.Slot: more than MaxSAs, because SAs that were
// replaced or have expired hold their slot until Release.
func (db *DB) Slots() int { return db.slots.max }

// MaxSAs is the limit of SAs in use.
func (db *DB) MaxSAs() int { return db.options.MaxSAs }

// Release wipes the keys of SAs which no worker holds any more, and frees the
// slots of those that are out of the table: Change.Removed after the next quiet
// point, and the SAs of EventHard (which stay in the table without a key). What
// was sent under them is remembered, so that the same key and identity goes on
// above it.
func (db *DB) Release(sas []*SA) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, s := range sas {
		w := &s.writer
		if w.released || !w.removed && !s.Expired() {
			continue
		}
		if s.live.sa == s && w.nonce != nil {
			w.nonce.giveUp(s.live)
		}
		s.Params().Key.Wipe()
		if w.removed {
			w.released = true
			db.slots.free(s.slot)
		}
	}
}

// Count returns how many SAs are in use.
func (db *DB) Count() int {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle()
	return len(db.states)
}

func (s *SA) String() string {
	p := s.Params()
	return fmt.Sprintf("SPI 0x%08x to %v", p.SPI, p.Dst)
}

// unlink takes s off all lists and returns how to put it back.
func (db *DB) unlink(s *SA) (undo func()) {
	w := &s.writer
	delete(db.states, s.key())
	after := db.all.remove(listAll, s)
	afterReq := db.byReqID.remove(s.reqID, listReqID, s)
	afterKey := db.byKey.remove(w.print, listKey, s)
	if w.nonce != nil {
		w.nonce.live = false
	}
	return func() {
		db.states[s.key()] = s
		db.all.insert(listAll, s, after)
		db.byReqID.insert(s.reqID, listReqID, s, afterReq)
		db.byKey.insert(w.print, listKey, s, afterKey)
		if w.nonce != nil {
			w.nonce.live = true
		}
	}
}

// link puts s on all lists, in front.
func (db *DB) link(s *SA) {
	db.states[s.key()] = s
	db.all.insert(listAll, s, nil)
	db.byReqID.insert(s.reqID, listReqID, s, nil)
	db.byKey.insert(s.writer.print, listKey, s, nil)
}

// bury takes an expired SA out of use. It stays in lookups.
func (db *DB) bury(s *SA) (undo func()) {
	back := db.unlink(s)
	s.writer.buried = true
	db.tombs[s.key()] = s
	db.tombAge = append(db.tombAge, s)
	return func() {
		db.tombAge = db.tombAge[:len(db.tombAge)-1]
		delete(db.tombs, s.key())
		s.writer.buried = false
		back()
	}
}
