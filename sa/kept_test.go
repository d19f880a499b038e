package sa_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// durable makes a DB whose numbers are kept, with what an earlier run left.
func durable(past ...sa.Past) *sa.DB {
	return sa.NewDB(sa.Options{Durable: &sa.Durable{Secret: [32]byte{1, 2, 3}, Past: slices.Values(past)}})
}

// left is what a run of s leaves behind when reserved and highest were written.
func left(s *sa.SA, reserved, highest uint64) sa.Past {
	return sa.Past{Identity: s.Kept().Identity(), Reserved: reserved, Highest: highest}
}

func sending() *sa.Params {
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir = sa.DirOut
	return p
}

func receiving(window uint32) *sa.Params {
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir = sa.DirIn
	p.ReplayWindow, p.ReplayWindowSet = window, true
	return p
}

func TestSendsOnlyWhatIsGranted(t *testing.T) {
	db := durable()
	s := addState(t, db, sending())
	reserve := func(n int) []any {
		first, got, why := s.ReserveOut(n, 1, 1)
		return []any{first, got, why}
	}
	none := []any{uint64(0), 0, sa.NoReserve}
	require.Equal(t, none, reserve(3))
	require.Equal(t, none, reserve(3))
	require.Equal(t, []*sa.Kept{s.Kept()}, db.Wanting())
	require.Empty(t, db.Wanting(), "asks once")
	<-db.Wake()

	s.Kept().Grant(10, 6)
	require.Equal(t, []any{uint64(1), 5, sa.OK}, reserve(5))
	require.Empty(t, db.Wanting())
	require.Equal(t, []any{uint64(6), 1, sa.OK}, reserve(1))
	require.Len(t, db.Wanting(), 1, "number 6 was to ask")
	require.Equal(t, []any{uint64(7), 4, sa.NoReserve}, reserve(9), "in part")
	require.EqualValues(t, 10, s.LastSent())
	require.EqualValues(t, 10, s.Packets())
	require.Equal(t, none, reserve(1))

	s.Kept().Grant(9, 9) // a grant never takes back
	require.EqualValues(t, 10, s.Kept().Granted())
	s.Kept().Grant(1<<40, 1<<40)
	require.EqualValues(t, 1<<32-1, s.Kept().Granted(), "the end of the space")
	first, n, why := s.ReserveOut(1, 1, 1)
	require.Equal(t, []any{1, sa.OK}, []any{n, why})
	require.Greater(t, first, uint64(10), "numbers that were refused are not used later")
	require.Less(t, first, uint64(30))
	require.Empty(t, db.Wanting())
}

// TestRefusalsUseUpNothing: an hour without a disk must not cost the sequence
// space of 32 bits.
func TestRefusalsUseUpNothing(t *testing.T) {
	db := durable()
	s := addState(t, db, sending())
	s.Kept().Grant(100, 50)
	for range 100000 {
		s.ReserveOut(32, 1, 1)
	}
	s.Kept().Grant(1000, 500)
	first, _, _ := s.ReserveOut(1, 1, 1)
	require.LessOrEqual(t, first, uint64(100+32+1))
	require.EqualValues(t, 101, s.Packets())
}

// TestGrantsUnderTraffic: numbers stay unique and below what was granted while
// lcores send and grants come late.
func TestGrantsUnderTraffic(t *testing.T) {
	db := durable()
	s := addState(t, db, sending())
	const workers, perWorker = 3, 40000
	var granted atomic.Uint64
	var wg, granter sync.WaitGroup
	done := make(chan struct{})
	granter.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-db.Wake():
			}
			for _, k := range db.Wanting() {
				next := k.Granted() + 1000
				granted.Store(next) // "on disk" before it may be used
				k.Grant(next, next-500)
			}
		}
	})
	sent := make([][]uint64, workers)
	var over atomic.Uint64
	for w := range workers {
		wg.Go(func() {
			for i := w; len(sent[w]) < perWorker; i++ {
				first, n, _ := s.ReserveOut(1+i%32, 1, 1)
				if n > 0 && first+uint64(n)-1 > granted.Load() {
					over.Add(1)
				}
				for j := range n {
					sent[w] = append(sent[w], first+uint64(j))
				}
			}
		})
	}
	wg.Wait()
	close(done)
	granter.Wait()
	require.Zero(t, over.Load(), "a number was sent before it was granted")
	all := slices.Concat(sent...)
	slices.Sort(all)
	n := len(all)
	require.Len(t, slices.Compact(all), n, "a number was sent twice")
	require.EqualValues(t, n, s.Packets())
}

func TestRestartGoesOnAbove(t *testing.T) {
	old := addState(t, durable(), sending())
	tests := []struct {
		name   string
		change func(*sa.Params)
		after  uint64
	}{
		{"the same", func(*sa.Params) {}, 5000},
		{"configured lower", func(p *sa.Params) { p.ReplayOSeq = 17 }, 5000},
		{"configured higher", func(p *sa.Params) { p.ReplayOSeq = 6000 }, 6000},
		{"now with ESN", func(p *sa.Params) { p.Flags = sa.FlagESN }, 5000},
		{"another key", func(p *sa.Params) { p.Key = key(20, 77) }, 0},
		{"another SPI, and so other IVs", func(p *sa.Params) { p.SPI++ }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := durable(left(old, 5000, 0))
			p := sending()
			tt.change(p)
			c := apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddState(p)) })
			require.Len(t, c.Senders, 1)
			s := c.Senders[0]
			require.Equal(t, tt.after, s.ResumesAfter())
			s.Kept().Grant(tt.after+10, tt.after+5)
			first, _, _ := s.ReserveOut(1, 1, 1)
			require.Equal(t, tt.after+1, first)
		})
	}
}

// TestRestartRefusesReplays: whatever is not above the highest number that was
// written counts as received, however large the window.
func TestRestartRefusesReplays(t *testing.T) {
	for _, esn := range []bool{false, true} {
		highest := uint64(5000)
		p := receiving(1024)
		if esn {
			p.Flags, highest = sa.FlagESN, 7<<32+500
		}
		old := addState(t, durable(), p)
		s := addState(t, durable(left(old, 0, highest)), p)
		for _, back := range []uint64{0, 1, 31, 32, 500, 1023, 1024, 4000} {
			seq, why := s.CheckIn(uint32(highest - back))
			if esn && back >= 1024 && why == sa.OK { // taken for one ahead: its ICV would be wrong
				require.Greater(t, seq, highest)
				continue
			}
			require.NotEqual(t, sa.OK, why, "%d below the highest, ESN %v", back, esn)
		}
		seq, why := s.CheckIn(uint32(highest + 1))
		require.Equal(t, []any{highest + 1, sa.OK}, []any{seq, why})
		require.Equal(t, sa.OK, s.CommitIn(seq, 1, 1))
	}
}

func TestAdvanced(t *testing.T) {
	db := durable()
	s := addState(t, db, receiving(64))
	require.Empty(t, db.Advanced())
	s.CommitIn(5, 1, 1)
	s.CommitIn(6, 1, 1)
	require.Equal(t, []*sa.Kept{s.Kept()}, db.Advanced())
	require.EqualValues(t, 6, s.Kept().Highest())
	require.Empty(t, db.Advanced())
	s.CommitIn(3, 1, 1)
	require.Empty(t, db.Advanced(), "not above the highest")
	s.CommitIn(7, 1, 1)
	require.Len(t, db.Advanced(), 1)
}

// TestDeleteAndAddAgain: with numbers that are kept, adding an SA again does not
// open it to what it has accepted.
func TestDeleteAndAddAgain(t *testing.T) {
	for _, oneStep := range []bool{false, true} {
		db := durable()
		p := receiving(64)
		addState(t, db, p).CommitIn(100, 1, 1)
		var c *sa.Change
		if oneStep {
			c = apply(t, db, func(tx *sa.Tx) { tx.FlushStates(); require.NoError(t, tx.AddState(p)) })
		} else {
			apply(t, db, func(tx *sa.Tx) { tx.FlushStates() })
			c = apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddState(p)) })
		}
		s := c.Added[0]
		for _, seq := range []uint32{1, 50, 99, 100} {
			_, why := s.CheckIn(seq)
			require.NotEqual(t, sa.OK, why, "%d, in one step: %v", seq, oneStep)
		}
		_, why := s.CheckIn(101)
		require.Equal(t, sa.OK, why)
	}
	// Without, it is as in the kernel.
	db := sa.NewDB(sa.Options{})
	p := receiving(64)
	addState(t, db, p).CommitIn(100, 1, 1)
	apply(t, db, func(tx *sa.Tx) { tx.FlushStates() })
	_, why := addState(t, db, p).CheckIn(50)
	require.Equal(t, sa.OK, why)
	require.Nil(t, db.Wake())
	require.Empty(t, db.Wanting())
	require.Empty(t, db.Advanced())
}

// TestSendersByPolicy: an SA without a direction of its own begins to send when
// a policy comes.
func TestSendersByPolicy(t *testing.T) {
	db := durable()
	p := state(hostA, hostB, 0x1000, 1)
	c := apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddState(p)) })
	require.Empty(t, c.Senders)
	c = apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 1))) })
	require.Len(t, c.Senders, 1)
}

// TestPastOverlap: nonces of an earlier run count, too.
func TestPastOverlap(t *testing.T) {
	mask := func(*sa.Params) uint64 { return 0x1122_3344_0000_0000 }
	db := sa.NewDB(sa.Options{IVMask: mask, Durable: &sa.Durable{Past: slices.Values([]sa.Past{})}})
	past := left(addState(t, db, sending()), 10, 0)
	db = sa.NewDB(sa.Options{IVMask: mask, Durable: &sa.Durable{Past: slices.Values([]sa.Past{past})}})
	p := sending()
	p.SPI++
	tx := db.Begin()
	defer tx.Rollback()
	require.ErrorIs(t, tx.AddState(p), sa.ErrNonceOverlap)
}

func TestUpdateKeepsKept(t *testing.T) {
	db := durable()
	p := sending()
	s := addState(t, db, p)
	s.Kept().Grant(100, 50)
	p.ReqID = 9
	c := apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.UpdateState(p)) })
	require.Same(t, s.Kept(), c.Added[0].Kept())
	require.EqualValues(t, 100, c.Added[0].Kept().Granted())
}

// TestNothingGranted: an SA that could reserve nothing still knows what an
// earlier run sent, so that a clean stop does not write less.
func TestNothingGranted(t *testing.T) {
	old := addState(t, durable(), sending())
	s := addState(t, durable(left(old, 5000, 0)), sending())
	_, n, why := s.ReserveOut(1, 1, 1)
	require.Equal(t, []any{0, sa.NoReserve}, []any{n, why})
	require.EqualValues(t, 5000, s.Kept().LastSent())
}

// TestPastWithAndWithoutESN: an SA that had ESN in one run and not in another is
// one identity with one row of IVs.
func TestPastWithAndWithoutESN(t *testing.T) {
	a := left(addState(t, durable(), sending()), 70, 0)
	b := a
	b.ESN, b.Reserved = true, 900
	for _, past := range [][]sa.Past{{a, b}, {b, a}} {
		require.EqualValues(t, 900, addState(t, durable(past...), sending()).ResumesAfter())
	}
}
