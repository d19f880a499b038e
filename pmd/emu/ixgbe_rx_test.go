package emu_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

// poison is what spoilt metadata words hold (nic.h).
const poison uint64 = 0xdbdbdbdbdbdbdbdb

// put is a copy of a frame with octets changed at an offset.
func put(frame []byte, at int, octets ...byte) []byte {
	f := append([]byte(nil), frame...)
	copy(f[at:], octets)
	return f
}

// insert is a copy of a frame with octets put in.
func insert(frame []byte, at int, octets ...byte) []byte {
	f := append([]byte(nil), frame[:at]...)
	return append(append(f, octets...), frame[at:]...)
}

func TestB19Match(t *testing.T) {
	r := newRig(t, "ixgbe")
	c := conf(1, false)
	c6 := conf(2, false, func(c *pmd.SessionConf) { c.Src, c.Dst = netip.MustParseAddr(dst6), netip.MustParseAddr(src6) })
	r.open(c)
	r.open(c6)
	good, good6 := sealed(t, &c, dst, src, 1, counting(40)), sealed(t, &c6, dst6, src6, 1, counting(40))
	options := put(insert(good, 34, 1, 1, 1, 1), 14, 0x46)
	binary.BigEndian.PutUint16(options[16:], uint16(len(options)-14))
	spi := conf(3, false)
	for name, frame := range map[string][]byte{
		"first fragment":      put(good, 20, 0x20),
		"last fragment":       put(good, 21, 5),
		"middle fragment":     put(good, 20, 0x21),
		"tag":                 insert(good, 12, 0x81, 0, 0, 5),
		"IPv6 tag":            insert(good6, 12, 0x81, 0, 0, 5),
		"IPv4 options":        options,
		"IPv6 extension":      put(insert(good6, 54, 50, 0, 1, 4, 0, 0, 0, 0), 20, 0),
		"another destination": sealed(t, &c, dst, "14.0.0.53", 1, counting(40)),
		"another IPv6 one":    sealed(t, &c6, dst6, dst6, 1, counting(40)),
		"an unknown SPI":      sealed(t, &spi, dst, src, 1, counting(40)),
		"an SPI of IPv6":      sealed(t, &c6, dst, src, 1, counting(40)),
		"no ESP":              plain(dst, src, 100),
		"ARP":                 put(good, 12, 8, 6),
		"cut short":           good[:len(good)-8],
	} {
		g := r.receive(frame)[0]
		require.Zero(t, g.marks(), name)
		require.Equal(t, frame, g.frame, name)
	}
	require.Zero(t, r.count("rx_opened"))
	require.Equal(t, 4, r.count("rx_no_session"))
	require.GreaterOrEqual(t, r.count("rx_unprocessed"), 6)
	for name, frame := range map[string][]byte{
		"IPv4": good, "IPv6": good6, "from anywhere": sealed(t, &c, "1.2.3.4", src, 1, counting(40)),
		"do not fragment": put(good, 20, 0x40),
	} {
		require.Equal(t, goodMark, r.receive(frame)[0].marks(), name)
	}
	r.kept()
}

func TestB20B21B22Open(t *testing.T) {
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
				if n%2 == 1 {
					wire = append(wire, 1, 2, 3) // Ethernet padding
				}
				g := r.receive(wire)[0]
				require.Equal(t, goodMark, g.marks(), "%d octets", n)
				want := espFrame(test.from, test.to, test.c.SPI, uint32(seq), counting(n))
				end, at := len(want)-16, headers(want)+16
				want = append(append(append([]byte(nil), wire[:at]...), want[at:end]...), wire[end:]...)
				require.Equal(t, want, g.frame, "opened in place, and everything stays")
			}
		}
		require.Equal(t, 140, r.count("rx_opened"))
		forged := sealed(t, &c, dst, src, 999, counting(40))
		for _, at := range []int{34 + 4, 34 + 8, 34 + 16, len(forged) - 1} { // number, IV, text, ICV
			bad := put(forged, at, forged[at]^1)
			g := r.receive(bad)[0]
			require.Equal(t, badMark, g.marks())
			require.NotEqual(t, bad[50:60], g.frame[50:60], "the text is junk")
			require.NotContains(t, string(g.frame), string(counting(12)))
		}
		require.Equal(t, 4, r.count("rx_bad_icv"))
		odd := put(forged[:len(forged)-1], 17, forged[17]-1)
		short := ipFrame(dst, src, 50, sealed(t, &c, dst, src, 1, nil)[34:34+32])
		for _, frame := range [][]byte{odd, short} {
			want := uint64(0) // the vector path marks wrong ICVs only
			if path == "scalar" {
				want = badMark
			}
			require.Equal(t, want, r.receive(frame)[0].marks())
		}
		require.Equal(t, 2, r.count("rx_bad_length"))
		require.Equal(t, 140, r.count("rx_opened"))
		r.kept()
	}
}

// Marks that a buffer came with say nothing.
func TestB23StaleMarks(t *testing.T) {
	r := newRig(t, "ixgbe")
	c, spi := conf(1, false), conf(3, false)
	r.open(c)
	for name, test := range map[string]struct {
		frame []byte
		marks uint64
	}{
		"plain":       {plain(dst, src, 100), 0},
		"ARP":         {put(plain(dst, src, 100), 12, 8, 6), 0},
		"unknown SPI": {sealed(t, &spi, dst, src, 1, counting(40)), 0},
		"good":        {sealed(t, &c, dst, src, 1, counting(40)), goodMark},
	} {
		m := r.mbuf(test.frame)
		probe.Mark(m, badMark, 0, 0)
		require.Equal(t, test.marks, r.receiveRaw(m)[0].marks(), name)
	}
}

func TestB24ChecksumMarks(t *testing.T) {
	r := newRig(t, "ixgbe")
	c, spi := conf(1, false), conf(3, false)
	r.open(c)
	const both = pmd.FlagRxL4ChecksumGood | pmd.FlagRxIPChecksumGood
	for name, frame := range map[string][]byte{
		"opened":         sealed(t, &c, dst, src, 1, counting(40)), // counting is no UDP, its checksum is none
		"wrong checksum": put(sealed(t, &c, dst, src, 1, counting(40)), 24, 0xba, 0xad),
		"unknown":        sealed(t, &spi, dst, src, 1, counting(40)),
	} {
		require.EqualValues(t, both, r.receive(frame)[0].flags&both, name)
	}
	require.Zero(t, r.receive(plain(dst, src, 100))[0].flags&both, "not ESP")
}

// A received packet that is sent on without metadata is known.
func TestB25ReceivedWords(t *testing.T) {
	r := newRig(t, "ixgbe")
	c := conf(1, false)
	r.open(c)
	r.open(conf(2, true))
	for _, frame := range [][]byte{plain(dst, src, 100), sealed(t, &c, dst, src, 1, counting(40))} {
		m := r.mbuf(frame)
		probe.SetWord(m, 0)
		require.EqualValues(t, poison, r.receiveRaw(m)[0].userData)
	}
	m := r.mbuf(espFrame(src, dst, 2, 1, counting(40)))
	probe.SetWord(m, poison)
	probe.Mark(m, sealFlags, 14, 20)
	r.sendRaw(m)
	require.Equal(t, 1, r.count("breach_metadata"))
	require.Equal(t, 1, r.count("bad_tx"))
}

func TestB26NoServices(t *testing.T) {
	r := newRig(t, "ixgbe")
	require.NoError(t, r.near.Watch())
	c := conf(1, false, func(c *pmd.SessionConf) { c.HardPackets, c.ReplayWindow = 1, 64 })
	s := r.open(c)
	wire := sealed(t, &c, dst, src, 1, counting(40))
	for range 3 {
		require.Equal(t, goodMark, r.receive(append([]byte(nil), wire...))[0].marks(), "no window, no limit")
	}
	events, _ := r.near.Events()
	require.Empty(t, events)
	_, err := s.Stats()
	require.ErrorIs(t, err, pmd.ErrNotSupported)
	require.ErrorIs(t, s.UpdateLimits(1, 2, 0, 0), pmd.ErrNotSupported)
	seen := map[[2]bool]bool{}
	for _, c := range r.sec.Capabilities() {
		require.Equal(t, pmd.InlineCrypto, c.Action)
		require.Equal(t, c.Egress, c.Metadata)
		require.False(t, c.ESN || c.UDPEncap || c.Stats)
		require.Len(t, c.AEADs, 1)
		require.Equal(t, pmd.AEADAESGCM, c.AEADs[0].Algorithm)
		require.Equal(t, pmd.SizeRange{Min: 16, Max: 16}, c.AEADs[0].Key)
		require.Equal(t, pmd.SizeRange{Min: 16, Max: 16}, c.AEADs[0].ICV)
		seen[[2]bool{c.Transport, c.Egress}] = true
	}
	require.Len(t, r.sec.Capabilities(), 4)
	require.Len(t, seen, 4, "transport and tunnel mode, both directions")
}
