package pmd_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu"
	"espgw/pmd/pmdtest"
)

// inlinePort is a started port with an emulated NIC, and the other end of its rings.
func inlinePort(t *testing.T, profile string) (near, far *pmd.Port, nic *emu.NIC) {
	t.Helper()
	options, err := emu.ParseOptions(profile)
	require.NoError(t, err)
	pool := pmdtest.NewPool(t, 1023)
	near, far, err = pmd.NewRingPairQueues(pmdtest.Name("sec"), 1, 256)
	require.NoError(t, err)
	nic, err = emu.Attach(near, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, nic.Close()) })
	pmdtest.Start(t, far, pmd.PortConfig{Pool: pool})
	_, err = near.Security(4)
	require.ErrorIs(t, err, pmd.ErrConfig, "not configured yet")
	pmdtest.Start(t, near, pmd.PortConfig{Pool: pool, RxOffloads: pmd.RxSecurity, TxOffloads: pmd.TxSecurity | pmd.TxIPv4Checksum})
	return near, far, nic
}

func sessionConf(spi uint32, change ...func(*pmd.SessionConf)) pmd.SessionConf {
	c := pmd.SessionConf{
		Action: pmd.InlineCrypto, Egress: true, SPI: spi, Algorithm: pmd.AEADAESGCM,
		Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"),
		Key: []byte("0123456789abcdef"), Salt: []byte("salt"), ICVLen: 16,
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func TestSecurityContext(t *testing.T) {
	near, far, _ := inlinePort(t, "crypto")
	s, err := near.Security(2)
	require.NoError(t, err)
	again, err := near.Security(9)
	require.NoError(t, err)
	require.Same(t, s, again)
	require.Zero(t, s.ContextFlags())
	_, err = far.Security(2)
	require.ErrorIs(t, err, pmd.ErrNotSupported, "its driver has none")
	require.Equal(t, "net_emu_crypto", near.Info().Emulates)
	require.NotZero(t, near.Info().TxOffloads&pmd.TxSecurity)
	require.Zero(t, far.Info().TxOffloads&pmd.TxSecurity)

	one, err := s.Open(sessionConf(1))
	require.NoError(t, err)
	require.False(t, pmd.HoldsKey(one), "the device has it: wiped")
	two, err := s.Open(sessionConf(2, func(c *pmd.SessionConf) { c.Egress = false }))
	require.NoError(t, err)
	require.False(t, pmd.HoldsKey(two), "its rule has it: wiped")
	_, err = s.Open(sessionConf(3))
	require.ErrorIs(t, err, pmd.ErrConfig, "two are the capacity")
	require.ErrorIs(t, near.Stop(), pmd.ErrConfig, "sessions are open")
	require.NoError(t, one.Close())
	require.NoError(t, one.Close())
	_, err = one.Stats()
	require.ErrorIs(t, err, pmd.ErrPortClosed)
	require.NoError(t, two.Close())
	open, lost := s.Sessions()
	require.Zero(t, open+lost)
	require.NoError(t, near.Stop())
	require.NoError(t, near.Start())
	_, err = s.Open(sessionConf(4))
	require.NoError(t, err)
	// It is left to the port's Close.
}

func TestSessionSettings(t *testing.T) {
	near, _, _ := inlinePort(t, "crypto")
	s, err := near.Security(2)
	require.NoError(t, err)
	for name, change := range map[string]func(*pmd.SessionConf){
		"action":   func(c *pmd.SessionConf) { c.Action = pmd.ActionOther },
		"key":      func(c *pmd.SessionConf) { c.Key = c.Key[:15] },
		"salt":     func(c *pmd.SessionConf) { c.Salt = nil },
		"SPI":      func(c *pmd.SessionConf) { c.SPI = 0 },
		"families": func(c *pmd.SessionConf) { c.Dst = netip.MustParseAddr("2001:db8::1") },
		"address":  func(c *pmd.SessionConf) { c.Src = netip.Addr{} },
		"cipher":   func(c *pmd.SessionConf) { c.Algorithm = pmd.AEADOther },
		"ChaCha":   func(c *pmd.SessionConf) { c.Algorithm = pmd.AEADChaCha20Poly1305 },
	} {
		_, err := s.Open(sessionConf(1, change))
		require.ErrorIs(t, err, pmd.ErrConfig, name)
		require.NotContains(t, err.Error(), "0123456789abcdef")
	}
}

func TestResetGivesAnotherContext(t *testing.T) {
	near, _, nic := inlinePort(t, "crypto")
	s, err := near.Security(2)
	require.NoError(t, err)
	session, err := s.Open(sessionConf(1))
	require.NoError(t, err)
	require.NoError(t, session.Close())
	require.NoError(t, near.Stop())
	require.NoError(t, near.Reset())
	require.NoError(t, near.Start())
	_, err = s.Open(sessionConf(2))
	require.NoError(t, err)
	require.Empty(t, nic.Breaches())
}

func TestPausedLane(t *testing.T) {
	pool := pmdtest.NewPool(t, 511)
	a, b := pmdtest.RingPair(t, pool)
	lane, err := pmd.NewLane(pmd.LaneConfig{RxPort: a, TxPort: a})
	require.NoError(t, err)
	defer lane.Close()
	frame := make([]byte, 60)
	lane.PauseTx(true)
	lane.PauseRx(true)
	require.True(t, lane.Send(pmdtest.NewMbuf(t, pool, frame)))
	pmdtest.Inject(t, b, frame)
	lane.Exchange()
	require.Zero(t, lane.Held())
	require.Empty(t, lane.Rx())
	require.EqualValues(t, 1, lane.Counters().TxGivenUp)
	require.EqualValues(t, 1, lane.Unsent())
	require.Empty(t, pmdtest.Collect(t, b, 1, 10*time.Millisecond))
	lane.PauseTx(false)
	lane.PauseRx(false)
	require.True(t, lane.Send(pmdtest.NewMbuf(t, pool, frame)))
	lane.Exchange()
	require.Len(t, lane.Rx(), 1, "it waited in the ring")
	lane.Drop(lane.Rx()[0])
	lane.Exchange()
	require.Len(t, pmdtest.Collect(t, b, 1, time.Second), 1)
}

func TestEventsWaitUntilTheyAreTaken(t *testing.T) {
	near, _, nic := inlinePort(t, "crypto")
	list, lost := near.Events()
	require.Empty(t, list)
	require.Zero(t, lost)
	require.NoError(t, near.Watch())
	require.NoError(t, near.Watch())
	for range 70 {
		require.NoError(t, nic.SetFault("gone"))
	}
	list, lost = near.Events()
	require.Len(t, list, 64)
	require.EqualValues(t, 6, lost)
	require.Equal(t, pmd.Event{Kind: pmd.EventRemoved}, list[0])
	list, lost = near.Events()
	require.Empty(t, list)
	require.EqualValues(t, 6, lost)
}

func TestPCIDevice(t *testing.T) {
	for text, want := range map[string]uint32{
		"vendor_id=8086, device_id=10fb": 0x10fb, "vendor_id=0x15b3, device_id=0x101d": 0x101d, "": 0, "auxiliary": 0,
		"device_id=123456": 0,
	} {
		require.Equal(t, want, pmd.PCIDevice(text), text)
	}
}
