package emu_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

// Each way to break the contract is counted as what it is and as nothing else. The rows'
// tests have the rest: breach_aliased and breach_index B16, breach_key B02 and B04,
// breach_settings B02, breach_validate B06.

func TestBreachesOfWhatIsSent(t *testing.T) {
	right := espFrame(src, dst, 1, 1, counting(40))
	for name, test := range map[string]struct {
		frame  []byte
		flags  uint64
		l3     int
		breach string
		later  func(*pmd.Mbuf)
	}{
		"nothing":               {right, sealFlags, 20, "", nil},
		"padding of 16":         {espText(src, dst, 1, 1, append(append(counting(26), counting(17)[1:]...), 16, 17)), sealFlags, 20, "", nil},
		"no metadata":           {right, sealFlags, 20, "breach_metadata", func(m *pmd.Mbuf) { probe.SetWord(m, poison) }},
		"no such index":         {right, sealFlags, 20, "breach_metadata", func(m *pmd.Mbuf) { probe.SetWord(m, probe.Word(m)|0x1000) }},
		"a new buffer's":        {right, sealFlags, 20, "breach_metadata", func(m *pmd.Mbuf) { probe.SetWord(m, probe.Word(m)&0xffff) }},
		"a fragment":            {put(right, 20, 0x20), sealFlags, 20, "breach_header", nil},
		"EtherType":             {put(right, 12, 0x86, 0xdd), sealFlags, 20, "breach_header", nil},
		"an older SA's":         {right, sealFlags, 20, "breach_stale", func(m *pmd.Mbuf) { probe.SetWord(m, probe.Word(m)-1<<wordGeneration) }},
		"another SPI":           {put(right, 37, 9), sealFlags, 20, "breach_wrong_sa", nil},
		"pad length":            {put(right, len(right)-18, 200), sealFlags, 20, "breach_length", nil},
		"pkt_len":               {append(put(right, 0), make([]byte, 4)...), sealFlags, 20, "breach_length", nil},
		"short":                 {right[:60], sealFlags, 20, "breach_length", nil},
		"l3_len":                {right, sealFlags, 24, "breach_header", nil},
		"IPv4 options":          {put(right, 14, 0x46), sealFlags, 20, "breach_header", nil},
		"no ESP":                {put(right, 23, 17), sealFlags, 20, "breach_header", nil},
		"no IP_CKSUM":           {right, pmd.FlagTxSecOffload | pmd.FlagTxIPv4, 20, "breach_flags", nil},
		"a checksum in the way": {put(right, 24, 1), sealFlags, 20, "breach_flags", nil},
		"L4 checksum":           {right, sealFlags | pmd.FlagTxL4ChecksumMask, 20, "breach_flags", nil},
		"TCP segmentation":      {right, sealFlags | 1<<50, 20, "breach_flags", nil},
		"neither IPv4 nor IPv6": {right, pmd.FlagTxSecOffload, 20, "breach_flags", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "crypto,tx=16")
			c := conf(1, true)
			r.raw(rawConf(2, true))
			r.raw(rawConf(3, false))
			s := r.raw(rawConf(1, true))
			m := r.mbuf(test.frame)
			require.NoError(t, s.Metadata(m, 1))
			probe.Mark(m, test.flags, 14, test.l3)
			if test.later != nil {
				test.later(m)
			}
			wire := r.sendRaw(m)
			if test.breach == "" {
				r.kept()
				_, err := opened(t, &c, wire[0], 1)
				require.NoError(t, err)
				return
			}
			r.breached(test.breach, 1)
			require.Len(t, r.nic.Breaches(), 1)
			require.Equal(t, 1, r.count("bad_tx"))
			require.Zero(t, r.count("tx_encrypted"))
			require.NotContains(t, string(wire[0]), string(counting(12)))
		})
	}
}

func TestBreachSegments(t *testing.T) {
	r := newRig(t, "crypto")
	s := r.raw(rawConf(1, true))
	m := r.twoSegments(espFrame(src, dst, 1, 1, counting(40)))
	require.NoError(t, s.Metadata(m, 1))
	probe.Mark(m, sealFlags, 14, 20)
	r.sendRaw(m)
	require.NotZero(t, r.count("breach_segments"), "%v", r.nic.Breaches())
	require.Equal(t, 1, r.count("bad_tx"))
}

// A packet that was marked, and whose SA went before it was sent.
func TestBreachStale(t *testing.T) {
	for _, options := range []string{"ixgbe", "crypto"} {
		r := newRig(t, options)
		s := r.raw(rawConf(1, true))
		m, late := r.marked(espFrame(src, dst, 1, 1, counting(40)), s, 1), r.mbuf(counting(100))
		require.NoError(t, s.Close())
		require.Error(t, s.Metadata(late, 1), "of a session that is closed")
		late.Free()
		r.breached("breach_stale", 1)
		again := rawConf(1, true)
		again.Key, again.Salt = rawConf(2, true).Key, rawConf(2, true).Salt
		r.raw(again) // the same place, the same SPI, another key
		wire := r.sendRaw(m)
		r.breached("breach_stale", 2)
		c := conf(2, true)
		c.SPI = 1
		_, err := opened(t, &c, wire[0], 1)
		require.Error(t, err)
	}
}

func TestBreachSameSPI(t *testing.T) {
	for options, n := range map[string]int{"ixgbe": 1, "crypto": 0} {
		for _, egress := range []bool{true, false} {
			r := newRig(t, options)
			r.open(conf(1, egress))
			r.open(conf(1, !egress)) // of the other direction
			r.kept()
			r.open(conf(1, egress, func(c *pmd.SessionConf) { c.Key, _ = keyOf(2); c.Key = c.Key[:16] }))
			r.breached("breach_same_spi", n)
		}
	}
}

func TestBreachOrder(t *testing.T) {
	r := newRig(t, "ixgbe")
	_, err := r.raw(rawConf(1, true)).Flow(rule(src))
	require.ErrorIs(t, err, syscall.EINVAL, "an egress session has no rule")
	r.breached("breach_order", 1)
	require.NoError(t, r.near.Stop())
	r.breached("breach_order", 2) // alive when the port is stopped
	r.raw(rawConf(2, true))
	r.breached("breach_order", 3) // and made while it is
}

// Rules go before their sessions, and once, where the device removes exactly.
func TestBreachOrderOfRules(t *testing.T) {
	r := newRig(t, "crypto")
	s := r.raw(rawConf(1, false))
	flow, err := s.Flow(rule(src))
	require.NoError(t, err)
	c := conf(1, false)
	receive := func() uint64 { t.Helper(); return r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks() }
	require.Equal(t, goodMark, receive())
	require.NoError(t, flow.Destroy())
	require.Zero(t, receive(), "the rule takes the SA along")
	require.NoError(t, s.Close())
	r.kept()
	require.Error(t, flow.Destroy(), "twice")
	r.breached("breach_order", 1)
	s = r.raw(rawConf(1, false))
	_, err = s.Flow(rule(src))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	r.breached("breach_order", 2)
	require.Zero(t, receive())
}

// The reset of a device ends sessions that were not closed.
func TestBreachOrderAtReset(t *testing.T) {
	for _, options := range []string{"ixgbe", "crypto"} {
		r := newRig(t, options)
		r.raw(rawConf(1, true))
		require.NoError(t, r.near.Stop())
		r.breached("breach_order", 1)
		require.NoError(t, r.near.Reset())
		r.breached("breach_order", 2)
	}
}

// So does its close.
func TestBreachOrderAtClose(t *testing.T) {
	r := newRig(t, "crypto")
	r.raw(rawConf(1, true))
	require.NoError(t, r.near.Stop())
	r.breached("breach_order", 1)
	require.NoError(t, r.lane.Close())
	require.NoError(t, r.near.Close())
	require.Contains(t, r.nic.Breaches(), "1 sessions alive when the port is closed")
	require.NoError(t, r.nic.Close())
	require.Contains(t, r.nic.Breaches(), "1 sessions alive when the port is closed", "texts outlast the device")
}

// Who wants the device's behaviour alone gets it.
func TestStrictOff(t *testing.T) {
	r := newRig(t, "ixgbe,strict=off,abort=on")
	s := r.raw(rawConf(1, true, func(c *probe.Conf) { c.ESN = true }))
	m := r.marked(put(espFrame(src, dst, 1, 1, counting(40)), 37, 9), s, 1)
	r.sendRaw(m)
	require.Equal(t, 1, r.count("bad_tx"), "what comes of it is the same")
	require.Empty(t, r.nic.Breaches())
	r.kept()
}

func TestBreachRemoval(t *testing.T) {
	r := newRig(t, "crypto")
	s, other := r.raw(rawConf(1, true)), r.raw(rawConf(1, true))
	m := r.marked(espFrame(src, dst, 1, 1, counting(40)), other, 1)
	require.NoError(t, s.Close())
	r.kept()
	require.Error(t, s.Close(), "twice")
	require.Equal(t, 1, r.count("breach_removal"), "%v", r.nic.Breaches())
	c := conf(1, true)
	_, err := opened(t, &c, r.sendRaw(m)[0], 1)
	require.NoError(t, err, "removals are exact, and lookups stay on")
}

// soon does something right after a packet was handed over, until that was soon enough
// to be a breach: the machine may be busy elsewhere.
func (r *rig) soon(do func(s *pmd.SecuritySession)) int {
	r.t.Helper()
	for i := range 100 {
		s := r.open(conf(i+10, true))
		right := pmd.Secured{L2: 14, L3: 20, IPChecksum: true}
		require.True(r.t, r.lane.SendSecured(r.mbuf(espFrame(src, dst, uint32(i+10), 1, counting(40))), s, 1, right))
		r.lane.Exchange()
		do(s)
		if n := r.count("breach_drain"); n > 0 {
			return n
		}
	}
	return 0
}

// A packet is in the ring for a while after it was handed over. With ixgbe each removal
// stops all SAs, so those of any SA count.
func TestBreachDrain(t *testing.T) {
	for _, options := range []string{"ixgbe", "crypto"} {
		r := newRig(t, options)
		require.Equal(t, 1, r.soon(func(s *pmd.SecuritySession) { require.NoError(t, s.Close()) }), options)
		r.breached("breach_drain", 1)
		waitDrained()
		for _, egress := range []bool{true, false} {
			require.NoError(t, r.open(conf(1, egress)).Close())
		}
		r.breached("breach_drain", 1) // nothing was on its way
	}
	r := newRig(t, "ixgbe")
	other := r.open(conf(1, true))
	require.Equal(t, 1, r.soon(func(*pmd.SecuritySession) {
		require.NoError(t, other.Close())
		other = r.open(conf(1, true))
	}))
	r = newRig(t, "ixgbe")
	in := r.open(conf(1, false))
	r.open(conf(2, false))
	require.True(t, r.lane.SendSecured(r.mbuf(espFrame(src, dst, 3, 1, counting(40))), r.open(conf(3, true)), 1,
		pmd.Secured{L2: 14, L3: 20, IPChecksum: true}))
	r.lane.Exchange()
	require.NoError(t, in.Close())
	r.kept() // an ingress one is none of a sender's business
}

// Other SAs of a device with exact removals may be in use while one goes.
func TestNoBreachDrainOfOthers(t *testing.T) {
	r := newRig(t, "crypto")
	s, other := r.open(conf(1, true)), r.open(conf(2, true))
	r.send(item{espFrame(src, dst, 1, 1, counting(40)), s, 1, nil})
	require.NoError(t, other.Close())
	r.kept()
}

func TestBreachConcurrent(t *testing.T) {
	r := newRig(t, "ixgbe")
	require.NoError(t, r.nic.SetFault("slow:100000"))
	both := func(open func(i int)) {
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-start
				open(i)
			}()
		}
		close(start)
		wg.Wait()
	}
	sessions := make([]*probe.Session, 2)
	both(func(i int) { sessions[i] = r.probe.Open(rawConf(i+1, true)) })
	for _, s := range sessions {
		require.NotNil(t, s)
		t.Cleanup(s.Forget)
	}
	r.breached("breach_concurrent", 1)
	require.NoError(t, r.nic.SetFault("slow:5000"))
	both(func(i int) {
		for j := range 3 {
			s, err := r.sec.Open(conf(10*(i+1)+j, i == 0))
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	r.breached("breach_concurrent", 1) // pmd calls one at a time
}

// The first texts are kept; all breaches are counted.
func TestBreachTexts(t *testing.T) {
	r := newRig(t, "ixgbe")
	for i := range 20 {
		r.raw(rawConf(i+1, true, func(c *probe.Conf) { c.ICVLen = i }))
	}
	r.breached("breach_settings", 19)
	require.Len(t, r.nic.Breaches(), 16)
	require.Equal(t, "an ICV of 0 octets", r.nic.Breaches()[0])
}

// abort=on ends the process at once; the test binary is the process.
func TestAbort(t *testing.T) {
	if os.Getenv("EMU_TEST_ABORT") != "" {
		r := newRig(t, "ixgbe,abort="+os.Getenv("EMU_TEST_ABORT"))
		r.raw(rawConf(1, true, func(c *probe.Conf) { c.ESN = true }))
		return
	}
	for _, abort := range []string{"on", "off"} {
		c := exec.Command(os.Args[0], "-test.run=^TestAbort$")
		c.Env = append(os.Environ(), "EMU_TEST_ABORT="+abort, "GOTRACEBACK=none")
		out, err := c.CombinedOutput()
		require.Equal(t, abort == "on", err != nil, "%s", out)
		if abort == "on" {
			require.Contains(t, string(out), "SIGABRT")
		}
	}
}

// Whatever comes from the network, and however short it is, nobody here broke the contract.
func TestReceivedPacketsAreNoBreach(t *testing.T) {
	for _, options := range []string{"ixgbe", "crypto", "packet"} {
		r := newRig(t, options)
		frame := ipFrame(dst, src, 50, binary.BigEndian.AppendUint32(nil, 1))
		for n := range 24 {
			r.receive(append(append([]byte(nil), frame...), counting(n)...), frame[:14+n], frame[:len(frame)-n%4])
		}
		r.kept()
	}
}
