package ipsec_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
	"espgw/pmd"
	"espgw/pmd/emu"
	"espgw/pmd/pmdtest"
	"espgw/sa"
	"espgw/sa/xfrm"
)

func TestMain(m *testing.M) { os.Exit(pmdtest.Main(m)) }

// rig is a whole gateway in the test process:
//
//	host ══ rings ══ lan [gateway] eth4 ══ rings ══ network
//
// Tests put frames in at host or network and look at what comes out there. It
// is configured with ip xfrm commands, as an operator would.
type rig struct {
	t             testing.TB
	gateway       *ipsec.Gateway
	db            *sa.DB
	pool          *pmd.Pool
	host, network *pmd.Port
	before        ipsec.Stats
	answers       [][]byte // what the last through had sent back to where it put frames in
	wan           *pmd.Port
	nic           *emu.NIC // the emulated device of eth4; nil: none
}

type rigOptions struct {
	lcores       []int
	lanMTU       int
	wanMTU       int
	window       uint32
	dataRoom     int
	mbufs        int
	ringSize     int
	passList     string
	driverQueues int
	mssClamp     int
	ignoreICMP   bool
	// emulate is the inline NIC that eth4 pretends to be, as --emulate-inline has it.
	emulate    string
	breaches   bool // of its contract are expected
	offload    ipsec.OffloadMode
	inlineOnly bool
	log        io.Writer
}

func newRig(t testing.TB, config string, change ...func(*rigOptions)) *rig {
	t.Helper()
	o := rigOptions{
		lcores: []int{1}, lanMTU: 1500, wanMTU: 1600, window: 1024, mbufs: 4095, ringSize: 1024,
		passList: ipsec.DefaultPassEthertypes, driverQueues: 1, mssClamp: ipsec.ClampOff, log: io.Discard,
	}
	for _, c := range change {
		c(&o)
	}
	r := &rig{t: t}
	r.pool = pmdtest.NewPoolConfig(t, pmd.PoolConfig{Mbufs: o.mbufs, DataRoom: o.dataRoom})
	var lan, wan *pmd.Port
	r.host, lan = pmdtest.RingPairQueues(t, r.pool, o.driverQueues, o.ringSize)
	if o.emulate == "" {
		r.network, wan = pmdtest.RingPairQueues(t, r.pool, o.driverQueues, o.ringSize)
	} else {
		wan = r.emulated(o)
	}
	r.wan = wan
	planned := func(p *pmd.Port) ipsec.PlanPort {
		return ipsec.PlanPort{ID: p.ID(), MaxRxQueues: o.driverQueues, MaxTxQueues: o.driverQueues}
	}
	plan, err := ipsec.MakePlan([][2]ipsec.PlanPort{{planned(lan), planned(wan)}}, o.lcores, nil)
	require.NoError(t, err)
	pass, err := ipsec.ParsePassList(o.passList)
	require.NoError(t, err)
	r.db = sa.NewDB(sa.Options{DefaultWindow: o.window, Now: time.Now})
	r.gateway, err = ipsec.New(ipsec.Config{
		EAL: pmdtest.EAL(), DB: r.db, Plan: plan, Burst: 32, IdleBackoff: 20 * time.Microsecond, Pass: pass,
		MSSClamp: o.mssClamp, LearnPathMTU: !o.ignoreICMP,
		Offload: o.offload, InlineOnly: o.inlineOnly,
		Log: slog.New(slog.NewTextHandler(o.log, nil)),
		Pairs: []ipsec.Pair{{
			Protected:   ipsec.PortConfig{Port: lan, Name: "lan", MTU: o.lanMTU},
			Unprotected: ipsec.PortConfig{Port: wan, Name: "eth4", MTU: o.wanMTU},
		}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.gateway.Stop()) })
	r.configure(config)
	require.NoError(t, r.gateway.Start())
	return r
}

// emulated makes the ports of the network's side; eth4's has an emulated device,
// whose contract must have been kept when the test ends.
func (r *rig) emulated(o rigOptions) (wan *pmd.Port) {
	t := r.t
	network, wan, err := pmd.NewRingPairQueues(pmdtest.Name("inline"), o.driverQueues, o.ringSize)
	require.NoError(t, err)
	r.network = network
	options, err := emu.ParseOptions(o.emulate)
	require.NoError(t, err)
	r.nic, err = emu.Attach(wan, options)
	require.NoError(t, err)
	nic := r.nic
	t.Cleanup(func() { // runs after the port is closed
		if !o.breaches {
			require.Empty(t, nic.Breaches())
		}
		require.Zero(t, nic.Counters()["leak_tx"])
		require.NoError(t, nic.Close())
	})
	config := pmd.PortConfig{RxQueues: o.driverQueues, TxQueues: o.driverQueues, Pool: r.pool}
	pmdtest.Start(t, network, config)
	config.RxOffloads, config.TxOffloads = pmd.RxSecurity, pmd.TxSecurity|pmd.TxIPv4Checksum
	pmdtest.Start(t, wan, config)
	return wan
}

// run executes ip xfrm commands in one transaction.
func (r *rig) run(text string) error {
	commands, err := xfrm.ParseFile(strings.NewReader(text), "test")
	if err != nil {
		return err
	}
	return r.gateway.Update(func(tx *sa.Tx) error {
		for _, c := range commands {
			if err := c.Execute(tx, io.Discard); err != nil {
				return err
			}
		}
		return nil
	})
}

// configure replaces all SAs and policies, and forgets the counters so far.
func (r *rig) configure(text string) {
	r.t.Helper()
	require.NoError(r.t, r.run("ip xfrm state flush\nip xfrm policy flush\n"+text))
	r.before = *r.gateway.Stats()
}

// outbound puts frames in at the host and returns what came out at the network
// once the gateway has dealt with all of them.
func (r *rig) outbound(frames ...[]byte) [][]byte {
	r.t.Helper()
	return r.through(r.host, r.network, frames)
}

// inbound puts frames in at the network and returns what came out at the host.
func (r *rig) inbound(frames ...[]byte) [][]byte {
	r.t.Helper()
	return r.through(r.network, r.host, frames)
}

func (r *rig) through(in, out *pmd.Port, frames [][]byte) [][]byte {
	r.t.Helper()
	start := r.gateway.Stats().Totals
	pmdtest.Inject(r.t, in, frames...)
	var now ipsec.Totals
	require.Eventually(r.t, func() bool {
		now = r.gateway.Stats().Totals
		return now.Received-start.Received == uint64(len(frames)) && now.InFlight == 0
	}, 10*time.Second, 100*time.Microsecond, "the gateway did not finish %d frames", len(frames))
	r.answers = nil
	answered := int(now.Originated - start.Originated)
	if answered > 0 {
		r.answers = pmdtest.Collect(r.t, in, answered, 5*time.Second)
	}
	sent := int(now.Transmitted-start.Transmitted) - answered
	if sent == 0 {
		return nil
	}
	got := pmdtest.Collect(r.t, out, sent, 5*time.Second)
	require.Len(r.t, got, sent)
	return got
}

// drops returns what was dropped since configure, by reason, without zeros. It
// checks the balance on the way.
func (r *rig) drops() map[string]uint64 {
	r.t.Helper()
	s := r.gateway.Stats()
	require.Equal(r.t, s.Totals.Received+s.Totals.Originated, s.Totals.Transmitted+s.Totals.Dropped+s.Totals.InFlight)
	require.Zero(r.t, s.Totals.InFlight)
	text, err := json.Marshal(s.Drops)
	require.NoError(r.t, err)
	all := map[string]uint64{}
	require.NoError(r.t, json.Unmarshal(text, &all))
	sum := uint64(0)
	for r := ipsec.ReasonNone + 1; r < ipsec.NumReasons; r++ {
		sum += all[r.String()]
	}
	require.Equal(r.t, s.Totals.Dropped, sum)
	for reason := ipsec.ReasonNone + 1; reason < ipsec.NumReasons; reason++ {
		name := reason.String()
		if all[name] -= r.before.Drops[reason]; all[name] == 0 {
			delete(all, name)
		}
	}
	return all
}

// sa returns the counters of the SA with that SPI.
func (r *rig) sa(spi uint32) ipsec.SAStats {
	r.t.Helper()
	for _, s := range r.gateway.Stats().SAs {
		if s.SPI == spi {
			return s
		}
	}
	require.Fail(r.t, "no such SA", "SPI 0x%x", spi)
	return ipsec.SAStats{}
}
