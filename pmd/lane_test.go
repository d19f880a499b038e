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
	require.Equal(t, pmd.LaneCounters{Turns: 40, RxPackets: 500, RxBytes: octets, TxPackets: 500, TxBytes: octets}, c)
}
