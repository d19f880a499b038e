package journal

import (
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"
)

// The folder's files.
const (
	fileName = "journal"
	newName  = "journal.new"
	lockName = "lock"
)

// Options are what Open may be told; the zero Options will do.
type Options struct {
	Log *slog.Logger     // nil: nothing is logged
	Now func() time.Time // for what is forgotten; nil: time.Now

	// For tests.
	fileSystem fileSystem // in place of the folder
	limits     limits     // in place of usualLimits
}

// Journal is an open journal. It is safe for concurrent use; whoever comes while a
// Commit is under way waits for it, its fdatasync or rewrite included. It runs no
// goroutine of its own.
type Journal struct {
	log        *slog.Logger
	now        func() time.Time
	fileSystem fileSystem

	mu       sync.Mutex
	table    table
	secret   [secretSize]byte
	file     file
	check    uint32 // the file's last
	length   int64  // of the file
	numbers  uint32 // entry records in the file
	unsynced bool   // something was written that may not be on stable storage
	unknown  bool   // what stable storage has of the file: it must be rewritten first
	damaged  error  // why nothing may be written
	closed   bool
	later    int64 // after a rewrite for space failed: the length at which it is tried again
	limits   limits

	buffer []byte // a Commit's frame
	undo   []before
}

// Secret is the key of fingerprints: random, made with the journal and kept in it.
// In a damaged journal whose header cannot be read it is another one.
func (j *Journal) Secret() [32]byte { return j.secret }

// Len is the number of entries, removed ones too.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.table.count
}

// Lookup finds an identity's entry.
func (j *Journal) Lookup(id Identity) (Index, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := j.table.find(&id)
	return i, i != 0
}

// Entry is an entry as of the last successful Commit, if there is one of that index.
func (j *Journal) Entry(i Index) (Entry, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.table.at(i)
	if s == nil {
		return Entry{}, false
	}
	return s.entry(), true
}

// Entries gives each entry as it is at that moment, by rising index. The journal may
// be used meanwhile; entries added meanwhile may come too.
func (j *Journal) Entries() iter.Seq2[Index, Entry] {
	return func(yield func(Index, Entry) bool) {
		for i := Index(1); ; i++ {
			j.mu.Lock()
			end := int(i) > len(j.table.slots)
			var e Entry
			s := j.table.at(i)
			if s != nil {
				e = s.entry()
			}
			j.mu.Unlock()
			if end || s != nil && !yield(i, e) {
				return
			}
		}
	}
}

// Close gives the folder up. It writes nothing, so what is to survive a loss of power
// is committed with sync before. What was read can be read still. Closing again does
// nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.fileSystem.close())
}
