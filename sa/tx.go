package sa

import (
	"errors"
	"fmt"
	"iter"
)

// Tx is a batch of changes: all of it or nothing. It holds the DB's writer lock
// from Begin to Commit or Rollback. A method that returns an error has changed
// nothing, and the Tx may go on or be rolled back. Readers inside see what the
// Tx has done so far.
type Tx struct {
	db       *DB
	done     bool
	undo     []func()
	added    []*SA
	removed  []*SA
	limits   map[*SA]*Params // new settings of SAs that stay
	policies []*PolicyState  // added or removed
	defaults bool
	warnings warnings
	change   *Change
	dirs     []dirChange
}

type dirChange struct {
	sa  *SA
	dir Direction
}

// Change is what a Tx is about to do.
type Change struct {
	// Table is the next snapshot.
	Table *Table
	// Added are the SAs that Table has and its predecessor has not. An update
	// of more than limits adds an SA in the place of the old one.
	Added []*SA
	// Removed are the SAs that Table has no more. After Commit and a quiet
	// point of all workers they go to DB.Release.
	Removed []*SA
	// Senders are the SAs that send from this change on and did not before: of
	// Added, and others whose direction follows from the policies.
	Senders []*SA
	// Warnings are lines for the operator.
	Warnings []string
}

// Begin starts a Tx. It waits for the one that is running.
func (db *DB) Begin() *Tx {
	db.mu.Lock()
	db.settle()
	return &Tx{db: db, limits: map[*SA]*Params{}}
}

func (tx *Tx) onRollback(f func()) { tx.undo = append(tx.undo, f) }

// Warnings are lines for the operator about what the Tx has done so far:
// reserved SPIs and SAs that share a key. Prepare adds those that only show when
// all is seen together: about directions, and about policies that catch
// neighbour discovery or DHCP. Of each kind there are a few, and then a
// line that says how many more.
func (tx *Tx) Warnings() []string { return tx.warnings.lines() }

// Rollback leaves everything as it was. After Commit it does nothing, so it can
// be deferred.
func (tx *Tx) Rollback() {
	if tx.done {
		return
	}
	for i := len(tx.undo) - 1; i >= 0; i-- {
		tx.undo[i]()
	}
	tx.finish()
}

func (tx *Tx) finish() {
	for _, s := range tx.added {
		s.writer.fresh = false
	}
	tx.done = true
	tx.db.mu.Unlock()
}

var errTxDone = errors.New("sa: the transaction has ended")

// GetState returns the SA of that destination, protocol and SPI, nil if there
// is none in use.
func (tx *Tx) GetState(id ID) *SA {
	s := tx.db.states[id.key()]
	if s == nil || s.Expired() || id.Proto != 0 && id.Proto != ProtoESP {
		return nil
	}
	return s
}

// StateFilter chooses SAs; nil chooses all.
type StateFilter func(*Params) bool

// States goes through the SAs in use, newest first as the kernel lists them.
func (tx *Tx) States(filter StateFilter) iter.Seq[*SA] {
	return func(yield func(*SA) bool) {
		for s := tx.db.all.head; s != nil; {
			next := s.writer.links[listAll].next
			if !s.Expired() && (filter == nil || filter(s.Params())) && !yield(s) {
				return
			}
			s = next
		}
	}
}

// AllStates goes through the SAs in use, newest first, and then those that have
// reached a hard limit and stay in lookups so that their packets are counted as
// expired, oldest first.
func (tx *Tx) AllStates() iter.Seq[*SA] {
	return func(yield func(*SA) bool) {
		for s := range tx.States(nil) {
			if !yield(s) {
				return
			}
		}
		for _, s := range tx.db.expired() {
			if !yield(s) {
				return
			}
		}
	}
}

// CountStates returns how many SAs are in use.
func (tx *Tx) CountStates() int { return tx.db.all.n }

// SharesKey reports whether another SA in use has the key of s.
func (tx *Tx) SharesKey(s *SA) bool {
	l := tx.db.byKey[s.writer.print]
	return l != nil && (l.n > 1 || l.head != s)
}

// PolicyFilter chooses policies; nil chooses all.
type PolicyFilter func(*Policy) bool

// Policies goes through the policies, newest first as the kernel lists them.
func (tx *Tx) Policies(filter PolicyFilter) iter.Seq[*PolicyState] {
	return func(yield func(*PolicyState) bool) {
		ps := tx.db.policies.newest
		for i := len(ps) - 1; i >= 0; i-- {
			if p := ps[i]; (filter == nil || filter(p.policy)) && !yield(p) {
				return
			}
		}
	}
}

// CountPolicies returns how many policies a direction has.
func (tx *Tx) CountPolicies(dir Direction) int {
	n := 0
	for _, p := range tx.db.policies.newest {
		if p.policy.Dir == dir {
			n++
		}
	}
	return n
}

// Default is the default policy of a direction.
func (tx *Tx) Default(dir Direction) Action { return tx.db.policies.defaults[dir] }

// Defaults are the default policies of DirIn, DirOut and DirForward.
func (tx *Tx) Defaults() map[Direction]Action {
	d := &tx.db.policies.defaults
	return map[Direction]Action{DirIn: d[DirIn], DirOut: d[DirOut], DirForward: d[DirForward]}
}

// SetDefault sets the default policy of a direction. What comes in is blocked
// if the default of DirIn or DirForward blocks: they are one table here.
func (tx *Tx) SetDefault(dir Direction, a Action) error {
	if dir != DirIn && dir != DirOut && dir != DirForward || a > ActionBlock {
		return fmt.Errorf("default policy of direction %v: %w", dir, ErrInvalid)
	}
	d := &tx.db.policies.defaults[dir]
	old := *d
	*d = a
	tx.defaults = true
	tx.onRollback(func() { *d = old })
	return nil
}
