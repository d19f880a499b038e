package sa

import (
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
	for l := db.clock.next(now); l != nil; l = db.clock.next(now) {
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
		switch {
		case db.states[s.key()] != s: // removed meanwhile
		case raised&raisedHard != 0:
			db.bury(s)
		case raised&raisedFirstUse != 0:
			db.clock.schedule(l)
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
