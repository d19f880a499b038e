package ipsec

import (
	"sync/atomic"
	"time"

	"espgw/ipsec/esp"
	"espgw/ipsec/packet"
	"espgw/pmd"
	"espgw/sa"
)

// laneDirection is the way of a lane through its pair.
type laneDirection uint8

const (
	outbound laneDirection = iota // protected to unprotected
	inbound                       // unprotected to protected
)

// fate is what becomes of one packet of a burst.
type fate uint8

const (
	fateDrop fate = iota
	fatePass
	fateCrypt
	fateAnswer // dropped, and its sender is told why
)

// packetState is what a worker knows of one packet of the current burst. The mbuf
// is borrowed until the next Exchange; the frame is its buffer's octets from start
// to end.
type packetState struct {
	meta   packet.Meta
	fate   fate
	reason Reason
	opened bool   // the device had opened it
	job    uint16 // index in worker.jobs, or in worker.opened, for fateCrypt
	flags  uint64 // of the mbuf, as received
	// inline is the session in which the device seals it; nil: the engine does. seq is
	// its sequence number then.
	inline *inlineSession
	seq    uint64
	start  int
	end    int
	length int // IP octets before sealing
	// answerMTU is what the sender of a packet that is too big is told.
	answerMTU int
	sess      *session
	mbuf      *pmd.Mbuf
}

// lane is one direction of one pair on one worker.
type lane struct {
	*pmd.Lane
	direction laneDirection
	rx, tx    *port
	// out is the lane that owns the worker's transmit queue on tx: itself, or
	// the first of the worker's lanes that send there.
	out *lane
	// Of its counters: what is already counted as dropped.
	unsent, unmarked uint64
	// Answers to what an outbound lane received leave by back, a lane of this
	// worker, or where it has none by handoff to another worker's lane.
	back    *lane
	handoff *handoff
	answers []*handoff // of other workers, to be sent by this lane
}

// worker runs its lanes to completion on one lcore.
type worker struct {
	gateway *Gateway
	lcore   int
	lanes   []*lane
	engine  engine
	thread  *pmd.Thread

	stop     atomic.Bool
	turn     atomic.Uint64 // quiet points passed
	stopped  atomic.Bool
	counters workerCounters

	// Of the current turn only.
	now        int64 // Unix nanoseconds
	gen        *generation
	packets    []packetState
	jobs       []job // for the engine
	opened     []job // that the device had done
	drops      [NumReasons]uint32
	originated uint32
	policy     *sa.PolicyState // run of packets of one policy
	matched    uint64
	accepted   acceptedRun
	memo       sa.Memo // of the current burst
	found      foundSA
	quoted     packet.QuotedESP

	limiter answerLimiter
}

// run is the worker's life, on its own pinned thread.
func (w *worker) run() {
	defer w.stopped.Store(true)
	idle := 0
	for !w.stop.Load() {
		w.gen = w.gateway.generation.Load()
		received := 0
		for _, l := range w.lanes {
			received += w.turnOf(l)
		}
		w.finishTurn(received)
		if received > 0 {
			idle = 0
			continue
		}
		if idle++; idle > idleTurnsBeforeSleep && w.gateway.config.IdleBackoff > 0 {
			pmd.IdleSleep(w.gateway.config.IdleBackoff)
		}
	}
	w.drain()
}

// idleTurnsBeforeSleep is how many turns without a packet a worker makes before
// the idle back-off, if it is on, puts it to sleep.
const idleTurnsBeforeSleep = 64

// turnOf makes one turn of one lane and returns how many packets it received.
func (w *worker) turnOf(l *lane) int {
	if len(l.answers) > 0 {
		w.takeAnswers(l)
	}
	l.Exchange()
	w.countUnsent(l)
	burst := l.Rx()
	if len(burst) == 0 {
		return 0
	}
	w.now = time.Now().UnixNano()
	if l.direction == outbound {
		w.outbound(l, burst)
	} else {
		w.inbound(l, burst)
	}
	if w.originated != 0 {
		// Another lane of this turn may send them: they are counted before that, so that
		// nobody sees more sent than there was.
		w.flushDrops()
	}
	return len(burst)
}

// countUnsent counts what the lane gave up sending.
func (w *worker) countUnsent(l *lane) {
	if n := l.Unsent(); n != l.unsent {
		w.drops[l.tx.reasonUnsent()] += uint32(n - l.unsent)
		l.unsent = n
	}
	if n := l.Unmarked(); n != l.unmarked {
		w.drops[OutEngineFailed] += uint32(n - l.unmarked)
		l.unmarked = n
	}
}

// finishTurn publishes the turn's counters and passes the quiet point.
func (w *worker) finishTurn(received int) {
	w.flushPolicy()
	if received == 0 {
		bump(&w.counters.idleTurns, 1)
	} else {
		bump(&w.counters.packets, uint64(received))
	}
	w.flushDrops()
	bump(&w.counters.turns, 1)
	w.turn.Add(1)
}

func (w *worker) flushDrops() {
	if w.originated != 0 {
		bump(&w.counters.originated, uint64(w.originated))
		w.originated = 0
	}
	for r := range w.drops {
		if n := w.drops[r]; n != 0 {
			bump(&w.counters.drops[r], uint64(n))
			w.drops[r] = 0
		}
	}
}

// finish sends or drops every packet of the burst, in the order it came.
func (w *worker) finish(l *lane) {
	down := l.tx.unsendable()
	for i := range w.packets {
		p := &w.packets[i]
		if p.fate == fateDrop {
			w.drop(l, p)
			continue
		}
		if p.fate == fateAnswer {
			w.answer(l, p)
			continue
		}
		if down != ReasonNone {
			p.reason = down
			w.drop(l, p)
			continue
		}
		p.mbuf.SetBounds(p.start, p.end)
		p.mbuf.ClearTx()
		if !w.send(l, p) {
			p.reason = TxFull
			w.drop(l, p)
		}
	}
}

func (w *worker) send(l *lane, p *packetState) bool {
	if p.inline != nil {
		return l.out.SendSecured(p.mbuf, p.inline.hw, p.seq, p.secured())
	}
	return l.out.Send(p.mbuf)
}

func (w *worker) drop(l *lane, p *packetState) {
	w.count(p)
	l.Drop(p.mbuf)
}

// count counts a packet that is not sent.
func (w *worker) count(p *packetState) {
	w.drops[p.reason]++
	if p.sess != nil {
		p.sess.errors[p.reason].Add(1)
	}
}

// match counts a packet under the policy that decided it, once per run of
// packets of one policy.
func (w *worker) match(p *sa.PolicyState) {
	if p != w.policy {
		w.flushPolicy()
		w.policy = p
	}
	w.matched++
}

func (w *worker) flushPolicy() {
	if w.policy != nil {
		w.policy.Add(w.matched, w.now)
	}
	w.policy, w.matched = nil, 0
}

// begin takes the mbufs of a burst into w.packets.
func (w *worker) begin(burst []*pmd.Mbuf) []packetState {
	w.packets = w.packets[:len(burst)]
	w.jobs, w.opened = w.jobs[:0], w.opened[:0]
	w.memo.Reset()
	w.found.session = nil
	for i, m := range burst {
		p := &w.packets[i]
		p.mbuf, p.sess, p.reason, p.fate = m, nil, ReasonNone, fateDrop
		p.flags, p.opened, p.inline = m.Flags(), false, nil
		if m.Segments() > 1 {
			m.Linearize() // where that fails, parse drops it
		}
		restoreTags(m)
		p.start = m.Start()
		p.end = p.start + m.Len()
	}
	return w.packets
}

// drain sends what the lanes still hold, for at most drainTime, and counts the
// rest as Shutdown.
func (w *worker) drain() {
	for _, l := range w.lanes {
		w.takeAnswers(l)
		w.drops[Shutdown] += uint32(l.Flush(drainTime))
		w.countUnsent(l)
	}
	w.flushDrops()
	w.turn.Add(1)
}

const drainTime = 500 * time.Millisecond

// addJob gives a packet to the engine.
func (w *worker) addJob(p *packetState, s *session, buf []byte, offsets *esp.Offsets, seq uint64) {
	p.job = addTo(&w.jobs, s, buf, offsets, seq)
}

// addTo adds a job to a list that has room, and returns its index. The job is
// written where it stays: one that is put together elsewhere and copied waits for
// its own stores.
func addTo(list *[]job, s *session, buf []byte, offsets *esp.Offsets, seq uint64) uint16 {
	n := len(*list)
	*list = (*list)[:n+1]
	j := &(*list)[n]
	j.session, j.buf, j.offsets, j.seq, j.err = s, buf, *offsets, seq, nil
	return uint16(n)
}
