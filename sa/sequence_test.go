package sa

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var testTime = time.Unix(1_700_000_000, 0)

func sender(esn bool, last uint64, m Limits) *SA {
	s := &SA{live: newLive(esn, testTime), status: new(atomic.Uint32)}
	s.live.sa, s.live.events = s, new(eventStack)
	s.live.status.Store(s.status)
	s.live.sequence.Store(last)
	s.live.setLimits(&m)
	s.dir.Store(uint32(DirOut))
	return s
}

func TestSequenceEnds(t *testing.T) {
	tests := []struct {
		name string
		esn  bool
		last uint64
	}{{"32 bits", false, 1<<32 - 1}, {"ESN", true, 1<<48 - 1}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sender(tt.esn, tt.last-10, Unlimited())
			first, n, why := s.ReserveOut(8, 800, 1)
			require.Equal(t, []any{tt.last - 9, 8, OK}, []any{first, n, why})
			first, n, why = s.ReserveOut(8, 800, 1)
			require.Equal(t, []any{tt.last - 1, 2, Exhausted}, []any{first, n, why})
			s.AddBytes(200)
			for range 3 {
				first, n, why = s.ReserveOut(8, 800, 1)
				require.Equal(t, []any{uint64(0), 0, Exhausted}, []any{first, n, why})
			}
			require.Equal(t, tt.last, s.LastSequence())
			require.EqualValues(t, 10, s.Packets())
			require.EqualValues(t, 1000, s.Bytes())
		})
	}
}

// TestSequenceUnique lets many goroutines reserve runs up to the end of the
// space: every number comes once, and none beyond the end.
func TestSequenceUnique(t *testing.T) {
	const left, workers = 50000, 4
	start := uint64(1<<32 - 1 - left)
	s := sender(false, start, Unlimited())
	used := make([]atomic.Uint32, left+1)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := 0; ; i++ {
				first, n, why := s.ReserveOut(1+(i+w)%32, 1, 1)
				for j := range n {
					used[first+uint64(j)-start].Add(1)
				}
				if why != OK {
					return
				}
			}
		})
	}
	wg.Wait()
	for i := 1; i <= left; i++ {
		require.EqualValues(t, 1, used[i].Load(), "number %d", start+uint64(i))
	}
	require.EqualValues(t, left, s.Packets())
}

func TestHardLimits(t *testing.T) {
	tests := []struct {
		name   string
		limits func(*Limits)
		sent   int
	}{
		{"packets", func(m *Limits) { m.HardPackets = 5 }, 5},
		{"bytes, met", func(m *Limits) { m.HardBytes = 500 }, 5},
		{"bytes, crossed by a packet that still passes", func(m *Limits) { m.HardBytes = 501 }, 6},
		{"both", func(m *Limits) { m.HardBytes, m.HardPackets = 200, 5 }, 2},
		{"no packet at all", func(m *Limits) { m.HardPackets = 0 }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := Unlimited()
			tt.limits(&m)
			out, in := sender(false, 0, m), sender(false, 0, m)
			require.True(t, out.Limited())
			in.live.window.Store(newWindow(64, 0))
			sent, received := 0, 0
			for i := range 10 {
				if _, n, why := out.ReserveOut(1, 100, 1); n == 1 {
					sent++
				} else {
					require.Equal(t, StateExpired, why)
				}
				seq, why := in.CheckIn(uint32(i + 1))
				if why == OK {
					why = in.CommitIn(seq, 100, 1)
				}
				if why == OK {
					received++
				} else {
					require.Equal(t, StateExpired, why)
				}
			}
			require.Equal(t, []int{tt.sent, tt.sent}, []int{sent, received})
			require.Equal(t, ExpiredState, out.State())
			require.EqualValues(t, tt.sent, out.Packets())
			require.EqualValues(t, 100*tt.sent, in.Bytes())
		})
	}
}

// TestHardLimitExact has several goroutines race for a limit.
func TestHardLimitExact(t *testing.T) {
	m := Unlimited()
	m.HardPackets, m.SoftPackets = 1000, 900
	s := sender(true, 0, m)
	var sent atomic.Uint64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				_, n, why := s.ReserveOut(1, 10, 1)
				if why != OK {
					return
				}
				sent.Add(uint64(n))
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1000, sent.Load())
	require.EqualValues(t, 1000, s.Packets())
	require.EqualValues(t, 10000, s.Bytes())
	var soft, hard int
	s.live.events.drain(func(_ *live, bits uint32) {
		soft += int(bits & raisedSoft / raisedSoft)
		hard += int(bits & raisedHard / raisedHard)
	})
	require.Equal(t, []int{1, 1}, []int{soft, hard})
}

func TestUseTimes(t *testing.T) {
	s := sender(false, 0, Unlimited())
	require.True(t, s.FirstUse().IsZero())
	now := testTime.UnixNano()
	s.ReserveOut(1, 1, now)
	s.ReserveOut(1, 1, now+second/2)
	require.Equal(t, testTime, s.LastUse(), "written once a second")
	s.ReserveOut(1, 1, now+3*second)
	require.Equal(t, testTime, s.FirstUse())
	require.Equal(t, testTime.Add(3*time.Second), s.LastUse())
}

func TestClose(t *testing.T) {
	s := sender(false, 0, Unlimited())
	s.ReserveOut(7, 1, 1)
	require.EqualValues(t, 7, s.live.close())
	_, n, why := s.ReserveOut(1, 1, 1)
	require.Equal(t, []any{0, StateExpired}, []any{n, why})
	require.EqualValues(t, 7, s.live.close())
	require.EqualValues(t, 7, s.LastSent())
}
