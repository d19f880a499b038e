package pmdtest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

var names atomic.Int64

// Name makes a name that is unique in the process, for pools and devices.
func Name(prefix string) string { return fmt.Sprintf("%s%d", prefix, names.Add(1)) }

// NewPool makes a pool of that many buffers, 2048 octets each. When the test ends
// all of them must be back, and the pool is closed.
func NewPool(t testing.TB, mbufs int) *pmd.Pool {
	return NewPoolConfig(t, pmd.PoolConfig{Mbufs: mbufs})
}

// NewPoolConfig is NewPool with all settings; the name may be empty.
func NewPoolConfig(t testing.TB, cfg pmd.PoolConfig) *pmd.Pool {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = Name("pool")
	}
	pool, err := pmd.NewPool(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		NoLeaks(t, pool)
		require.NoError(t, pool.Close())
	})
	return pool
}

// RingPair makes two started ports that are joined by rings of 1024 packets, with
// one queue each. They are closed when the test ends.
func RingPair(t testing.TB, pool *pmd.Pool) (a, b *pmd.Port) {
	return RingPairQueues(t, pool, 1, 1024)
}

// RingPairQueues is RingPair with that many queues, and packets per ring.
func RingPairQueues(t testing.TB, pool *pmd.Pool, queues, size int) (a, b *pmd.Port) {
	t.Helper()
	a, b, err := pmd.NewRingPairQueues(Name("pair"), queues, size)
	require.NoError(t, err)
	Start(t, a, pmd.PortConfig{RxQueues: queues, TxQueues: queues, Pool: pool})
	Start(t, b, pmd.PortConfig{RxQueues: queues, TxQueues: queues, Pool: pool})
	return a, b
}

// Vdev creates a virtual device with one queue each way and starts it; it is
// closed when the test ends.
func Vdev(t testing.TB, pool *pmd.Pool, name, args string) *pmd.Port {
	t.Helper()
	port, err := pmd.CreateVdev(name, args)
	require.NoError(t, err)
	Start(t, port, pmd.PortConfig{Pool: pool})
	return port
}

// Start configures and starts a port, promiscuous where it can; it is closed when
// the test ends.
func Start(t testing.TB, port *pmd.Port, cfg pmd.PortConfig) {
	t.Helper()
	t.Cleanup(func() { require.NoError(t, port.Close()) })
	_, err := port.Configure(cfg)
	require.NoError(t, err)
	require.NoError(t, port.Start())
}

// NoLeaks fails the test unless all buffers of the pools are back in them.
func NoLeaks(t testing.TB, pools ...*pmd.Pool) {
	t.Helper()
	for _, pool := range pools {
		if n := pool.InUse(); n != 0 {
			t.Errorf("pool %s: %d of %d buffers did not come back", pool.Name(), n, pool.Mbufs())
		}
	}
}
