package ipsec

import "time"

// waitQuiet returns when every running worker has passed a quiet point since
// the call, so that none holds what it loaded before.
func (g *Gateway) waitQuiet() {
	before := make([]uint64, len(g.workers))
	for i, w := range g.workers {
		before[i] = w.turn.Load()
	}
	for i, w := range g.workers {
		poll(func() bool { return w.idle() || w.turn.Load() != before[i] })
	}
}

// idle says whether the worker runs no turns: not yet, or not any more.
func (w *worker) idle() bool { return w.thread == nil || w.stopped.Load() }

// waitSent returns when every lane has sent, or given up, what it held for the
// port. What it held before the last quiet point is then gone.
func (g *Gateway) waitSent(p *port) {
	for _, w := range g.workers {
		for _, l := range w.lanes {
			if l.tx != p || l.out != l {
				continue
			}
			before := l.Counters().TxEmptied
			poll(func() bool { return w.idle() || l.Counters().TxEmptied != before })
		}
	}
}

// poll waits for something that comes with the next turns.
func poll(done func() bool) {
	for pause := 5 * time.Microsecond; !done(); pause = min(2*pause, time.Millisecond) {
		time.Sleep(pause)
	}
}

// receiveMark is how far a lane has come with its receive queue.
type receiveMark struct{ idle, packets uint64 }

// receiveQueueMax is more than any receive queue holds, in packets.
const receiveQueueMax = 1 << 16

// receiveMarks is how far the lanes that receive from the port have come.
func (g *Gateway) receiveMarks(p *port) []receiveMark {
	var marks []receiveMark
	for _, w := range g.workers {
		for _, l := range w.lanes {
			if l.rx == p {
				c := l.Counters()
				marks = append(marks, receiveMark{c.RxIdle, c.RxPackets})
			}
		}
	}
	return marks
}

// passed says whether every queue was found empty, or has given more than it can
// hold, between two looks.
func passed(before, now []receiveMark) bool {
	for i := range now {
		if i < len(before) && now[i].idle == before[i].idle && now[i].packets-before[i].packets < receiveQueueMax {
			return false
		}
	}
	return true
}
