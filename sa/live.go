package sa

import (
	"sync/atomic"
	"time"
)

// The states of live.state.
const (
	stateUsable uint32 = iota
	stateDying
	stateExpired
)

// maxSequence is the last sequence number of an outbound SA without ESN, and
// maxSequenceESN of one with ESN: a gateway's limit, so that the upper 16 bits
// of its IVs stay those of its constant (see IVMask).
const (
	maxSequence    = 1<<32 - 1
	maxSequenceESN = 1<<48 - 1
)

// second is the resolution of live.lastUse in nanoseconds.
const second = int64(time.Second)

// live is what the packet path changes in an SA, and the limits on that. What
// it reads comes first, then what belongs to the DB, and in a cache line of its
// own what changes with every packet (layout_test.go).
type live struct {
	state   atomic.Uint32
	raised  atomic.Uint32 // event bits not yet seen by the DB
	limits  atomic.Pointer[Limits]
	window  atomic.Pointer[window]
	maxOut  uint64        // last sequence number there is
	ceiling atomic.Uint64 // last one that may be sent now: maxOut, or as far as it is reserved (see Kept)
	alert   atomic.Uint64 // from here on a reservation is looked at more closely
	useTime atomic.Bool   // a lifetime counts from the first use
	resumed bool          // what lies below the first window counts as received

	status atomic.Pointer[atomic.Uint32] // sa's status word
	events *eventStack
	next   *live // link of events
	sa     *SA   // whose live state this is
	added  time.Time
	due    int64 // when the next lifetime ends, Unix nanoseconds
	dueAt  int   // 1 + place among the DB's deadlines; 0: none

	sequence atomic.Uint64 // last sent; above ceiling once that is used up, or closed
	packets  atomic.Uint64
	bytes    atomic.Uint64
	top      atomic.Uint64 // highest accepted
	firstUse atomic.Int64
	lastUse  atomic.Int64
	kept     *Kept // nil: numbers are not kept over a restart
	_        [8]byte
}

func newLive(esn bool, now time.Time) *live {
	l := &live{maxOut: maxSequence, added: now}
	if esn {
		l.maxOut = maxSequenceESN
	}
	l.ceiling.Store(l.maxOut)
	l.alert.Store(l.warnOut())
	return l
}

// warnOut is where the sequence space begins to run low.
func (l *live) warnOut() uint64 { return l.maxOut - l.maxOut/10 }

// closed is the bit of live.sequence that ends sending.
const closed = 1 << 63

func (l *live) lastSent() uint64 { return min(l.sequence.Load()&^closed, l.ceiling.Load()) }

// touch notes a use. It writes at most once a second.
func (l *live) touch(now int64) {
	if last := l.lastUse.Load(); now-last < second && last != 0 {
		return
	}
	l.lastUse.Store(now)
	if l.firstUse.Load() == 0 && l.firstUse.CompareAndSwap(0, now) && l.useTime.Load() {
		l.raise(raisedFirstUse)
	}
}

// setState moves the state forward and reports whether this call did it.
func (l *live) setState(to uint32) bool {
	for {
		s := l.state.Load()
		if s >= to {
			return false
		}
		if l.state.CompareAndSwap(s, to) {
			l.status.Load().Or(stateStatus(to))
			return true
		}
	}
}

// count adds one packet, or a run of n, under limits. It refuses what would
// exceed a hard limit: the packet that reaches one is the last (the kernel's
// xfrm_state_check_expire: a packet passes while the bytes before it are below
// the limit). What is counted too much for a moment is above a limit that was
// reached already, so no other lcore refuses wrongly.
func (l *live) count(lim *Limits, n, bytes uint64) bool {
	packets := l.packets.Add(n)
	total := l.bytes.Add(bytes)
	if packets > lim.HardPackets || total-bytes >= lim.HardBytes {
		l.uncount(n, bytes)
		l.expire()
		return false
	}
	if packets >= lim.HardPackets || total >= lim.HardBytes {
		l.expire()
	} else if packets >= lim.SoftPackets || total >= lim.SoftBytes {
		if l.setState(stateDying) {
			l.raise(raisedSoft)
		}
	}
	return true
}

func (l *live) uncount(n, bytes uint64) {
	l.packets.Add(-n)
	l.bytes.Add(-bytes)
}

func (l *live) expire() {
	if l.setState(stateExpired) {
		l.raise(raisedHard)
	}
}

// close ends sending for good and returns the last sequence number that was
// sent: a reservation that comes later finds the space exhausted.
func (l *live) close() uint64 {
	return min(l.sequence.Or(closed)&^closed, l.maxOut)
}
