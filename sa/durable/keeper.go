package durable

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"espgw/sa"
	"espgw/sa/journal"
)

// Period is how often the highest accepted numbers are written.
const Period = 100 * time.Millisecond

const (
	retryPeriod = time.Second // between attempts while the journal refuses
	syncPeriod  = time.Second // inbound numbers reach stable storage this often
)

// store is what a Keeper needs of a journal.Journal.
type store interface {
	Secret() [32]byte
	Lookup(journal.Identity) (journal.Index, bool)
	Entry(journal.Index) (journal.Entry, bool)
	Entries() iter.Seq2[journal.Index, journal.Entry]
	Commit(b *journal.Batch, sync bool) error
	Close() error
}

// Keeper reserves and writes the numbers of one DB. Admit, Removed and Run may
// work at the same time.
type Keeper struct {
	store store
	log   *slog.Logger
	db    *sa.DB
	now   func() time.Time

	mu       sync.Mutex
	numbers  map[*sa.Kept]*number
	pending  map[*sa.Kept]*number // has needs that are not on disk
	batch    journal.Batch
	failing  error     // why the last write failed
	retryAt  time.Time // not before, while failing
	syncedAt time.Time
	unsynced bool
}

// number is what the keeper knows of one SA's numbers.
type number struct {
	kept  *sa.Kept
	index journal.Index // 0: no entry yet
	floor uint64        // sent in earlier runs, or by an earlier SA of the identity
	chunk uint64        // how far ahead is reserved
	last  uint64        // sent when numbers were reserved last
	since time.Time     // when that was

	// Needs.
	reserve  bool
	accept   bool
	remove   bool
	replaced bool   // by an SA of the same identity before remove was written
	target   uint64 // being reserved by the batch
}

// Open locks the folder, which is made if it is not there, and reads its journal.
// A damaged journal is no error: the keeper then reserves nothing, and Damage says
// why and what to do. Otherwise errors are those of journal.Open.
func Open(dir string, log *slog.Logger) (*Keeper, error) {
	j, err := journal.Open(dir, journal.Options{Log: log})
	if err != nil && (j == nil || !errors.Is(err, journal.ErrDamaged)) {
		return nil, fmt.Errorf("state folder %s: %w", dir, err)
	}
	k := newKeeper(j, log)
	k.failing = err
	return k, nil
}

func newKeeper(s store, log *slog.Logger) *Keeper {
	return &Keeper{
		store: s, log: log, now: time.Now,
		numbers: map[*sa.Kept]*number{}, pending: map[*sa.Kept]*number{},
	}
}

// Damage is why a damaged journal cannot be used, or nil.
func (k *Keeper) Damage() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if errors.Is(k.failing, journal.ErrDamaged) {
		return k.failing
	}
	return nil
}

// Durable is the setting for the DB whose numbers are to be kept.
func (k *Keeper) Durable() *sa.Durable {
	return &sa.Durable{Secret: k.store.Secret(), Past: func(yield func(sa.Past) bool) {
		for _, e := range k.store.Entries() {
			if !yield(sa.Past{Identity: fromDisk(&e.Identity), Reserved: e.Reserved, Highest: e.Highest}) {
				return
			}
		}
	}}
}

// Attach names the DB, which was made with Durable, before its first transaction.
// It writes once: what that costs (the journal is written anew) and what can go
// wrong with it shall not come under traffic.
func (k *Keeper) Attach(db *sa.DB) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.db, k.unsynced = db, true
	k.flush()
}

// Run serves the DB until quit is closed.
func (k *Keeper) Run(quit <-chan struct{}) {
	tick := time.NewTicker(Period)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case <-k.db.Wake():
			k.serve(false)
		case <-tick.C:
			k.serve(true)
		}
	}
}

// serve reserves for those that want, and writes what was accepted.
func (k *Keeper) serve(accepted bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, kept := range k.db.Wanting() {
		n := k.number(kept)
		n.reserve = true
		k.pending[kept] = n
	}
	if accepted {
		for _, kept := range k.db.Advanced() {
			n := k.number(kept)
			n.accept = true
			k.pending[kept] = n
		}
	}
	k.flush()
}

func (k *Keeper) number(kept *sa.Kept) *number {
	n := k.numbers[kept]
	if n == nil {
		n = &number{kept: kept, chunk: minChunk}
		k.numbers[kept] = n
	}
	return n
}

// Admit makes room for the SAs of a change that is prepared and not committed: when it
// returns, its senders may send, unless the journal refuses, which is logged.
// The transaction holds on meanwhile.
func (k *Keeper) Admit(c *sa.Change) {
	k.mu.Lock()
	defer k.mu.Unlock()
	leaving := map[sa.Identity]*number{}
	for kept, n := range k.pending {
		if n.remove {
			leaving[kept.Identity()] = n
		}
	}
	for _, s := range c.Added {
		kept := s.Kept()
		if n := leaving[kept.Identity()]; n != nil {
			n.replaced = true
		}
		k.pending[kept] = k.number(kept)
	}
	for _, s := range c.Senders {
		n := k.number(s.Kept())
		n.floor = max(n.floor, s.ResumesAfter())
		n.reserve = true
		k.pending[s.Kept()] = n
	}
	k.retryAt = time.Time{}
	k.flush()
}

// Removed notes the SAs that a change has removed, when no worker uses them any
// more.
func (k *Keeper) Removed(c *sa.Change) {
	k.mu.Lock()
	defer k.mu.Unlock()
	stays := map[*sa.Kept]bool{}
	for _, s := range c.Added {
		stays[s.Kept()] = true
	}
	for _, s := range c.Removed {
		if n := k.numbers[s.Kept()]; n != nil && !stays[s.Kept()] {
			n.reserve, n.remove = false, true
			n.accept = n.accept || n.kept.Highest() > 0
			k.pending[s.Kept()] = n
		}
	}
	k.flush()
}

// Close writes how far every SA really came and closes the journal. Workers and
// Run must have ended.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var err error
	if !errors.Is(k.failing, journal.ErrDamaged) {
		err = k.settle()
	}
	return errors.Join(err, k.store.Close())
}
