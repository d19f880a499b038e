package xfrm

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// maker makes random settings that a command can say.
type maker struct{ *rand.Rand }

func newMaker(t *testing.T) maker {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return maker{rand.New(rand.NewPCG(seed, 1))}
}

func (m maker) chance() bool { return m.IntN(2) == 0 }

func (m maker) addr(v6 bool) netip.Addr {
	b := make([]byte, 4)
	if v6 {
		b = make([]byte, 16)
	}
	for i := range b {
		if m.chance() {
			b[i] = byte(m.Uint32())
		}
	}
	b[len(b)-1] = byte(m.IntN(254) + 1)
	a, _ := netip.AddrFromSlice(b)
	return a
}

func (m maker) prefix(v6 bool) netip.Prefix {
	a := m.addr(v6)
	return netip.PrefixFrom(a, m.IntN(a.BitLen()+1))
}

// number prefers the edges.
func (m maker) number(limit uint64) uint64 {
	switch m.IntN(4) {
	case 0:
		return 0
	case 1:
		return limit
	case 2:
		return min(limit, uint64(m.IntN(100)))
	}
	if limit == ^uint64(0) {
		return m.Uint64()
	}
	return m.Uint64N(limit + 1)
}

func (m maker) selector(v6 bool) *sa.Selector {
	s := &sa.Selector{Src: m.prefix(v6), Dst: m.prefix(v6)}
	switch m.IntN(4) {
	case 0:
		s.Proto = []uint8{protoTCP, protoUDP, protoSCTP, protoDCCP, 0}[m.IntN(5)]
		s.SrcPort, s.DstPort = uint16(m.number(0xffff)), uint16(m.number(0xffff))
		s.SrcMask, s.DstMask = uint16(m.number(0xffff)), uint16(m.number(0xffff))
	case 1:
		s.Proto = []uint8{protoICMP, protoICMPv6}[m.IntN(2)]
		if m.chance() {
			s.SrcPort, s.SrcMask = uint16(m.number(255)), 0xffff
		}
		if m.chance() {
			s.DstPort, s.DstMask = uint16(m.number(255)), 0xffff
		}
	case 2:
		s.Proto = uint8(m.number(255))
	}
	return s
}

func (m maker) limits() sa.Limits {
	l := sa.Unlimited()
	for _, n := range []*uint64{&l.SoftBytes, &l.HardBytes, &l.SoftPackets, &l.HardPackets} {
		if m.chance() {
			*n = m.number(sa.NoLimit)
		}
	}
	for _, d := range []*time.Duration{&l.SoftAdd, &l.HardAdd, &l.SoftUse, &l.HardUse} {
		if m.chance() {
			*d = time.Duration(m.number(9223372036)) * time.Second
		}
	}
	return l
}

func (m maker) params() *sa.Params {
	v6 := m.chance()
	p := &sa.Params{
		ID: sa.ID{Dst: m.addr(v6), Proto: sa.ProtoESP, SPI: uint32(m.number(1<<32-2)) + 1}, Src: m.addr(v6),
		ReqID: uint32(m.number(1<<32 - 1)), Algorithm: sa.AlgAESGCM, ICVBits: []int{64, 96, 128}[m.IntN(3)], Limits: m.limits(),
	}
	length := []int{20, 28, 36}[m.IntN(3)]
	if m.chance() {
		p.Algorithm, p.ICVBits, length = sa.AlgChaCha20Poly1305, 128, 36
	}
	key := make([]byte, length)
	for i := range key {
		key[i] = byte(m.Uint32())
	}
	p.Key = sa.NewKey(key)
	for _, f := range stateFlags {
		if m.IntN(4) == 0 {
			p.Flags |= f.flag
		}
	}
	sequences := uint64(1<<32 - 1)
	if p.Flags&sa.FlagESN != 0 {
		sequences = 1<<64 - 1
	}
	p.ReplaySeq, p.ReplayOSeq = m.number(sequences), m.number(sequences)
	if m.chance() {
		p.ReplayWindow, p.ReplayWindowSet = uint32(m.number(sa.MaxWindow)), true
	}
	if m.chance() {
		p.Sel = m.selector(v6)
	}
	if m.chance() {
		p.Encap = &sa.Encap{SrcPort: uint16(m.number(0xffff)), DstPort: 4500, OriginalAddr: m.addr(v6)}
	}
	dir := []sa.Direction{sa.DirIn, sa.DirOut}[m.IntN(2)]
	if m.chance() {
		p.Offload = &sa.Offload{Dev: []string{"eth4", "net_tap0,iface=x", "0000:01:00.0", "a$b"}[m.IntN(4)], Dir: dir, Depth: sa.OffloadDepth(m.IntN(2))}
	}
	if m.chance() {
		p.Dir = dir
	}
	return p
}

func (m maker) policy() *sa.Policy {
	v6 := m.chance()
	p := &sa.Policy{
		Dir: []sa.Direction{sa.DirIn, sa.DirOut, sa.DirForward}[m.IntN(3)], Sel: *m.selector(v6),
		Priority: uint32(m.number(1<<32 - 1)), Action: sa.Action(m.IntN(2)), Limits: m.limits(), Flags: sa.PolicyFlags(m.IntN(4)),
	}
	if m.chance() {
		p.Index = uint32(m.number(1<<29-1))<<3 | indexDirection(p.Dir)
	}
	if m.chance() {
		t := sa.Template{Proto: sa.ProtoESP, ReqID: uint32(m.number(1<<32 - 1)), SPI: uint32(m.number(1<<32 - 1)), Level: sa.Level(m.IntN(2))}
		if m.chance() {
			t.Src, t.Dst = m.addr(v6), m.addr(v6)
		}
		p.Templates = append(p.Templates, t)
	}
	return p
}

// TestCommandLines writes random settings as commands and reads them back.
func TestCommandLines(t *testing.T) {
	m := newMaker(t)
	for range 2000 {
		p := m.params()
		line := CommandLine(p, true)
		c, err := Parse(line)
		require.NoError(t, err, line)
		require.Equal(t, p, c.State, line)
		hidden := CommandLine(p, false)
		require.NotContains(t, hidden, hex.EncodeToString(p.Key.Bytes()))
		_, err = Parse(hidden)
		require.Error(t, err, hidden)

		q := m.policy()
		line = PolicyCommandLine(q)
		c, err = Parse(line)
		require.NoError(t, err, line)
		require.Equal(t, q, c.Policy, line)
	}
}

func (m maker) time() time.Time {
	if m.chance() {
		return time.Time{}
	}
	// Without the hours in which a clock is set back.
	return time.Date(2026, 1, 1+m.IntN(28), 12, m.IntN(60), m.IntN(60), 0, time.Local)
}

func (m maker) stateView() *StateView {
	v := NewStateView(m.params())
	v.Params.ReplayWindow %= 300
	v.Params.ReplayWindowSet = true
	v.Window = v.Params.ReplayWindow
	if v.bmp() {
		v.Bitmap = make([]uint32, (v.Window+31)/32)
	} else {
		v.Bitmap = make([]uint32, 1)
	}
	for i := range v.Bitmap {
		v.Bitmap[i] = m.Uint32()
	}
	v.LastUse = m.time()
	return v
}

// TestListings lists random states and policies in every form and reads the
// listings back.
func TestListings(t *testing.T) {
	m := newMaker(t)
	for range 1000 {
		o := FormatOptions{Keys: m.chance(), Stats: m.chance(), OneLine: m.chance()}
		v, q := m.stateView(), &PolicyView{Policy: m.policy()}
		if o.Stats {
			v.Packets, v.Bytes, v.Added, v.FirstUse = m.Uint64(), m.Uint64(), m.time(), m.time()
			v.Errors = StateErrors{m.Uint32(), m.Uint32(), m.Uint32()}
			q.Packets, q.Bytes, q.Added, q.LastUse = m.Uint64(), m.Uint64(), m.time(), m.time()
		} else { // not listed
			v.Params.Limits, q.Policy.Limits, q.Policy.Index = sa.Unlimited(), sa.Unlimited(), 0
		}
		var out bytes.Buffer
		require.NoError(t, WriteState(&out, v, o))
		require.NoError(t, WritePolicy(&out, q, o))
		l, err := ParseListing(bytes.NewReader(out.Bytes()))
		require.NoError(t, err, out.String())
		require.Len(t, l.States, 1)
		require.Len(t, l.Policies, 1)

		p := v.Params
		if !o.Keys {
			p.Key = sa.Key{}
		}
		if p.Offload != nil { // its direction is listed as the state's too
			p.Dir = sa.DirNone
		}
		if p.Sel != nil && *p.Sel == (&selector{}).resolve(familyOf(p.Dst)) {
			p.Sel = nil
		}
		for _, s := range []*sa.Selector{p.Sel, &q.Policy.Sel} { // ports that are not compared are not listed
			if s != nil && s.SrcMask == 0 {
				s.SrcPort = 0
			}
			if s != nil && s.DstMask == 0 {
				s.DstPort = 0
			}
		}
		require.Equal(t, v, l.States[0], out.String())
		require.Equal(t, q, l.Policies[0], out.String())
	}
}
