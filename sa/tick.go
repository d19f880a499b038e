package sa

import (
	"container/heap"
	"fmt"
	"time"
)

// acquireInterval is how often a policy without an SA is reported.
const acquireInterval = 10 * time.Second

type rearm struct {
	policy *PolicyState
	at     time.Time
}

// Tick enforces lifetimes in seconds and returns what has happened since the
// last call. Its cost follows what happened, not the size of the tables.
// Call it about once a second.
func (db *DB) Tick(now time.Time) []Event {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.settle()
	for l := db.clock.due(now); l != nil; l = db.clock.due(now) {
		db.expireByTime(l, now)
	}
	db.settle()
	db.drainAcquires(now)
	events := db.queued
	db.queued = nil
	return events
}

// settle takes in what the packet path raised.
func (db *DB) settle() {
	db.events.drain(func(l *live, raised uint32) {
		s := l.sa
		event := func(bit uint32, kind EventKind, text string) {
			if raised&bit != 0 {
				db.queued = append(db.queued, Event{Kind: kind, SA: s, Text: fmt.Sprintf("SA %v: %s", s, text)})
			}
		}
		event(raisedSoft, EventSoft, "a soft limit was reached")
		event(raisedLow, EventSequenceLow, "nine tenths of its sequence numbers are used: replace it soon")
		event(raisedExhausted, EventSequenceExhausted, "its sequence numbers are used up: it sends no more")
		event(raisedHard, EventHard, "a hard limit was reached: it is not used any more")
		if raised&raisedFirstUse != 0 {
			db.clock.schedule(l)
		}
		if raised&raisedHard != 0 && db.states[s.key()] == s {
			db.bury(s)
		}
	})
}

// expireByTime enforces the lifetimes of l that have passed at now.
func (db *DB) expireByTime(l *live, now time.Time) {
	soft, hard := l.deadlines(&l.sa.Params().Limits)
	switch {
	case !hard.IsZero() && !now.Before(hard):
		l.expire()
		return
	case !soft.IsZero() && !now.Before(soft) && l.setState(stateDying):
		l.raise(raisedSoft)
	}
	db.clock.schedule(l)
}

// deadlines are the earliest times of the soft and hard lifetimes, zero if none
// is running. Lifetimes since first use start with it.
func (l *live) deadlines(m *Limits) (soft, hard time.Time) {
	earliest := func(add, use time.Duration) (at time.Time) {
		if add > 0 {
			at = l.added.Add(add)
		}
		if first := l.firstUse.Load(); use > 0 && first != 0 {
			if t := unixTime(first).Add(use); at.IsZero() || t.Before(at) {
				at = t
			}
		}
		return at
	}
	return earliest(m.SoftAdd, m.SoftUse), earliest(m.HardAdd, m.HardUse)
}

func (db *DB) drainAcquires(now time.Time) {
	for p := db.acquires.head.Swap(nil); p != nil; {
		next := p.acquire.next
		db.queued = append(db.queued, Event{
			Kind: EventAcquire, Policy: p, Flow: p.acquire.flow,
			Text: fmt.Sprintf("policy index %d (dir %v src %v dst %v): no SA from %v to %v",
				p.index, p.policy.Dir, p.policy.Sel.Src, p.policy.Sel.Dst,
				p.acquire.flow.Src.netip(p.acquire.flow.V6), p.acquire.flow.Dst.netip(p.acquire.flow.V6)),
		})
		db.rearm = append(db.rearm, rearm{p, now.Add(acquireInterval)})
		p = next
	}
	for len(db.rearm) > 0 && !now.Before(db.rearm[0].at) {
		db.rearm[0].policy.acquire.raised.Store(false)
		db.rearm = db.rearm[1:]
	}
}

// deadlines is a heap of what to look at when. An entry may be out of date:
// what is due is looked at again, and put back at its next time.
type deadlines []deadline

type deadline struct {
	at   time.Time
	live *live
}

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d deadlines) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }

// Push implements heap.Interface.
func (d *deadlines) Push(x any) { *d = append(*d, x.(deadline)) }

// Pop implements heap.Interface.
func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	(*d)[last] = deadline{}
	*d = (*d)[:last]
	return x
}

// schedule notes the next time at which a lifetime of l ends, if any runs.
func (d *deadlines) schedule(l *live) {
	if l.sa.writer.removed {
		return
	}
	soft, hard := l.deadlines(&l.sa.Params().Limits)
	switch l.state.Load() {
	case stateExpired:
		return
	case stateDying:
		soft = time.Time{}
	}
	at := soft
	if at.IsZero() || !hard.IsZero() && hard.Before(at) {
		at = hard
	}
	if !at.IsZero() {
		heap.Push(d, deadline{at, l})
	}
}

// due takes out one live state whose time has come, nil if there is none.
func (d *deadlines) due(now time.Time) *live {
	for len(*d) > 0 && !now.Before((*d)[0].at) {
		l := heap.Pop(d).(deadline).live
		if s := l.sa; !s.writer.removed && l.state.Load() != stateExpired {
			return l
		}
	}
	return nil
}
