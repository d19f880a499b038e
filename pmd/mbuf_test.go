package pmd_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// TestBoundsReachTheWire: what SetBounds says is what the next port gets.
func TestBoundsReachTheWire(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b := pmdtest.RingPair(t, pool)
	lane := newLane(t, pmd.LaneConfig{TxPort: a})
	m := pmdtest.NewMbuf(t, pool, []byte("0123456789"))
	require.Equal(t, pmd.Headroom, m.Start())
	require.Equal(t, 10, m.Len())
	require.Equal(t, 1, m.Segments())
	require.Nil(t, m.Next())
	buffer := m.Buffer()
	copy(buffer[m.Start()-3:], "abc") // into the headroom
	m.SetBounds(m.Start()-3, m.Start()+5)
	require.Equal(t, 8, m.Len())
	require.Equal(t, "abc01234", string(m.Data()))
	lane.Send(m)
	lane.Exchange()
	require.Equal(t, [][]byte{[]byte("abc01234")}, pmdtest.Collect(t, b, 1, time.Second))
}

// TestSegments: a frame that does not fit into one buffer comes as several.
func TestSegments(t *testing.T) {
	frame := frames(1)[0]
	for len(frame) < 9000 {
		frame = append(frame, byte(len(frame)), byte(len(frame)>>8))
	}
	pool := pmdtest.NewPool(t, 511)
	port := pmdtest.Vdev(t, pool, pmdtest.Name("net_pcap"),
		"rx_pcap="+pmdtest.WritePcap(t, frame)+",tx_pcap="+t.TempDir()+"/out.pcap")
	lane := newLane(t, pmd.LaneConfig{RxPort: port})
	lane.Exchange()
	require.Len(t, lane.Rx(), 1)
	m := lane.Rx()[0]
	require.Equal(t, 5, m.Segments())
	require.Equal(t, 9000, m.Len())
	require.Less(t, len(m.Data()), 9000)
	require.NotNil(t, m.Next())
	require.Equal(t, frame, m.AppendTo(nil))
	require.Equal(t, uint64(9000), lane.Counters().RxBytes)
	require.Equal(t, port.ID(), m.Port())
	lane.Drop(m)
	lane.Exchange()
	require.Zero(t, pool.InUse(), "all segments are back")
}

func TestFlags(t *testing.T) {
	pool := pmdtest.NewPool(t, 63)
	m := pool.Alloc()
	defer m.Free()
	require.Zero(t, m.Flags())
	require.False(t, m.ChecksumUnfinished())
	_, stripped := m.VLAN()
	require.False(t, stripped)
	_, stripped = m.OuterVLAN()
	require.False(t, stripped)
	require.Zero(t, m.RSSHash())
	m.RequestIPv4Checksum(14, 20)
	require.Equal(t, pmd.FlagTxIPv4|pmd.FlagTxIPChecksum, m.Flags())
	m.ClearTx()
	require.Zero(t, m.Flags())
}

// TestPathAllocatesNothing: a turn and all that is done to its packets.
func TestPathAllocatesNothing(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	left, right := pmdtest.RingPair(t, pool)
	pmdtest.Inject(t, right, frames(32)...)
	lane := newLane(t, pmd.LaneConfig{RxPort: left, TxPort: right})
	packets := 0
	allocs := testing.AllocsPerRun(1000, func() {
		lane.Exchange()
		for _, m := range lane.Rx() {
			m.ClearTx()
			buffer := m.Buffer()
			m.SetBounds(m.Start(), m.Start()+min(m.Len(), len(buffer)))
			if m.Segments() != 1 || m.ChecksumUnfinished() || !lane.Send(m) {
				lane.Drop(m)
			}
			packets++
		}
		_ = lane.Held()
		_ = lane.Now()
	})
	require.Zero(t, allocs)
	require.Greater(t, packets, 10000)
}
