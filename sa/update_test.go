package sa_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

func TestUpdateLimitsInPlace(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir = sa.DirOut
	s := addState(t, db, p)
	s.ReserveOut(5, 50, 1)
	q := *p
	q.Limits.HardPackets = 6
	c := apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.UpdateState(&q)) })
	require.Empty(t, append(c.Added, c.Removed...))
	require.Same(t, s, inbound(db, p))
	require.True(t, s.Limited())
	require.EqualValues(t, 6, s.Params().Limits.HardPackets)
	first, n, _ := s.ReserveOut(1, 10, 1)
	require.Equal(t, []any{uint64(6), 1}, []any{first, n})
	_, n, why := s.ReserveOut(1, 10, 1)
	require.Equal(t, []any{0, sa.StateExpired}, []any{n, why})
}

// TestUpdateKeepsState changes what needs a new object: the sequence, window,
// counters and events go on, and the old object counts in the same place.
func TestUpdateKeepsState(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	old := addState(t, db, p)
	for _, seq := range []uint32{1, 2, 5} {
		n, _ := old.CheckIn(seq)
		require.Equal(t, sa.OK, old.CommitIn(n, 10, 1))
	}
	q := *p
	q.ReqID, q.Encap = 9, &sa.Encap{SrcPort: 4500, DstPort: 4500}
	tx := db.Begin()
	require.NoError(t, tx.UpdateState(&q))
	q.Sel = &sa.Selector{Src: netip.MustParsePrefix("14.0.0.0/24"), Dst: netip.MustParsePrefix("14.0.0.0/24"), Proto: 6}
	require.NoError(t, tx.UpdateState(&q), "twice in one batch")
	c, err := tx.Prepare()
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	require.Equal(t, []*sa.SA{old}, c.Removed)
	require.Len(t, c.Added, 1)
	s := inbound(db, p)
	require.Same(t, c.Added[0], s)
	require.NotSame(t, old, s)
	require.NotEqual(t, old.Slot(), s.Slot())
	require.EqualValues(t, 3, s.Packets())
	require.True(t, s.Encap())
	seq, why := old.CheckIn(6) // in flight in a worker
	require.Equal(t, sa.OK, why)
	require.Equal(t, sa.OK, old.CommitIn(seq, 10, 1))
	db.Release(c.Removed)
	_, why = s.CheckIn(6)
	require.Equal(t, sa.ReplayDuplicate, why)
	_, why = s.CheckIn(3)
	require.Equal(t, sa.OK, why)
	require.True(t, s.Params().Key.Equal(p.Key), "its key is its own")
}

func TestUpdateKeepsSending(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	p.Dir, p.ReplayOSeq = sa.DirOut, 41
	tx := db.Begin()
	require.NoError(t, tx.AddState(p))
	q := *p
	q.ReqID = 2
	require.NoError(t, tx.UpdateState(&q), "before it was ever committed")
	require.NoError(t, tx.Commit())
	s := inbound(db, p)
	first, _, _ := s.ReserveOut(2, 1, 1)
	require.EqualValues(t, 42, first)
	q.ReqID = 3
	c := apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.UpdateState(&q)) })
	first, _, _ = inbound(db, p).ReserveOut(1, 1, 1)
	require.EqualValues(t, 44, first)
	require.Len(t, c.Removed, 1)
	require.EqualValues(t, 44, inbound(db, p).LastSequence())
}

func TestUpdateOfKeyRestarts(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	s := addState(t, db, p)
	s.CommitIn(5, 10, 1)
	q := *p
	q.Key = key(20, 77)
	c := apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.UpdateState(&q)) })
	require.Len(t, c.Removed, 1)
	now := inbound(db, p)
	require.Zero(t, now.Packets())
	_, why := now.CheckIn(5)
	require.Equal(t, sa.OK, why)
}

// TestUpdateWindow changes the window's size: what was received stays received,
// and what the old window had forgotten stays refused.
func TestUpdateWindow(t *testing.T) {
	for _, sizes := range [][2]uint32{{64, 1024}, {1024, 64}, {64, 0}, {0, 64}, {100, 101}} {
		db := sa.NewDB(sa.Options{})
		p := state(hostA, hostB, 0x1000, 1)
		p.ReplayWindow, p.ReplayWindowSet = sizes[0], true
		s := addState(t, db, p)
		for seq := uint64(2); seq <= 500; seq += 2 {
			require.Equal(t, sa.OK, s.CommitIn(seq, 10, 1))
		}
		q := *p
		q.ReplayWindow = sizes[1]
		apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.UpdateState(&q)) })
		s = inbound(db, p)
		require.Equal(t, sizes[1], s.Window())
		for seq := uint32(1); seq <= 600; seq++ {
			_, why := s.CheckIn(seq)
			want := sa.OK
			switch {
			case sizes[1] == 0 || seq > 500:
			case seq+sizes[1] <= 500:
				want = sa.ReplayOld
			case seq+sizes[0] <= 500: // it may have been received
				want = sa.ReplayDuplicate
			case seq%2 == 0:
				want = sa.ReplayDuplicate
			}
			require.Equal(t, want, why, "%v: %d", sizes, seq)
		}
	}
}

func TestUpdateOfExpired(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1000, 1)
	p.Limits.HardPackets = 1
	s := addState(t, db, p)
	require.Equal(t, sa.OK, s.CommitIn(1, 1, 1))
	tx := db.Begin()
	defer tx.Rollback()
	require.ErrorIs(t, tx.UpdateState(p), sa.ErrNotFound)
	require.ErrorIs(t, tx.DeleteState(p.ID, netip.Addr{}), sa.ErrNotFound)
	require.NoError(t, tx.AddState(p))
}
