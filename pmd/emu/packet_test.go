package emu_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

// packet makes an SA one of packet offload.
func packet(change ...func(*pmd.SessionConf)) func(*pmd.SessionConf) {
	return func(c *pmd.SessionConf) {
		c.Action, c.UserData = pmd.InlineProtocol, 0x1234500000000|uint64(c.SPI)
		c.ReplayWindow = 64
		for _, f := range change {
			f(c)
		}
	}
}

func plain(from, to string, n int) []byte {
	frame := ipFrame(from, to, 17, counting(n))
	if headers(frame) == 34 {
		binary.BigEndian.PutUint16(frame[24:], sum(frame[14:34]))
	}
	return frame
}

// ends are an SA of packet offload each way, IPv4 or IPv6.
func (r *rig) ends(n int, from, to string, change ...func(*pmd.SessionConf)) (out, in pmd.SessionConf, s *pmd.SecuritySession) {
	r.t.Helper()
	a, b := netip.MustParseAddr(from), netip.MustParseAddr(to)
	change = append(change, func(c *pmd.SessionConf) { c.Src, c.Dst = a, b })
	out = conf(n, true, packet(change...))
	change = append(change, func(c *pmd.SessionConf) { c.Src, c.Dst = b, a })
	in = conf(n+1, false, packet(change...))
	s = r.open(out)
	r.open(in)
	return out, in, s
}

// numbered is sealed with an IV that is the sequence number, as the device makes them.
func numbered(t *testing.T, c *pmd.SessionConf, from, to string, seq uint64, payload []byte) []byte {
	t.Helper()
	frame := espFrame(from, to, c.SPI, uint32(seq), payload)
	at := headers(frame)
	binary.BigEndian.PutUint64(frame[at+8:], seq)
	nonce := append(append([]byte(nil), c.Salt...), frame[at+8:at+16]...)
	copy(frame[at+16:], aead(t, c).Seal(nil, nonce, frame[at+16:len(frame)-16], aad(c, frame[at:], seq)))
	if at == 34 {
		binary.BigEndian.PutUint16(frame[24:], sum(frame[14:34]))
	}
	return frame
}

func TestP1P3SealAndOpen(t *testing.T) {
	for name, esn := range map[string]bool{"32 bits": false, "ESN": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "packet")
			start := uint64(5)
			if esn {
				start = 1<<32 - 20 // over the end of the low half
			}
			for i, family := range [][2]string{{src, dst}, {src6, dst6}} {
				from, to := family[0], family[1]
				out, in, s := r.ends(2*i+1, from, to, func(c *pmd.SessionConf) { c.ESN, c.Sequence = esn, start })
				for n := range 70 {
					seq := start + uint64(n) + 1
					wire := r.send(item{plain(from, to, n), s, 0, nil})
					require.Equal(t, [][]byte{numbered(t, &out, from, to, seq, counting(n))}, wire, "octet for octet")
					received := sealed(t, &in, to, from, seq, counting(n))
					if n%2 == 1 {
						received = append(received, 1, 2, 3) // Ethernet padding
					}
					g := r.receive(received)[0]
					require.Equal(t, goodMark, g.marks(), "%d octets", n)
					require.Equal(t, plain(to, from, n), g.frame)
					require.Equal(t, in.UserData, g.userData)
				}
			}
			require.Equal(t, 140, r.count("tx_encrypted"))
			require.Equal(t, 140, r.count("rx_opened"))
			r.kept()
		})
	}
}

func TestP1HostMemoryStays(t *testing.T) {
	r := newRig(t, "packet")
	s := r.raw(rawConf(1, true, func(c *probe.Conf) { c.Protocol = true }))
	m := r.mbuf(plain(src, dst, 100))
	require.NoError(t, s.Metadata(m, 0))
	probe.Mark(m, pmd.FlagTxSecOffload|pmd.FlagTxIPv4, 14, 20)
	probe.Hold(m)
	wire := r.sendRaw(m)
	require.Len(t, wire[0], 14+20+16+100+2+2+16)
	require.Equal(t, plain(src, dst, 100), m.Data())
	m.Free()
}

// unreadable says that nobody takes it for anything.
func unreadable(t *testing.T, frame []byte) {
	t.Helper()
	require.Equal(t, []byte{0xff, 0xff}, frame[12:14])
	require.NotContains(t, string(frame), string(counting(8)))
}

func TestP2NumbersDoNotWrap(t *testing.T) {
	for name, test := range map[string]struct {
		esn  bool
		last uint64
	}{"32 bits": {false, 1<<32 - 1}, "ESN": {true, 1<<64 - 1}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "packet")
			require.NoError(t, r.near.Watch())
			c := conf(1, true, packet(func(c *pmd.SessionConf) { c.ESN, c.Sequence, c.Stats = test.esn, test.last-1, true }))
			s := r.open(c)
			wire := r.send(item{plain(src, dst, 9), s, 0, nil})
			_, err := opened(t, &c, wire[0], test.last)
			require.NoError(t, err)
			events, _ := r.near.Events()
			require.Empty(t, events)
			for range 2 {
				unreadable(t, r.send(item{plain(src, dst, 9), s, 0, nil})[0])
			}
			events, lost := r.near.Events()
			require.Equal(t, []pmd.Event{{Kind: pmd.EventSequence, UserData: c.UserData}}, events, "once")
			require.Zero(t, lost)
			require.Equal(t, 2, r.count("tx_exhausted"))
			stats, err := s.Stats()
			require.NoError(t, err)
			require.Equal(t, pmd.SessionStats{OutPackets: 1, OutBytes: 29, OutErrors: 2}, stats)
			r.kept()
		})
	}
}

func TestP3Window(t *testing.T) {
	type step struct {
		seq  uint64
		mark uint64
	}
	for window, steps := range map[uint32][]step{
		64: {
			{10, goodMark},
			{10, badMark},
			{9, goodMark},
			{200, goodMark},
			{136, badMark},
			{137, goodMark},
			{137, badMark},
			{5000, goodMark},
			{200, badMark},
			{4937, goodMark},
			{0, badMark},
			{5001, goodMark},
			{1<<32 - 1, goodMark},
			{1 << 31, badMark},
		},
		1024: {{2000, goodMark}, {976, badMark}, {977, goodMark}, {977, badMark}, {1999, goodMark}, {3024, goodMark}, {2000, badMark}, {2001, goodMark}},
		0:    {{10, goodMark}, {10, goodMark}, {1, goodMark}, {5000, goodMark}, {1, goodMark}, {0, badMark}},
	} {
		r := newRig(t, "packet")
		c := conf(1, false, packet(func(c *pmd.SessionConf) { c.ReplayWindow = window }))
		r.open(c)
		bad := 0
		for _, step := range steps {
			g := r.receive(sealed(t, &c, dst, src, step.seq, counting(9)))[0]
			require.Equal(t, step.mark, g.marks(), "number %d, window %d", step.seq, window)
			if step.mark == badMark {
				bad++
			}
		}
		require.Equal(t, bad, r.count("rx_replayed"), "window %d", window)
	}
	r := newRig(t, "packet")
	_, err := r.sec.Open(conf(1, false, packet(func(c *pmd.SessionConf) { c.ReplayWindow = 1025 })))
	require.Error(t, err)
}

// What fails comes as it was, moves no window and counts for no limit.
func TestP4Failures(t *testing.T) {
	long := func(t *testing.T, c *pmd.SessionConf) []byte { // more padding than text, but well sealed
		f := espText(dst, src, c.SPI, 2, append(counting(18), 200, 17))
		nonce := append(append([]byte(nil), c.Salt...), f[42:50]...)
		copy(f[50:], aead(t, c).Seal(nil, nonce, f[50:len(f)-16], f[34:42]))
		return f
	}
	for name, test := range map[string]struct {
		frame   func(t *testing.T, c *pmd.SessionConf) []byte
		counter string
	}{
		"forged": {func(t *testing.T, c *pmd.SessionConf) []byte {
			f := sealed(t, c, dst, src, 2, counting(40))
			f[len(f)-1] ^= 1
			return f
		}, "rx_bad_icv"},
		"replayed": {func(t *testing.T, c *pmd.SessionConf) []byte { return sealed(t, c, dst, src, 1, counting(40)) }, "rx_replayed"},
		"trailer":  {long, "rx_bad_trailer"},
		"length": {func(t *testing.T, c *pmd.SessionConf) []byte {
			return ipFrame(dst, src, 50, sealed(t, c, dst, src, 2, counting(40))[34:97])
		}, "rx_bad_length"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "packet")
			c := conf(1, false, packet(func(c *pmd.SessionConf) { c.Stats = true }))
			s := r.open(c)
			require.Equal(t, goodMark, r.receive(sealed(t, &c, dst, src, 1, counting(40)))[0].marks())
			frame := test.frame(t, &c)
			g := r.receive(append([]byte(nil), frame...))[0]
			require.Equal(t, badMark, g.marks())
			require.Equal(t, frame, g.frame, "as it came")
			require.Equal(t, c.UserData, g.userData)
			require.Equal(t, 1, r.count(test.counter))
			require.Equal(t, goodMark, r.receive(sealed(t, &c, dst, src, 2, counting(40)))[0].marks(), "number 2 is still to come")
			stats, err := s.Stats()
			require.NoError(t, err)
			require.Equal(t, pmd.SessionStats{InPackets: 2, InBytes: 120, InErrors: 1}, stats)
			require.Equal(t, 2, r.count("rx_opened"))
			r.kept()
		})
	}
}
