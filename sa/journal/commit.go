package journal

import (
	"fmt"
	"math"
)

// Commit carries out a batch: one write and, with sync, one fdatasync. After nil from
// a Commit with sync, all that was ever committed is on stable storage; without, it
// survives the end of the process, however it ends, but perhaps not a loss of power.
// A nil or empty batch may be committed for the sake of sync.
//
// With an error nothing has changed for readers, and b is as it was, to be committed
// again. After a failed write or sync it is not known what is on disk: the next Commit
// first rewrites the journal, and fails if that does. (So does the first one after
// Open, which does not know how the last process ended.) Until then a kill may leave
// the failed batch on disk or not: numbers reserved in it must not be used, and are
// lost at worst. Errors: ErrExists, ErrNoEntry, ErrTooLarge, ErrDamaged, ErrClosed and
// those of the file system.
func (j *Journal) Commit(b *Batch, sync bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.closed:
		return ErrClosed
	case j.damaged != nil:
		return fmt.Errorf("nothing is written: %w", j.damaged)
	case j.unknown:
		if err := j.rewrite(); err != nil {
			return fmt.Errorf("rewriting the journal: %w", err)
		}
	}
	if b == nil {
		b = &Batch{}
	}
	if err := j.stage(b); err != nil {
		j.rollBack()
		return err
	}
	if err := j.write(sync); err != nil {
		j.rollBack()
		j.unknown = true
		return fmt.Errorf("writing the journal: %w", err)
	}
	b.Reset()
	j.shrink()
	return nil
}

// write appends the staged frame, if there is anything in it.
func (j *Journal) write(sync bool) error {
	if len(j.buffer) > frameHead {
		frame, check := closeFrame(j.buffer, 0, j.check)
		j.buffer = frame
		j.unsynced = true
		if _, err := j.file.Write(frame); err != nil {
			return err
		}
		j.check = check
		j.length += int64(len(frame))
	}
	if sync && j.unsynced {
		if err := j.file.sync(); err != nil {
			return err
		}
		j.unsynced = false
	}
	return nil
}

// before is a slot before a Commit changed it; added: it was not there.
type before struct {
	slot              *slot
	reserved, highest uint64
	removed           int64
	added             bool
}

// stage carries a batch out in memory and makes its frame. An update is judged by
// what the ones before it left, so that a Reserve behind a Settle counts.
func (j *Journal) stage(b *Batch) error {
	j.undo = j.undo[:0]
	j.buffer = openFrame(j.buffer[:0])
	given := Index(len(j.table.slots))
	for i := range b.added {
		if err := j.stageEntry(&b.added[i]); err != nil {
			return err
		}
	}
	for _, u := range b.updates {
		s := j.table.at(u.index)
		if s == nil || u.index > given {
			return fmt.Errorf("updating entry %d: %w", u.index, ErrNoEntry)
		}
		j.stageUpdate(s, u)
	}
	if len(j.buffer)-frameHead > maxRecords {
		return fmt.Errorf("a batch of %d octets: %w", len(j.buffer), ErrTooLarge)
	}
	return nil
}

func (j *Journal) stageEntry(e *Entry) error {
	if i := j.table.find(&e.Identity); i != 0 {
		return fmt.Errorf("adding SPI 0x%08x: entry %d %w", e.SPI, i, ErrExists)
	}
	if len(j.table.slots) >= math.MaxUint32 {
		return fmt.Errorf("adding SPI 0x%08x: %w", e.SPI, ErrTooLarge)
	}
	s := &slot{
		id: e.Identity, reserved: e.Reserved, highest: e.Highest, removed: seconds(e.Removed),
		number: j.numbers,
	}
	j.undo = append(j.undo, before{added: true})
	j.table.add(s)
	j.numbers++
	j.buffer = appendEntry(j.buffer, s)
	return nil
}

func (j *Journal) stageUpdate(s *slot, u update) {
	after := before{reserved: s.reserved, highest: s.highest, removed: s.removed}
	switch u.kind {
	case reserve:
		after.reserved, after.removed = max(s.reserved, u.value), 0
	case settle:
		after.reserved = u.value
	case accept:
		after.highest, after.removed = max(s.highest, u.value), 0
	case remove:
		after.removed = int64(u.value)
	case restore:
		after.removed = 0
	}
	if after == (before{reserved: s.reserved, highest: s.highest, removed: s.removed}) {
		return
	}
	j.undo = append(j.undo, before{slot: s, reserved: s.reserved, highest: s.highest, removed: s.removed})
	if after.reserved != s.reserved {
		s.reserved = after.reserved
		j.buffer = appendUpdate(j.buffer, recordReserved, s.number, s.reserved)
	}
	if after.highest != s.highest {
		s.highest = after.highest
		j.buffer = appendUpdate(j.buffer, recordHighest, s.number, s.highest)
	}
	if after.removed != s.removed {
		s.removed = after.removed
		j.buffer = appendUpdate(j.buffer, recordRemoved, s.number, uint64(s.removed))
	}
}

// rollBack undoes stage.
func (j *Journal) rollBack() {
	for len(j.undo) > 0 {
		last := j.undo[len(j.undo)-1]
		j.undo = j.undo[:len(j.undo)-1]
		if last.added {
			j.table.undoAdd()
			j.numbers--
			continue
		}
		last.slot.reserved, last.slot.highest, last.slot.removed = last.reserved, last.highest, last.removed
	}
}
