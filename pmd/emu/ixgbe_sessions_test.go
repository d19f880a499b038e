package emu_test

import (
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

// The tests are named after the rows of the tables in doc.go.

func TestB01OffloadGate(t *testing.T) {
	r := attached(t, "ixgbe")
	r.start(0, pmd.TxSecurity)
	r.open(conf(1, true))
	_, err := r.sec.Open(conf(2, false))
	require.Error(t, err, "no receive offload was configured")
	r = attached(t, "ixgbe")
	r.start(pmd.RxSecurity, 0)
	r.open(conf(1, false))
	_, err = r.sec.Open(conf(2, true))
	require.Error(t, err, "no transmit offload was configured")
	require.Equal(t, 1, r.count("sessions_refused"))
}

func TestB02TransformGate(t *testing.T) {
	long, _ := keyOf(1)
	for name, test := range map[string]struct {
		change func(*probe.Conf)
		breach string // "": it is refused
	}{
		"ChaCha20":        {func(c *probe.Conf) { c.Transform = probe.ChaCha20 }, ""},
		"a cipher only":   {func(c *probe.Conf) { c.Transform = probe.Cipher }, ""},
		"no transform":    {func(c *probe.Conf) { c.Transform = probe.NoTransform }, ""},
		"inline protocol": {func(c *probe.Conf) { c.Protocol = true }, "breach_settings"},
		"AES-256":         {func(c *probe.Conf) { c.Key, c.KeyLen = append(long, 1, 2, 3, 4), 32 }, "breach_key"},
		"ICV of 12":       {func(c *probe.Conf) { c.ICVLen = 12 }, "breach_settings"},
		"ESN":             {func(c *probe.Conf) { c.ESN = true }, "breach_settings"},
		"ESP in UDP":      {func(c *probe.Conf) { c.UDP = true }, "breach_settings"},
		"tunnel mode":     {func(c *probe.Conf) { c.Tunnel = true }, "breach_settings"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "ixgbe")
			c := rawConf(1, true, test.change)
			if test.breach == "" {
				require.Nil(t, r.probe.Open(c))
				require.Equal(t, 1, r.count("sessions_refused"))
				r.kept()
				return
			}
			s := r.raw(c)
			r.breached(test.breach, 1)
			wire := r.sendRaw(r.marked(espFrame(src, dst, 1, 1, counting(40)), s, 1))
			as := conf(1, true, func(k *pmd.SessionConf) { k.Salt = c.Key[c.KeyLen:][:4] })
			_, err := opened(t, &as, wire[0], 1)
			require.NoError(t, err, "as any other: 128 bits of the key, 16 octets of ICV")
		})
	}
}

// index of the SA in the device, from the metadata word.
func (r *rig) index(s *probe.Session) int {
	r.t.Helper()
	m := r.marked(espFrame(src, dst, 1, 1, nil), s, 1)
	defer m.Free()
	return int(probe.Word(m) & 0xffff)
}

func TestB03LowestFreeSlot(t *testing.T) {
	r := newRig(t, "ixgbe,tx=4")
	var sessions []*probe.Session
	for i := range 4 {
		sessions = append(sessions, r.raw(rawConf(i+1, true)))
		require.Equal(t, i, r.index(sessions[i]))
	}
	require.Nil(t, r.probe.Open(rawConf(9, true)), "the table is full")
	require.NoError(t, sessions[2].Close())
	require.NoError(t, sessions[1].Close())
	require.Equal(t, 1, r.index(r.raw(rawConf(9, true))))
	require.Equal(t, 2, r.index(r.raw(rawConf(10, true))))
	r.kept()
}

func TestB03B07Sizes(t *testing.T) {
	r := newRig(t, "ixgbe,dpdk=26.03")
	for _, egress := range []bool{true, false} {
		for i := range 1024 {
			r.open(conf(i+1, egress))
		}
		_, err := r.sec.Open(conf(1025, egress))
		require.Error(t, err, "egress %v", egress)
	}
}

// The rule is what installs an ingress SA, with what the pointer shows then.
func TestB04IngressByRule(t *testing.T) {
	r := newRig(t, "ixgbe")
	s := r.raw(rawConf(7, false))
	r.rawIngress(8) // lookups are on
	c := conf(7, false)
	receive := func(c pmd.SessionConf) uint64 {
		t.Helper()
		return r.receive(sealed(t, &c, dst, src, 1, counting(40)))[0].marks()
	}
	require.Zero(t, receive(c), "no rule yet")
	r.kept()
	other := conf(7, false, func(c *pmd.SessionConf) { c.Key, _ = keyOf(100); c.Key = c.Key[:16] })
	copy(s.Key(), other.Key)
	_, err := s.Flow(rule(src))
	require.NoError(t, err)
	r.breached("breach_key", 1)
	require.Equal(t, badMark, receive(c), "not the key of the session's making")
	require.Equal(t, goodMark, receive(other))
	clear(s.Key())
	require.Equal(t, goodMark, receive(other), "the device has a copy")
	require.NoError(t, s.Close())
}

func TestB05SaltBehindKey(t *testing.T) {
	for options, behind := range map[string]bool{"ixgbe": true, "ixgbe-x550": true, "crypto": false} {
		r := newRig(t, options)
		c := conf(3, true, func(c *pmd.SessionConf) { c.Salt = []byte{9, 8, 7, 6} })
		s := r.raw(rawConf(3, true, func(raw *probe.Conf) {
			if behind {
				copy(raw.Key[16:], c.Salt)
			} else {
				raw.Salt = c.Salt
			}
		}))
		wire := r.sendRaw(r.marked(espFrame(src, dst, 3, 1, counting(20)), s, 1))
		_, err := opened(t, &c, wire[0], 1)
		require.NoError(t, err, options)
		r.kept()
	}
}

func TestB06Rules(t *testing.T) {
	ours, other := netip.MustParseAddr(src), netip.MustParseAddr("14.0.0.53")
	good := rule(src)
	for name, test := range map[string]struct {
		options string
		rule    probe.Rule
		err     error
		other   bool // matches another destination
		breach  string
	}{
		"address only":        {"ixgbe", probe.Rule{Items: good.Items[1:2], Actions: good.Actions}, nil, false, ""},
		"the first counts":    {"ixgbe", probe.Rule{Items: []probe.Item{{Type: probe.IPv4, Dst: ours}, {Type: probe.IPv4, Dst: other}}, Actions: good.Actions}, nil, false, ""},
		"the first, other":    {"ixgbe", probe.Rule{Items: []probe.Item{{Type: probe.IPv4, Dst: other}, {Type: probe.IPv4, Dst: ours}}, Actions: good.Actions}, nil, true, ""},
		"behind no spec":      {"ixgbe", probe.Rule{Items: []probe.Item{{Type: probe.IPv4}, {Type: probe.IPv4, Dst: ours}}, Actions: good.Actions}, nil, false, ""},
		"no address":          {"ixgbe", probe.Rule{Items: good.Items[:1], Actions: good.Actions}, syscall.EINVAL, false, ""},
		"void first":          {"ixgbe", probe.Rule{Items: good.Items, Actions: []int{probe.Void, probe.Security}}, nil, false, ""},
		"another action":      {"ixgbe", probe.Rule{Items: good.Items, Actions: []int{probe.Drop}}, syscall.EINVAL, false, ""},
		"two actions":         {"ixgbe", probe.Rule{Items: good.Items, Actions: []int{probe.Security, probe.Drop}}, syscall.EINVAL, false, ""},
		"no argument":         {"ixgbe", probe.Rule{Items: good.Items, Actions: good.Actions, Argument: probe.ArgNothing}, syscall.EINVAL, false, ""},
		"structure, 22.11":    {"ixgbe", probe.Rule{Items: good.Items, Actions: good.Actions, Argument: probe.ArgStructure}, syscall.EINVAL, false, "breach_order"},
		"structure, 26.03":    {"ixgbe,dpdk=26.03", probe.Rule{Items: good.Items, Actions: good.Actions, Argument: probe.ArgStructure}, nil, false, ""},
		"structure, X550":     {"ixgbe-x550,dpdk=26.03", probe.Rule{Items: good.Items, Actions: good.Actions, Argument: probe.ArgStructure}, nil, false, ""},
		"ingress, X550 22.11": {"ixgbe-x550", good, syscall.ENOTSUP, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, test.options)
			c := conf(1, false)
			s := r.raw(rawConf(1, false))
			_, err := s.Flow(test.rule)
			require.ErrorIs(t, err, test.err)
			if test.breach == "" {
				r.kept()
			} else {
				r.breached(test.breach, 1)
			}
			list := r.receive(sealed(t, &c, dst, src, 1, counting(9)), sealed(t, &c, dst, other.String(), 1, counting(9)))
			matches := []bool{err == nil && !test.other, err == nil && test.other}
			for i, g := range list {
				require.Equal(t, matches[i], g.marks() == goodMark, "destination %d", i)
			}
		})
	}
}

// Either form of the action's argument suits pmd's sessions, in either release.
func TestB06BothArguments(t *testing.T) {
	for _, options := range []string{"ixgbe", "ixgbe,dpdk=26.03", "ixgbe-x550,dpdk=26.03"} {
		r := newRig(t, options)
		c := conf(7, false)
		s := r.open(c)
		require.Equal(t, 1, r.count("flows_made"))
		require.Equal(t, goodMark, r.receive(sealed(t, &c, dst, src, 1, counting(40)))[0].marks())
		require.NoError(t, s.Close())
		r.kept()
	}
	r := newRig(t, "ixgbe-x550")
	_, err := r.sec.Open(conf(7, false))
	require.ErrorIs(t, err, pmd.ErrNotSupported, "no ingress before 26.03")
	r.open(conf(7, true))
}

func TestB06ValidateInstalls(t *testing.T) {
	r := newRig(t, "ixgbe")
	c := conf(1, false)
	s := r.raw(rawConf(1, false))
	require.NoError(t, s.Validate(rule(src)))
	r.breached("breach_validate", 1)
	require.Equal(t, goodMark, r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks())
	_, err := s.Flow(rule(src))
	require.NoError(t, err)
	require.Equal(t, 1, r.count("breach_same_spi"), "it is there twice")
}

func TestB07FullTables(t *testing.T) {
	for options, told := range map[string]bool{"ixgbe,rx=2": false, "ixgbe,rx=2,dpdk=26.03": true} {
		r := newRig(t, options)
		r.open(conf(1, false))
		r.open(conf(2, false))
		c := conf(3, false)
		s, err := r.sec.Open(c)
		require.Equal(t, told, err != nil, "%s: %v", options, err)
		if s != nil {
			require.Equal(t, 3, r.count("flows_made"))
			defer func() { require.Error(t, s.Close(), "the driver does not find it") }()
		}
		require.Zero(t, r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks(), "it is not in the device")
	}
}

func TestB07Addresses(t *testing.T) {
	to := func(i int) func(*pmd.SessionConf) {
		return func(c *pmd.SessionConf) { c.Dst = netip.AddrFrom4([4]byte{10, 0, 1, byte(i)}) }
	}
	for options, told := range map[string]bool{"ixgbe": false, "ixgbe,dpdk=26.03": true} {
		r := newRig(t, options)
		var first *pmd.SecuritySession
		for i := range 128 {
			s := r.open(conf(i+1, false, to(i)))
			if first == nil {
				first = s
			}
		}
		r.open(conf(500, false, to(5))) // an address that is there
		c := conf(129, false, to(128))
		s, err := r.sec.Open(c)
		require.Equal(t, told, err != nil, "%s: %v", options, err)
		require.Zero(t, r.receive(sealed(t, &c, dst, c.Dst.String(), 1, counting(9)))[0].marks())
		if s != nil {
			require.Error(t, s.Close())
		}
		require.NoError(t, first.Close())
		r.open(conf(130, false, to(128)))
		c.SPI = 130
		c.Key, c.Salt = conf(130, false).Key, conf(130, false).Salt
		require.Equal(t, goodMark, r.receive(sealed(t, &c, dst, c.Dst.String(), 1, counting(9)))[0].marks(), "the address's place is free again")
	}
}

// The SA goes with its session, not with its rule.
func TestB08FlowDestroy(t *testing.T) {
	for options, test := range map[string]struct {
		argument int
		err      error
	}{"ixgbe": {probe.ArgSession, syscall.EINVAL}, "ixgbe,dpdk=26.03": {probe.ArgStructure, nil}} {
		r := newRig(t, options)
		c := conf(1, false)
		s := r.raw(rawConf(1, false))
		ours := rule(src)
		ours.Argument = test.argument
		flow, err := s.Flow(ours)
		require.NoError(t, err)
		require.ErrorIs(t, flow.Destroy(), test.err, options)
		require.Equal(t, goodMark, r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks())
		require.NoError(t, s.Close())
		r.open(conf(2, false)) // lookups are on
		require.Zero(t, r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks())
		r.kept()
	}
}
