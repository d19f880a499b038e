package sa_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

func prefix(host string) netip.Prefix {
	a := netip.MustParseAddr(host)
	return netip.PrefixFrom(a, a.BitLen())
}

// TestReconcile reads a configuration again that changed in every way.
func TestReconcile(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	st := func(spi uint32) *sa.Params { return state(hostA, hostB, spi, 1) }
	pol := func(dst string, priority uint32) *sa.Policy {
		p := policy(sa.DirOut, hostA+"/32", dst, 1)
		p.Priority = priority
		return p
	}
	old := &sa.Config{
		States:   []*sa.Params{st(1000), st(1001), st(1002), st(1003), st(1004)},
		Policies: []*sa.Policy{pol("10.1.0.0/16", 1), pol("10.2.0.0/16", 1), pol("10.3.0.0/16", 1)},
		Defaults: map[sa.Direction]sa.Action{sa.DirOut: sa.ActionBlock},
	}
	apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.Reconcile(nil, old)) })
	require.Equal(t, sa.Block, db.Table().Outbound(flow("10.9.9.9", "10.9.9.8", 6, 1, 2)).Verdict)
	before := map[uint32]*sa.SA{}
	for _, p := range old.States {
		s := inbound(db, p)
		s.ReserveOut(5, 1, 1)
		s.MarkIn(uint64(p.SPI))
		before[p.SPI] = s
	}
	// By hand: one SA that no file has, one removed that the file has.
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddState(st(2000)))
		require.NoError(t, tx.DeleteState(st(1004).ID, netip.Addr{}))
	})
	changed, rekeyed := st(1001), st(1002)
	changed.Limits.HardAdd = time.Hour
	rekeyed.Key = key(20, 240)
	now := &sa.Config{
		States:   []*sa.Params{st(1000), changed, rekeyed, st(1004), st(1005)}, // without 1003
		Policies: []*sa.Policy{pol("10.1.0.0/16", 1), pol("10.3.0.0/16", 7), pol("10.4.0.0/16", 1)},
	}
	c := apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.Reconcile(old, now)) })
	require.Same(t, before[1000], inbound(db, st(1000)))
	require.Same(t, before[1001], inbound(db, changed))
	require.Equal(t, time.Hour, before[1001].Params().Limits.HardAdd)
	require.NotSame(t, before[1002], inbound(db, rekeyed))
	require.Zero(t, inbound(db, rekeyed).Highest())
	require.Nil(t, inbound(db, st(1003)))
	require.NotNil(t, inbound(db, st(1005)))
	require.NotNil(t, inbound(db, st(2000)), "no file knew it")
	require.ElementsMatch(t, []*sa.SA{before[1002], before[1003]}, c.Removed)
	require.Len(t, c.Added, 2)
	require.Nil(t, inbound(db, st(1004)), "alike in both files, so what was done by hand stands")

	tx := db.Begin()
	var priorities []uint32
	for p := range tx.Policies(nil) {
		priorities = append(priorities, p.Policy().Priority)
	}
	require.ElementsMatch(t, []uint32{1, 7, 1}, priorities)
	require.Equal(t, sa.ActionAllow, tx.Default(sa.DirOut), "back to what holds when nothing is said")
	tx.Rollback()

	bad := &sa.Config{States: []*sa.Params{st(3000), {}}}
	tx = db.Begin()
	require.ErrorContains(t, tx.Reconcile(now, bad), "apply configuration")
	tx.Rollback()
	require.Same(t, before[1000], inbound(db, st(1000)))
	require.Nil(t, inbound(db, st(3000)))
	c = apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.Reconcile(now, now)) })
	require.Empty(t, append(c.Added, c.Removed...))
}

func TestEqual(t *testing.T) {
	full := func() *sa.Params {
		p := state(hostA, hostB, 0x1000, 1)
		p.Sel = &sa.Selector{Src: prefix(hostA), Dst: prefix(hostB)}
		p.Encap, p.Offload = &sa.Encap{SrcPort: 1}, &sa.Offload{Dev: "x", Dir: sa.DirIn}
		return p
	}
	changes := []func(*sa.Params){
		func(p *sa.Params) { p.SPI++ },
		func(p *sa.Params) { p.Dst = p.Src },
		func(p *sa.Params) { p.Src = p.Dst },
		func(p *sa.Params) { p.Mode = sa.ModeTunnel },
		func(p *sa.Params) { p.ReqID++ },
		func(p *sa.Params) { p.Flags ^= sa.FlagESN },
		func(p *sa.Params) { p.Algorithm = sa.AlgChaCha20Poly1305 },
		func(p *sa.Params) { p.Key = key(20, 9) },
		func(p *sa.Params) { p.Key = sa.NewKey(nil) },
		func(p *sa.Params) { p.ICVBits = 64 },
		func(p *sa.Params) { p.ReplayWindow++ },
		func(p *sa.Params) { p.ReplayWindowSet = true },
		func(p *sa.Params) { p.ReplaySeq++ },
		func(p *sa.Params) { p.ReplayOSeq++ },
		func(p *sa.Params) { p.Encap.DstPort++ },
		func(p *sa.Params) { p.Encap = nil },
		func(p *sa.Params) { p.Sel.Proto = 1 },
		func(p *sa.Params) { p.Sel = nil },
		func(p *sa.Params) { p.Limits.HardUse++ },
		func(p *sa.Params) { p.Offload.Depth++ },
		func(p *sa.Params) { p.Offload = nil },
		func(p *sa.Params) { p.Dir = sa.DirOut },
	}
	require.True(t, full().Equal(full()))
	for i, change := range changes {
		p := full()
		change(p)
		require.False(t, p.Equal(full()), "change %d", i)
		require.False(t, full().Equal(p), "change %d", i)
	}
	pol := func() *sa.Policy { return policy(sa.DirOut, "10.0.0.0/8", "10.0.0.0/8", 1) }
	require.True(t, pol().Equal(pol()))
	for i, change := range []func(*sa.Policy){
		func(p *sa.Policy) { p.Dir = sa.DirIn },
		func(p *sa.Policy) { p.Sel.Proto = 6 },
		func(p *sa.Policy) { p.Priority++ },
		func(p *sa.Policy) { p.Action = sa.ActionBlock },
		func(p *sa.Policy) { p.Index = 9 },
		func(p *sa.Policy) { p.Templates[0].ReqID++ },
		func(p *sa.Policy) { p.Templates = nil },
		func(p *sa.Policy) { p.Limits.HardAdd++ },
		func(p *sa.Policy) { p.Flags++ },
	} {
		p := pol()
		change(p)
		require.False(t, p.Equal(pol()), "change %d", i)
	}
}
