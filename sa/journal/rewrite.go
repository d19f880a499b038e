package journal

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

const (
	shrinkFactor = 4 // times what its entries need: a file's length before it is rewritten
	forgetAfter  = 30 * 24 * time.Hour
	pieceEntries = 4096 // of a frame in a rewritten file
)

// limits are smaller in tests.
type limits struct {
	length  int64 // in octets, that a file may always have
	entries int   // that are always kept
}

var usualLimits = limits{length: 4 << 20, entries: 65536}

// shrink rewrites a file that has grown too long. What was committed is in the old
// file already, so a failure is no failure of the Commit.
func (j *Journal) shrink() {
	needed := int64(headerSize + j.table.count*entrySize)
	if j.length <= max(j.limits.length, shrinkFactor*needed, j.later) {
		return
	}
	before := j.length
	if err := j.rewrite(); err != nil {
		j.later = before + j.limits.length
		j.log.Warn("journal: it grows, because it could not be rewritten", "octets", before, "error", err)
		return
	}
	j.log.Debug("journal: rewritten", "octets", j.length, "before", before)
}

// rewrite writes the whole state to a new file and puts it in the old one's place.
// Until the rename is tried, a failure leaves everything as it is; from then on it is
// not known which of the two a start would find, and nothing may be appended to either.
func (j *Journal) rewrite() error {
	stale := j.stale()
	if err := j.fileSystem.remove(newName); err != nil {
		return err
	}
	f, err := j.fileSystem.create(newName)
	if err != nil {
		return err
	}
	length, check, err := j.writeAll(f, stale)
	if err == nil {
		err = f.sync()
	}
	if err != nil {
		_ = f.Close()
		_ = j.fileSystem.remove(newName) // or the next Open does
		return fmt.Errorf("writing a new file: %w", err)
	}
	err = j.fileSystem.rename(newName, fileName)
	if err == nil {
		err = j.fileSystem.sync()
	}
	if err != nil {
		_ = f.Close()
		j.unknown = true
		return err
	}
	if j.file != nil {
		_ = j.file.Close() // it has no name any more, and nothing in it is needed
	}
	j.file, j.length, j.check = f, length, check
	j.unknown, j.unsynced, j.later = false, false, 0
	j.renumber(stale)
	return nil
}

// stale says which entries are left out. It is settled once, for time goes on.
func (j *Journal) stale() func(*slot) bool {
	if j.table.count <= j.limits.entries {
		return func(*slot) bool { return false }
	}
	limit := j.now().Add(-forgetAfter).Unix()
	return func(s *slot) bool { return s.removed != 0 && s.removed < limit }
}

func (j *Journal) writeAll(f file, stale func(*slot) bool) (length int64, check uint32, err error) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails (crypto/rand)
	b, check := appendHeader(nil, j.secret, binary.BigEndian.Uint64(random[:]))
	flush := func() error {
		length += int64(len(b))
		_, err := f.Write(b)
		b = b[:0]
		return err
	}
	start, entries := len(b), 0
	b = openFrame(b)
	for _, s := range j.table.slots {
		if s == nil || stale(s) {
			continue
		}
		b = appendEntry(b, s)
		if entries++; entries%pieceEntries == 0 {
			b, check = closeFrame(b, start, check)
			if err := flush(); err != nil {
				return 0, 0, err
			}
			start, b = 0, openFrame(b)
		}
	}
	if len(b) > start+frameHead {
		b, check = closeFrame(b, start, check)
	} else {
		b = b[:start]
	}
	err = flush()
	return length, check, err
}

// renumber gives the entries their numbers in the file that writeAll made.
func (j *Journal) renumber(stale func(*slot) bool) {
	j.numbers = 0
	for i, s := range j.table.slots {
		switch {
		case s == nil:
		case stale(s):
			j.table.forget(Index(i + 1))
		default:
			s.number = j.numbers
			j.numbers++
		}
	}
}
