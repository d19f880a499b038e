package sa_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// naive is the SPD as one list, looked through from its start.
type naive []*sa.Policy

func (n naive) sorted() naive {
	s := slices.Clone(n)
	slices.SortStableFunc(s, func(a, b *sa.Policy) int { return int(int64(a.Priority) - int64(b.Priority)) })
	return s
}

func covers(s *sa.Selector, f *sa.Flow) bool {
	addr := func(a sa.Addr) netip.Addr {
		var b [16]byte
		for i := range 8 {
			b[i], b[8+i] = byte(a.Hi>>(56-8*i)), byte(a.Lo>>(56-8*i))
		}
		if f.V6 {
			return netip.AddrFrom16(b)
		}
		return netip.AddrFrom16(b).Unmap()
	}
	return s.Src.Contains(addr(f.Src)) && s.Dst.Contains(addr(f.Dst)) && (s.Proto == 0 || s.Proto == f.Proto)
}

func portsMatch(s *sa.Selector, f *sa.Flow) bool {
	return f.SrcPort&s.SrcMask == s.SrcPort&s.SrcMask && f.DstPort&s.DstMask == s.DstPort&s.DstMask
}

// first is the policy that decides about an unfragmented packet.
func (n naive) first(f *sa.Flow, dirs ...sa.Direction) *sa.Policy {
	for _, p := range n {
		if slices.Contains(dirs, p.Dir) && covers(&p.Sel, f) && portsMatch(&p.Sel, f) {
			return p
		}
	}
	return nil
}

// mayPass tells whether every unfragmented packet that the fragment f may be a
// part of passes in the clear, trying all ports that policies name.
func (n naive) mayPass(f *sa.Flow, dirs ...sa.Direction) bool {
	var may naive
	ports := map[uint16]bool{9: true}
	for _, p := range n {
		if slices.Contains(dirs, p.Dir) && covers(&p.Sel, f) {
			may = append(may, p)
			ports[p.Sel.SrcPort], ports[p.Sel.DstPort] = true, true
		}
	}
	for src := range ports {
		for dst := range ports {
			g := *f
			g.SrcPort, g.DstPort = src, dst
			if p := may.first(&g, dirs...); p != nil && (p.Action == sa.ActionBlock || len(p.Templates) > 0) {
				return false
			}
		}
	}
	return true
}

// fragment decides about a fragment whose ports are unknown: the policies that
// may be about it, up to the first that surely is, must all allow.
func (n naive) fragment(f *sa.Flow, dirs ...sa.Direction) sa.Verdict {
	var blocks bool
	for _, p := range n {
		if !slices.Contains(dirs, p.Dir) || !covers(&p.Sel, f) {
			continue
		}
		sure := p.Sel.SrcMask == 0 && p.Sel.DstMask == 0
		switch {
		case p.Action == sa.ActionBlock && sure:
			return sa.Block
		case p.Action == sa.ActionBlock:
			blocks = true
		case len(p.Templates) > 0 || sure && blocks:
			return sa.Fragmented
		case sure:
			return sa.Pass
		}
	}
	if blocks {
		return sa.Fragmented
	}
	return sa.Pass
}

// randomSPD makes policies that overlap in all ways: nested prefixes of a few
// roots, protocols, ports, partial masks, priorities.
func randomSPD(r *rand.Rand, n int, v6 bool) naive {
	root := []string{"10.0.0.0", "10.1.0.0", "10.1.128.0", "192.168.7.9", "0.0.0.0", "255.255.255.255"}
	if v6 {
		root = []string{"2001:db8::", "2001:db8:1::1", "fe80::1", "::", "ff02::1:ff00:1", "2001:db8:8000::"}
	}
	prefix := func() netip.Prefix {
		a := netip.MustParseAddr(root[r.IntN(len(root))])
		return netip.PrefixFrom(a, r.IntN(a.BitLen()+1)).Masked()
	}
	masks := []uint16{0, 0, 0xffff, 0xffff, 0xff00, 0x00ff, 1}
	var spd naive
	seen := map[any]bool{}
	for len(spd) < n {
		p := &sa.Policy{
			Dir: sa.DirIn + sa.Direction(r.IntN(3)), Priority: uint32(r.IntN(4)),
			Sel:    sa.Selector{Src: prefix(), Dst: prefix(), Proto: []uint8{0, 0, 6, 17, 50}[r.IntN(5)]},
			Limits: sa.Unlimited(),
		}
		if r.IntN(2) == 0 {
			p.Sel.SrcMask, p.Sel.DstMask = masks[r.IntN(len(masks))], masks[r.IntN(len(masks))]
			p.Sel.SrcPort, p.Sel.DstPort = uint16(r.IntN(300))&p.Sel.SrcMask, uint16(r.IntN(300))&p.Sel.DstMask
		}
		switch r.IntN(4) {
		case 0:
			p.Action = sa.ActionBlock
		case 1, 2:
			p.Templates = []sa.Template{{Proto: sa.ProtoESP, ReqID: uint32(1 + r.IntN(3))}}
		}
		k := [2]any{p.Dir, p.Sel}
		if !seen[k] {
			seen[k] = true
			spd = append(spd, p)
		}
	}
	return spd
}

func randomFlow(r *rand.Rand, spd naive) *sa.Flow {
	f := inside(r, &spd[r.IntN(len(spd))].Sel)
	if r.IntN(3) == 0 { // leave the policy in one respect
		o := inside(r, &spd[r.IntN(len(spd))].Sel)
		switch r.IntN(4) {
		case 0:
			f.Src = o.Src
		case 1:
			f.Dst = o.Dst
		case 2:
			f.Proto = o.Proto
		default:
			f.SrcPort, f.DstPort = o.SrcPort, o.DstPort
		}
	}
	return &f
}

// TestTableAgainstList compares every kind of lookup with a plain list, for
// SPDs from one policy to more than a summary word holds.
func TestTableAgainstList(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, n := range []int{1, 2, 10, 63, 64, 65, 200, 1000, 5000} {
			t.Run(fmt.Sprintf("v6=%v/policies=%d", v6, n), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), 11))
				spd := randomSPD(r, n, v6)
				db := sa.NewDB(sa.Options{})
				tx := db.Begin()
				for _, p := range spd {
					require.NoError(t, tx.AddPolicy(p))
				}
				require.NoError(t, tx.Commit())
				sorted := spd.sorted()
				for range 400 / (1 + n/400) {
					compareLookups(t, db.Table(), sorted, randomFlow(r, spd))
				}
				changeSome(t, db, &spd, r)
				sorted = spd.sorted()
				for range 400 / (1 + n/400) {
					compareLookups(t, db.Table(), sorted, randomFlow(r, spd))
				}
			})
		}
	}
}

// changeSome removes and adds policies one by one.
func changeSome(t *testing.T, db *sa.DB, spd *naive, r *rand.Rand) {
	more := randomSPD(r, 20, (*spd)[0].Sel.Src.Addr().Is6())
	for i := range 20 {
		tx := db.Begin()
		if len(*spd) > 1 {
			gone := r.IntN(len(*spd))
			require.NoError(t, tx.DeletePolicy((*spd)[gone].Dir, (*spd)[gone].Sel))
			*spd = slices.Delete(*spd, gone, gone+1)
		}
		if tx.GetPolicy(more[i].Dir, more[i].Sel) == nil {
			require.NoError(t, tx.AddPolicy(more[i]))
			*spd = append(*spd, more[i])
		}
		require.NoError(t, tx.Commit())
	}
}

func compareLookups(t *testing.T, table *sa.Table, spd naive, f *sa.Flow) {
	t.Helper()
	is := func(what string, want *sa.Policy, verdict sa.Verdict, got sa.Decision) {
		t.Helper()
		same := want == nil && got.Policy == nil ||
			want != nil && got.Policy != nil && want.Sel == got.Policy.Policy().Sel && want.Dir == got.Policy.Policy().Dir
		if !same || got.Verdict != verdict {
			t.Fatalf("%s %+v: got %+v, want %v by %+v", what, f, got, verdict, want)
		}
	}
	out, in := spd.first(f, sa.DirOut), spd.first(f, sa.DirIn, sa.DirForward)
	is("out", out, verdict(out, sa.NoState), table.Outbound(f))
	is("in", in, verdict(in, sa.Mismatch), table.InboundClear(f))

	first, later := *f, *f
	first.Frag, later.Frag = sa.FragFirst, sa.FragLater
	same := func(what string, want, got sa.Verdict) {
		t.Helper()
		if want != got {
			t.Fatalf("%s fragment %+v: got %v, want %v", what, f, got, want)
		}
	}
	same("first out", verdict(out, sa.Fragmented), table.Outbound(&first).Verdict)
	same("first in", verdict(in, sa.Fragmented), table.InboundClear(&first).Verdict)
	outLater, inLater := table.Outbound(&later).Verdict, table.InboundClear(&later).Verdict
	same("later out", spd.fragment(f, sa.DirOut), outLater)
	same("later in", spd.fragment(f, sa.DirIn, sa.DirForward), inLater)
	if len(spd) > 100 {
		return
	}
	if outLater == sa.Pass && !spd.mayPass(f, sa.DirOut) || inLater == sa.Pass && !spd.mayPass(f, sa.DirIn, sa.DirForward) {
		t.Fatalf("a fragment passes that may belong to a packet that must not: %+v", f)
	}
}

func verdict(p *sa.Policy, protect sa.Verdict) sa.Verdict {
	switch {
	case p == nil:
		return sa.Pass
	case p.Action == sa.ActionBlock:
		return sa.Block
	case len(p.Templates) > 0:
		return protect
	}
	return sa.Pass
}
