package pmdtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

// Inject sends frames (without FCS) on transmit queue 0 of a raw port, which no
// other lane may use meanwhile: into one end of a ring pair, they arrive at the
// other.
func Inject(t testing.TB, port *pmd.Port, frames ...[]byte) {
	t.Helper()
	lane, err := pmd.NewLane(pmd.LaneConfig{TxPort: port})
	require.NoError(t, err)
	defer lane.Close()
	for _, frame := range frames {
		mbuf := NewMbuf(t, port.Pool(), frame)
		require.True(t, lane.Send(mbuf))
		if lane.Held() == pmd.MaxBurst {
			lane.Flush(time.Second)
		}
	}
	require.Zero(t, lane.Flush(5*time.Second), "frames that port %s did not take", port)
}

// Collect receives from receive queue 0 of a raw port, which no other lane may
// use meanwhile, until n frames have come or the time is over, and returns copies
// of what came.
func Collect(t testing.TB, port *pmd.Port, n int, timeout time.Duration) [][]byte {
	t.Helper()
	lane, err := pmd.NewLane(pmd.LaneConfig{RxPort: port, Burst: 1}) // never one too many
	require.NoError(t, err)
	defer lane.Close()
	var frames [][]byte
	for end := time.Now().Add(timeout); len(frames) < n; {
		late := !time.Now().Before(end)
		lane.Exchange()
		for _, mbuf := range lane.Rx() {
			frames = append(frames, mbuf.AppendTo(nil))
			lane.Drop(mbuf)
		}
		if late {
			break
		}
		if len(lane.Rx()) == 0 {
			time.Sleep(50 * time.Microsecond)
		}
	}
	return frames
}

// NewMbuf makes a packet of one frame.
func NewMbuf(t testing.TB, pool *pmd.Pool, frame []byte) *pmd.Mbuf {
	t.Helper()
	mbuf := pool.Alloc()
	require.NotNil(t, mbuf, "pool %s is empty", pool.Name())
	start := mbuf.Start()
	require.LessOrEqual(t, start+len(frame), len(mbuf.Buffer()), "frame does not fit into the pool's buffers")
	copy(mbuf.Buffer()[start:], frame)
	mbuf.SetBounds(start, start+len(frame))
	return mbuf
}
