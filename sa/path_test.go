package sa_test

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// TestPathAllocatesNothing runs everything that the packet path calls.
func TestPathAllocatesNothing(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	out, in := state(hostA, hostB, 0x1000, 7), state(hostB, hostA, 0x1001, 7)
	esn, limited := state(hostB, hostA, 0x1002, 7), state(hostA, hostB, 0x1003, 8)
	esn.Flags = sa.FlagESN
	limited.Limits.SoftPackets, limited.Dir = 1, sa.DirOut
	apply(t, db, func(tx *sa.Tx) {
		for _, p := range []*sa.Params{out, in, esn, limited} {
			require.NoError(t, tx.AddState(p))
		}
		for _, p := range randomSPD(rand.New(rand.NewPCG(1, 1)), 300, false) {
			p.Priority += 10
			require.NoError(t, tx.AddPolicy(p))
		}
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 7)))
		require.NoError(t, tx.AddPolicy(policy(sa.DirIn, hostB+"/32", hostA+"/32", 7)))
	})
	table := db.Table()
	flows := []*sa.Flow{
		flow(hostA, hostB, 6, 1, 2), flow(hostB, hostA, 6, 1, 2), flow("10.1.2.3", "10.1.3.4", 17, 5, 4500),
		flow("2001:db8::1", "2001:db8::2", 6, 1, 2),
	}
	for _, f := range flows[:4] {
		for _, frag := range []sa.Fragment{sa.FragFirst, sa.FragLater} {
			g := *f
			g.Frag = frag
			flows = append(flows, &g)
		}
	}
	dst := sa.AddrFrom(netip.MustParseAddr(hostA))
	sender, receiver, esnReceiver := inbound(db, out), inbound(db, in), inbound(db, esn)
	now := int64(1)
	policies := table.Outbound(flows[0]).Policy
	require.Zero(t, testing.AllocsPerRun(200, func() {
		now += int64(time.Second)
		for _, f := range flows {
			table.Outbound(f)
			table.InboundClear(f)
			table.InboundESP(f, receiver)
			table.AllowsClearESP(f)
		}
		table.Inbound(dst, false, 0x1001)
		sender.ReserveOut(3, 300, now)
		inbound(db, limited).ReserveOut(1, 300, now)
		for _, s := range []*sa.SA{receiver, esnReceiver} {
			seq, _ := s.CheckIn(uint32(now / int64(time.Second)))
			s.CommitIn(seq, 100, now)
			s.CommitIn(seq, 100, now)
		}
		policies.Add(3, now)
	}))
}

// TestPathUnderChange lets workers do all they do while a writer adds, updates
// and removes SAs and policies and expires them; run with -race. Workers hold a
// snapshot for a turn, and removed SAs are released after a quiet point.
func TestPathUnderChange(t *testing.T) {
	db := sa.NewDB(sa.Options{MaxSAs: 64})
	var turns [2]atomic.Uint64
	var stop atomic.Bool
	var protected, opened atomic.Uint64
	var wg sync.WaitGroup
	for w := range turns {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for !stop.Load() {
				workerTurn(db.Table(), r, &protected, &opened)
				turns[w].Add(1)
			}
		})
	}
	quiet := func() {
		for w := range turns {
			for before := turns[w].Load(); turns[w].Load() < before+2; {
				time.Sleep(10 * time.Microsecond)
			}
		}
	}
	r := rand.New(rand.NewPCG(9, 9))
	for i := 0; i < 40 || protected.Load() == 0 || opened.Load() == 0; i++ {
		tx := db.Begin()
		changeAtRandom(tx, r)
		c, err := tx.Prepare()
		if err != nil || i%10 == 0 {
			tx.Rollback()
			continue
		}
		require.NoError(t, tx.Commit())
		var expired []*sa.SA
		for _, e := range db.Tick(time.Now()) {
			if e.Kind == sa.EventHard {
				expired = append(expired, e.SA)
			}
		}
		quiet()
		db.Release(c.Removed)
		db.Release(expired)
		if c.Table != db.Table() {
			t.Fatal("another table is published")
		}
	}
	stop.Store(true)
	wg.Wait()
	t.Log(protected.Load(), "sent,", opened.Load(), "received")
}

func workerTurn(table *sa.Table, r *rand.Rand, protected, opened *atomic.Uint64) {
	for range 20 {
		f := flow(hostA, hostB, []uint8{6, 17}[r.IntN(2)], uint16(r.IntN(3)), uint16(r.IntN(3)))
		f.Frag = sa.Fragment(r.IntN(8) / 6)
		if d := table.Outbound(f); d.Verdict == sa.Protect {
			if _, n, _ := d.SA.ReserveOut(1+r.IntN(3), 100, time.Now().UnixNano()); n > 0 {
				protected.Add(uint64(n))
			}
			d.Policy.Add(1, 1)
		}
		f.Src, f.Dst = f.Dst, f.Src
		table.InboundClear(f)
		table.AllowsClearESP(f)
		s := table.Inbound(f.Dst, false, 0x2000+uint32(r.IntN(20)))
		if s == nil {
			continue
		}
		seq, why := s.CheckIn(uint32(s.Highest()) + uint32(r.IntN(4)) - 1)
		if why == sa.OK && s.CommitIn(seq, 100, time.Now().UnixNano()) == sa.OK {
			opened.Add(1)
			table.InboundESP(f, s)
		}
	}
}

func changeAtRandom(tx *sa.Tx, r *rand.Rand) {
	for range 1 + r.IntN(4) {
		n := uint32(r.IntN(20))
		p, q := state(hostA, hostB, 0x1000+n, 7), state(hostB, hostA, 0x2000+n, 7)
		p.Dir = sa.DirOut
		if r.IntN(2) == 0 {
			p.Limits.HardPackets, p.Limits.SoftPackets = uint64(r.IntN(500)), uint64(r.IntN(200))
			q.Limits.HardBytes, q.Limits.HardUse = uint64(r.IntN(50000)), time.Millisecond
		}
		q.ReplayWindow, q.ReplayWindowSet = uint32(32+r.IntN(200)), true
		src := netip.MustParsePrefix("14.0.0.0/16")
		sel := sa.Selector{Src: src, Dst: src, Proto: []uint8{0, 6}[r.IntN(2)], DstPort: uint16(r.IntN(3)), DstMask: []uint16{0, 0xffff, 1}[r.IntN(3)]}
		pol := &sa.Policy{
			Dir: sa.DirIn + sa.Direction(r.IntN(3)), Sel: sel, Priority: uint32(r.IntN(3)), Limits: sa.Unlimited(),
			Templates: []sa.Template{{Proto: sa.ProtoESP, ReqID: 7}},
		}
		// Errors are part of it: what exists already, what is not there.
		switch r.IntN(8) {
		case 0, 1:
			_ = tx.AddState(p)
			_ = tx.AddState(q)
		case 2:
			_ = tx.UpdateState(p)
			_ = tx.UpdateState(q)
		case 3:
			_ = tx.DeleteState(p.ID, netip.Addr{})
			_ = tx.DeleteState(q.ID, netip.Addr{})
		case 4, 5:
			_ = tx.UpdatePolicy(pol)
		case 6:
			_ = tx.DeletePolicy(pol.Dir, pol.Sel)
		default:
			_ = tx.SetDefault(pol.Dir, sa.Action(r.IntN(2)))
		}
	}
}
