package contract_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu"
	"espgw/pmd/emu/probe"
	"espgw/pmd/pmdtest"
)

func TestEmulation(t *testing.T) { runRows(t, &emulation{}) }

// emulation is an emulated 82599 on one of two ports that rings join; each row has its
// own.
type emulation struct {
	near, far *pmd.Port
}

func (e *emulation) ready(t *testing.T, s setup) port {
	t.Helper()
	options := "ixgbe"
	if s.scalar {
		options += ",rx-path=scalar"
	}
	if s.tagMatters && !s.skipTag {
		t.Skip("the emulated NIC leaves tagged frames alone")
	}
	o, err := emu.ParseOptions(options)
	require.NoError(t, err)
	p := port{pool: pmdtest.NewPool(t, 8191)}
	p.Port, e.far, err = pmd.NewRingPair(pmdtest.Name("contract"), 4096)
	require.NoError(t, err)
	e.near = p.Port
	nic, err := emu.Attach(p.Port, o)
	require.NoError(t, err)
	p.raw, err = probe.New(p.Port, nic, pmdtest.Name("probe"), 1200)
	require.NoError(t, err)
	t.Cleanup(p.raw.Close)
	t.Cleanup(func() { require.NoError(t, nic.Close()) })
	pmdtest.Start(t, e.far, pmd.PortConfig{Pool: p.pool})
	pmdtest.Start(t, p.Port, config(p.pool))
	return p
}

func (e *emulation) put(t *testing.T, frames ...[]byte) {
	t.Helper()
	pmdtest.Inject(t, e.far, frames...)
}

func (e *emulation) take(t *testing.T, n int) [][]byte {
	t.Helper()
	return pmdtest.Collect(t, e.far, n, 300*time.Millisecond)
}

func (e *emulation) link(t *testing.T, up bool) {
	t.Helper()
	require.NoError(t, e.near.SetLink(up))
}

// config is how ports under test are set up.
func config(pool *pmd.Pool) pmd.PortConfig {
	return pmd.PortConfig{
		Pool: pool, RxOffloads: pmd.RxSecurity, TxOffloads: pmd.TxSecurity | pmd.TxIPv4Checksum,
	}
}
