package pmd

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The frame lengths are what DPDK 22.11.11 prints when a buffer is too small
// for one ("16352 bytes will not fit in mbuf").
func TestAfPacketPort(t *testing.T) {
	for _, row := range []struct {
		args            string
		room, max, told int
	}{
		{"iface=lan", 2016, 1998, 1500},
		{"iface=lan,framesz=16384,blocksz=65536", 16352, 16334, 1500},
		{"framesz=x,iface=lan", 2016, 1998, 1500},
	} {
		info := PortInfo{Driver: "net_af_packet", Args: row.args, MaxFrame: 1518, KernelInterface: "lan"}
		info.describe()
		require.Equal(t, row.room, info.MinDataRoom, row.args)
		require.Equal(t, row.max, info.MaxMTU, row.args)
		require.Equal(t, row.told, deviceMTU(info, row.max), row.args)
		require.True(t, info.UnmarkedChecksums)
	}
}

func TestDeviceMTU(t *testing.T) {
	require.Equal(t, 9000, deviceMTU(PortInfo{Driver: "net_ixgbe", MaxFrame: 15872}, 9000))
	require.Equal(t, 1400, deviceMTU(PortInfo{Driver: "net_memif", MaxFrame: 1518}, 1400))
	require.Equal(t, 1500, deviceMTU(PortInfo{Driver: "net_memif", MaxFrame: 1518}, 1600))
}
