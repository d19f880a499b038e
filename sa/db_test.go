package sa_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// apply commits one change and releases what it removed, as an owner without
// workers does.
func apply(t testing.TB, db *sa.DB, change func(tx *sa.Tx)) *sa.Change {
	t.Helper()
	tx := db.Begin()
	defer tx.Rollback()
	change(tx)
	c, err := tx.Prepare()
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	db.Release(c.Removed)
	return c
}

func addState(t testing.TB, db *sa.DB, p *sa.Params) *sa.SA {
	t.Helper()
	apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddState(p)) })
	return inbound(db, p)
}

func inbound(db *sa.DB, p *sa.Params) *sa.SA {
	return db.Table().Inbound(sa.AddrFrom(p.Dst), p.Dst.Is6(), p.SPI)
}

func spis(tx *sa.Tx) (list []uint32) {
	for s := range tx.States(nil) {
		list = append(list, s.SPI())
	}
	return list
}

func TestAddUpdateDelete(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	a, b := state("192.0.2.1", "192.0.2.2", 1000, 1), state("192.0.2.1", "192.0.2.2", 1001, 1)
	tx := db.Begin()
	require.NoError(t, tx.AddState(a))
	require.ErrorIs(t, tx.AddState(a), sa.ErrExists)
	require.ErrorIs(t, tx.UpdateState(b), sa.ErrNotFound)
	require.ErrorIs(t, tx.DeleteState(b.ID, netip.Addr{}), sa.ErrNotFound)
	require.NoError(t, tx.AddState(b))
	require.Equal(t, []uint32{1001, 1000}, spis(tx), "newest first")
	require.ErrorIs(t, tx.DeleteState(a.ID, netip.MustParseAddr("192.0.2.9")), sa.ErrNotFound, "another source")
	require.NoError(t, tx.DeleteState(a.ID, a.Src))
	require.Nil(t, tx.GetState(a.ID))
	require.Equal(t, 1, tx.CountStates())
	require.NoError(t, tx.Commit())
	tx.Rollback() // nothing
	require.Nil(t, inbound(db, a))
	require.NotNil(t, inbound(db, b))
	require.Equal(t, 1, db.Count())

	tx = db.Begin()
	require.Equal(t, 1, tx.FlushStates())
	require.NoError(t, tx.Commit())
	require.Nil(t, inbound(db, b))
}

func TestSameSPITwoFamiliesAndDestinations(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	var all []*sa.Params
	for _, pair := range [][2]string{
		{"192.0.2.1", "192.0.2.2"},
		{"192.0.2.1", "192.0.2.3"},
		{"2001:db8::1", "2001:db8::2"},
		{"2001:db8::1", "::ffff:192.0.2.2"},
	} {
		all = append(all, state(pair[0], pair[1], 77, 1))
	}
	apply(t, db, func(tx *sa.Tx) {
		for i, p := range all {
			p.Key = key(20, byte(i*32))
			require.NoError(t, tx.AddState(p))
		}
	})
	for _, p := range all {
		require.Equal(t, p.ID, inbound(db, p).ID())
	}
}

func TestPolicies(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	out := policy(sa.DirOut, "10.0.0.0/8", "10.0.0.0/8", 1)
	tx := db.Begin()
	require.NoError(t, tx.AddPolicy(out))
	again := *out
	again.Priority = 9
	require.ErrorIs(t, tx.AddPolicy(&again), sa.ErrExists)
	hostBits := *out
	hostBits.Sel.Src = netip.MustParsePrefix("10.9.9.9/8")
	require.NoError(t, tx.AddPolicy(&hostBits), "the kernel tells it apart")
	require.NoError(t, tx.DeletePolicy(sa.DirOut, hostBits.Sel))
	first := tx.GetPolicy(sa.DirOut, out.Sel)
	require.NoError(t, tx.UpdatePolicy(&again))
	now := tx.GetPolicy(sa.DirOut, out.Sel)
	require.EqualValues(t, 9, now.Policy().Priority)
	require.Equal(t, first.Index(), now.Index())
	in := policy(sa.DirIn, "10.0.0.0/8", "10.0.0.0/8", 1)
	require.NoError(t, tx.AddPolicy(in), "another direction")
	require.Equal(t, 1, tx.CountPolicies(sa.DirIn))
	require.ErrorIs(t, tx.DeletePolicy(sa.DirForward, out.Sel), sa.ErrNotFound)
	require.ErrorIs(t, tx.DeletePolicyIndex(sa.DirIn, now.Index()), sa.ErrNotFound)
	require.NoError(t, tx.DeletePolicyIndex(sa.DirOut, now.Index()))
	require.NoError(t, tx.UpdatePolicy(out), "update adds")
	require.Equal(t, 2, tx.FlushPolicies())
	require.NoError(t, tx.Commit())
}

// TestPolicyIndex follows xfrm_gen_index: a count in steps of 8, the direction
// in the low bits, 0 and what is taken left out.
func TestPolicyIndex(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	tx := db.Begin()
	defer tx.Rollback()
	dst := 0
	index := func(dir sa.Direction, wish uint32) uint32 {
		dst++
		p := policy(dir, "10.0.0.0/8", fmt.Sprintf("10.1.1.%d/32", dst), 1)
		p.Index = wish
		require.NoError(t, tx.AddPolicy(p))
		return tx.GetPolicy(dir, p.Sel).Index()
	}
	require.Equal(t, []uint32{8, 9, 16, 26, 33}, []uint32{
		index(sa.DirIn, 0), index(sa.DirOut, 0), index(sa.DirIn, 0), index(sa.DirForward, 0), index(sa.DirOut, 0),
	})
	require.EqualValues(t, 41, index(sa.DirOut, 41))
	require.EqualValues(t, 49, index(sa.DirOut, 41), "taken")
	p := policy(sa.DirOut, "10.0.0.0/8", "10.2.0.0/16", 1)
	p.Index = 8
	require.ErrorIs(t, tx.AddPolicy(p), sa.ErrInvalid, "an index of direction in")
}

// TestRollback checks that nothing of a failed batch remains, and that the next
// batch finds everything free.
func TestRollback(t *testing.T) {
	db := sa.NewDB(sa.Options{MaxSAs: 3})
	keep, gone := state("192.0.2.1", "192.0.2.2", 1000, 1), state("192.0.2.1", "192.0.2.2", 1001, 1)
	p := policy(sa.DirOut, "10.0.0.0/8", "10.0.0.0/8", 1)
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddState(keep))
		require.NoError(t, tx.AddState(gone))
		require.NoError(t, tx.AddPolicy(p))
	})
	table, before := db.Table(), inbound(db, keep)
	for range 3 {
		tx := db.Begin()
		require.NoError(t, tx.DeleteState(gone.ID, netip.Addr{}))
		require.NoError(t, tx.AddState(gone))
		changed := *keep
		changed.Limits.HardPackets = 5
		require.NoError(t, tx.UpdateState(&changed))
		changed.ReqID = 9
		require.NoError(t, tx.UpdateState(&changed))
		require.NoError(t, tx.AddState(state("192.0.2.1", "192.0.2.2", 1002, 1)))
		require.ErrorIs(t, tx.AddState(state("192.0.2.1", "192.0.2.2", 1003, 1)), sa.ErrTableFull)
		require.NoError(t, tx.DeletePolicy(sa.DirOut, p.Sel))
		require.NoError(t, tx.SetDefault(sa.DirOut, sa.ActionBlock))
		_, err := tx.Prepare()
		require.NoError(t, err)
		tx.Rollback()
		require.ErrorIs(t, tx.AddState(keep), errEnded(tx))
	}
	require.Same(t, table, db.Table())
	require.Same(t, before, inbound(db, keep))
	require.Equal(t, sa.NoLimit, before.Params().Limits.HardPackets)
	tx := db.Begin()
	defer tx.Rollback()
	require.Equal(t, []uint32{1001, 1000}, spis(tx))
	require.Equal(t, 1, tx.CountPolicies(sa.DirOut))
	require.Equal(t, sa.ActionAllow, tx.Default(sa.DirOut))
	require.NoError(t, tx.AddState(state("192.0.2.1", "192.0.2.2", 1002, 1)), "the slot is free again")
	require.EqualValues(t, 2, tx.GetState(state("192.0.2.1", "192.0.2.2", 1002, 1).ID).Slot())
	require.NoError(t, tx.Commit())
	_, n, why := inbound(db, keep).ReserveOut(1, 1, 1)
	require.Equal(t, []any{1, sa.OK}, []any{n, why}, "what stayed still sends")
}

// errEnded is the error that an ended Tx gives.
func errEnded(tx *sa.Tx) error { return tx.Commit() }

func TestTableFull(t *testing.T) {
	db := sa.NewDB(sa.Options{MaxSAs: 1})
	a, b := state("192.0.2.1", "192.0.2.2", 1000, 1), state("192.0.2.1", "192.0.2.2", 1001, 1)
	apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddState(a)) })
	tx := db.Begin()
	err := tx.AddState(b)
	require.ErrorIs(t, err, sa.ErrTableFull)
	require.ErrorContains(t, err, "the limit is 1")
	tx.Rollback()
	// One SA may be replaced by another, time and again, before the owner has
	// released the first.
	for i := range 5 {
		tx := db.Begin()
		b.SPI = 1001 + uint32(i)
		tx.FlushStates()
		require.NoError(t, tx.AddState(b))
		c, err := tx.Prepare()
		require.NoError(t, err)
		require.Len(t, c.Removed, 1)
		require.Len(t, c.Added, 1)
		require.NoError(t, tx.Commit())
		require.Less(t, int(c.Added[0].Slot()), db.Slots())
		defer db.Release(c.Removed)
	}
}

func TestSlotsAreDense(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	slots := func() (list []uint32) {
		tx := db.Begin()
		defer tx.Rollback()
		for s := range tx.States(nil) {
			list = append(list, s.Slot())
		}
		slices.Sort(list)
		return list
	}
	apply(t, db, func(tx *sa.Tx) {
		for i := range uint32(200) {
			require.NoError(t, tx.AddState(state("192.0.2.1", "192.0.2.2", 1000+i, 1)))
		}
	})
	require.EqualValues(t, 199, slots()[199])
	apply(t, db, func(tx *sa.Tx) { require.Equal(t, 100, tx.DeleteAll(func(p *sa.Params) bool { return p.SPI%2 == 0 })) })
	apply(t, db, func(tx *sa.Tx) {
		for i := range uint32(100) {
			require.NoError(t, tx.AddState(state("192.0.2.1", "192.0.2.2", 5000+i, 1)))
		}
	})
	require.EqualValues(t, 199, slots()[199])
	require.Len(t, slices.Compact(slots()), 200, "one slot each")
}

// TestKeysAreWiped looks at the key that a removed SA had, and for the key's
// text in everything that prints.
func TestKeysAreWiped(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state("192.0.2.1", "192.0.2.2", 1000, 1)
	s := addState(t, db, p)
	own := s.Params().Key
	require.True(t, own.Equal(p.Key))
	tx := db.Begin()
	require.NoError(t, tx.DeleteState(p.ID, netip.Addr{}))
	c, err := tx.Prepare()
	require.NoError(t, err)
	require.NoError(t, tx.Commit())
	require.True(t, own.Equal(p.Key), "workers may still use it")
	db.Release(c.Removed)
	db.Release(c.Removed) // twice is harmless
	require.Equal(t, make([]byte, 20), own.Bytes())
	require.True(t, p.Key.Equal(key(20, byte(p.SPI))), "the caller's own is the caller's")

	bad := *p
	bad.Key = sa.NewKey([]byte("sixteen byte key"))
	err = db.Begin().AddState(&bad)
	require.ErrorIs(t, err, sa.ErrKeyLength)
	require.ErrorContains(t, err, "the salt is missing")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		require.NotContains(t, fmt.Sprintf(verb, bad.Key), "sixteen")
		require.NotContains(t, fmt.Sprintf(verb, err), "sixteen")
		require.NotContains(t, fmt.Sprintf(verb, bad.Key), "73697874", verb)
	}
}
