package durable

import (
	"errors"
	"fmt"
	"time"

	"espgw/sa"
	"espgw/sa/journal"
)

// flush writes what is pending, in one batch, and grants what that reserved. What
// the journal refuses stays pending and is tried again.
func (k *Keeper) flush() {
	now := k.now()
	if errors.Is(k.failing, journal.ErrDamaged) {
		k.forgetRemoved()
		return
	}
	if k.failing != nil && now.Before(k.retryAt) {
		return
	}
	late := k.unsynced && now.Sub(k.syncedAt) >= syncPeriod
	if len(k.pending) == 0 && !late {
		return
	}
	k.batch.Reset()
	sync := late
	for _, n := range k.pending {
		sync = k.plan(n, now) || sync
	}
	if err := k.store.Commit(&k.batch, sync); err != nil {
		k.refused(err, now)
		return
	}
	if k.failing != nil {
		k.log.Info("the state folder takes sequence numbers again")
		k.failing = nil
	}
	k.unsynced = !sync
	if sync {
		k.syncedAt = now
	}
	k.done(now)
}

// plan adds an SA's needs to the batch. It reports whether they must be on stable
// storage before anything goes on.
func (k *Keeper) plan(n *number, now time.Time) (sync bool) {
	if n.index == 0 {
		n.index, _ = k.store.Lookup(toDisk(n.kept.Identity()))
	}
	if n.reserve {
		n.target = k.target(n, now)
	}
	switch entry, _ := k.store.Entry(n.index); {
	case n.index == 0 && n.remove: // never written, so never used
		return false
	case n.index == 0:
		e := journal.Entry{Identity: toDisk(n.kept.Identity()), Highest: n.kept.Highest()}
		if n.reserve {
			e.Reserved = n.target
		}
		k.batch.Add(e)
		return n.reserve
	case n.reserve:
		n.target = max(n.target, min(entry.Reserved, n.kept.Limit()))
		k.batch.Reserve(n.index, n.target)
	case !entry.Removed.IsZero() && !n.remove:
		k.batch.Restore(n.index)
	}
	if n.accept {
		k.batch.Accept(n.index, n.kept.Highest())
	}
	if n.remove && !n.replaced {
		k.batch.Remove(n.index, now)
	}
	return n.reserve
}

// done takes the pending SAs to be written.
func (k *Keeper) done(now time.Time) {
	for kept, n := range k.pending {
		if n.reserve {
			sent := n.sent()
			kept.Grant(n.target, n.target-(n.target-min(sent, n.target))/2)
			n.last, n.since = sent, now
		}
		if n.remove {
			delete(k.numbers, kept)
		}
		n.reserve, n.accept = false, false
		delete(k.pending, kept)
	}
}

func (k *Keeper) refused(err error, now time.Time) {
	if k.failing == nil || k.failing.Error() != err.Error() {
		k.log.Error("the state folder takes no sequence numbers: SAs send what is reserved and then nothing (out_no_reserve), "+
			"and a restart would not know what was accepted since; make room or mend it, every second is a new attempt", "error", err)
	}
	k.failing, k.retryAt = err, now.Add(retryPeriod)
}

func (k *Keeper) forgetRemoved() {
	for kept, n := range k.pending {
		if n.remove {
			delete(k.numbers, kept)
		}
		delete(k.pending, kept)
	}
}

// settle writes how far every SA came: of an identity that had several, the one
// that came farthest.
func (k *Keeper) settle() error {
	k.batch.Reset()
	sent := map[journal.Index]uint64{}
	for kept, n := range k.numbers {
		if n.index == 0 {
			n.index, _ = k.store.Lookup(toDisk(kept.Identity()))
		}
		entry, ok := k.store.Entry(n.index)
		if !ok {
			continue
		}
		k.batch.Accept(n.index, kept.Highest())
		if entry.Reserved > 0 {
			sent[n.index] = max(sent[n.index], n.sent())
		}
	}
	for index, last := range sent {
		k.batch.Settle(index, last)
	}
	if err := k.store.Commit(&k.batch, true); err != nil {
		return fmt.Errorf("write the last sequence numbers to the state folder (the next start goes on above what was reserved): %w", err)
	}
	return nil
}

func toDisk(id sa.Identity) journal.Identity {
	return journal.Identity{
		Print: id.Print, Mask: id.Mask, SPI: id.SPI, Src: id.Src.As16(), Dst: id.Dst.As16(), V6: id.V6, ESN: id.ESN,
	}
}

func fromDisk(id *journal.Identity) sa.Identity {
	return sa.Identity{
		Print: id.Print, Mask: id.Mask, SPI: id.SPI, V6: id.V6, ESN: id.ESN,
		Src: sa.AddrFrom16(id.Src[:]), Dst: sa.AddrFrom16(id.Dst[:]),
	}
}
