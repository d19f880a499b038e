package durable

import "time"

// How far ahead numbers are reserved. A kill loses at most that many of an SA's
// sequence space (of 2^32 without ESN, 16,384 times the least); the most is what
// an SA at 10 million packets/s uses in 6 seconds.
const (
	minChunk = 1 << 18
	maxChunk = 1 << 26
	// aheadTime is for how long what is reserved should last. Half of it is left
	// when more is asked for.
	aheadTime = 4 * time.Second
)

// sent is the highest number that may have been sent.
func (n *number) sent() uint64 { return max(n.floor, n.kept.LastSent()) }

// target is the number up to which n is to be reserved now, at most its Limit.
func (k *Keeper) target(n *number, now time.Time) uint64 {
	sent := n.sent()
	if d := now.Sub(n.since); !n.since.IsZero() && sent > n.last {
		rate := float64(sent-n.last) / max(d.Seconds(), 1e-3)
		n.chunk = uint64(min(max(rate*aheadTime.Seconds(), minChunk), maxChunk))
	}
	return min(sent+n.chunk, n.kept.Limit())
}
