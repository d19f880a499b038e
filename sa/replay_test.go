package sa

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// model is RFC 4303, 3.4.3 in its plainest form: a set of what was received.
type model struct {
	size, top uint64
	seen      map[uint64]bool
}

func (m *model) accept(seq uint64) Admission {
	switch {
	case m.top >= m.size && seq <= m.top-m.size:
		return ReplayOld
	case m.seen[seq]:
		return ReplayDuplicate
	}
	m.seen[seq] = true
	m.top = max(m.top, seq)
	return OK
}

func receiver(window uint32, top uint64, esn bool) *SA {
	s := &SA{live: newLive(esn, testTime), status: new(atomic.Uint32)}
	if esn {
		s.flags |= saESN
	}
	s.live.top.Store(top)
	s.live.window.Store(newWindow(window, top))
	return s
}

// TestWindowAgainstModel lets packets come in order, late, twice and far ahead,
// at every kind of place in the sequence space.
func TestWindowAgainstModel(t *testing.T) {
	sizes := []uint32{1, 31, 32, 33, 63, 64, 100, 128, 1000, 1024, 4096, 5000, MaxWindow}
	tops := []uint64{0, 1, 1 << 20, 1<<32 - 70, 1<<37 - 70, 1<<48 - 10, 1<<63 - 100}
	for _, size := range sizes {
		for _, top := range tops {
			t.Run(fmt.Sprintf("W=%d/T=%d", size, top), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(size), top))
				s := receiver(size, top, true)
				m := &model{size: uint64(size), top: top, seen: map[uint64]bool{top: true}}
				for range 3000 {
					seq := nextSeq(r, m)
					want := m.accept(seq)
					// Without ESN's inference, the 64-bit number itself.
					checked := s.live.window.Load().check(seq, s.live.top.Load())
					marked := s.MarkIn(seq)
					if checked != want || marked != want || s.Highest() != m.top {
						t.Fatalf("%d: check %v, mark %v, want %v; T=%d, want %d", seq, checked, marked, want, s.Highest(), m.top)
					}
				}
				for seq := m.top; seq > 0 && seq > m.top-min(m.top, m.size); seq-- {
					if m.seen[seq] != s.Received(seq) {
						t.Fatalf("received %d: %v", seq, s.Received(seq))
					}
				}
			})
		}
	}
}

func nextSeq(r *rand.Rand, m *model) uint64 {
	ahead := []uint64{1, 1, 1, 2, 33, m.size - 1, m.size, m.size + 1, 3 * m.size, 1 << 20}
	switch r.IntN(4) {
	case 0:
		return m.top + ahead[r.IntN(len(ahead))]
	case 1: // at the lower edge
		return max(1, m.top-min(m.top, m.size)+uint64(r.IntN(3)))
	default:
		return max(1, m.top-min(m.top, r.Uint64N(m.size+3)))
	}
}

// TestInference checks that a receiver finds the right high half for every
// packet that is no further than RFC 4303, appendix A2 promises: inside the
// window, or ahead of it by less than 2^32-W.
func TestInference(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 200000 {
		size := uint64(1 + r.IntN(MaxWindow))
		top := r.Uint64() >> r.IntN(63)
		if r.IntN(2) == 0 { // near a change of the high half
			top = top&^(1<<32-1) + uint64(int64(r.IntN(200000)-100000))
		}
		var seq uint64
		if r.IntN(2) == 0 {
			seq = top - r.Uint64N(min(size, top+1))
		} else {
			seq = top + r.Uint64N(1<<32-size+1)
			if seq < top {
				continue
			}
		}
		got, ok := inferHigh(uint32(seq), top, size)
		if !ok || got != seq {
			t.Fatalf("T=%d W=%d: %d is taken for %d", top, size, seq, got)
		}
	}
}

func TestInferenceAtTheEnds(t *testing.T) {
	got, ok := inferHigh(5, 1<<64-1, 64)
	require.False(t, ok, "beyond 2^64: %d", got)
	got, ok = inferHigh(1<<32-1, 10, 64)
	require.True(t, ok)
	require.EqualValues(t, 1<<32-1, got, "there is no half before the first")

	s := receiver(64, 0, true)
	_, why := s.CheckIn(0)
	require.Equal(t, ReplayOld, why, "sequence number 0 with ESN")
	s = receiver(64, 0, false)
	_, why = s.CheckIn(0)
	require.Equal(t, ReplayOld, why, "sequence number 0")
	s = receiver(64, 1<<32-1, true)
	seq, why := s.CheckIn(0)
	require.Equal(t, OK, why)
	require.EqualValues(t, 1<<32, seq, "low half 0 is valid when the high half is not")
}

func TestWindowOff(t *testing.T) {
	s := receiver(64, 0, false)
	s.live.window.Store(nil)
	for _, low := range []uint32{5, 5, 0, 1} {
		seq, why := s.CheckIn(low)
		require.Equal(t, OK, why)
		require.Equal(t, OK, s.CommitIn(seq, 1, 1))
	}
	require.EqualValues(t, 5, s.Highest())
	require.EqualValues(t, 4, s.Packets())
	require.False(t, s.Received(5))
}

// TestScapyStreams runs the numbers of the streams in scapy/replay.json. A
// packet is good if the whole sequence number is the one it was sealed with.
func TestScapyStreams(t *testing.T) {
	data, err := os.ReadFile("../ipsec/esp/testdata/scapy/replay.json")
	if os.IsNotExist(err) {
		t.Skip("ipsec/esp/testdata/scapy is not there")
	}
	require.NoError(t, err)
	var file struct {
		Tests []struct {
			Name, Stream, Reason string
			Expect               string `json:"expect_in"`
			Window               uint32
			Seq                  uint64
			High                 *uint64 `json:"esn_hi"`
			Last                 string  `json:"last_seq"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &file))
	require.Greater(t, len(file.Tests), 90)
	streams := map[string]*SA{}
	for _, v := range file.Tests {
		s := streams[v.Stream]
		if s == nil {
			var top uint64
			if v.Last != "" {
				_, err := fmt.Sscanf(v.Last, "%x", &top)
				require.NoError(t, err)
			}
			s = receiver(v.Window, top, v.High != nil)
			streams[v.Stream] = s
		}
		sealed := v.Seq
		if v.High != nil {
			sealed |= *v.High << 32
		}
		top := s.Highest()
		seq, why := s.CheckIn(uint32(v.Seq))
		authentic := seq == sealed && (v.High != nil || v.Reason != "integrity")
		switch {
		case v.Expect == "either":
			require.Equal(t, ReplayOld, why, "%s: RFC 4303 refuses T-W", v.Name)
		case v.Expect == "decrypt":
			require.Equal(t, OK, why, v.Name)
			require.True(t, authentic, "%s: inferred %d", v.Name, seq)
			require.Equal(t, OK, s.CommitIn(seq, 1, 1), v.Name)
		case v.Reason == "replay":
			require.NotEqual(t, OK, why, v.Name)
		default:
			require.False(t, authentic, v.Name)
			require.Equal(t, top, s.Highest(), v.Name)
		}
	}
}

// TestWindowAcceptsOnce offers every number to several goroutines at once, out
// of order and over many advances; each is accepted once at most, and once
// exactly if it is offered while it is in the window.
func TestWindowAcceptsOnce(t *testing.T) {
	const n, workers = 15000, 4
	for _, size := range []uint32{32, 64, 1024} {
		s := receiver(size, 0, true)
		accepted := make([]atomic.Uint32, n+1)
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(w), 1))
				for i := 1; i <= n; i++ {
					seq := uint64(max(1, i-r.IntN(int(size))))
					whole, why := s.CheckIn(uint32(seq))
					if why == OK && whole == seq && s.CommitIn(seq, 10, 1) == OK {
						accepted[seq].Add(1)
					}
				}
			})
		}
		wg.Wait()
		total := uint64(0)
		for seq := range accepted {
			got := accepted[seq].Load()
			require.LessOrEqual(t, got, uint32(1), "W=%d: %d accepted %d times", size, seq, got)
			total += uint64(got)
		}
		require.Equal(t, total, s.Packets())
		require.Equal(t, 10*total, s.Bytes())
	}
}

// TestResizeAcceptsOnce changes the size of a window under traffic.
func TestResizeAcceptsOnce(t *testing.T) {
	const n, workers = 10000, 3
	s := receiver(64, 0, true)
	accepted := make([]atomic.Uint32, n+1)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for i := 1; i <= n; i++ {
				seq := uint64(max(1, i-r.IntN(64)))
				whole, why := s.CheckIn(uint32(seq))
				if why == OK && whole == seq && s.CommitIn(seq, 10, 1) == OK {
					accepted[seq].Add(1)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	resized := 0
	for size := uint32(64); ; size = 64 + (size*7)%1000 {
		select {
		case <-done:
			for seq := range accepted {
				require.LessOrEqual(t, accepted[seq].Load(), uint32(1), "%d", seq)
			}
			t.Log("resized", resized, "times")
			return
		default:
			s.live.window.Store(s.live.window.Load().resized(size, s.live))
			resized++
		}
	}
}
