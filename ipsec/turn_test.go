package ipsec

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu"
	"espgw/pmd/pmdtest"
	"espgw/sa"
)

// turner drives a worker's lanes by hand, on the test's own thread, so that a
// turn can be measured.
type turner struct {
	w             *worker
	out, in       *lane
	host, network *pmd.Lane
	pool          *pmd.Pool
}

func newTurner(t testing.TB, states ...*sa.Params) *turner { return newTurnerOn(t, "", states...) }

// newTurnerOn is newTurner with an emulated inline NIC of that profile on the
// unprotected side.
func newTurnerOn(t testing.TB, profile string, states ...*sa.Params) *turner {
	t.Helper()
	r := &turner{pool: pmdtest.NewPoolConfig(t, pmd.PoolConfig{Mbufs: 2047, DataRoom: 9200})}
	host, lan := pmdtest.RingPair(t, r.pool)
	network, wan := r.unprotected(t, profile)
	port := func(p *pmd.Port) PlanPort { return PlanPort{p.ID(), 1, 1} }
	plan, err := MakePlan([][2]PlanPort{{port(lan), port(wan)}}, []int{1}, nil)
	require.NoError(t, err)
	db := sa.NewDB(sa.Options{})
	g, err := New(Config{
		EAL: pmdtest.EAL(), Plan: plan, DB: db, Burst: 32, Offload: OffloadAll,
		Pairs: []Pair{{PortConfig{lan, "lan", 9000}, PortConfig{wan, "wan", 9100}}},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Stop()) })
	require.NoError(t, g.Update(func(tx *sa.Tx) error {
		for _, p := range states {
			if err := tx.AddState(p); err != nil {
				return err
			}
		}
		for _, dir := range []sa.Direction{sa.DirOut, sa.DirIn} {
			policy := &sa.Policy{Dir: dir, Limits: sa.Unlimited(), Templates: []sa.Template{{Proto: sa.ProtoESP, ReqID: 1}}}
			policy.Sel.Src, policy.Sel.Dst = states[0].Sel.Src, states[0].Sel.Dst
			if err := tx.AddPolicy(policy); err != nil {
				return err
			}
		}
		return nil
	}))
	r.w = g.workers[0]
	r.w.gen = g.generation.Load()
	for _, l := range r.w.lanes {
		if l.direction == outbound {
			r.out = l
		} else {
			r.in = l
		}
	}
	lane := func(p *pmd.Port) *pmd.Lane {
		l, err := pmd.NewLane(pmd.LaneConfig{RxPort: p, TxPort: p})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		return l
	}
	r.host, r.network = lane(host), lane(network)
	return r
}

func (r *turner) unprotected(t testing.TB, profile string) (network, wan *pmd.Port) {
	if profile == "" {
		return pmdtest.RingPair(t, r.pool)
	}
	network, wan, err := pmd.NewRingPairQueues(pmdtest.Name("turn"), 1, 1024)
	require.NoError(t, err)
	options, err := emu.ParseOptions(profile)
	require.NoError(t, err)
	nic, err := emu.Attach(wan, options)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Empty(t, nic.Breaches())
		require.NoError(t, nic.Close())
	})
	pmdtest.Start(t, network, pmd.PortConfig{Pool: r.pool})
	pmdtest.Start(t, wan, pmd.PortConfig{Pool: r.pool, RxOffloads: pmd.RxSecurity, TxOffloads: pmd.TxSecurity | pmd.TxIPv4Checksum})
	return network, wan
}

func turnState(t testing.TB, dir sa.Direction, esn bool) *sa.Params {
	prefix := netip.MustParsePrefix("10.0.0.0/24")
	p := &sa.Params{
		ID: sa.ID{Dst: netip.MustParseAddr("10.0.0.2"), Proto: sa.ProtoESP, SPI: 0x1001}, Src: netip.MustParseAddr("10.0.0.1"), ReqID: 1,
		Algorithm: sa.AlgAESGCM, ICVBits: 128, Key: sa.NewKey([]byte("0123456789abcdef salt"[:20])), Limits: sa.Unlimited(),
		Dir: dir, Sel: &sa.Selector{Src: prefix, Dst: prefix}, ReplayWindowSet: true, ReplayWindow: 1024,
	}
	if esn {
		p.Flags |= sa.FlagESN
	}
	return p
}

// burst puts n UDP frames of that many octets into the host's side.
func (r *turner) burst(t testing.TB, n, size int) {
	for range n {
		m := r.pool.Alloc()
		require.NotNil(t, m)
		start := m.Start()
		frame := m.Buffer()[start : start+size]
		clear(frame)
		frame[12] = 8
		ip := frame[14:]
		ip[0], ip[8], ip[9] = 0x45, 64, 17
		binary.BigEndian.PutUint16(ip[2:], uint16(size-14))
		copy(ip[12:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
		sum := uint32(0)
		for i := 0; i < 20; i += 2 {
			sum += uint32(binary.BigEndian.Uint16(ip[i:]))
		}
		sum = sum>>16 + sum&0xffff
		binary.BigEndian.PutUint16(ip[10:], ^uint16(sum+sum>>16))
		binary.BigEndian.PutUint16(ip[24:], uint16(size-34))
		m.SetBounds(start, start+size)
		require.True(t, r.host.Send(m))
	}
	r.host.Exchange()
}

// collect takes what came out at the host.
func (r *turner) collect() (received int) {
	r.host.Exchange()
	for _, m := range r.host.Rx() {
		r.host.Drop(m)
		received++
	}
	r.host.Exchange()
	return received
}

// A turn allocates nothing: neither out nor in, at whatever size.
func TestTurnsDoNotAllocate(t *testing.T) {
	for _, size := range []int{64, 1420, 8000} {
		for _, esn := range []bool{false, true} {
			for _, profile := range []string{"", "crypto"} {
				t.Run(fmt.Sprintf("%dB esn=%v %s", size, esn, profile), func(t *testing.T) { turnsDoNotAllocate(t, size, esn, profile) })
			}
		}
	}
}

func turnsDoNotAllocate(t *testing.T, size int, esn bool, profile string) {
	r := newTurnerOn(t, profile, turnState(t, sa.DirOut, esn))
	peer := newTurnerOn(t, profile, turnState(t, sa.DirIn, esn))
	if profile != "" {
		require.NotNil(t, r.w.gateway.sessions[0].Load().place.inline.Load())
		require.NotNil(t, peer.w.gateway.sessions[0].Load().place.inline.Load())
	}
	var sealed, crossed, opened, arrived int
	turn := func() {
		r.burst(t, 32, size)
		sealed += r.w.turnOf(r.out)
		r.w.turnOf(r.out) // sends what the turn before made
		r.w.finishTurn(32)
		r.network.Exchange()
		for _, m := range r.network.Rx() {
			copyTo(t, peer.network, peer.pool, m)
			r.network.Drop(m)
			crossed++
		}
		r.network.Exchange()
		peer.network.Exchange()
		opened += peer.w.turnOf(peer.in)
		peer.w.turnOf(peer.in)
		peer.w.finishTurn(32)
		arrived += peer.collect()
	}
	require.Zero(t, testing.AllocsPerRun(50, turn))
	all := 51 * 32
	require.Equal(t, []int{all, all, all, all}, []int{sealed, crossed, opened, arrived}, "every packet goes all the way: %v", peer.w.gateway.Stats().Drops)
}

func copyTo(t testing.TB, l *pmd.Lane, pool *pmd.Pool, from *pmd.Mbuf) {
	m := pool.Alloc()
	require.NotNil(t, m)
	start := m.Start()
	n := copy(m.Buffer()[start:], from.Data())
	m.SetBounds(start, start+n)
	require.True(t, l.Send(m))
}

// BenchmarkTurnOut measures the outbound lane alone, in ns/packet: receive over a
// ring, classify, frame, seal, send over a ring. Making the packets is not part
// of it (ns/op has it).
func BenchmarkTurnOut(b *testing.B) {
	for _, size := range []int{64, 256, 1420, 8000} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			r := newTurner(b, turnState(b, sa.DirOut, false))
			var spent time.Duration
			for b.Loop() {
				r.burst(b, 32, size)
				start := time.Now()
				r.w.turnOf(r.out)
				r.w.turnOf(r.out)
				r.w.finishTurn(32)
				spent += time.Since(start)
				r.network.Exchange()
				for _, m := range r.network.Rx() {
					r.network.Drop(m)
				}
				r.network.Exchange()
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N)/32, "ns/packet")
		})
	}
}
