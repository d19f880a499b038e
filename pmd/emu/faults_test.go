package emu_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// faulty is a rig with an SA each way, and faults to come.
type faulty struct {
	*rig
	out, in pmd.SessionConf
	seq     uint64

	s, inSession *pmd.SecuritySession
}

func newFaulty(t *testing.T, options string) *faulty {
	t.Helper()
	f := &faulty{rig: newRig(t, options), out: conf(1, true), in: conf(2, false)}
	require.NoError(t, f.near.Watch())
	f.s, f.inSession = f.open(f.out), f.open(f.in)
	return f
}

func (f *faulty) fault(text string) {
	f.t.Helper()
	require.NoError(f.t, f.nic.SetFault(text))
}

// seals says whether a packet was sent as it should be.
func (f *faulty) seals() bool {
	f.t.Helper()
	f.seq++
	wire := f.send(item{espFrame(src, dst, 1, uint32(f.seq), counting(33)), f.s, f.seq, nil})
	if len(wire) == 0 || headers(wire[0]) != 34 {
		return false
	}
	_, err := opened(f.t, &f.out, wire[0], f.seq)
	return err == nil
}

// frame is what the peer sends.
func (f *faulty) frame() []byte { return sealed(f.t, &f.in, dst, src, 1, counting(33)) }

// marks are those of n packets that come in.
func (f *faulty) marks(n int) (list []uint64) {
	f.t.Helper()
	for range n {
		list = append(list, f.receive(f.frame())[0].marks())
	}
	return list
}

// struck says how often faults have struck, and that without them all is well again.
func (f *faulty) struck(n int) {
	f.t.Helper()
	require.Equal(f.t, n, f.count("faults"))
	f.fault("none")
	require.True(f.t, f.seals())
	require.Equal(f.t, []uint64{goodMark}, f.marks(1))
	require.Equal(f.t, n, f.count("faults"))
	f.kept()
}

var profilesOfInlineCrypto = []string{"ixgbe", "crypto"}

func each(t *testing.T, profiles []string, test func(t *testing.T, f *faulty)) {
	t.Helper()
	for _, p := range profiles {
		t.Run(p, func(t *testing.T) { test(t, newFaulty(t, p)) })
	}
}

func TestFaultSession(t *testing.T) {
	each(t, profilesOfInlineCrypto, func(t *testing.T, f *faulty) {
		f.fault("session")
		for _, egress := range []bool{true, false} {
			_, err := f.sec.Open(conf(3, egress))
			require.Error(t, err)
		}
		require.Equal(t, 2, f.count("sessions_refused"))
		f.struck(2)
		f.open(conf(3, true))
	})
}

func TestFaultFlow(t *testing.T) {
	f := newFaulty(t, "crypto")
	f.fault("flow")
	_, err := f.sec.Open(conf(3, false))
	require.ErrorContains(t, err, "flow rule")
	f.open(conf(4, true)) // needs none
	require.Equal(t, 1, f.count("flows_made"))
	require.Equal(t, 3, f.count("sessions"), "the session without a rule is gone again")
	f.struck(1)
	f.open(conf(3, false))
}

func TestFaultDestroy(t *testing.T) {
	f := newFaulty(t, "crypto")
	extra := f.open(conf(3, true))
	f.fault("destroy")
	require.Error(t, extra.Close())
	open, lost := f.sec.Sessions()
	require.Equal(t, []int{2, 1}, []int{open, lost})
	f.struck(1)
}

func TestFaultMetadata(t *testing.T) {
	each(t, profilesOfInlineCrypto, func(t *testing.T, f *faulty) {
		f.fault("metadata")
		wire := f.send(item{espFrame(src, dst, 1, 1, counting(33)), f.s, 1, nil})
		require.Empty(t, wire)
		require.EqualValues(t, 1, f.lane.Unmarked())
		f.struck(1)
	})
}

func TestFaultFull(t *testing.T) {
	each(t, []string{"ixgbe,dpdk=26.03", "crypto"}, func(t *testing.T, f *faulty) {
		f.fault("full:2")
		for _, egress := range []bool{true, false} {
			f.open(conf(3, egress))
			_, err := f.sec.Open(conf(4, egress))
			require.Error(t, err, "egress %v", egress)
		}
		f.fault("none")
		f.open(conf(4, true))
		f.open(conf(4, false))
		f.kept()
	})
}

// With a number a fault of calls strikes once: that call from now.
func TestFaultOfOneCall(t *testing.T) {
	for word, call := range map[string]func(f *faulty, i int) error{
		"session": func(f *faulty, i int) error { _, err := f.sec.Open(conf(10+i, true)); return err },
		"flow":    func(f *faulty, i int) error { _, err := f.sec.Open(conf(10+i, false)); return err },
		"destroy": func(f *faulty, i int) error { return f.open(conf(10+i, true)).Close() },
		"metadata": func(f *faulty, i int) error {
			if len(f.send(item{espFrame(src, dst, 1, uint32(i), counting(9)), f.s, uint64(i), nil})) == 0 {
				return pmd.ErrNotSupported
			}
			return nil
		},
	} {
		f := newFaulty(t, "crypto")
		f.fault(word + ":3")
		for i := range 6 {
			err := call(f, i)
			require.Equal(t, i == 2, err != nil, "%s: call %d: %v", word, i, err)
		}
		require.Equal(t, 1, f.count("faults"), word)
		f.kept()
	}
}

func TestFaultICV(t *testing.T) {
	each(t, profilesOfInlineCrypto, func(t *testing.T, f *faulty) {
		f.fault("icv:3")
		require.Equal(t, []uint64{goodMark, goodMark, badMark, goodMark, goodMark, badMark, goodMark}, f.marks(7))
		f.fault("icv:1")
		g := f.receive(f.frame())[0]
		require.Equal(t, badMark, g.marks())
		require.NotContains(t, string(g.frame), string(counting(12)), "junk")
		f.struck(3)
	})
}

func TestFaultNoFlag(t *testing.T) {
	each(t, profilesOfInlineCrypto, func(t *testing.T, f *faulty) {
		f.fault("noflag:2")
		require.Equal(t, []uint64{goodMark, 0, goodMark, 0}, f.marks(4))
		f.fault("noflag:1")
		require.Equal(t, f.frame(), f.receive(f.frame())[0].frame, "still encrypted")
		f.struck(3)
	})
}

func TestFaultTxICV(t *testing.T) {
	each(t, profilesOfInlineCrypto, func(t *testing.T, f *faulty) {
		f.fault("txicv:2")
		require.Equal(t, []bool{true, false, true, false}, []bool{f.seals(), f.seals(), f.seals(), f.seals()})
		f.struck(2)
	})
}

func TestFaultLookupsOff(t *testing.T) {
	each(t, profilesOfInlineCrypto, func(t *testing.T, f *faulty) {
		f.fault("lookupsoff")
		require.Equal(t, []uint64{0}, f.marks(1))
		require.False(t, f.seals())
		require.Equal(t, 1, f.count("leak_tx"))
		f.open(conf(3, true))
		require.True(t, f.seals(), "the next addition switches them on")
		f.open(conf(3, false))
		require.Equal(t, []uint64{goodMark}, f.marks(1))
		f.struck(1)
	})
}

// With a number they come back by themselves, after so many milliseconds.
func TestFaultLookupsOffForAWhile(t *testing.T) {
	each(t, profilesOfInlineCrypto, func(t *testing.T, f *faulty) {
		f.fault("lookupsoff:10000")
		require.Equal(t, []uint64{0}, f.marks(1))
		f.open(conf(3, true))
		require.False(t, f.seals(), "whatever is added")
		require.Equal(t, 1, f.count("leak_tx"))
		f.fault("lookupsoff:30")
		require.Eventually(t, f.seals, 5*time.Second, 5*time.Millisecond)
		f.struck(2)
	})
}

// A device that does all of ESP leaks, too: the plain packet.
func TestFaultsOfPacketOffload(t *testing.T) {
	r := newRig(t, "packet")
	c := conf(2, false, packet())
	out := conf(1, true, packet())
	s := r.open(out)
	r.open(c)
	frame := plain(src, dst, 100)
	fault := func(text string) { t.Helper(); require.NoError(t, r.nic.SetFault(text)) }
	send := func() []byte { t.Helper(); return r.send(item{frame, s, 0, nil})[0] }
	fault("lookupsoff")
	require.Equal(t, frame, send())
	require.Equal(t, 1, r.count("leak_tx"))
	incoming := sealed(t, &c, dst, src, 1, counting(40))
	require.Equal(t, incoming, r.receive(append([]byte(nil), incoming...))[0].frame)
	r.open(conf(3, true, packet()))
	r.open(conf(4, false, packet()))
	fault("icv:1")
	g := r.receive(append([]byte(nil), incoming...))[0]
	require.Equal(t, badMark, g.marks())
	require.Equal(t, incoming, g.frame, "as it came")
	fault("noflag:1")
	require.Zero(t, r.receive(append([]byte(nil), incoming...))[0].marks())
	fault("txicv:1")
	_, err := opened(t, &out, send(), 1)
	require.Error(t, err)
	fault("reset:1")
	unreadable(t, send())
	require.Equal(t, 1, r.count("tx_dead"))
	require.Equal(t, 1, r.count("leak_tx"))
	require.Equal(t, 5, r.count("faults"))
	r.kept()
}

func TestFaultSlow(t *testing.T) {
	f := newFaulty(t, "crypto")
	f.fault("slow:20000")
	for _, egress := range []bool{true, false} {
		begin := time.Now()
		s := f.open(conf(3, egress))
		require.GreaterOrEqual(t, time.Since(begin), 20*time.Millisecond)
		begin = time.Now()
		require.NoError(t, s.Close())
		require.GreaterOrEqual(t, time.Since(begin), 20*time.Millisecond)
	}
	f.struck(0)
}

// lost says that a device stands still: what comes is lost, what goes cannot be read.
func (f *faulty) lost() {
	f.t.Helper()
	used, dropped := f.pool.InUse(), f.count("rx_dead")
	pmdtest.Inject(f.t, f.far, f.frame(), f.frame())
	for range 10 {
		f.lane.Exchange()
		require.Empty(f.t, f.lane.Rx())
	}
	require.Equal(f.t, used, f.pool.InUse(), "their buffers are not")
	require.Equal(f.t, dropped+2, f.count("rx_dead"))
	dead := f.count("tx_dead")
	require.False(f.t, f.seals())
	unreadable(f.t, f.send(item{plain(src, dst, 100), nil, 0, nil})[0])
	require.Equal(f.t, dead+2, f.count("tx_dead"))
	require.Zero(f.t, f.count("leak_tx"))
}

func TestFaultReset(t *testing.T) {
	each(t, profilesOfInlineCrypto, func(t *testing.T, f *faulty) {
		f.fault("reset:3")
		require.True(t, f.seals())
		require.True(t, f.seals())
		events, _ := f.near.Events()
		require.Empty(t, events)
		require.False(t, f.seals(), "the third")
		f.lost()
		events, _ = f.near.Events()
		require.Equal(t, []pmd.Event{{Kind: pmd.EventReset}}, events, "once")
		require.Equal(t, 1, f.count("faults"))
		f.fault("none")
		f.lost() // until it is reset
		f.revive()
	})
}

// revive resets the port and makes the SAs anew.
func (f *faulty) revive() {
	f.t.Helper()
	waitDrained()
	require.NoError(f.t, f.s.Close())
	before := f.count("breaches")
	open, _ := f.sec.Sessions()
	require.Equal(f.t, 1, open)
	require.NoError(f.t, f.inSession.Close())
	require.NoError(f.t, f.near.Stop())
	require.NoError(f.t, f.near.Reset())
	require.NoError(f.t, f.near.Start())
	f.s, f.inSession = f.open(f.out), f.open(f.in)
	require.True(f.t, f.seals())
	require.Equal(f.t, []uint64{goodMark}, f.marks(1))
	require.Equal(f.t, before, f.count("breaches"), "%v", f.nic.Breaches())
}

func TestFaultGone(t *testing.T) {
	f := newFaulty(t, "crypto")
	f.fault("gone")
	events, _ := f.near.Events()
	require.Equal(t, []pmd.Event{{Kind: pmd.EventRemoved}}, events)
	require.Equal(t, 1, f.count("faults"))
	f.lost()
	f.fault("none")
	f.lost() // it does not come back
}

// Faults are replaced, not added, and a wrong word changes nothing.
func TestFaultsReplaced(t *testing.T) {
	f := newFaulty(t, "crypto")
	f.fault("txicv:1+icv:1")
	require.False(t, f.seals())
	require.Equal(t, []uint64{badMark}, f.marks(1))
	require.Error(t, f.nic.SetFault("fire"))
	require.False(t, f.seals())
	f.fault("noflag:1")
	require.True(t, f.seals())
	require.Equal(t, []uint64{0}, f.marks(1))
	f.struck(4)
}
