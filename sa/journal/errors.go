package journal

import (
	"errors"
	"fmt"
)

// The errors that callers decide on. They come wrapped with what was being done.
var (
	// ErrLocked: another Open, of this process or another, has the folder.
	ErrLocked = errors.New("in use")
	// ErrUnsafe: others may write to the folder or a file in it, or it is not a
	// regular file.
	ErrUnsafe = errors.New("not safe to use")
	// ErrDamaged: the file was damaged when it was opened; nothing is written.
	ErrDamaged = errors.New("journal is damaged")
	// ErrExists: an identity that is to be added has an entry.
	ErrExists = errors.New("exists already")
	// ErrNoEntry: an index that is 0, not given out, or of an entry forgotten.
	ErrNoEntry = errors.New("no such entry")
	// ErrTooLarge: a batch that does not fit into a frame (2^30 octets), or more
	// entries than there are numbers.
	ErrTooLarge = errors.New("too large")
	// ErrClosed: the journal was closed.
	ErrClosed = errors.New("journal is closed")
)

// DamagedError says where a journal does not check. Open returns it together with
// a Journal that holds the lock, knows the entries before the damage and refuses
// every Commit with ErrDamaged. It is an ErrDamaged.
type DamagedError struct {
	Path   string
	Offset int64  // of the header or frame that does not check
	What   string // what is wrong there
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged at offset %d: %s; which sequence numbers were used is not known: "+
		"give every SA a fresh key, move the file away and start again", e.Path, e.Offset, e.What)
}

func (e *DamagedError) Unwrap() error { return ErrDamaged }
