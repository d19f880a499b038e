package emu_test

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
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
