package emu_test

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu"
)

func TestB13B14B18Seal(t *testing.T) {
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
			require.Len(t, wire, 1)
			at := headers(plain)
			text, err := opened(t, test.c, wire[0], uint64(n+1))
			require.NoError(t, err)
			require.Equal(t, plain[at+16:len(plain)-16], text)
			require.Equal(t, plain[at:at+16], wire[0][at:at+16], "ESP header and IV are the caller's")
			if at == 34 {
				require.Zero(t, sum(wire[0][14:34]))
			}
		}
	}
	require.Equal(t, 140, r.count("tx_encrypted"))
	require.Zero(t, r.count("breaches"), "%v", r.nic.Breaches())
}

func TestB15WhatTheCardWouldSpoil(t *testing.T) {
	right := func() []byte { return espFrame(src, dst, 1, 1, counting(40)) }
	secured := pmd.Secured{L2: 14, L3: 20, IPChecksum: true}
	for name, test := range map[string]struct {
		change  func(f []byte) []byte
		secured *pmd.Secured
		breach  string
	}{
		"pad length beyond the text": {func(f []byte) []byte { f[len(f)-18] = 200; return f }, nil, "breach_length"},
		"octets behind the ICV":      {func(f []byte) []byte { return append(f, 0, 0) }, nil, "breach_length"},
		"total length":               {func(f []byte) []byte { f[17]++; return f }, nil, "breach_length"},
		"options":                    {func(f []byte) []byte { f[14] = 0x46; return f }, nil, "breach_header"},
		"wrong l2_len":               {nil, &pmd.Secured{L2: 18, L3: 20, IPChecksum: true}, ""},
		"no ESP":                     {func(f []byte) []byte { f[23] = 17; return f }, nil, "breach_header"},
		"no IP_CKSUM":                {nil, &pmd.Secured{L2: 14, L3: 20}, "breach_flags"},
		"header checksum not zero":   {func(f []byte) []byte { f[24] = 1; return f }, &secured, "breach_flags"},
		"another SPI":                {func(f []byte) []byte { f[37] = 9; return f }, nil, "breach_wrong_sa"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "ixgbe")
			c := conf(1, true)
			s := r.open(c)
			frame := right()
			if test.change != nil {
				frame = test.change(frame)
			}
			wire := r.send(item{frame, s, 1, test.secured})
			require.Len(t, wire, 1)
			require.Equal(t, 1, r.count("bad_tx"))
			require.Zero(t, r.count("tx_encrypted"))
			if len(wire[0]) > 60 && wire[0][12] == 8 {
				_, err := opened(t, &c, wire[0], 1)
				require.Error(t, err)
			}
			if test.breach != "" {
				require.NotZero(t, r.count(test.breach), "%v", r.nic.Breaches())
			}
			require.NotZero(t, r.count("breaches"))
		})
	}
}

func TestB16Aliasing(t *testing.T) {
	for options, aliased := range map[string]int{"ixgbe": 1, "ixgbe,alias=off": 0} {
		r := newRig(t, options)
		var sessions []*pmd.SecuritySession
		for i := range 257 {
			sessions = append(sessions, r.open(conf(i+1, true)))
		}
		require.Equal(t, 1, r.count("breach_index"), "SA 256")
		last := conf(257, true)
		wire := r.send(
			item{espFrame(src, dst, 1, 1, counting(40)), sessions[0], 1, nil},
			item{espFrame(src, dst, 257, 1, counting(40)), sessions[256], 1, nil},
		)
		require.Equal(t, aliased, r.count("breach_aliased"), options)
		_, err := opened(t, &last, wire[1], 1)
		require.Equal(t, aliased == 1, err != nil, "%s: %v", options, err)
	}
}

func TestB19LeftAlone(t *testing.T) {
	r := newRig(t, "ixgbe")
	c := conf(1, false)
	r.open(c)
	good := sealed(t, &c, dst, src, 1, counting(40))
	tagged := append(append(append([]byte(nil), good[:12]...), 0x81, 0, 0, 5), good[12:]...)
	fragment := append([]byte(nil), good...)
	fragment[20] |= 0x20
	options := append(append(append([]byte(nil), good[:34]...), 1, 1, 1, 1), good[34:]...)
	options[14] = 0x46
	binary.BigEndian.PutUint16(options[16:], uint16(len(options)-14))
	other := sealed(t, &c, dst, "14.0.0.53", 1, counting(40))
	spi := conf(2, false)
	unknown := sealed(t, &spi, dst, src, 1, counting(40))
	for i, g := range r.receive(tagged, fragment, options, other, unknown) {
		require.Zero(t, g.marks(), "frame %d", i)
		require.Equal(t, [][]byte{tagged, fragment, options, other, unknown}[i], g.frame)
	}
	require.Equal(t, goodMark, r.receive(good)[0].marks())
}

func TestB20B21B22B24Open(t *testing.T) {
	for _, path := range []string{"vector", "scalar"} {
		r := newRig(t, "ixgbe,rx-path="+path)
		c := conf(1, false)
		c6 := conf(2, false, func(c *pmd.SessionConf) { c.Src, c.Dst = netip.MustParseAddr(dst6), netip.MustParseAddr(src6) })
		r.open(c)
		r.open(c6)
		for n := range 70 {
			seq := uint64(n + 1)
			for _, test := range []struct {
				c        *pmd.SessionConf
				from, to string
			}{{&c, dst, src}, {&c6, dst6, src6}} {
				wire := sealed(t, test.c, test.from, test.to, seq, counting(n))
				g := r.receive(append([]byte(nil), wire...))[0]
				want := espFrame(test.from, test.to, test.c.SPI, uint32(seq), counting(n))
				at := headers(want)
				if n < 2 { // 36 octets behind the IP header are the least: RFC 4303's own minimum is there from 2 on
					continue
				}
				require.Equal(t, goodMark, g.marks(), "%d octets", n)
				require.Equal(t, wire[:at+16], g.frame[:at+16], "headers stay, the old length too")
				require.Equal(t, want[at+16:len(want)-16], g.frame[at+16:len(want)-16])
				require.Equal(t, wire[len(wire)-16:], g.frame[len(wire)-16:], "the ICV stays")
				require.NotZero(t, g.flags&pmd.FlagRxL4ChecksumGood, "whatever was looked at")
			}
		}
		forged := sealed(t, &c, dst, src, 999, counting(40))
		forged[len(forged)-1] ^= 1
		g := r.receive(forged)[0]
		require.Equal(t, badMark, g.marks())
		require.NotEqual(t, forged[50:60], g.frame[50:60], "the text is junk")
		misaligned := sealed(t, &c, dst, src, 1000, counting(40))
		misaligned = misaligned[:len(misaligned)-1]
		misaligned[17]--
		g = r.receive(misaligned)[0]
		if path == "scalar" {
			require.Equal(t, badMark, g.marks())
		} else {
			require.Zero(t, g.marks(), "the vector path marks wrong ICVs only")
		}
	}
}

func TestB26NoServices(t *testing.T) {
	r := newRig(t, "ixgbe")
	c := conf(1, false)
	s := r.open(c)
	wire := sealed(t, &c, dst, src, 1, counting(40))
	for range 2 {
		require.Equal(t, goodMark, r.receive(append([]byte(nil), wire...))[0].marks(), "no window")
	}
	_, err := s.Stats()
	require.ErrorIs(t, err, pmd.ErrNotSupported)
	require.ErrorIs(t, s.UpdateLimits(1, 2, 0, 0), pmd.ErrNotSupported)
	caps := r.sec.Capabilities()
	require.Len(t, caps, 4)
	for _, c := range caps {
		require.Equal(t, pmd.InlineCrypto, c.Action)
		require.Equal(t, c.Egress, c.Metadata)
		require.False(t, c.ESN || c.UDPEncap || c.Stats)
		require.Equal(t, pmd.SizeRange{Min: 16, Max: 16}, c.AEADs[0].Key)
	}
}

func TestRemovalBeforeTheRingIsEmpty(t *testing.T) {
	r := newRig(t, "ixgbe")
	s, other := r.open(conf(1, true)), r.open(conf(2, true))
	r.send(item{espFrame(src, dst, 1, 1, counting(40)), s, 1, nil})
	require.NoError(t, other.Close(), "with ixgbe all SAs stop")
	r.breached("breach_drain", 1)
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, s.Close())
	r.breached("breach_drain", 1)
}

func TestOptions(t *testing.T) {
	for _, text := range []string{
		"ixgbe", "ixgbe-x550,dpdk=26.03", "crypto,tx=16,rx=32,addresses=4", "packet,crypto=off", "ixgbe,fault=icv:3+noflag:2,alias=off,abort=off,rx=scalar",
	} {
		_, err := emu.ParseOptions(text)
		require.NoError(t, err, text)
	}
	for text, accepted := range map[string]string{
		"": "ixgbe, ixgbe-x550", "mlx5": "ixgbe", "ixgbe,": "KEY=VALUE", "ixgbe,tx=3": "power of two", "ixgbe,tx=0": "power of two",
		"ixgbe,dpdk=21.11": "22.11, 26.03", "ixgbe,color=red": "addresses", "ixgbe,fault=fire": "lookupsoff", "ixgbe,fault=icv:0": "above 0",
		"ixgbe,crypto=maybe": "on, off",
	} {
		_, err := emu.ParseOptions(text)
		require.ErrorContains(t, err, accepted, text)
	}
}
