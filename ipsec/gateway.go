package ipsec

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"espgw/ipsec/esp"
	"espgw/pmd"
	"espgw/sa"
	"espgw/sa/durable"
)

// Config is what a Gateway is made of. The caller owns EAL, ports, pool and DB
// and closes them after Stop.
type Config struct {
	EAL   *pmd.EAL
	Pairs []Pair
	Plan  *Plan
	DB    *sa.DB
	// Keeper keeps the DB's sequence numbers over a restart; nil: nobody does. The
	// caller closes it after Stop.
	Keeper *durable.Keeper
	Burst  int // packets a burst, 1 to 512
	// IdleBackoff is how long a worker sleeps after idle turns; 0: it polls on.
	IdleBackoff time.Duration
	Pass        PassList
	// MSSClamp bounds the segment size of protected TCP connections: octets, or
	// ClampAuto (0) or ClampOff.
	MSSClamp int
	// LearnPathMTU says that ICMP errors about ESP that was too big are believed.
	LearnPathMTU bool
	// Offload says which SAs go to a device, and InlineOnly that no others are taken.
	Offload    OffloadMode
	InlineOnly bool
	// Emulation gives the counters of emulated devices, by port name; nil: none are.
	Emulation func() map[string]map[string]uint64
	Log       *slog.Logger
}

// generation is what workers see of the tables: replaced as a whole, never
// changed.
type generation struct {
	table      *sa.Table
	encapPorts *portSet
}

// Gateway runs the pipelines of all pairs.
type Gateway struct {
	config     Config
	log        *slog.Logger
	ports      []*port
	workers    []*worker
	generation atomic.Pointer[generation]
	// sessions by sa.SA.Slot. An entry is written before the SA is in a
	// published table and cleared after its removal's quiet point.
	sessions []atomic.Pointer[session]
	// pathMTUNews says that some session has learnt a path MTU that is not logged.
	pathMTUNews atomic.Bool

	mu      sync.Mutex // one change at a time
	restart sync.Mutex // one port is stopped or started at a time
	// inlineWork wakes the loop that removes SAs from devices.
	inlineWork chan struct{}
	encaps     map[uint16]int
	started    time.Time
	stopped    time.Time
	ended      atomic.Bool
	watch      sync.WaitGroup
	quit       chan struct{}
}

// New builds a gateway and its lanes. It starts nothing.
func New(c Config) (*Gateway, error) {
	if err := esp.SelfTest(); err != nil {
		return nil, fmt.Errorf("known-answer test of the Go engine: %w", err)
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	g := &Gateway{
		config: c, log: c.Log, quit: make(chan struct{}),
		sessions: make([]atomic.Pointer[session], c.DB.Slots()),
		encaps:   map[uint16]int{}, inlineWork: make(chan struct{}, 1),
	}
	g.generation.Store(&generation{table: c.DB.Table(), encapPorts: newPortSet(nil)})
	if err := g.buildWorkers(); err != nil {
		return nil, errors.Join(err, g.closeLanes())
	}
	for _, p := range g.ports {
		if p.side == Unprotected {
			p.inline, p.whyNotInline = g.newInlinePort(p)
		}
	}
	return g, nil
}

func (g *Gateway) buildWorkers() error {
	byID := map[int]*port{}
	peer := map[int]*port{}
	direction := map[int]laneDirection{}
	for _, pair := range g.config.Pairs {
		in, out := newPort(pair.Protected, Protected), newPort(pair.Unprotected, Unprotected)
		g.ports = append(g.ports, in, out)
		byID[in.id()], byID[out.id()] = in, out
		peer[in.id()], peer[out.id()] = out, in
		direction[in.id()], direction[out.id()] = outbound, inbound
	}
	for _, q := range g.config.Plan.Queues {
		rx, tx := byID[q.Port], peer[q.Port]
		w := g.workerOf(q.Lcore)
		config := pmd.LaneConfig{RxPort: rx.Port, RxQueue: q.Queue, Burst: g.config.Burst}
		l := &lane{direction: direction[q.Port], rx: rx, tx: tx, out: w.senderTo(tx)}
		if l.out == nil {
			l.out = l
			config.TxPort, config.TxQueue = tx.Port, g.config.Plan.TxQueue[PortLcore{tx.id(), q.Lcore}]
		}
		raw, err := pmd.NewLane(config)
		if err != nil {
			return fmt.Errorf("lane of port %d queue %d: %w", q.Port, q.Queue, err)
		}
		l.Lane = raw
		w.lanes = append(w.lanes, l)
	}
	g.joinAnswers()
	return nil
}

// joinAnswers gives every outbound lane a way for what it answers to its hosts.
// There always is one: somebody polls the unprotected port and sends to them.
func (g *Gateway) joinAnswers() {
	for _, w := range g.workers {
		for _, l := range w.lanes {
			if l.direction != outbound {
				continue
			}
			if l.back = w.senderTo(l.rx); l.back != nil {
				continue
			}
			for _, other := range g.workers {
				if to := other.senderTo(l.rx); to != nil {
					l.handoff = new(handoff)
					to.answers = append(to.answers, l.handoff)
					break
				}
			}
		}
	}
}

func (p *port) id() int { return p.Port.ID() }

// senderTo returns the worker's lane that owns a transmit queue of the port.
func (w *worker) senderTo(tx *port) *lane {
	for _, l := range w.lanes {
		if l.tx == tx {
			return l.out
		}
	}
	return nil
}

func (g *Gateway) workerOf(lcore int) *worker {
	for _, w := range g.workers {
		if w.lcore == lcore {
			return w
		}
	}
	w := &worker{
		gateway: g, lcore: lcore, engine: newGoEngine(),
		packets: make([]packetState, g.config.Burst),
		jobs:    make([]job, 0, g.config.Burst),
		opened:  make([]job, 0, g.config.Burst),
	}
	g.workers = append(g.workers, w)
	return w
}

// Start starts a worker on each lcore of the plan.
func (g *Gateway) Start() error {
	g.started = time.Now()
	// They may have come up since New, and nothing is sent to a link that is down.
	for _, p := range g.ports {
		p.refreshLink()
	}
	for _, w := range g.workers {
		thread, err := g.config.EAL.Launch(w.lcore, w.run)
		if err != nil {
			return errors.Join(fmt.Errorf("start the worker of lcore %d: %w", w.lcore, err), g.Stop())
		}
		w.thread = thread
	}
	g.watch.Go(g.watchLoop)
	g.watch.Go(g.inlineLoop)
	if k := g.config.Keeper; k != nil {
		g.watch.Go(func() { k.Run(g.quit) })
	}
	return nil
}

// Failed returns a channel-free check: the error of a worker that ended before
// it was told to, or nil.
func (g *Gateway) Failed() error {
	for _, w := range g.workers {
		if w.thread != nil && w.stopped.Load() && !w.stop.Load() {
			return fmt.Errorf("the worker of lcore %d ended: %w", w.lcore, w.thread.Wait())
		}
	}
	return nil
}

// Stop tells the workers to finish, waits for them and closes the lanes. What
// the lanes hold is sent within half a second or counted as Shutdown. It is
// idempotent.
func (g *Gateway) Stop() error {
	if g.ended.Swap(true) {
		return nil
	}
	close(g.quit)
	g.watch.Wait()
	for _, w := range g.workers {
		w.stop.Store(true)
	}
	var errs []error
	for _, w := range g.workers {
		if w.thread == nil {
			continue
		}
		if err := w.thread.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("worker of lcore %d: %w", w.lcore, err))
		}
	}
	g.stopped = time.Now()
	g.dropAnswers()
	for _, p := range g.ports {
		if p.inline != nil && !p.inline.stopped {
			p.inline.suspend()
			p.inline.empty()
		}
	}
	return errors.Join(append(errs, g.closeLanes())...)
}

// dropAnswers frees what one worker left for another that had ended.
func (g *Gateway) dropAnswers() {
	for _, w := range g.workers {
		for _, l := range w.lanes {
			for _, h := range l.answers {
				for m := h.take(); m != nil; m = h.take() {
					m.Free()
					bump(&w.counters.drops[Shutdown], 1)
				}
			}
		}
	}
}

func (g *Gateway) closeLanes() error {
	var errs []error
	for _, w := range g.workers {
		for _, l := range w.lanes {
			errs = append(errs, l.Close())
		}
	}
	return errors.Join(errs...)
}

// session returns the session of a live SA.
func (g *Gateway) session(s *sa.SA) *session { return g.sessions[s.Slot()].Load() }
