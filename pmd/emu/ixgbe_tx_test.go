package emu_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
	"espgw/pmd/pmdtest"
)

// Bits of the metadata word (nic.h).
const (
	wordPad        = 32
	wordGeneration = 48
)

func TestB13Metadata(t *testing.T) {
	r := newRig(t, "ixgbe")
	r.raw(rawConf(1, true))
	s, in := r.raw(rawConf(2, true)), r.raw(rawConf(3, false))
	for n := range 8 {
		frame := espFrame(src, dst, 2, 1, counting(n))
		m := r.marked(frame, s, 1)
		word := probe.Word(m)
		require.EqualValues(t, 1, word&0xffffffff, "the index")
		require.EqualValues(t, frame[len(frame)-18]+18, word>>wordPad&0xff, "padding, trailer and ICV")
		probe.SetWord(m, 0x1122334455667788)
		require.NoError(t, in.Metadata(m, 1))
		require.EqualValues(t, 0x1122334455667788, probe.Word(m), "an ingress session sets nothing")
		m.Free()
	}
	m := r.twoSegments(espFrame(src, dst, 2, 1, counting(40)))
	require.NoError(t, s.Metadata(m, 1))
	require.Zero(t, probe.Word(m)>>wordPad&0xff, "of several segments the trailer is not looked for")
	m.Free()
}

// twoSegments is a packet in two buffers.
func (r *rig) twoSegments(frame []byte) *pmd.Mbuf {
	r.t.Helper()
	m := r.mbuf(frame[:60])
	require.NoError(r.t, probe.Chain(m, r.mbuf(frame[60:])))
	return m
}

func TestB14B18Seal(t *testing.T) {
	r := newRig(t, "ixgbe")
	c := conf(1, true)
	s := r.open(c)
	c6 := conf(2, true, func(c *pmd.SessionConf) { c.Src, c.Dst = netip.MustParseAddr(src6), netip.MustParseAddr(dst6) })
	s6 := r.open(c6)
	for n := range 70 {
		for _, test := range []struct {
			c        *pmd.SessionConf
			s        *pmd.SecuritySession
			from, to string
		}{{&c, s, src, dst}, {&c6, s6, src6, dst6}} {
			plain := espFrame(test.from, test.to, test.c.SPI, uint32(n+1), counting(n))
			wire := r.send(item{plain, test.s, uint64(n + 1), nil})
			require.Equal(t, [][]byte{sealed(t, test.c, test.from, test.to, uint64(n+1), counting(n))}, wire, "octet for octet")
		}
	}
	require.Equal(t, 140, r.count("tx_encrypted"))
	r.kept()
}

// Only what is marked is looked at.
func TestB14Unmarked(t *testing.T) {
	r := newRig(t, "ixgbe")
	s := r.raw(rawConf(1, true))
	frame := espFrame(src, dst, 1, 1, counting(40))
	m := r.mbuf(frame)
	require.NoError(t, s.Metadata(m, 1))
	probe.Mark(m, pmd.FlagTxIPv4, 14, 20)
	require.Equal(t, [][]byte{frame, frame}, r.sendRaw(m, r.mbuf(frame)))
	require.Equal(t, 2, r.count("tx_plain"))
	require.Zero(t, r.count("tx_encrypted"))
	r.kept()
}

func TestB15WhatTheCardWouldSpoil(t *testing.T) {
	const (
		tcpSegmentation = 1 << 50 // RTE_MBUF_F_TX_TCP_SEG
		udpChecksum     = 3 << 52 // RTE_MBUF_F_TX_UDP_CKSUM
	)
	right := espFrame(src, dst, 1, 1, counting(40))
	put := func(at int, octets ...byte) []byte {
		f := append([]byte(nil), right...)
		copy(f[(at+len(f))%len(f):], octets)
		return f
	}
	padded := func(pad int) []byte {
		text := append(counting(30), counting(pad + 1)[1:]...)
		return espText(src, dst, 1, 1, append(text, byte(pad), 17))
	}
	v6 := espFrame(src6, dst6, 1, 1, counting(40))
	extended := append([]byte(nil), v6...)
	extended[20] = 0 // hop-by-hop options
	tagged := append(append(append([]byte(nil), right[:12]...), 0x81, 0, 0, 5), right[12:]...)
	for name, test := range map[string]struct {
		frame  []byte
		flags  uint64
		l2, l3 int
		breach string
		later  func(*pmd.Mbuf) // what happens after the metadata was set
	}{
		"pad length beyond the text":   {put(-18, 200), sealFlags, 14, 20, "breach_length", nil},
		"more padding than 15":         {padded(16), sealFlags, 14, 20, "breach_length", nil},
		"text of 41 octets":            {espText(src, dst, 1, 1, make([]byte, 41)), sealFlags, 14, 20, "breach_length", nil},
		"octets behind the ICV":        {append(put(0), 0, 0, 0, 0), sealFlags, 14, 20, "breach_length", nil},
		"total length":                 {put(17, right[17]+4), sealFlags, 14, 20, "breach_length", nil},
		"no room for an ICV":           {espText(src, dst, 1, 1, nil)[:60], sealFlags, 14, 20, "breach_length", nil},
		"padding changed after it":     {put(0), sealFlags, 14, 20, "breach_length", func(m *pmd.Mbuf) { m.Data()[len(right)-18]++ }},
		"options":                      {put(14, 0x46), sealFlags, 14, 20, "breach_header", nil},
		"wrong l3_len":                 {put(0), sealFlags, 14, 24, "breach_header", nil},
		"wrong l2_len":                 {put(0), sealFlags, 18, 20, "breach_header", nil},
		"tag":                          {tagged, sealFlags, 18, 20, "breach_header", nil},
		"ESP in UDP":                   {put(23, 17), sealFlags, 14, 20, "breach_header", nil},
		"IPv6 extension":               {extended, pmd.FlagTxSecOffload | pmd.FlagTxIPv6, 14, 40, "breach_header", nil},
		"IPv4 called IPv6":             {put(0), pmd.FlagTxSecOffload | pmd.FlagTxIPv6, 14, 20, "breach_header", nil},
		"no IP_CKSUM":                  {put(0), pmd.FlagTxSecOffload | pmd.FlagTxIPv4, 14, 20, "breach_flags", nil},
		"neither IPV4 nor IPV6":        {put(0), pmd.FlagTxSecOffload | pmd.FlagTxIPChecksum, 14, 20, "breach_flags", nil},
		"header checksum not zero":     {put(25, 1), sealFlags, 14, 20, "breach_flags", nil},
		"L4 checksum":                  {put(0), sealFlags | udpChecksum, 14, 20, "breach_flags", nil},
		"segmentation":                 {put(0), sealFlags | tcpSegmentation, 14, 20, "breach_flags", nil},
		"another SPI":                  {put(37, 9), sealFlags, 14, 20, "breach_wrong_sa", nil},
		"no metadata on a used buffer": {put(0), sealFlags, 14, 20, "breach_metadata", func(m *pmd.Mbuf) { probe.SetWord(m, poison) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "ixgbe")
			c := conf(1, true)
			s := r.raw(rawConf(1, true))
			m := r.mbuf(test.frame)
			require.NoError(t, s.Metadata(m, 1))
			probe.Mark(m, test.flags, test.l2, test.l3)
			if test.later != nil {
				test.later(m)
			}
			wire := r.sendRaw(m)
			require.Len(t, wire, 1, "a packet that was handed over is sent")
			require.NotZero(t, r.count(test.breach), "%v", r.nic.Breaches())
			require.Equal(t, 1, r.count("bad_tx"))
			require.Zero(t, r.count("tx_encrypted"))
			require.NotContains(t, string(wire[0]), string(counting(12)), "no clear text")
			if len(wire[0]) > 70 && wire[0][12] == 8 {
				_, err := opened(t, &c, wire[0], 1)
				require.Error(t, err)
			}
		})
	}
}

func TestB15Segments(t *testing.T) {
	r := newRig(t, "ixgbe")
	s := r.raw(rawConf(1, true))
	m := r.twoSegments(espFrame(src, dst, 1, 1, counting(40)))
	require.NoError(t, s.Metadata(m, 1))
	probe.Mark(m, sealFlags, 14, 20)
	wire := r.sendRaw(m)
	require.Equal(t, 1, r.count("breach_segments"))
	require.Equal(t, 1, r.count("bad_tx"))
	require.NotContains(t, string(wire[0]), string(counting(12)))
}

func TestB16Aliasing(t *testing.T) {
	r := newRig(t, "ixgbe")
	var s []*pmd.SecuritySession
	for i := range 257 {
		s = append(s, r.open(conf(i+1, true)))
		require.Equal(t, max(0, i-255), r.count("breach_index"), "SA %d", i)
	}
	last := conf(257, true)
	packet := func(i, n int) item { return item{espFrame(src, dst, uint32(i+1), 1, counting(n)), s[i], 1, nil} }
	for _, test := range []struct {
		name    string
		before  []item
		n       int
		aliased bool
	}{
		{"the same low 8 bits", []item{packet(0, 40)}, 40, true},
		{"one other between", []item{packet(0, 40), packet(1, 40)}, 40, true},
		{"two others between", []item{packet(0, 40), packet(1, 40), packet(2, 40)}, 40, false},
		{"another trailer", []item{packet(0, 41)}, 40, false},
		{"the same trailer", []item{packet(0, 44)}, 40, true},
	} {
		for i := range 4 {
			r.send(packet(10+i, 40)) // both contexts are others'
		}
		before := r.count("breach_aliased")
		wire := r.send(append(test.before, packet(256, test.n))...)
		_, err := opened(t, &last, wire[len(wire)-1], 1)
		require.Equal(t, test.aliased, err != nil, "%s: %v", test.name, err)
		require.Equal(t, test.aliased, r.count("breach_aliased") == before+1, test.name)
	}
	for options, aliased := range map[string]int{"ixgbe": 1, "ixgbe,alias=off": 0, "crypto": 0} {
		r := newRig(t, options)
		var s []*pmd.SecuritySession
		for i := range 257 {
			s = append(s, r.open(conf(i+1, true)))
		}
		r.send(item{espFrame(src, dst, 1, 1, counting(40)), s[0], 1, nil},
			item{espFrame(src, dst, 257, 1, counting(40)), s[256], 1, nil})
		require.Equal(t, aliased, r.count("breach_aliased"), options)
	}
}

// Each queue has contexts of its own.
func TestB16Queues(t *testing.T) {
	r := attached(t, "ixgbe", func(c *rigConfig) { c.queues = 2 })
	r.start(pmd.RxSecurity, pmd.TxSecurity|pmd.TxIPv4Checksum)
	first, last := r.open(conf(1, true)), (*pmd.SecuritySession)(nil)
	for i := range 256 {
		last = r.open(conf(i+2, true))
	}
	lane, err := pmd.NewLane(pmd.LaneConfig{TxPort: r.near, TxQueue: 1})
	require.NoError(t, err)
	defer lane.Close()
	right := pmd.Secured{L2: 14, L3: 20, IPChecksum: true}
	require.True(t, lane.SendSecured(r.mbuf(espFrame(src, dst, 257, 1, counting(40))), last, 1, right))
	require.Zero(t, lane.Flush(time.Second))
	r.send(item{espFrame(src, dst, 1, 1, counting(40)), first, 1, nil})
	require.Equal(t, 2, r.count("tx_encrypted"))
	require.Zero(t, r.count("breach_aliased"))
}

func TestB17HostMemoryStays(t *testing.T) {
	r := newRig(t, "ixgbe")
	s := r.raw(rawConf(1, true))
	plain := espFrame(src, dst, 1, 1, counting(40))
	m := r.marked(plain, s, 1)
	probe.Hold(m)
	wire := r.sendRaw(m)
	c := conf(1, true)
	_, err := opened(t, &c, wire[0], 1)
	require.NoError(t, err)
	require.Equal(t, plain, m.Data(), "the buffer that was handed over")
	m.Free()
	require.Zero(t, r.pool.InUse(), "and both buffers come back")
}

// Without a buffer for the copy nothing leaves in clear text.
func TestB17NoBuffer(t *testing.T) {
	r := newRig(t, "ixgbe")
	s := r.raw(rawConf(1, true))
	m := r.marked(espFrame(src, dst, 1, 1, counting(40)), s, 1)
	var held []*pmd.Mbuf
	for b := r.pool.Alloc(); b != nil; b = r.pool.Alloc() {
		held = append(held, b)
	}
	wire := r.sendRaw(m)
	for _, b := range held {
		b.Free()
	}
	require.Len(t, wire, 1)
	require.NotContains(t, string(wire[0]), string(counting(12)))
	require.Zero(t, r.count("leak_tx"))
}

// A full ring gives packets back, which are offered again: sealed once.
func TestB17FullRing(t *testing.T) {
	r := attached(t, "ixgbe", func(c *rigConfig) { c.ring = 64 })
	r.start(pmd.RxSecurity, pmd.TxSecurity|pmd.TxIPv4Checksum)
	c := conf(1, true)
	s := r.open(c)
	right := pmd.Secured{L2: 14, L3: 20, IPChecksum: true}
	const n = 200
	for seq := range n {
		require.True(t, r.lane.SendSecured(r.mbuf(espFrame(src, dst, 1, uint32(seq), counting(40))), s, uint64(seq), right))
	}
	var wire [][]byte
	for range 8 {
		r.lane.Exchange()
		wire = append(wire, pmdtest.Collect(t, r.far, n-len(wire), time.Millisecond)...)
	}
	require.Len(t, wire, n)
	for seq, frame := range wire {
		_, err := opened(t, &c, frame, uint64(seq))
		require.NoError(t, err, "packet %d", seq)
	}
	require.Equal(t, n, r.count("tx_encrypted"))
	r.kept()
}

// Who asks for no checksum gets none; that is a breach beside sealing.
func TestB18ChecksumAskedFor(t *testing.T) {
	r := newRig(t, "ixgbe")
	s := r.raw(rawConf(1, true))
	m := r.mbuf(espFrame(src, dst, 1, 1, counting(40)))
	require.NoError(t, s.Metadata(m, 1))
	probe.Mark(m, pmd.FlagTxSecOffload|pmd.FlagTxIPv4, 14, 20)
	wire := r.sendRaw(m, r.marked(espFrame(src, dst, 1, 2, counting(40)), s, 2))
	require.Equal(t, []byte{0, 0}, wire[0][24:26], "the field stays")
	require.Zero(t, sum(wire[1][14:34]))
	r.breached("breach_flags", 1)
}

// The metadata word of what was sent is spoilt, in the buffer and in its copy.
func TestB25SentWords(t *testing.T) {
	r := newRig(t, "ixgbe")
	s := r.raw(rawConf(1, true))
	m := r.marked(espFrame(src, dst, 1, 1, counting(40)), s, 1)
	probe.Hold(m)
	require.True(t, r.lane.Send(m))
	r.lane.Exchange()
	require.EqualValues(t, poison, probe.Word(m))
	m.Free()
	far, err := pmd.NewLane(pmd.LaneConfig{RxPort: r.far})
	require.NoError(t, err)
	defer far.Close()
	far.Exchange()
	require.Len(t, far.Rx(), 1)
	require.EqualValues(t, poison, far.Rx()[0].SecurityUserData())
	require.Zero(t, far.Rx()[0].Flags()&(sealFlags|pmd.FlagTxIPv6), "nor does it ask for anything again")
	far.Drop(far.Rx()[0])
	far.Exchange()
}
