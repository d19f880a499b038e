package pmd_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// frames makes n different frames of 60 to 1514 octets.
func frames(n int) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = make([]byte, 60+i*37%1455)
		for j := range list[i] {
			list[i][j] = byte(i*7 + j)
		}
		copy(list[i], fmt.Sprint(i))
	}
	return list
}

func TestLaneForwardsUnchangedAndInOrder(t *testing.T) {
	pool := pmdtest.NewPool(t, 4095)
	left, laneRx := pmdtest.RingPair(t, pool)
	laneTx, right := pmdtest.RingPair(t, pool)
	lane, err := pmd.NewLane(pmd.LaneConfig{RxPort: laneRx, TxPort: laneTx})
	require.NoError(t, err)
	defer lane.Close()

	want := frames(500)
	pmdtest.Inject(t, left, want...)
	for range 40 {
		lane.Exchange()
		for _, m := range lane.Rx() {
			require.Equal(t, 1, m.Segments())
			require.True(t, lane.Send(m))
		}
	}
	require.Zero(t, lane.Held())
	require.Equal(t, want, pmdtest.Collect(t, right, len(want)+1, 50*time.Millisecond))

	var octets uint64
	for _, f := range want {
		octets += uint64(len(f))
	}
	c := lane.Counters()
	require.Equal(t, pmd.LaneCounters{
		Turns: 40, RxPackets: 500, RxBytes: octets, TxPackets: 500, TxBytes: octets,
		RxIdle: 24, TxEmptied: 40, // 16 bursts of 32
	}, c)
}

func TestQueueBelongsToOneLane(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b := pmdtest.RingPair(t, pool)
	lane := newLane(t, pmd.LaneConfig{RxPort: a, TxPort: b})
	_, err := pmd.NewLane(pmd.LaneConfig{RxPort: a})
	require.ErrorIs(t, err, pmd.ErrQueueTaken)
	require.ErrorContains(t, err, "receive queue 0 of port")
	_, err = pmd.NewLane(pmd.LaneConfig{RxPort: b, TxPort: b})
	require.ErrorIs(t, err, pmd.ErrQueueTaken)
	require.ErrorContains(t, err, "transmit queue 0 of port")
	back := newLane(t, pmd.LaneConfig{RxPort: b, TxPort: a})
	require.NoError(t, back.Close())
	require.NoError(t, lane.Close())
	again := newLane(t, pmd.LaneConfig{RxPort: a, TxPort: b})
	require.NoError(t, again.Close())
}

func TestLaneErrors(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b := pmdtest.RingPair(t, pool)
	for want, cfg := range map[string]pmd.LaneConfig{
		"neither a port":             {},
		"burst of 513, 1 to 512":     {RxPort: a, TxPort: b, Burst: 513},
		"burst of -1":                {RxPort: a, Burst: -1},
		"receive queue 1, port net_": {RxPort: a, RxQueue: 1},
		"transmit queue -1":          {TxPort: a, TxQueue: -1},
	} {
		_, err := pmd.NewLane(cfg)
		require.ErrorIs(t, err, pmd.ErrConfig, want)
		require.ErrorContains(t, err, want)
	}
}

// TestLanesWithOneDirection: a lane without RxPort receives nothing, one without
// TxPort refuses to send.
func TestLanesWithOneDirection(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b := pmdtest.RingPair(t, pool)
	out := newLane(t, pmd.LaneConfig{TxPort: a})
	in := newLane(t, pmd.LaneConfig{RxPort: b})
	m := pool.Alloc()
	require.False(t, in.Send(m))
	require.True(t, out.Send(m))
	out.Exchange()
	require.Empty(t, out.Rx())
	in.Exchange()
	require.Equal(t, []*pmd.Mbuf{m}, in.Rx())
	in.Drop(m)
	in.Exchange()
}

// TestBursts: a lane of any burst size receives at most that, and all of it.
func TestBursts(t *testing.T) {
	pool := pmdtest.NewPool(t, 2047)
	a, b := pmdtest.RingPair(t, pool)
	for _, burst := range []int{1, 2, 7, 32, 33, 256, pmd.MaxBurst} {
		pmdtest.Inject(t, a, frames(600)...)
		lane := newLane(t, pmd.LaneConfig{RxPort: b, Burst: burst})
		for total := 0; total < 600; total += len(lane.Rx()) {
			lane.Exchange()
			require.Len(t, lane.Rx(), min(burst, 600-total))
			for _, m := range lane.Rx() {
				lane.Drop(m)
			}
		}
		lane.Exchange()
		require.Empty(t, lane.Rx())
		require.Equal(t, uint64(600), lane.Counters().RxPackets)
		require.NoError(t, lane.Close())
	}
}

// TestWorkers: two lcores with two lanes each carry packets both ways at once.
func TestWorkers(t *testing.T) {
	const each = 2000
	pool := pmdtest.NewPool(t, 8191)
	leftEnd, left := pmdtest.RingPairQueues(t, pool, 2, 4096)
	right, rightEnd := pmdtest.RingPairQueues(t, pool, 2, 4096)
	var threads []*pmd.Thread
	var lanes []*pmd.Lane
	for q := range 2 {
		there := newLane(t, pmd.LaneConfig{RxPort: left, RxQueue: q, TxPort: right, TxQueue: q})
		back := newLane(t, pmd.LaneConfig{RxPort: right, RxQueue: q, TxPort: left, TxQueue: q})
		lanes = append(lanes, there, back)
		for _, end := range []*pmd.Port{leftEnd, rightEnd} {
			source := newLane(t, pmd.LaneConfig{TxPort: end, TxQueue: q})
			for range each {
				require.True(t, source.Send(pmdtest.NewMbuf(t, pool, []byte("packet"))))
				if source.Held() == pmd.MaxBurst {
					source.Exchange()
				}
			}
			require.Zero(t, source.Flush(time.Second))
			require.NoError(t, source.Close())
		}
		thread, err := pmdtest.EAL().Launch(1+q, func() {
			for there.Counters().TxPackets+back.Counters().TxPackets < 2*each {
				for _, lane := range []*pmd.Lane{there, back} {
					lane.Exchange()
					for _, m := range lane.Rx() {
						lane.Send(m)
					}
				}
			}
		})
		require.NoError(t, err)
		threads = append(threads, thread)
	}
	for _, thread := range threads {
		require.NoError(t, thread.Wait())
	}
	for _, lane := range lanes {
		require.Equal(t, uint64(each), lane.Counters().TxPackets)
		require.Equal(t, uint64(6*each), lane.Counters().TxBytes)
	}
}
