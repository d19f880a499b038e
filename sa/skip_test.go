package sa_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

func TestSkipOut(t *testing.T) {
	s := addState(t, sa.NewDB(sa.Options{}), sending())
	first, n, why := s.ReserveOut(3, 300, 1)
	require.Equal(t, sa.OK, why)
	require.Equal(t, uint64(1), first)
	require.Equal(t, 3, n)
	s.SkipOut(1000)
	s.SkipOut(500) // never back
	first, _, why = s.ReserveOut(1, 100, 1)
	require.Equal(t, sa.OK, why)
	require.Equal(t, uint64(1001), first)
	require.Equal(t, uint64(4), s.Packets(), "skipped numbers are no packets")

	s.SkipOut(1<<32 - 1)
	_, n, why = s.ReserveOut(1, 100, 1)
	require.Zero(t, n)
	require.Equal(t, sa.Exhausted, why)
}

func TestSkipIn(t *testing.T) {
	s := addState(t, sa.NewDB(sa.Options{}), receiving(64))
	for _, seq := range []uint32{1, 2, 9} {
		whole, why := s.CheckIn(seq)
		require.Equal(t, sa.OK, why)
		require.Equal(t, sa.OK, s.MarkIn(whole))
	}
	s.SkipIn(5000)
	require.Equal(t, uint64(5000), s.Highest())
	for seq, want := range map[uint32]sa.Admission{
		3:    sa.ReplayOld,
		4900: sa.ReplayOld, 4990: sa.ReplayDuplicate, 5000: sa.ReplayDuplicate, 5001: sa.OK, 70000: sa.OK,
	} {
		_, why := s.CheckIn(seq)
		require.Equal(t, want, why, "sequence number %d", seq)
	}
	s.SkipIn(100)
	require.Equal(t, uint64(5000), s.Highest())
}

func TestFresh(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	tx := db.Begin()
	defer tx.Rollback()
	require.NoError(t, tx.AddState(sending()))
	require.True(t, tx.GetState(sending().ID).Fresh(), "before the commit")
	require.NoError(t, tx.Commit())
	s := inbound(db, sending())
	require.True(t, s.Fresh())
	s.ReserveOut(1, 1, 1)
	require.False(t, s.Fresh())
	in := addState(t, sa.NewDB(sa.Options{}), receiving(64))
	require.True(t, in.Fresh())
	require.Equal(t, sa.OK, in.MarkIn(1))
	require.False(t, in.Fresh())
}
