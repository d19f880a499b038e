package pmd_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// onLcore runs fn on a worker lcore, where pools have their caches.
func onLcore(tb testing.TB, lcore int, fn func()) {
	tb.Helper()
	thread, err := pmdtest.EAL().Launch(lcore, fn)
	require.NoError(tb, err)
	require.NoError(tb, thread.Wait())
}

func newLane(tb testing.TB, cfg pmd.LaneConfig) *pmd.Lane {
	tb.Helper()
	lane, err := pmd.NewLane(cfg)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, lane.Close()) })
	return lane
}

// BenchmarkExchangeEmpty is the price of a turn in which nothing happens.
func BenchmarkExchangeEmpty(b *testing.B) {
	pool := pmdtest.NewPool(b, 1023)
	left, right := pmdtest.RingPair(b, pool)
	lane := newLane(b, pmd.LaneConfig{RxPort: left, TxPort: right})
	onLcore(b, 1, func() {
		for b.Loop() {
			lane.Exchange()
		}
	})
}

// BenchmarkExchangeRings moves bursts of 32 round a ring pair: the lane receives
// on one port what it sent to the other. One operation is one turn.
func BenchmarkExchangeRings(b *testing.B) {
	pool := pmdtest.NewPool(b, 1023)
	left, right := pmdtest.RingPair(b, pool)
	pmdtest.Inject(b, right, frames(32)...)
	forward(b, newLane(b, pmd.LaneConfig{RxPort: left, TxPort: right}))
}

// BenchmarkForwardNull moves bursts from a port that makes packets to one that
// swallows them.
func BenchmarkForwardNull(b *testing.B) {
	pool := pmdtest.NewPool(b, 4095)
	from := pmdtest.Vdev(b, pool, pmdtest.Name("net_null"), "size=64")
	to := pmdtest.Vdev(b, pool, pmdtest.Name("net_null"), "")
	forward(b, newLane(b, pmd.LaneConfig{RxPort: from, TxPort: to}))
}

// BenchmarkForwardPcap moves bursts from a capture that is repeated for ever to a
// port that swallows them: the ports that throughput is compared on.
func BenchmarkForwardPcap(b *testing.B) {
	for _, size := range []int{64, 1420} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			frame := make([]byte, size)
			list := make([][]byte, 64)
			for i := range list {
				list[i] = frame
			}
			pool := pmdtest.NewPool(b, 8191)
			from := pmdtest.Vdev(b, pool, pmdtest.Name("net_pcap"),
				"infinite_rx=1,rx_pcap="+pmdtest.WritePcap(b, list...))
			to := pmdtest.Vdev(b, pool, pmdtest.Name("net_null"), "")
			forward(b, newLane(b, pmd.LaneConfig{RxPort: from, TxPort: to}))
		})
	}
}

// forward sends what it receives, unchanged but for the first octet.
func forward(b *testing.B, lane *pmd.Lane) {
	packets := 0
	onLcore(b, 1, func() {
		for b.Loop() {
			lane.Exchange()
			for _, m := range lane.Rx() {
				m.Buffer()[m.Start()] ^= 2
				lane.Send(m)
				packets++
			}
		}
	})
	b.ReportMetric(float64(packets)/b.Elapsed().Seconds()/1e6, "Mpps")
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(max(packets, 1)), "ns/packet")
}
