package ipsec

import "sync/atomic"

// reasonCounts is a set of counters by Reason that many may add to.
type reasonCounts [NumReasons]atomic.Uint64

// workerCounters are what a worker has counted so far. The worker alone writes
// them, once per turn; anyone reads.
type workerCounters struct {
	turns, idleTurns atomic.Uint64
	packets          atomic.Uint64 // received by its lanes
	originated       atomic.Uint64 // answers it made
	drops            reasonCounts
}

// bump adds to a counter that only this goroutine writes: a load and a store
// instead of a locked add.
func bump(c *atomic.Uint64, n uint64) { c.Store(c.Load() + n) }
