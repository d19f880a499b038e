package sa_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// TestMemo compares lookups with a memory with lookups without, for neighbours
// that differ in one respect at a time, in tables where that matters or not:
// policies and SAs about ports and protocols, several SAs of one pair.
func TestMemo(t *testing.T) {
	verdicts := map[sa.Verdict]int{}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		db := memoDB(t, r)
		table := db.Table()
		var out, in sa.Memo
		f := flow("10.0.0.1", "10.0.0.2", 6, 1, 80)
		for range 200 {
			mutate(r, f)
			want := table.Outbound(f)
			require.Equal(t, want, table.OutboundMemo(f, &out), "seed %d: %+v", seed, f)
			s := table.Inbound(f.Dst, false, uint32(1+r.IntN(4)))
			if s != nil {
				require.Equal(t, table.InboundESP(f, s), table.InboundESPMemo(f, s, &in), "seed %d: %+v", seed, f)
			}
			verdicts[want.Verdict]++
		}
	}
	for _, v := range []sa.Verdict{sa.Pass, sa.Protect, sa.Block, sa.NoState, sa.Fragmented} {
		require.Greater(t, verdicts[v], 100, "verdict %d", v)
	}
}

// TestMemoReset: a state that expires is seen after Reset, and so is another
// table without it.
func TestMemoReset(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state("10.0.0.1", "10.0.0.2", 7, 1)
	p.Dir, p.Limits.HardPackets = sa.DirOut, 1
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, "10.0.0.1/32", "10.0.0.2/32", 1)))
	})
	s := addState(t, db, p)
	f := flow("10.0.0.1", "10.0.0.2", 6, 1, 80)
	var m sa.Memo
	require.Equal(t, sa.Protect, db.Table().OutboundMemo(f, &m).Verdict)
	_, admitted, _ := s.ReserveOut(1, 100, 1)
	require.Equal(t, 1, admitted)
	m.Reset()
	require.Equal(t, sa.Expired, db.Table().OutboundMemo(f, &m).Verdict)
	apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.SetDefault(sa.DirOut, sa.ActionBlock)) })
	require.Equal(t, sa.Block, db.Table().OutboundMemo(flow("10.0.0.9", "10.0.0.2", 6, 1, 80), &m).Verdict)
}

func memoDB(t *testing.T, r *rand.Rand) *sa.DB {
	db := sa.NewDB(sa.Options{})
	apply(t, db, func(tx *sa.Tx) {
		for spi := range uint32(1 + r.IntN(4)) {
			p := state("10.0.0.1", "10.0.0.2", spi+1, uint32(1+r.IntN(2)))
			if r.IntN(2) == 0 {
				p.Dir = sa.DirOut
			}
			p.Key = key(20, byte(spi)) // one key each: shared ones could have overlapping IVs
			if r.IntN(2) == 0 {
				p.Sel = memoSelector(r)
			}
			require.NoError(t, tx.AddState(p))
		}
		for i := range 1 + r.IntN(3) {
			for _, dir := range []sa.Direction{sa.DirOut, sa.DirIn} {
				p := policy(dir, "10.0.0.1/32", "10.0.0.2/32", uint32(1+r.IntN(2)))
				p.Priority = uint32(i)
				p.Sel = *memoSelector(r)
				switch r.IntN(6) {
				case 0:
					p.Action, p.Templates = sa.ActionBlock, nil
				case 1:
					p.Templates = nil
				case 2:
					p.Templates[0].Level = sa.LevelUse
				}
				if tx.GetPolicy(dir, p.Sel) == nil {
					require.NoError(t, tx.AddPolicy(p))
				}
			}
		}
	})
	return db
}

func memoSelector(r *rand.Rand) *sa.Selector {
	s := &sa.Selector{
		Src: netip.MustParsePrefix([]string{"10.0.0.1/32", "10.0.0.0/24", "0.0.0.0/0"}[r.IntN(3)]),
		Dst: netip.MustParsePrefix([]string{"10.0.0.2/32", "10.0.0.0/24", "0.0.0.0/0"}[r.IntN(3)]),
	}
	if r.IntN(3) == 0 {
		s.Proto = 6
		if r.IntN(2) == 0 {
			s.DstPort, s.DstMask = 80, 0xffff
		}
	}
	return s
}

// mutate changes f in one respect, or not.
func mutate(r *rand.Rand, f *sa.Flow) {
	addrs := []sa.Addr{sa.AddrFrom(netip.MustParseAddr("10.0.0.1")), sa.AddrFrom(netip.MustParseAddr("10.0.0.2"))}
	f.Frag = sa.FragNone
	switch r.IntN(10) {
	case 0:
		f.Src = addrs[r.IntN(2)]
	case 1:
		f.Dst = addrs[r.IntN(2)]
	case 2:
		f.Proto = []uint8{6, 17}[r.IntN(2)]
	case 3:
		f.SrcPort = uint16(r.IntN(3))
	case 4:
		f.DstPort = []uint16{80, 443}[r.IntN(2)]
	case 5:
		f.Frag = sa.FragFirst
	}
	if f.Src == f.Dst && r.IntN(2) == 0 {
		f.Src, f.Dst = addrs[0], addrs[1]
	}
}
