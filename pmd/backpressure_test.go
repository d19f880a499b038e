package pmd_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// turn is one turn of a worker that forwards everything.
func turn(t *testing.T, lane *pmd.Lane) {
	t.Helper()
	lane.Exchange()
	for _, m := range lane.Rx() {
		require.True(t, lane.Send(m))
	}
}

// narrow makes a lane from one ring pair into another, whose rings hold only 16
// packets, and returns the far ends.
func narrow(t *testing.T, patience time.Duration) (in *pmd.Port, lane *pmd.Lane, out *pmd.Port) {
	t.Helper()
	pool := pmdtest.NewPool(t, 2047)
	in, laneRx := pmdtest.RingPair(t, pool)
	laneTx, out := pmdtest.RingPairQueues(t, pool, 1, 16)
	return in, newLane(t, pmd.LaneConfig{RxPort: laneRx, TxPort: laneTx, Patience: patience}), out
}

// TestNothingIsLostToASlowReceiver: what the transmit queue does not take waits,
// in order, and the lane does not receive meanwhile.
func TestNothingIsLostToASlowReceiver(t *testing.T) {
	in, lane, out := narrow(t, time.Hour)
	want := frames(300)
	pmdtest.Inject(t, in, want...)
	var got [][]byte
	for len(got) < len(want) {
		for range 3 { // the second and third time the ring is full
			turn(t, lane)
		}
		if lane.Held() > 0 {
			require.Empty(t, lane.Rx(), "received while packets wait")
		}
		require.LessOrEqual(t, lane.Held(), lane.Burst())
		some := pmdtest.Collect(t, out, 7, 50*time.Millisecond)
		require.NotEmpty(t, some)
		got = append(got, some...)
	}
	require.Equal(t, want, got)
	c := lane.Counters()
	require.Equal(t, uint64(300), c.TxPackets)
	require.Equal(t, c.RxBytes, c.TxBytes, "octets of partly sent bursts")
	require.Zero(t, c.TxGivenUp)
}

// TestPatienceEnds: without progress the waiting packets are given up, then all
// that follow at once, until the queue takes packets again.
func TestPatienceEnds(t *testing.T) {
	in, lane, out := narrow(t, 20*time.Millisecond)
	pmdtest.Inject(t, in, frames(200)...)
	for lane.Held() <= 16 { // 32 received, 16 of them sent, 16 wait
		turn(t, lane)
	}
	turn(t, lane)
	require.Equal(t, 16, lane.Held())
	require.Zero(t, lane.Counters().TxGivenUp, "patience has not run out yet")

	start := lane.Now()
	for lane.Counters().TxGivenUp == 0 {
		lane.Exchange()
	}
	waited := float64(lane.Now()-start) / float64(pmd.TSCHz())
	require.GreaterOrEqual(t, waited, 0.019)
	c := lane.Counters()
	require.Equal(t, uint64(16), c.TxGivenUp, "all that waited")
	require.Equal(t, uint64(64), c.RxPackets, "and reception goes on in the same turn")

	for _, m := range lane.Rx() {
		require.True(t, lane.Send(m))
	}
	turn(t, lane)
	require.Equal(t, uint64(48), lane.Counters().TxGivenUp, "given up at once now")

	require.Len(t, pmdtest.Collect(t, out, 16, time.Second), 16)
	turn(t, lane)
	require.Equal(t, uint64(32), lane.Counters().TxPackets, "the queue takes packets again")
	turn(t, lane)
	require.Equal(t, 16, lane.Held(), "and patience is new")
	require.Equal(t, uint64(48), lane.Counters().TxGivenUp)
}

func TestFlush(t *testing.T) {
	in, lane, out := narrow(t, time.Hour)
	pmdtest.Inject(t, in, frames(32)...)
	turn(t, lane)
	require.Equal(t, 32, lane.Held())
	require.Equal(t, 16, lane.Flush(time.Millisecond), "the ring holds 16")
	require.Equal(t, 16, lane.Flush(0))
	require.Len(t, pmdtest.Collect(t, out, 16, time.Second), 16)
	require.Zero(t, lane.Flush(0), "one attempt at least")
	require.Equal(t, uint64(32), lane.Counters().TxPackets)
	require.Empty(t, lane.Rx())
}

// TestSendRefusesMoreThanItsVectorHolds, and the packet stays the caller's.
func TestSendRefusesMoreThanItsVectorHolds(t *testing.T) {
	_, lane, _ := narrow(t, time.Hour)
	pool := pmdtest.NewPool(t, 2100)
	for range 2048 {
		require.True(t, lane.Send(pool.Alloc()))
	}
	m := pool.Alloc()
	require.False(t, lane.Send(m))
	require.Equal(t, 2048, lane.Held())
	lane.Drop(m)
	require.NoError(t, lane.Close())
	require.Zero(t, pool.InUse(), "Close frees what waits")
	require.NoError(t, lane.Close())
}

// TestDropOfManyInOneTurn: more drops than the vector holds are freed on the way.
func TestDropOfManyInOneTurn(t *testing.T) {
	_, lane, _ := narrow(t, time.Hour)
	pool := pmdtest.NewPool(t, 5000)
	for range 5000 {
		lane.Drop(pool.Alloc())
	}
	require.Equal(t, 5000-4096, pool.InUse())
	lane.Exchange()
	require.Zero(t, pool.InUse())
}

// TestOfflineRunLosesNothing: a capture goes through a lane into another capture,
// octet for octet, although its port gives as many packets as the lane asks for.
func TestOfflineRunLosesNothing(t *testing.T) {
	want := frames(3000)
	from := pmdtest.WritePcap(t, want...)
	to := t.TempDir() + "/out.pcap"
	pool := pmdtest.NewPool(t, 1023)
	port := pmdtest.Vdev(t, pool, pmdtest.Name("net_pcap"), "rx_pcap="+from+",tx_pcap="+to)
	lane := newLane(t, pmd.LaneConfig{RxPort: port, TxPort: port, Burst: pmd.MaxBurst})
	for range 50 {
		turn(t, lane)
	}
	require.Equal(t, uint64(3000), lane.Counters().TxPackets)
	require.NoError(t, lane.Close())
	require.NoError(t, port.Close())
	require.Equal(t, want, pmdtest.ReadPcap(t, to))
}
