package pmd

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMaskKeepsPartsOfAHashType: a port that hashes IPv4 but not IPv6 is asked for
// IPv4 alone.
func TestMaskKeepsPartsOfAHashType(t *testing.T) {
	const ipv4, other = 1 << 2, 1 << 40 // RTE_ETH_RSS_IPV4, and one that is never asked for
	cfg := PortConfig{RxQueues: 2, RSS: true}
	a := cfg.mask(PortInfo{rss: ipv4 | other})
	require.Equal(t, uint64(ipv4), a.rss)
	require.Equal(t, []string{"ip"}, a.RSS)
	require.Empty(t, a.Masked)
	a = cfg.mask(PortInfo{rss: other})
	require.Zero(t, a.rss)
	require.Equal(t, []string{"RSS"}, a.Masked)
}
