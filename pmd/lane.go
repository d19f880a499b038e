package pmd

// #cgo noescape pmd_lane_exchange
// #cgo nocallback pmd_lane_exchange
// #cgo noescape pmd_lane_free_drops
// #cgo nocallback pmd_lane_free_drops
// #cgo noescape pmd_lane_flush
// #cgo nocallback pmd_lane_flush
// #include "lane.h"
import "C"

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Limits and defaults of a lane.
const (
	MaxBurst        = C.PMD_LANE_BURST_MAX // packets per Exchange
	DefaultBurst    = 32
	DefaultPatience = 100 * time.Millisecond
)

// LaneConfig says between which queues a lane moves packets.
type LaneConfig struct {
	// RxPort and RxQueue are where it receives; a lane without RxPort only sends.
	RxPort  *Port
	RxQueue int
	// TxPort and TxQueue are where it sends; a lane without TxPort only receives.
	TxPort  *Port
	TxQueue int
	// Burst is how many packets an Exchange receives at most: 1 to 512, default 32.
	// Drivers of NICs with vector instructions round down to a multiple of 4 or 8.
	Burst int
	// Patience is how long packets wait for a transmit queue that takes none before
	// they are given up; default 100 ms, negative: not at all.
	Patience time.Duration
}

// Lane is one worker's way from a receive queue to a transmit queue. All methods
// but Counters are for one thread at a time; a worker may have several lanes.
//
// A turn of a worker is Exchange, then for each packet of Rx exactly one Send or
// Drop, of this lane or another of the same worker.
type Lane struct {
	c      *C.struct_pmd_lane
	handle C.uintptr_t // c as an integer: spares cgo's check of pointer arguments
	cfg    LaneConfig
	id     uint64

	mu     sync.Mutex // Counters against Close
	closed bool
	last   LaneCounters // what the counters were when it was closed
}

// LaneCounters count what a lane did, in packets and octets of frames without
// FCS. TxGivenUp are packets freed because the transmit queue took none for
// longer than Patience, TxRefused those that the driver found unfit for the
// offload they asked for.
type LaneCounters struct {
	Turns                uint64
	RxPackets, RxBytes   uint64
	TxPackets, TxBytes   uint64
	TxGivenUp, TxRefused uint64
	// TxUnmarked are packets for a session of the device that could not be marked for
	// it, and were freed.
	TxUnmarked uint64
	// RxIdle counts the times that nothing was there to receive, TxEmptied those that
	// nothing was left to send: who waits for what was on the way watches them.
	RxIdle, TxEmptied uint64
}

// NewLane makes a lane. Each queue belongs to one lane at most (ErrQueueTaken),
// and must have been configured (ErrConfig).
func NewLane(cfg LaneConfig) (*Lane, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("making a lane: %w", err)
	}
	if err := queues.take(cfg); err != nil {
		return nil, fmt.Errorf("making a lane: %w", err)
	}
	c := C.pmd_lane_new()
	if c == nil {
		queues.give(cfg)
		return nil, fmt.Errorf("making a lane: %w", errNoMemory)
	}
	c.burst = C.uint16_t(cfg.Burst)
	c.patience = C.uint64_t(tscCycles(cfg.Patience))
	if cfg.RxPort != nil {
		c.receives, c.rx_port, c.rx_queue = 1, C.uint16_t(cfg.RxPort.id), C.uint16_t(cfg.RxQueue)
	}
	if cfg.TxPort != nil {
		c.sends, c.tx_port, c.tx_queue = 1, C.uint16_t(cfg.TxPort.id), C.uint16_t(cfg.TxQueue)
		c.sec_ctx = cfg.TxPort.secCtx
		if cfg.TxPort.preparesTx() {
			c.prepares = 1
		}
	}
	l := &Lane{c: c, handle: C.uintptr_t(uintptr(unsafe.Pointer(c))), cfg: cfg}
	l.id = own(l, cfg.String())
	return l, nil
}

func (cfg *LaneConfig) check() error {
	if err := alive(); err != nil {
		return err
	}
	if cfg.Burst == 0 {
		cfg.Burst = DefaultBurst
	}
	if cfg.Patience == 0 {
		cfg.Patience = DefaultPatience
	}
	if cfg.Burst < 1 || cfg.Burst > MaxBurst {
		return fmt.Errorf("%w: burst of %d, 1 to %d are possible", ErrConfig, cfg.Burst, MaxBurst)
	}
	if cfg.RxPort == nil && cfg.TxPort == nil {
		return fmt.Errorf("%w: neither a port to receive from nor one to send to", ErrConfig)
	}
	if cfg.RxPort != nil {
		if n := cfg.RxPort.rxQueues(); cfg.RxQueue < 0 || cfg.RxQueue >= n {
			return fmt.Errorf("%w: receive queue %d, port %s has %d", ErrConfig, cfg.RxQueue, cfg.RxPort, n)
		}
	}
	if cfg.TxPort != nil {
		if n := cfg.TxPort.txQueues(); cfg.TxQueue < 0 || cfg.TxQueue >= n {
			return fmt.Errorf("%w: transmit queue %d, port %s has %d", ErrConfig, cfg.TxQueue, cfg.TxPort, n)
		}
	}
	return nil
}

// String names the lane by its ports and queues: "lane 0:0 to 1:0".
func (cfg LaneConfig) String() string {
	from, to := "nowhere", "nowhere"
	if cfg.RxPort != nil {
		from = fmt.Sprintf("%d:%d", cfg.RxPort.id, cfg.RxQueue)
	}
	if cfg.TxPort != nil {
		to = fmt.Sprintf("%d:%d", cfg.TxPort.id, cfg.TxQueue)
	}
	return "lane " + from + " to " + to
}

// Exchange is the worker's only crossing into C: it frees what was dropped, sends
// what is to be sent, and receives up to Burst packets. What the transmit queue
// does not take stays first in line, and while anything waits nothing is
// received, so that an offline run loses nothing. If no packet leaves for
// Patience, the waiting ones are freed and counted (TxGivenUp), and so is at once
// whatever follows, until the queue takes packets again.
func (l *Lane) Exchange() { C.pmd_lane_exchange(l.handle) }

// Rx is what the last Exchange received. The slice is valid until the next one.
func (l *Lane) Rx() []*Mbuf {
	return unsafe.Slice((**Mbuf)(unsafe.Pointer(&l.c.rx)), int(l.c.rx_count))
}

// Send puts the packet last in line for the next Exchange, which takes it over.
// It is false, and the packet still the caller's, when 2048 packets wait, or when
// the lane has no TxPort.
func (l *Lane) Send(m *Mbuf) bool {
	c := l.c
	n := c.tx_count
	if n >= C.PMD_LANE_TX_MAX || c.sends == 0 {
		return false
	}
	c.tx[n] = (*C.struct_rte_mbuf)(unsafe.Pointer(m))
	c.tx_count = n + 1
	return true
}

// Drop leaves the packet to the next Exchange to free.
func (l *Lane) Drop(m *Mbuf) {
	c := l.c
	n := c.drop_count
	c.drop[n] = (*C.struct_rte_mbuf)(unsafe.Pointer(m))
	c.drop_count = n + 1
	if n+1 == C.PMD_LANE_DROP_MAX {
		C.pmd_lane_free_drops(l.handle)
	}
}

// Secured is how a packet that the device is to process looks: the octets in front
// of its IP header (L2), the IP header (L3), its version, and for IPv4 whether the
// header checksum, which is zero, is the device's to fill in.
type Secured struct {
	L2, L3         int
	V6, IPChecksum bool
}

// SendSecured is Send for a packet that the device is to seal in a session of
// TxPort: with InlineCrypto a whole ESP packet in one segment, not encrypted yet,
// that ends with room for the ICV; with InlineProtocol one without ESP. sequence is
// the packet's sequence number, all 64 bits. The next Exchange marks the packet;
// one that cannot be marked is freed and counted (Unmarked), never sent. Until then
// the session must stay open.
func (l *Lane) SendSecured(m *Mbuf, s *SecuritySession, sequence uint64, p Secured) bool {
	if l.c.sec_ctx == nil || !l.Send(m) {
		return false
	}
	c := l.c
	entry := &c.secured[c.secured_count]
	entry.session, entry.sequence, entry.at = C.uintptr_t(s.handle), C.uint64_t(sequence), C.uint32_t(c.tx_count-1)
	entry.l2_len, entry.l3_len, entry.flags = C.uint8_t(p.L2), C.uint16_t(p.L3), 0
	if p.V6 {
		entry.flags = C.PMD_SECURED_V6
	} else if p.IPChecksum {
		entry.flags = C.PMD_SECURED_IP_CHECKSUM
	}
	c.secured_count++
	return true
}

// PauseRx stops and resumes asking RxPort for packets, PauseTx giving any to
// TxPort: while it is paused, what waits and what is sent is given up. For any
// goroutine; it takes effect with the next Exchange.
func (l *Lane) PauseRx(on bool) { pause(&l.c.rx_paused, on) }

// PauseTx is explained at PauseRx.
func (l *Lane) PauseTx(on bool) { pause(&l.c.tx_paused, on) }

func pause(flag *C.uint8_t, on bool) {
	value := C.int(0)
	if on {
		value = 1
	}
	C.pmd_lane_pause(flag, value)
}

// Held is how many packets wait to be sent.
func (l *Lane) Held() int { return int(l.c.tx_count) }

// Now is the time stamp counter as it was when the last Exchange began.
func (l *Lane) Now() uint64 { return uint64(l.c.now) }

// Burst is how many packets an Exchange receives at most.
func (l *Lane) Burst() int { return int(l.c.burst) }

// Flush frees what was dropped and sends what waits, for at most d; it returns
// how many packets still wait. It receives nothing.
func (l *Lane) Flush(d time.Duration) int {
	return int(C.pmd_lane_flush(l.handle, C.uint64_t(tscCycles(d))))
}

// Counters may be read from any goroutine, and after Close.
func (l *Lane) Counters() LaneCounters {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.last
	}
	load := func(counter *C.uint64_t) uint64 { return atomic.LoadUint64((*uint64)(counter)) }
	return LaneCounters{
		Turns:     load(&l.c.turns),
		RxPackets: load(&l.c.rx_packets),
		RxBytes:   load(&l.c.rx_bytes),
		TxPackets: load(&l.c.tx_packets),
		TxBytes:   load(&l.c.tx_bytes),
		TxGivenUp: load(&l.c.tx_given_up),
		TxRefused: load(&l.c.tx_refused),

		TxUnmarked: load(&l.c.tx_unmarked),
		RxIdle:     load(&l.c.rx_idle),
		TxEmptied:  load(&l.c.tx_emptied),
	}
}

// Unsent is TxGivenUp and TxRefused together, for the worker itself: unlike
// Counters it takes no lock, so that it can be read in every turn.
func (l *Lane) Unsent() uint64 { return uint64(l.c.tx_given_up + l.c.tx_refused) }

// Unmarked is TxUnmarked, for the worker itself.
func (l *Lane) Unmarked() uint64 { return uint64(l.c.tx_unmarked) }

// Close frees the packets that wait in the lane and gives its queues back. The
// worker must have stopped using it. It may be called twice.
func (l *Lane) Close() error {
	last := l.Counters()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed, l.last = true, last
	if alive() != nil {
		l.c.tx_count, l.c.drop_count = 0, 0 // their memory went with EAL
	}
	C.pmd_lane_free(l.c)
	l.c, l.handle = nil, 0
	queues.give(l.cfg)
	disown(l.id)
	return nil
}
