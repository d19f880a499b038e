package sa_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"espgw/sa"
)

// benchFlows is how many different packets a benchmark looks up, in random
// order. It is more than any cache level of the branch predictor learns.
const benchFlows = 1 << 16

func randomAddr(r *rand.Rand, v6 bool) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], r.Uint64())
	binary.BigEndian.PutUint64(b[8:], r.Uint64())
	if v6 {
		b[0] = 0x20 | b[0]&0x1f // global unicast
		return netip.AddrFrom16(b)
	}
	return netip.AddrFrom4([4]byte(b[:4]))
}

// benchDB has n SAs out, each between two random addresses, and as many in.
func benchStates(tb testing.TB, n int, v6 bool) (*sa.DB, []*sa.Params) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	db := sa.NewDB(sa.Options{})
	tx := db.Begin()
	defer tx.Rollback()
	ps := make([]*sa.Params, n)
	for i := range ps {
		k := make([]byte, 20)
		binary.BigEndian.PutUint64(k, r.Uint64())
		p := &sa.Params{
			ID:  sa.ID{Dst: randomAddr(r, v6), Proto: sa.ProtoESP, SPI: r.Uint32()>>1 + 256},
			Src: randomAddr(r, v6), ReqID: 1, Dir: sa.DirOut,
			Algorithm: sa.AlgAESGCM, Key: sa.NewKey(k), ICVBits: 128, Limits: sa.Unlimited(),
		}
		if err := tx.AddState(p); err != nil {
			tb.Fatal(err)
		}
		ps[i] = p
	}
	if err := tx.Commit(); err != nil {
		tb.Fatal(err)
	}
	return db, ps
}

var stateSizes = []int{1, 100, 10000, 100000}

// BenchmarkInbound looks SAs up by destination and SPI.
func BenchmarkInbound(b *testing.B) {
	type key struct {
		dst sa.Addr
		spi uint32
	}
	for _, v6 := range []bool{false, true} {
		for _, n := range stateSizes {
			b.Run(fmt.Sprintf("v6=%v/sas=%d", v6, n), func(b *testing.B) {
				db, ps := benchStates(b, n, v6)
				t := db.Table()
				r := rand.New(rand.NewPCG(3, 4))
				keys := make([]key, benchFlows)
				for i := range keys {
					p := ps[r.IntN(n)]
					keys[i] = key{sa.AddrFrom(p.Dst), p.SPI}
				}
				missed := 0
				inChunks(b, func(first int) {
					for i := range benchChunk {
						k := &keys[first+i]
						if t.Inbound(k.dst, v6, k.spi) == nil {
							missed++
						}
					}
				})
				if missed != 0 {
					b.Fatal("SAs not found")
				}
			})
		}
	}
}

// BenchmarkOutboundSAs finds SAs under one policy for everything.
func BenchmarkOutboundSAs(b *testing.B) {
	for _, n := range stateSizes {
		b.Run(fmt.Sprintf("sas=%d", n), func(b *testing.B) {
			db, ps := benchStates(b, n, false)
			tx := db.Begin()
			if err := tx.AddPolicy(policy(sa.DirOut, "0.0.0.0/0", "0.0.0.0/0", 1)); err != nil {
				b.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
			r := rand.New(rand.NewPCG(3, 4))
			flows := make([]sa.Flow, benchFlows)
			for i := range flows {
				p := ps[r.IntN(n)]
				flows[i] = sa.Flow{Src: sa.AddrFrom(p.Src), Dst: sa.AddrFrom(p.Dst), Proto: 6}
			}
			lookup(b, db.Table(), flows, sa.Protect)
		})
	}
}

func lookup(b *testing.B, t *sa.Table, flows []sa.Flow, want sa.Verdict) {
	wrong := 0
	inChunks(b, func(first int) {
		for i := range benchChunk {
			if t.Outbound(&flows[first+i]).Verdict != want {
				wrong++
			}
		}
	})
	if wrong != 0 {
		b.Fatalf("%d packets are not %v", wrong, want)
	}
}

// benchChunk is how many operations a benchmark measures at once.
const benchChunk = 1 << 13

// inChunks measures op, which does benchChunk operations from number first of
// benchFlows on. Beside the mean it reports the fastest chunk: on a machine that
// others use too, this is what the operations cost by themselves.
func inChunks(b *testing.B, op func(first int)) {
	first := 0
	best, total, chunks := time.Duration(math.MaxInt64), time.Duration(0), 0
	for b.Loop() {
		start := time.Now()
		op(first)
		took := time.Since(start)
		best, total, chunks = min(best, took), total+took, chunks+1
		first = (first + benchChunk) % benchFlows
	}
	b.ReportMetric(float64(total)/float64(chunks*benchChunk), "ns/op")
	b.ReportMetric(float64(best)/benchChunk, "best-ns/op")
}

// policyMix makes the selectors of a benchmark.
type policyMix struct {
	name     string
	v6       bool
	src, dst [2]int // prefix lengths
	proto    bool
	port     bool
}

var policyMixes = []policyMix{
	{name: "hosts", src: [2]int{32, 32}, dst: [2]int{32, 32}},
	{name: "any-to-nets", src: [2]int{0, 0}, dst: [2]int{24, 24}},
	{name: "nets", src: [2]int{16, 24}, dst: [2]int{16, 24}},
	{name: "all-lengths", src: [2]int{0, 32}, dst: [2]int{0, 32}},
	{name: "ports", src: [2]int{0, 0}, dst: [2]int{24, 32}, proto: true, port: true},
	{name: "hosts6", v6: true, src: [2]int{128, 128}, dst: [2]int{128, 128}},
	{name: "all-lengths6", v6: true, src: [2]int{0, 128}, dst: [2]int{0, 128}},
}

func (m policyMix) policies(r *rand.Rand, n int) []*sa.Policy {
	seen := map[sa.Selector]bool{}
	var ps []*sa.Policy
	for len(ps) < n {
		prefix := func(lengths [2]int) netip.Prefix {
			return netip.PrefixFrom(randomAddr(r, m.v6), lengths[0]+r.IntN(lengths[1]-lengths[0]+1)).Masked()
		}
		p := &sa.Policy{Dir: sa.DirOut, Sel: sa.Selector{Src: prefix(m.src), Dst: prefix(m.dst)}, Limits: sa.Unlimited()}
		if m.proto {
			p.Sel.Proto = 6
		}
		if m.port && r.IntN(2) == 0 {
			p.Sel.DstPort, p.Sel.DstMask = uint16(r.Uint32()), 0xffff
		}
		if !seen[p.Sel] {
			seen[p.Sel] = true
			ps = append(ps, p)
		}
	}
	return ps
}

// inside makes a packet that the selector covers.
func inside(r *rand.Rand, s *sa.Selector) sa.Flow {
	addr := func(p netip.Prefix) sa.Addr {
		a, got := p.Addr().As16(), randomAddr(r, p.Addr().Is6()).As16()
		n := p.Bits()
		if p.Addr().Is4() {
			n += 96
		}
		for i := n; i < 128; i++ {
			bit := byte(0x80) >> (i % 8)
			a[i/8] = a[i/8]&^bit | got[i/8]&bit
		}
		return sa.AddrFrom16(a[:])
	}
	return sa.Flow{
		Src: addr(s.Src), Dst: addr(s.Dst), Proto: max(s.Proto, 1), V6: s.Src.Addr().Is6(),
		SrcPort: uint16(r.Uint32())&^s.SrcMask | s.SrcPort&s.SrcMask,
		DstPort: uint16(r.Uint32())&^s.DstMask | s.DstPort&s.DstMask,
	}
}

// BenchmarkOutboundPolicies classifies packets that some random policy matches.
func BenchmarkOutboundPolicies(b *testing.B) {
	for _, m := range policyMixes {
		for _, n := range []int{1, 100, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/policies=%d", m.name, n), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, uint64(n)))
				db := sa.NewDB(sa.Options{})
				tx := db.Begin()
				ps := m.policies(r, n)
				for _, p := range ps {
					if err := tx.AddPolicy(p); err != nil {
						b.Fatal(err)
					}
				}
				if err := tx.Commit(); err != nil {
					b.Fatal(err)
				}
				flows := make([]sa.Flow, benchFlows)
				for i := range flows {
					flows[i] = inside(r, &ps[r.IntN(n)].Sel)
				}
				lookup(b, db.Table(), flows, sa.Pass)
			})
		}
	}
}

// BenchmarkChangeState adds one SA and removes it again beside n others.
func BenchmarkChangeState(b *testing.B) {
	for _, n := range []int{1, 100000} {
		b.Run(fmt.Sprintf("sas=%d", n), func(b *testing.B) {
			db, _ := benchStates(b, n, false)
			p := state("192.0.2.1", "192.0.2.2", 0x1000, 1)
			for b.Loop() {
				apply(b, db, func(tx *sa.Tx) { _ = tx.AddState(p) })
				apply(b, db, func(tx *sa.Tx) { _ = tx.DeleteState(p.ID, p.Src) })
			}
		})
	}
}

// BenchmarkChangePolicy adds one policy and removes it again beside n others.
func BenchmarkChangePolicy(b *testing.B) {
	for _, m := range policyMixes {
		for _, n := range []int{1, 10000} {
			b.Run(fmt.Sprintf("%s/policies=%d", m.name, n), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, uint64(n)))
				db := sa.NewDB(sa.Options{})
				ps := m.policies(r, n+1)
				apply(b, db, func(tx *sa.Tx) {
					for _, p := range ps[1:] {
						_ = tx.AddPolicy(p)
					}
				})
				for b.Loop() {
					apply(b, db, func(tx *sa.Tx) { _ = tx.AddPolicy(ps[0]) })
					apply(b, db, func(tx *sa.Tx) { _ = tx.DeletePolicy(ps[0].Dir, ps[0].Sel) })
				}
			})
		}
	}
}

// BenchmarkPath is what one packet costs in an SA.
func BenchmarkPath(b *testing.B) {
	out, in := state(hostA, hostB, 0x1000, 1), state(hostB, hostA, 0x1001, 1)
	out.Dir, in.Dir = sa.DirOut, sa.DirIn
	out.Flags = sa.FlagESN
	in.Flags = sa.FlagESN
	db := sa.NewDB(sa.Options{})
	sender, receiver := addState(b, db, out), addState(b, db, in)
	each := func(name string, op func()) {
		b.Run(name, func(b *testing.B) {
			inChunks(b, func(int) {
				for range benchChunk {
					op()
				}
			})
		})
	}
	each("reserve-1", func() { sender.ReserveOut(1, 100, 1) })
	each("reserve-32", func() { sender.ReserveOut(32, 3200, 1) })
	each("check", func() { receiver.CheckIn(uint32(receiver.Highest()) + 1) })
	each("check-commit", func() {
		seq, _ := receiver.CheckIn(uint32(receiver.Highest()) + 1)
		receiver.CommitIn(seq, 100, 1)
	})
}
