package pmd_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

func TestFindPort(t *testing.T) {
	name := pmdtest.Name("net_null")
	_, err := pmd.FindPort(name)
	require.ErrorIs(t, err, pmd.ErrNoPort)
	require.ErrorContains(t, err, "there is none: name a device with -a or --vdev")

	port, err := pmd.CreateVdev(name, "size=128")
	require.NoError(t, err)
	defer port.Close()
	byName, err := pmd.FindPort(name)
	require.NoError(t, err)
	require.Same(t, port, byName)
	byNumber, err := pmd.FindPort(fmt.Sprint(port.ID()))
	require.NoError(t, err)
	require.Same(t, port, byNumber)
	_, err = pmd.FindPort("0000:01:00.0")
	require.ErrorContains(t, err, fmt.Sprintf(`no such port "0000:01:00.0"; there are: %d %s`, port.ID(), name))
	_, err = pmd.CreateVdev(name, "")
	require.Error(t, err, "the name is taken")

	info := port.Info()
	require.Equal(t, name, info.Device)
	require.Equal(t, "net_null", info.Driver)
	require.Equal(t, "size=128", info.Args)
	require.Len(t, info.MAC, 6)
	require.Positive(t, info.MaxRxQueues)
	require.Contains(t, fmt.Sprint(pmd.Ports()), name)

	require.NoError(t, pmd.RemoveVdev(name))
	require.NoError(t, port.Close(), "closing twice")
	_, err = pmd.FindPort(name)
	require.ErrorIs(t, err, pmd.ErrNoPort)
	require.ErrorIs(t, pmd.RemoveVdev(name), pmd.ErrNoPort)
	require.ErrorIs(t, port.Start(), pmd.ErrPortClosed)
	require.Equal(t, pmd.PortInfo{ID: port.ID(), Device: name}, port.Info())
}

func TestConfigureMasksWhatThePortHasNot(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b, err := pmd.NewRingPairQueues(pmdtest.Name("pair"), 2, 64)
	require.NoError(t, err)
	defer a.Close()
	defer b.Close()
	applied, err := a.Configure(pmd.PortConfig{
		RxQueues: 2, TxQueues: 2, Pool: pool, RSS: true,
		RxOffloads: pmd.RxIPv4Checksum | pmd.RxScatter | pmd.RxVLANStrip,
		TxOffloads: pmd.TxIPv4Checksum | pmd.TxMultiSegments | pmd.TxSecurity,
		MTU:        1400,
	})
	require.NoError(t, err)
	require.Equal(t, []string{
		"receive offload VLAN_STRIP", "receive offload IPV4_CKSUM",
		"transmit offload IPV4_CKSUM", "transmit offload SECURITY", "RSS", "MTU",
	}, applied.Masked)
	require.Equal(t, pmd.RxScatter, applied.RxOffloads)
	require.Equal(t, pmd.TxMultiSegments, applied.TxOffloads)
	require.Equal(t, 1400, applied.MTU)
	require.Positive(t, applied.RxDesc)
	require.Same(t, pool, a.Pool())
}

// TestRSS: of the wanted hash types a port gets exactly those it has, as DPDK
// refuses any other.
func TestRSS(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	port, err := pmd.CreateVdev(pmdtest.Name("net_null"), "")
	require.NoError(t, err)
	defer port.Close()
	require.Equal(t, []string{"ip", "tcp", "udp"}, port.Info().RSS)
	applied, err := port.Configure(pmd.PortConfig{RxQueues: 2, TxQueues: 2, Pool: pool, RSS: true})
	require.NoError(t, err)
	require.Equal(t, []string{"ip", "tcp", "udp"}, applied.RSS)
	require.Empty(t, applied.Masked)
	applied, err = port.Configure(pmd.PortConfig{Pool: pool, RSS: true})
	require.NoError(t, err)
	require.Empty(t, applied.RSS, "one queue needs none")
	require.Empty(t, applied.Masked)
}

func TestConfigureErrors(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	small := pmdtest.NewPoolConfig(t, pmd.PoolConfig{Mbufs: 63, DataRoom: 1024})
	a, b, err := pmd.NewRingPair(pmdtest.Name("pair"), 64)
	require.NoError(t, err)
	defer a.Close()
	defer b.Close()
	tests := []struct {
		cfg  pmd.PortConfig
		want string
	}{
		{pmd.PortConfig{}, "no pool"},
		{pmd.PortConfig{Pool: pool, RxQueues: 2}, "2 receive queues, it has 1"},
		{pmd.PortConfig{Pool: pool, TxQueues: -1}, "-1 transmit queues"},
		{pmd.PortConfig{Pool: pool, RxDesc: 70000}, "70000 and 1024 descriptors"},
		{pmd.PortConfig{Pool: pool, MTU: 20}, "MTU of 20 octets"},
		{pmd.PortConfig{Pool: small}, "buffers of 1024 octets (pool " + small.Name() + ") for an MTU of 1500, which needs 1526"},
		{pmd.PortConfig{Pool: pool, MTU: 2100}, "which needs 2126"},
	}
	for _, test := range tests {
		_, err := a.Configure(test.cfg)
		require.ErrorIs(t, err, pmd.ErrConfig, "%s", test.want)
		require.ErrorContains(t, err, test.want)
		require.ErrorContains(t, err, a.String())
	}
	_, err = pmd.NewLane(pmd.LaneConfig{RxPort: a, TxPort: b})
	require.ErrorIs(t, err, pmd.ErrConfig, "a port that is not configured has no queues")
}

func TestMTU(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, _ := pmdtest.RingPair(t, pool)
	require.ErrorIs(t, a.SetMTU(1400), pmd.ErrNotSupported)
	require.ErrorIs(t, a.SetMTU(10), pmd.ErrConfig)

	jumbo := pmdtest.NewPoolConfig(t, pmd.PoolConfig{Mbufs: 255, DataRoom: 9216})
	port, err := pmd.CreateVdev(pmdtest.Name("net_null"), "")
	require.NoError(t, err)
	defer port.Close()
	applied, err := port.Configure(pmd.PortConfig{Pool: jumbo, MTU: 9000})
	require.NoError(t, err)
	require.Equal(t, 9000, applied.MTU)
	require.Empty(t, applied.Masked)
	require.NoError(t, port.SetMTU(1300))
	mtu, err := port.MTU()
	require.NoError(t, err)
	require.Equal(t, 1300, mtu)
	require.Equal(t, 1300, port.Info().MTU)

	lo, err := pmd.KernelMTU("lo")
	require.NoError(t, err)
	require.Positive(t, lo)
	_, err = pmd.KernelMTU("nowhere0")
	require.ErrorContains(t, err, "nowhere0")
}

func TestStatsAndLink(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b := pmdtest.RingPair(t, pool)
	pmdtest.Inject(t, a, frames(20)...)
	require.Len(t, pmdtest.Collect(t, b, 20, time.Second), 20)

	sent, err := a.Stats()
	require.NoError(t, err)
	got, err := b.Stats()
	require.NoError(t, err)
	require.Equal(t, pmd.Stats{TxPackets: 20}, sent)
	require.Equal(t, pmd.Stats{RxPackets: 20}, got)
	x, err := b.XStats()
	require.NoError(t, err)
	require.Contains(t, x, pmd.XStat{Name: "rx_good_packets", Value: 20})
	require.NoError(t, b.ResetStats())
	got, err = b.Stats()
	require.NoError(t, err)
	require.Zero(t, got)

	link, err := a.Link()
	require.NoError(t, err)
	require.Equal(t, pmd.Link{Up: true, SpeedMbps: 10000, FullDuplex: true}, link)
	require.NoError(t, a.SetLink(false))
	link, err = a.Link()
	require.NoError(t, err)
	require.False(t, link.Up)
	require.NoError(t, a.SetPromiscuous(true))

	require.True(t, a.Started())
	require.NoError(t, a.Stop())
	require.False(t, a.Started())
	require.NoError(t, a.Start())
}

// TestQueuesOfARingPair: queue n of one port is joined to queue n of the other.
func TestQueuesOfARingPair(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b := pmdtest.RingPairQueues(t, pool, 3, 64)
	for q := range 3 {
		out := newLane(t, pmd.LaneConfig{TxPort: a, TxQueue: q})
		in := newLane(t, pmd.LaneConfig{RxPort: b, RxQueue: q})
		out.Send(pmdtest.NewMbuf(t, pool, []byte{byte(q), 1, 2, 3}))
		out.Exchange()
		in.Exchange()
		require.Len(t, in.Rx(), 1)
		require.Equal(t, []byte{byte(q), 1, 2, 3}, in.Rx()[0].Data())
		in.Drop(in.Rx()[0])
		in.Exchange()
	}
	_, _, err := pmd.NewRingPairQueues("many", 17, 64)
	require.ErrorIs(t, err, pmd.ErrConfig)
	_, _, err = pmd.NewRingPair("a-name-that-is-much-too-long-for-a-ring", 64)
	require.Error(t, err)
	require.NotContains(t, fmt.Sprint(pmd.Leaks()), "a-name")
}

// TestClosingAPairReturnsItsPackets: what nobody received goes back to the pool.
func TestClosingAPairReturnsItsPackets(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b := pmdtest.RingPair(t, pool)
	pmdtest.Inject(t, a, frames(10)...)
	require.Equal(t, 10, pool.InUse())
	err := pool.Close()
	require.ErrorIs(t, err, pmd.ErrPoolInUse)
	require.ErrorContains(t, err, "10 of 511")
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	require.Zero(t, pool.InUse())
}

func TestLeaksNamesWhatIsOpen(t *testing.T) {
	before := len(pmd.Leaks())
	pool, err := pmd.NewPool(pmd.PoolConfig{Name: "forgotten", Mbufs: 63})
	require.NoError(t, err)
	require.Equal(t, "pool forgotten", pmd.Leaks()[before])
	require.NoError(t, pool.Close())
	require.NoError(t, pool.Close())
	require.Len(t, pmd.Leaks(), before)
}
