package pmd_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

func TestPoolGivesAllItsBuffers(t *testing.T) {
	pool := pmdtest.NewPoolConfig(t, pmd.PoolConfig{Mbufs: 100, DataRoom: 3000})
	require.Equal(t, 3000, pool.DataRoom())
	require.Equal(t, 100, pool.Mbufs())
	var out []*pmd.Mbuf
	for range 100 {
		m := pool.Alloc()
		require.NotNil(t, m)
		require.Equal(t, pmd.Headroom, m.Start())
		require.Zero(t, m.Len())
		require.Len(t, m.Buffer(), pmd.Headroom+3000)
		out = append(out, m)
	}
	require.Nil(t, pool.Alloc(), "all are out")
	require.Equal(t, 100, pool.InUse())
	for _, m := range out {
		m.Free()
	}
	require.Zero(t, pool.InUse())
}

func TestPoolErrors(t *testing.T) {
	tests := []struct {
		cfg  pmd.PoolConfig
		want string
	}{
		{pmd.PoolConfig{}, "1 to 25 characters"},
		{pmd.PoolConfig{Name: "a name of twenty-six chars"}, "1 to 25 characters"},
		{pmd.PoolConfig{Name: "x", Mbufs: -1}, "-1 buffers"},
		{pmd.PoolConfig{Name: "x", Mbufs: 100, Cache: 80}, "cache of 80, at most 66"},
		{pmd.PoolConfig{Name: "x", Cache: 600}, "cache of 600, at most 512"},
		{pmd.PoolConfig{Name: "x", DataRoom: 65408}, "data room of 65408 octets, 64 to 65407"},
		{pmd.PoolConfig{Name: "x", DataRoom: 10}, "data room of 10"},
	}
	for _, test := range tests {
		_, err := pmd.NewPool(test.cfg)
		require.ErrorIs(t, err, pmd.ErrConfig, "%s", test.want)
		require.ErrorContains(t, err, test.want)
	}

	_, err := pmd.NewPool(pmd.PoolConfig{Name: "huge", Mbufs: 1 << 18, Socket: pmd.SocketAny})
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.ErrorContains(t, err, `creating pool "huge" of 262144 buffers with 2048 octets each (592 MiB) on any NUMA node: cannot allocate memory`)

	pool := pmdtest.NewPoolConfig(t, pmd.PoolConfig{Name: "twice", Mbufs: 63, Cache: -1})
	_, err = pmd.NewPool(pmd.PoolConfig{Name: pool.Name(), Mbufs: 63})
	require.ErrorIs(t, err, syscall.EEXIST)
}

// TestPoolWithTheLongestName: the longest name that is accepted also works.
func TestPoolWithTheLongestName(t *testing.T) {
	pmdtest.NewPoolConfig(t, pmd.PoolConfig{Name: "abcdefghijklmnopqrstuvwxy", Mbufs: 63})
}
