package emu_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

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

// Of an SA, what the device cannot do is refused, not passed over.
func TestCryptoRefusals(t *testing.T) {
	for _, profile := range []string{"crypto", "packet"} {
		r := newRig(t, profile)
		ours := func(c *probe.Conf) { c.Protocol = profile == "packet" }
		for name, change := range map[string]func(*probe.Conf){
			"ChaCha20":        func(c *probe.Conf) { c.Transform = probe.ChaCha20 },
			"a cipher only":   func(c *probe.Conf) { c.Transform = probe.Cipher },
			"no transform":    func(c *probe.Conf) { c.Transform = probe.NoTransform },
			"the other depth": func(c *probe.Conf) { c.Protocol = !c.Protocol },
			"AH":              func(c *probe.Conf) { c.AH = true },
			"160 bits":        func(c *probe.Conf) { c.KeyLen = 20 },
			"ICV of 12":       func(c *probe.Conf) { c.ICVLen = 12 },
			"ESP in UDP":      func(c *probe.Conf) { c.UDP = true },
			"tunnel mode":     func(c *probe.Conf) { c.Tunnel = true },
			"window of 2048":  func(c *probe.Conf) { c.Window = 2048 },
		} {
			require.Nil(t, r.probe.Open(rawConf(1, true, ours, change)), "%s: %s", profile, name)
		}
		require.Equal(t, 10, r.count("sessions_refused"))
		r.raw(rawConf(1, true, ours))
		r.kept()
	}
}

// A tagged frame is one like another; IPv4 options are still left alone.
func TestCryptoTags(t *testing.T) {
	r := newRig(t, "crypto")
	out, in := conf(1, true), conf(2, false)
	s := r.open(out)
	r.open(in)
	for tags := 1; tags <= 2; tags++ {
		tag := []byte{0x81, 0, 0, 5}
		frame := espFrame(src, dst, 1, uint32(tags), counting(40))
		for range tags {
			frame = insert(frame, 12, tag...)
		}
		wire := r.send(item{frame, s, uint64(tags), &pmd.Secured{L2: 14 + 4*tags, L3: 20, IPChecksum: true}})
		bare := append(append([]byte(nil), wire[0][:12]...), wire[0][12+4*tags:]...)
		require.Equal(t, sealed(t, &out, src, dst, uint64(tags), counting(40)), bare)

		frame = sealed(t, &in, dst, src, uint64(tags), counting(40))
		for range tags {
			frame = insert(frame, 12, tag...)
		}
		g := r.receive(frame)[0]
		require.Equal(t, goodMark, g.marks(), "%d tags", tags)
		require.Equal(t, counting(40), g.frame[50+4*tags:90+4*tags])
	}
	outer := insert(insert(sealed(t, &in, dst, src, 8, counting(40)), 12, 0x81, 0, 0, 5), 12, 0x88, 0xa8, 0, 6)
	require.Equal(t, goodMark, r.receive(outer)[0].marks(), "the outer tag of IEEE 802.1ad")
	options := put(insert(sealed(t, &in, dst, src, 9, counting(40)), 34, 1, 1, 1, 1), 14, 0x46)
	options[17] += 4
	require.Zero(t, r.receive(options)[0].marks())
	r.kept()
}

// The high half of a received number is the one that brings it nearest to the highest.
func TestCryptoESNAround(t *testing.T) {
	for _, step := range []struct{ highest, seq uint64 }{
		{5, 6},
		{5, 1<<32 - 1<<31},
		{1<<32 - 5, 1<<32 + 3},
		{1<<32 + 3, 1<<32 - 5},
		{3<<32 + 9, 3<<32 - 1<<30},
		{3<<32 + 9, 3<<32 + 1<<31},
		{3<<32 - 9, 3<<32 + 1<<30},
	} {
		r := newRig(t, "crypto")
		in := conf(1, false, func(c *pmd.SessionConf) { c.ESN, c.Sequence = true, step.highest })
		r.open(in)
		require.Equal(t, goodMark, r.receive(sealed(t, &in, dst, src, step.seq, counting(9)))[0].marks(), "%#x after %#x", step.seq, step.highest)
		require.Equal(t, badMark, r.receive(sealed(t, &in, dst, src, step.seq+1<<32, counting(9)))[0].marks(), "another high half")
	}
}

// Queues work beside each other, and while SAs come and go.
func TestCryptoQueues(t *testing.T) {
	const queues, packets = 2, 1000
	r := attached(t, "crypto", func(c *rigConfig) { c.queues = queues })
	r.start(pmd.RxSecurity, pmd.TxSecurity|pmd.TxIPv4Checksum)
	done := make(chan struct{}, queues)
	var confs [queues]pmd.SessionConf
	for q := range queues {
		confs[q] = conf(q+1, true)
		s := r.open(confs[q])
		lane := r.lane
		if q > 0 {
			var err error
			lane, err = pmd.NewLane(pmd.LaneConfig{TxPort: r.near, TxQueue: q})
			require.NoError(t, err)
			defer lane.Close()
		}
		var list []*pmd.Mbuf
		for seq := range packets / 2 {
			list = append(list, r.mbuf(espFrame(src, dst, uint32(q+1), uint32(seq), counting(40))))
		}
		go func() {
			defer func() { done <- struct{}{} }()
			for seq, m := range list {
				if !lane.SendSecured(m, s, uint64(seq), pmd.Secured{L2: 14, L3: 20, IPChecksum: true}) {
					t.Error("not taken")
				}
				if seq%8 == 7 {
					lane.Flush(time.Second)
				}
			}
			lane.Flush(time.Second)
		}()
	}
	for n := 0; n < queues; {
		s, in := r.open(conf(100, true)), r.open(conf(101, false))
		require.NoError(t, s.Close())
		require.NoError(t, in.Close())
		select {
		case <-done:
			n++
		default:
		}
	}
	for q := range queues {
		far, err := pmd.NewLane(pmd.LaneConfig{RxPort: r.far, RxQueue: q, Burst: pmd.MaxBurst})
		require.NoError(t, err)
		for seq := 0; seq < packets/2; {
			far.Exchange()
			require.NotEmpty(t, far.Rx())
			for _, m := range far.Rx() {
				_, err := opened(t, &confs[q], m.Data(), uint64(seq))
				require.NoError(t, err, "queue %d, packet %d", q, seq)
				far.Drop(m)
				seq++
			}
		}
		far.Exchange()
		require.NoError(t, far.Close())
	}
	require.Equal(t, packets, r.count("tx_encrypted"))
	r.kept()
}

// The device keeps a copy of the key, and marks what has no ESP's length.
func TestCryptoKeyAndLength(t *testing.T) {
	r := newRig(t, "crypto")
	c := conf(1, false)
	s := r.raw(rawConf(1, false))
	clear(s.Key())
	_, err := s.Flow(rule(src))
	require.NoError(t, err)
	require.Equal(t, goodMark, r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks())
	odd := ipFrame(dst, src, 50, sealed(t, &c, dst, src, 1, counting(40))[34:97])
	require.Equal(t, badMark, r.receive(odd)[0].marks())
	require.Equal(t, 1, r.count("rx_bad_length"))
	r.kept()
}

func TestCryptoOffOfPacketOffload(t *testing.T) {
	r := newRig(t, "packet,crypto=off")
	start := func(c *pmd.SessionConf) { c.Sequence = 997 }
	out, in := conf(1, true, packet(start)), conf(2, false, packet(start))
	s := r.open(out)
	r.open(in)
	for seq := uint64(998); seq < 1003; seq++ {
		wire := r.send(item{plain(src, dst, 40), s, 0, nil})[0]
		_, err := opened(t, &out, wire, seq)
		require.Equal(t, seq == 1000, err == nil, "number %d", seq)
		require.Len(t, wire, 34+16+40+2+2+16)
		require.Zero(t, sum(wire[14:34]))
		frame := espFrame(dst, src, 2, uint32(seq), counting(40))
		if seq == 1000 {
			frame = sealed(t, &in, dst, src, seq, counting(40))
		}
		g := r.receive(append([]byte(nil), frame...))[0]
		require.Equal(t, goodMark, g.marks())
		require.Equal(t, plain(dst, src, 40), g.frame)
		require.Equal(t, badMark, r.receive(frame)[0].marks(), "the window is there")
	}
	r.kept()
}
