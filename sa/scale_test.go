package sa_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// TestManyStates compares lookups with a map while thousands of SAs of both
// families come and go, in small and large batches.
func TestManyStates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	db := sa.NewDB(sa.Options{MaxSAs: 20000})
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, "0.0.0.0/0", "0.0.0.0/0", 1)))
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, "::/0", "::/0", 1)))
	})
	live := map[sa.ID]*sa.Params{}
	var gone []*sa.Params
	for _, batch := range []int{1, 5000, 1, 300, 1, 8000, 20} {
		apply(t, db, func(tx *sa.Tx) {
			for id, p := range live { // map order is random
				if r.IntN(3) == 0 && len(live) > batch/2 {
					require.NoError(t, tx.DeleteState(id, netip.Addr{}))
					delete(live, id)
					gone = append(gone, p)
				}
			}
			for range batch {
				v6 := r.IntN(2) == 0
				p := state("10.0.0.1", "10.0.0.2", 256+uint32(r.IntN(1<<20)), 1)
				p.Src, p.Dst, p.Dir = randomAddr(r, v6), randomAddr(r, v6), sa.DirOut
				p.Key = key(20, byte(r.Uint32()))
				if r.IntN(10) == 0 && len(gone) > 0 { // what was there before
					p = gone[r.IntN(len(gone))]
				}
				if live[p.ID] == nil {
					require.NoError(t, tx.AddState(p))
					live[p.ID] = p
				}
			}
		})
		require.Equal(t, len(live), db.Count())
		table := db.Table()
		for _, p := range live {
			s := inbound(db, p)
			if s == nil || s.ID() != p.ID {
				t.Fatalf("inbound %v: %v", p.ID, s)
			}
			f := sa.Flow{Src: sa.AddrFrom(p.Src), Dst: sa.AddrFrom(p.Dst), V6: p.Dst.Is6(), Proto: 6}
			if d := table.Outbound(&f); d.SA != s {
				t.Fatalf("outbound %v: %v", p.ID, d)
			}
		}
		for _, p := range gone {
			if live[p.ID] == nil && inbound(db, p) != nil {
				t.Fatalf("%v is deleted", p.ID)
			}
		}
	}
}

// TestManyStatesOfOnePair adds and removes thousands of SAs between two hosts,
// which all share one list: that must not take quadratic time.
func TestManyStatesOfOnePair(t *testing.T) {
	const n = 5000
	db := sa.NewDB(sa.Options{})
	start := time.Now()
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 1)))
		for i := range uint32(n) {
			p := state(hostA, hostB, 0x1000+i, 1)
			p.Key = key(20, byte(i))
			p.Key.Bytes()[7], p.Key.Bytes()[8] = byte(i>>8), byte(i>>16)
			require.NoError(t, tx.AddState(p))
		}
	})
	t.Log("added in", time.Since(start))
	f := flow(hostA, hostB, 6, 1, 2)
	require.EqualValues(t, 0x1000+n-1, db.Table().Outbound(f).SA.SPI())
	start = time.Now()
	apply(t, db, func(tx *sa.Tx) { tx.DeleteAll(func(p *sa.Params) bool { return p.SPI >= 0x1001 }) })
	t.Log("all but one removed in", time.Since(start))
	require.EqualValues(t, 0x1000, db.Table().Outbound(f).SA.SPI())
	apply(t, db, func(tx *sa.Tx) { tx.FlushStates() })
	require.Equal(t, sa.NoState, db.Table().Outbound(f).Verdict)
}

// TestManyPolicies adds thousands of policies one by one, as a key exchange
// does, and removes them.
func TestManyPolicies(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	ps := policyMixes[0].policies(r, 1500)
	db := sa.NewDB(sa.Options{})
	start := time.Now()
	for _, p := range ps {
		apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddPolicy(p)) })
	}
	t.Log("added in", time.Since(start))
	find := func(p *sa.Policy) *sa.PolicyState {
		f := inside(r, &p.Sel)
		return db.Table().Outbound(&f).Policy
	}
	for _, p := range ps {
		if got := find(p); got == nil || got.Policy().Sel != p.Sel {
			t.Fatalf("%+v: %v", p, got)
		}
	}
	start = time.Now()
	for i, p := range ps {
		apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.DeletePolicy(p.Dir, p.Sel)) })
		if last := ps[len(ps)-1]; i%100 == 0 && (find(p) != nil || find(last) == nil) {
			t.Fatalf("after %d", i)
		}
	}
	t.Log("removed in", time.Since(start))
}
