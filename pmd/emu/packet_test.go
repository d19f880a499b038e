package emu_test

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

var errNothing = errors.New("nothing came out")

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

func TestP1P3SealAndOpen(t *testing.T) {
	for name, esn := range map[string]bool{"32 bits": false, "ESN": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "packet")
			start := uint64(5)
			if esn {
				start = 1<<32 - 20 // over the end of the low half
			}
			both := func(c *pmd.SessionConf) { c.ESN, c.Sequence = esn, start }
			for i, family := range [][2]string{{src, dst}, {src6, dst6}} {
				from, to := family[0], family[1]
				addresses := func(c *pmd.SessionConf) {
					c.Src, c.Dst = netip.MustParseAddr(from), netip.MustParseAddr(to)
				}
				out := conf(2*i+1, true, packet(both, addresses))
				in := conf(2*i+2, false, packet(both, addresses, func(c *pmd.SessionConf) { c.Src, c.Dst = c.Dst, c.Src }))
				s := r.open(out)
				r.open(in)
				for n := range 70 {
					seq := start + uint64(n) + 1
					wire := r.send(item{plain(from, to, n), s, 0, nil})
					require.Len(t, wire, 1)
					at := headers(wire[0])
					require.EqualValues(t, uint32(seq), binary.BigEndian.Uint32(wire[0][at+4:]))
					text, err := opened(t, &out, wire[0], seq)
					require.NoError(t, err)
					require.Equal(t, counting(n), text[:n])
					require.EqualValues(t, 17, text[len(text)-1])
					require.Zero(t, len(text)%4)
					if at == 34 {
						require.Zero(t, sum(wire[0][14:34]))
						require.EqualValues(t, len(wire[0])-14, binary.BigEndian.Uint16(wire[0][16:]))
					}
					g := r.receive(sealed(t, &in, to, from, seq, counting(n)))[0]
					require.Equal(t, goodMark, g.marks(), "%d octets", n)
					require.Equal(t, plain(to, from, n), g.frame)
					require.Equal(t, in.UserData, g.userData)
				}
			}
			require.Zero(t, r.count("breaches"), "%v", r.nic.Breaches())
		})
	}
}

func TestP2NumbersDoNotWrap(t *testing.T) {
	r := newRig(t, "packet")
	require.NoError(t, r.near.Watch())
	s := r.open(conf(1, true, packet(func(c *pmd.SessionConf) { c.Sequence = 1<<32 - 2 })))
	wire := r.send(item{plain(src, dst, 9), s, 0, nil})
	require.EqualValues(t, uint32(1<<32-1), binary.BigEndian.Uint32(wire[0][38:]))
	wire = r.send(item{plain(src, dst, 9), s, 0, nil})
	require.NotEqual(t, []byte{8, 0}, wire[0][12:14], "nobody can read it")
	events, lost := r.near.Events()
	require.Equal(t, []pmd.Event{{Kind: pmd.EventSequence, UserData: 0x1234500000001}}, events)
	require.Zero(t, lost)
}

func TestP3Window(t *testing.T) {
	r := newRig(t, "packet")
	c := conf(1, false, packet())
	r.open(c)
	mark := func(seq uint64) uint64 { return r.receive(sealed(t, &c, dst, src, seq, counting(9)))[0].marks() }
	for _, step := range []struct {
		seq  uint64
		mark uint64
	}{
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
	} {
		require.Equal(t, step.mark, mark(step.seq), "sequence number %d", step.seq)
	}
}

func TestP4Failures(t *testing.T) {
	r := newRig(t, "packet")
	c := conf(1, false, packet())
	r.open(c)
	forged := sealed(t, &c, dst, src, 1, counting(40))
	forged[len(forged)-1] ^= 1
	g := r.receive(append([]byte(nil), forged...))[0]
	require.Equal(t, badMark, g.marks())
	require.Equal(t, forged, g.frame, "as it came")
	require.Equal(t, c.UserData, g.userData)
	require.Equal(t, goodMark, r.receive(sealed(t, &c, dst, src, 1, counting(40)))[0].marks(), "the window has not moved")
}

func TestP5P6P7CountersAndLimits(t *testing.T) {
	r := newRig(t, "packet")
	require.NoError(t, r.near.Watch())
	s := r.open(conf(1, true, packet(func(c *pmd.SessionConf) { c.Stats, c.SoftPackets, c.HardPackets = true, 3, 5 })))
	readable := 0
	for range 7 {
		wire := r.send(item{plain(src, dst, 100), s, 0, nil})
		if wire[0][12] == 8 {
			readable++
		}
	}
	require.Equal(t, 5, readable)
	stats, err := s.Stats()
	require.NoError(t, err)
	require.Equal(t, pmd.SessionStats{OutPackets: 5, OutBytes: 5 * 120, OutErrors: 2}, stats)
	events, _ := r.near.Events()
	require.Equal(t, []pmd.Event{{Kind: pmd.EventSASoft, UserData: 0x1234500000001}, {Kind: pmd.EventSAHard, UserData: 0x1234500000001}}, events)
	require.NoError(t, s.UpdateLimits(7, 8, 0, 0))
	require.EqualValues(t, 8, r.send(item{plain(src, dst, 100), s, 0, nil})[0][12])

	in := conf(2, false, packet(func(c *pmd.SessionConf) { c.HardBytes = 60 }))
	si := r.open(in)
	for seq := range uint64(4) {
		r.receive(sealed(t, &in, dst, src, seq+1, counting(0)))
	}
	stats, err = si.Stats()
	require.NoError(t, err)
	require.Equal(t, pmd.SessionStats{InPackets: 3, InBytes: 60, InErrors: 1}, stats)
}

func TestP8Odd(t *testing.T) {
	r := newRig(t, "packet")
	s := r.open(conf(1, true, packet()))
	frame := plain(src, dst, 40)
	frame[14] = 0x46
	r.send(item{frame, s, 0, &pmd.Secured{L2: 14, L3: 24}})
	require.Equal(t, 1, r.count("breach_header"))
	require.Equal(t, 1, r.count("bad_tx"))
}

func TestCryptoProfile(t *testing.T) {
	r := newRig(t, "crypto")
	for i, bits := range []int{128, 192, 256} {
		for _, esn := range []bool{false, true} {
			n := 2*i + 1
			if esn {
				n++
			}
			change := func(c *pmd.SessionConf) {
				key, _ := keyOf(n)
				c.Key, c.ESN, c.Sequence = key[:bits/8], esn, 1<<32-3
			}
			out, in := conf(n, true, change), conf(n, false, change)
			s := r.open(out)
			si := r.open(in)
			for seq := uint64(1<<32 - 2); seq < 1<<32+3; seq++ {
				if !esn && seq >= 1<<32 {
					break
				}
				wire := r.send(item{espFrame(src, dst, out.SPI, uint32(seq), counting(33)), s, seq, nil})
				_, err := opened(t, &out, wire[0], seq)
				require.NoError(t, err, "%d bits, ESN %v, number %x", bits, esn, seq)
				require.Equal(t, goodMark, r.receive(sealed(t, &in, dst, src, seq, counting(33)))[0].marks())
			}
			time.Sleep(time.Millisecond)
			require.NoError(t, s.Close())
			require.NoError(t, si.Close())
		}
	}
	require.Zero(t, r.count("breaches"), "%v", r.nic.Breaches())
	require.Zero(t, r.count("sessions"))
}

func TestFaults(t *testing.T) {
	r := newRig(t, "crypto")
	require.NoError(t, r.near.Watch())
	c := conf(1, false)
	out := conf(2, true)
	r.open(c)
	s := r.open(out)
	fault := func(text string) { t.Helper(); require.NoError(t, r.nic.SetFault(text)) }
	seq := uint32(0)
	send := func() error {
		t.Helper()
		seq++
		wire := r.send(item{espFrame(src, dst, 2, seq, counting(33)), s, uint64(seq), nil})
		if len(wire) == 0 {
			return errNothing
		}
		_, err := opened(t, &out, wire[0], uint64(seq))
		return err
	}
	mark := func() uint64 { t.Helper(); return r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks() }

	fault("session")
	_, err := r.sec.Open(conf(3, true))
	require.Error(t, err)
	fault("flow")
	_, err = r.sec.Open(conf(3, false))
	require.ErrorContains(t, err, "flow rule")
	fault("full:1")
	_, err = r.sec.Open(conf(3, true))
	require.Error(t, err)
	fault("icv:2")
	require.Equal(t, []uint64{goodMark, badMark, goodMark, badMark}, []uint64{mark(), mark(), mark(), mark()})
	fault("noflag:2")
	require.Equal(t, []uint64{goodMark, 0}, []uint64{mark(), mark()})
	fault("txicv:1")
	require.Error(t, send())
	fault("metadata")
	require.ErrorIs(t, send(), errNothing)
	require.EqualValues(t, 1, r.lane.Unmarked())
	fault("lookupsoff")
	require.Zero(t, mark())
	require.Error(t, send())
	require.Equal(t, 1, r.count("leak_tx"))
	r.open(conf(4, true))
	r.open(conf(4, false))
	fault("slow:20000")
	begin := time.Now()
	extra := r.open(conf(5, true))
	require.GreaterOrEqual(t, time.Since(begin), 20*time.Millisecond)
	fault("destroy")
	require.Error(t, extra.Close())
	open, lost := r.sec.Sessions()
	require.Equal(t, []int{4, 1}, []int{open, lost})
	fault("reset:3")
	require.NoError(t, send())
	require.NoError(t, send())
	require.Error(t, send(), "it stands still")
	events, _ := r.near.Events()
	require.Equal(t, []pmd.Event{{Kind: pmd.EventReset}}, events)
	fault("none")
	require.Error(t, r.nic.SetFault("fire"))
	require.Greater(t, r.count("faults"), 8)
}

// With crypto=off the model is idle, but for each 1,000th packet; what it checks, it
// checks.
func TestCryptoOff(t *testing.T) {
	r := newRig(t, "crypto,crypto=off")
	out, in := conf(1, true), conf(2, false)
	s := r.open(out)
	r.open(in)
	for seq, really := range map[uint32]bool{999: false, 1000: true, 2001: false} {
		frame := espFrame(src, dst, 1, seq, counting(40))
		wire := r.send(item{frame, s, uint64(seq), nil})
		_, err := opened(t, &out, wire[0], uint64(seq))
		require.Equal(t, really, err == nil)
		require.Zero(t, sum(wire[0][14:34]))
		frame = espFrame(dst, src, 2, seq, counting(40))
		if really {
			frame = sealed(t, &in, dst, src, uint64(seq), counting(40))
		}
		g := r.receive(frame)[0]
		require.Equal(t, goodMark, g.marks())
		require.Equal(t, counting(40), g.frame[50:90])
	}
	require.Zero(t, r.count("breaches"), "%v", r.nic.Breaches())
	require.Equal(t, 1, r.count("crypto_off"))
	r.send(item{append(espFrame(src, dst, 1, 1, counting(40)), 0), s, 1, nil})
	require.NotZero(t, r.count("breach_length"), "%v", r.nic.Breaches())
}
