package journal

import "time"

// Batch is what one Commit writes, in the order of the calls, except that new
// entries come first. The zero Batch is empty and ready; one that was committed is
// so again. A Batch is for one goroutine at a time.
type Batch struct {
	added   []Entry
	updates []update
}

type update struct {
	value uint64
	index Index
	kind  kind
}

type kind uint8

const (
	reserve kind = iota
	settle
	accept
	remove
	restore
)

// Add makes a new entry with all that e says (Removed in whole seconds). Commit
// refuses an identity that is there (ErrExists): look it up first, and Restore it.
func (b *Batch) Add(e Entry) { b.added = append(b.added, e) }

// Reserve raises Reserved to n; a lower n than there is changes nothing. It takes a
// removed entry back into use.
func (b *Batch) Reserve(i Index, n uint64) { b.update(reserve, i, n) }

// Settle sets Reserved to just n, lower ones too: the caller knows that nothing above
// n was sent and sends nothing under the identity until a later Reserve is committed.
// That holds even if this Commit fails, because the frame may be on disk all the same.
func (b *Batch) Settle(i Index, n uint64) { b.update(settle, i, n) }

// Accept raises Highest to n; a lower n than there is changes nothing. It takes a
// removed entry back into use.
func (b *Batch) Accept(i Index, n uint64) { b.update(accept, i, n) }

// Remove notes that the SA was deleted at t; it comes last of what is said of an
// entry, which may be forgotten 30 days later (see the package's Rewrites).
func (b *Batch) Remove(i Index, t time.Time) { b.update(remove, i, uint64(max(seconds(t), 1))) }

// Restore notes that an entry is in use again.
func (b *Batch) Restore(i Index) { b.update(restore, i, 0) }

func (b *Batch) update(k kind, i Index, value uint64) {
	b.updates = append(b.updates, update{value, i, k})
}

// Len is the number of calls that the next Commit carries out.
func (b *Batch) Len() int { return len(b.added) + len(b.updates) }

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.added, b.updates = b.added[:0], b.updates[:0] }
