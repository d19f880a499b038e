package emu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

func TestP5P6Limits(t *testing.T) {
	const soft, hard = pmd.EventSASoft, pmd.EventSAHard
	for name, test := range map[string]struct {
		change func(*pmd.SessionConf)
		carry  int // packets of 120 octets
		events []pmd.EventKind
	}{
		"none":        {func(*pmd.SessionConf) {}, 9, nil},
		"packets":     {func(c *pmd.SessionConf) { c.SoftPackets, c.HardPackets = 3, 5 }, 5, []pmd.EventKind{soft, hard}},
		"octets":      {func(c *pmd.SessionConf) { c.SoftBytes, c.HardBytes = 240, 481 }, 5, []pmd.EventKind{soft, hard}},
		"soft ones":   {func(c *pmd.SessionConf) { c.SoftPackets, c.SoftBytes = 2, 600 }, 9, []pmd.EventKind{soft, soft}},
		"hard octets": {func(c *pmd.SessionConf) { c.HardBytes = 480 }, 4, []pmd.EventKind{hard}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "packet")
			require.NoError(t, r.near.Watch())
			change := func(c *pmd.SessionConf) { c.Stats = true; test.change(c) }
			out, in := conf(1, true, packet(change)), conf(2, false, packet(change))
			s, si := r.open(out), r.open(in)
			events := func(c pmd.SessionConf) {
				t.Helper()
				var want []pmd.Event
				for _, kind := range test.events {
					want = append(want, pmd.Event{Kind: kind, UserData: c.UserData})
				}
				got, _ := r.near.Events()
				require.Equal(t, want, got, "each once")
			}
			for i := range 9 {
				wire := r.send(item{plain(src, dst, 100), s, 0, nil})
				if i >= test.carry {
					unreadable(t, wire[0])
				} else {
					_, err := opened(t, &out, wire[0], uint64(i+1))
					require.NoError(t, err)
				}
			}
			stats, err := s.Stats()
			require.NoError(t, err)
			n, rest := uint64(test.carry), uint64(9-test.carry)
			require.Equal(t, pmd.SessionStats{OutPackets: n, OutBytes: 120 * n, OutErrors: rest}, stats)
			require.EqualValues(t, rest, r.count("tx_after_hard"))
			events(out)
			for i := range 9 {
				frame := sealed(t, &in, dst, src, uint64(i+1), counting(100))
				g := r.receive(append([]byte(nil), frame...))[0]
				if i >= test.carry {
					require.Equal(t, badMark, g.marks())
					require.Equal(t, frame, g.frame)
				} else {
					require.Equal(t, goodMark, g.marks())
				}
			}
			stats, err = si.Stats()
			require.NoError(t, err)
			require.Equal(t, pmd.SessionStats{InPackets: n, InBytes: 120 * n, InErrors: rest}, stats)
			require.EqualValues(t, rest, r.count("rx_after_hard"))
			events(in)
			r.kept()
		})
	}
}

func TestP7LimitsChange(t *testing.T) {
	r := newRig(t, "packet")
	require.NoError(t, r.near.Watch())
	c := conf(1, true, packet(func(c *pmd.SessionConf) { c.HardPackets = 1 }))
	s := r.open(c)
	send := func() []byte { t.Helper(); return r.send(item{plain(src, dst, 100), s, 0, nil})[0] }
	_, err := opened(t, &c, send(), 1)
	require.NoError(t, err)
	unreadable(t, send())
	require.NoError(t, s.UpdateLimits(2, 3, 0, 0))
	_, err = opened(t, &c, send(), 2)
	require.NoError(t, err, "no number was left out")
	_, err = opened(t, &c, send(), 3)
	require.NoError(t, err)
	unreadable(t, send())
	events, _ := r.near.Events()
	require.Equal(t, []pmd.Event{
		{Kind: pmd.EventSAHard, UserData: c.UserData}, {Kind: pmd.EventSASoft, UserData: c.UserData}, {Kind: pmd.EventSAHard, UserData: c.UserData},
	}, events, "what was changed may be reached again")
	require.NoError(t, s.UpdateLimits(0, 0, 0, 0))
	_, err = opened(t, &c, send(), 4)
	require.NoError(t, err)
}

func TestP8Odd(t *testing.T) {
	right := plain(src, dst, 40)
	for name, test := range map[string]struct {
		frame  []byte
		flags  uint64
		l2, l3 int
		breach string
	}{
		"right":    {right, pmd.FlagTxIPv4, 14, 20, ""},
		"options":  {put(right, 14, 0x46), pmd.FlagTxIPv4, 14, 24, "breach_header"},
		"tag":      {insert(right, 12, 0x81, 0, 0, 5), pmd.FlagTxIPv4, 18, 20, "breach_header"},
		"fragment": {put(right, 20, 0x20), pmd.FlagTxIPv4, 14, 20, "breach_header"},
		"v6 l3":    {plain(src6, dst6, 40), pmd.FlagTxIPv6, 14, 48, "breach_header"},
		"pkt_len":  {append(put(right, 0), 0), pmd.FlagTxIPv4, 14, 20, "breach_length"},
		"no IP":    {right[:30], pmd.FlagTxIPv4, 14, 20, "breach_length"},
		"no flag":  {right, 0, 14, 20, "breach_flags"},
		"L4":       {right, pmd.FlagTxIPv4 | pmd.FlagTxL4ChecksumMask, 14, 20, "breach_flags"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "packet")
			s := r.raw(rawConf(1, true, func(c *probe.Conf) { c.Protocol = true }))
			m := r.mbuf(test.frame)
			require.NoError(t, s.Metadata(m, 0))
			probe.Mark(m, pmd.FlagTxSecOffload|test.flags, test.l2, test.l3)
			wire := r.sendRaw(m)
			if test.breach == "" {
				require.Equal(t, 1, r.count("tx_encrypted"))
				r.kept()
				return
			}
			r.breached(test.breach, 1)
			require.Equal(t, 1, r.count("bad_tx"))
			unreadable(t, wire[0])
		})
	}
	r := newRig(t, "packet")
	c := conf(1, false, packet())
	r.open(c)
	good := sealed(t, &c, dst, src, 1, counting(40))
	options := put(insert(good, 34, 1, 1, 1, 1), 14, 0x46)
	options[17] += 4
	for name, frame := range map[string][]byte{
		"tag": insert(good, 12, 0x81, 0, 0, 5), "fragment": put(good, 20, 0x20), "options": options,
	} {
		g := r.receive(append([]byte(nil), frame...))[0]
		require.Zero(t, g.marks(), name)
		require.Equal(t, frame, g.frame, name)
	}
	require.Equal(t, 3, r.count("rx_unprocessed"))
	require.Equal(t, goodMark, r.receive(good)[0].marks())
}

// Without room for ESP around it nothing leaves that can be read.
func TestP1NoRoom(t *testing.T) {
	r := newRig(t, "packet")
	s := r.open(conf(1, true, packet()))
	m := r.mbuf(plain(src, dst, 1))
	n := len(m.Buffer()) - m.Start()
	m.Free()
	wire := r.send(item{plain(src, dst, n-34), s, 0, nil})
	require.Len(t, wire[0], n)
	unreadable(t, wire[0])
	require.Equal(t, 1, r.count("tx_failed"))
	require.Zero(t, r.count("leak_tx"))
	r.kept()
}
