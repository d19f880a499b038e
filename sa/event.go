package sa

import "sync/atomic"

// EventKind says what happened.
type EventKind uint8

// The kinds of events.
const (
	// EventSoft: a soft limit was reached; the SA should be replaced.
	EventSoft EventKind = iota
	// EventHard: a hard limit was reached; the SA is not used any more. Once
	// no worker holds it, its owner calls DB.Release.
	EventHard
	// EventSequenceLow: nine tenths of the sequence space are used.
	EventSequenceLow
	// EventSequenceExhausted: no sequence number is left.
	EventSequenceExhausted
	// EventAcquire: a policy demands an SA and there is none.
	EventAcquire
)

// String names the kind.
func (k EventKind) String() string {
	return name(k, "soft limit", "hard limit", "sequence low", "sequence exhausted", "acquire")
}

// Event is something that an operator or a key exchange wants to know.
type Event struct {
	Kind   EventKind
	SA     *SA          // all but EventAcquire
	Policy *PolicyState // EventAcquire
	Flow   Flow         // EventAcquire: the packet that found no SA
	Text   string       // one line, without secrets
}

// The bits of live.raised.
const (
	raisedFirstUse uint32 = 1 << iota
	raisedSoft
	raisedHard
	raisedLow
	raisedExhausted
	raisedLowSeen // set by the DB: reported
	raisedExhaustedSeen
)

// eventStack collects, without lock or allocation, the live states in which the
// packet path raised an event, so that the DB need not look at all of them.
type eventStack struct{ head atomic.Pointer[live] }

// raise notes an event bit; the first bit puts l on the stack.
func (l *live) raise(bit uint32) {
	old := l.raised.Or(bit)
	if old&raisedQueued != 0 || l.events == nil {
		return
	}
	if l.raised.Or(raisedQueued)&raisedQueued != 0 {
		return
	}
	for {
		head := l.events.head.Load()
		l.next = head
		if l.events.head.CompareAndSwap(head, l) {
			return
		}
	}
}

// raisedQueued: l is on the stack.
const raisedQueued uint32 = 1 << 31

// raiseOnce raises a bit that is reported once in the life of an SA; it costs a
// load when that has happened.
func (l *live) raiseOnce(bit uint32) {
	if l.raised.Load()&(bit|bit<<2) == 0 {
		l.raise(bit)
	}
}

// drain empties the stack, newest first, and calls seen with the bits of each.
func (e *eventStack) drain(seen func(l *live, bits uint32)) {
	for l := e.head.Swap(nil); l != nil; {
		next := l.next
		bits := l.raised.Load()
		for !l.raised.CompareAndSwap(bits, keepSeen(bits)) {
			bits = l.raised.Load()
		}
		seen(l, bits)
		l = next
	}
}

// keepSeen clears what was taken and remembers what is reported once only.
func keepSeen(bits uint32) uint32 {
	once := bits & (raisedLow | raisedExhausted)
	return bits&(raisedLowSeen|raisedExhaustedSeen) | once<<2
}
