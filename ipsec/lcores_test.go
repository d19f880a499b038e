package ipsec_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// farEnd is one queue of a rig's port, used from the test.
func farEnd(t *testing.T, port *pmd.Port, queue int) *pmd.Lane {
	t.Helper()
	l, err := pmd.NewLane(pmd.LaneConfig{RxPort: port, RxQueue: queue, TxPort: port, TxQueue: queue})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// pump sends frames by a lane and collects what comes by others, until the
// gateway has dealt with all.
func (r *rig) pump(t *testing.T, senders map[*pmd.Lane][][]byte, receivers []*pmd.Lane) (got [][]byte) {
	t.Helper()
	start := r.gateway.Stats().Totals
	total := 0
	var wg sync.WaitGroup
	for lane, frames := range senders {
		total += len(frames)
		wg.Go(func() {
			for _, frame := range frames {
				lane.Send(pmdtest.NewMbuf(t, r.pool, frame))
				if lane.Held() >= 32 {
					lane.Flush(time.Second)
				}
			}
			lane.Flush(time.Second)
		})
	}
	collect := func() {
		for _, lane := range receivers {
			lane.Exchange()
			for _, m := range lane.Rx() {
				got = append(got, m.AppendTo(nil))
				lane.Drop(m)
			}
			lane.Exchange()
			for _, m := range lane.Rx() {
				got = append(got, m.AppendTo(nil))
				lane.Drop(m)
			}
		}
	}
	wg.Wait()
	require.Eventually(t, func() bool {
		collect()
		now := r.gateway.Stats().Totals
		return now.Received-start.Received == uint64(total) && now.InFlight == 0 && uint64(len(got)) == now.Transmitted-start.Transmitted
	}, 10*time.Second, 200*time.Microsecond)
	return got
}

// Two lcores, a queue of each port each, share one outbound SA and one inbound
// window: no sequence number is used twice, and of two copies of a packet that
// arrive on both queues exactly one comes through.
func TestLcoresShareAnSA(t *testing.T) {
	r := newRig(t, simpleOut+stateOut("")+stateIn(""), func(o *rigOptions) { o.driverQueues, o.lcores = 2, []int{1, 2} })
	hosts := []*pmd.Lane{farEnd(t, r.host, 0), farEnd(t, r.host, 1)}
	networks := []*pmd.Lane{farEnd(t, r.network, 0), farEnd(t, r.network, 1)}
	const n = 400
	plain := make([][]byte, n)
	esp := make([][]byte, n)
	for i := range n {
		plain[i] = plainOut(i)
		esp[i] = espIn(t, uint64(i+1))
	}
	wire := r.pump(t, map[*pmd.Lane][][]byte{hosts[0]: plain, hosts[1]: plain}, networks)
	require.Len(t, wire, 2*n, "%v", r.drops())
	seqs := map[uint32]bool{}
	for _, frame := range wire {
		_, _, seq, _ := openESP(t, frame[34:], simpleKey, nil)
		require.False(t, seqs[seq], "sequence number %d twice", seq)
		seqs[seq] = true
	}
	require.EqualValues(t, 2*n, r.sa(0x1001).Sequence)

	came := r.pump(t, map[*pmd.Lane][][]byte{networks[0]: esp, networks[1]: esp}, hosts)
	require.Len(t, came, n, "%v", r.drops())
	require.EqualValues(t, n, r.sa(0x2001).Packets)
	drops := r.drops()
	require.EqualValues(t, n, drops["in_replay_duplicate"]+drops["in_replay_old"])
	busy := 0
	for _, l := range r.gateway.Stats().Lcores {
		if l.Packets > 0 {
			busy++
		}
	}
	require.Equal(t, 2, busy, "both lcores had packets")
}
