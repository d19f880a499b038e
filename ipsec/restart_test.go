package ipsec_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
)

// A port that is stopped and started, or reset, has its SAs back before it sends.
func TestRestartPort(t *testing.T) {
	for _, profile := range []string{"ixgbe", "crypto", ""} {
		t.Run("profile "+profile, func(t *testing.T) {
			a := newRig(t, classicA, emulate(profile))
			b := newRig(t, classicB, lcore(2))
			exchange := func() {
				t.Helper()
				for _, way := range []struct {
					from, to *rig
					src, dst string
				}{{a, b, hostA, hostB}, {b, a, hostB, hostA}} {
					plain := tcpFrames(way.src, way.dst, 30, 200)
					require.Equal(t, plain, way.to.inbound(way.from.outbound(plain...)...))
				}
			}
			engine := "inline"
			if profile == "" {
				engine = "go"
			}
			exchange()
			require.NoError(t, a.gateway.StopPort("eth4"))
			require.ErrorIs(t, a.gateway.StopPort("eth4"), ipsec.ErrPortState)
			require.Empty(t, a.outbound(tcpFrames(hostA, hostB, 7, 10)...))
			require.Equal(t, map[string]uint64{"tx_port_restarting": 7}, a.drops())
			engines, _ := a.engines()
			require.Equal(t, map[string]string{"out 0x7": "go", "in 0x7": "go"}, engines)
			require.NoError(t, a.gateway.StartPort("eth4"))
			require.ErrorIs(t, a.gateway.StartPort("eth4"), ipsec.ErrPortState)
			engines, reasons := a.engines()
			require.Equal(t, map[string]string{"out 0x7": engine, "in 0x7": engine}, engines, "%v", reasons)
			exchange()
			if profile != "" {
				require.NoError(t, a.gateway.ResetPort(strconv.Itoa(a.wan.ID())))
			}
			exchange()
			require.Equal(t, map[string]uint64{"tx_port_restarting": 7}, a.drops())
			require.Empty(t, b.drops())
			require.ErrorIs(t, a.gateway.StopPort("eth9"), ipsec.ErrNoPort)
		})
	}
}

// SAs come and go while the port is stopped.
func TestChangesWhileStopped(t *testing.T) {
	r := newRig(t, many(1000, 3), emulate("ixgbe"))
	require.NoError(t, r.gateway.StopPort("eth4"))
	require.NoError(t, r.run("ip x s delete src "+hostA+" dst "+hostB+" proto esp spi 1001\n"+many(1003, 1)))
	require.NoError(t, r.gateway.StartPort("eth4"))
	require.Eventually(t, func() bool { return r.offloads().EgressUsed == 3 && r.offloads().Waiting == 0 }, 5*time.Second, 10*time.Millisecond)
	for _, port := range []int{1000, 1002, 1003} {
		r.sealed(port)
	}
	require.EqualValues(t, 3, r.nic.Counters()["tx_encrypted"])
	require.Empty(t, r.outbound(frameTo(1001)))
	require.Equal(t, map[string]uint64{"out_no_state": 1}, r.drops())
}

// The device asks for a reset by itself.
func TestDeviceAsksForReset(t *testing.T) {
	r := newRig(t, classicA, emulate("ixgbe"))
	require.NoError(t, r.nic.SetFault("reset:10"))
	for range 20 {
		r.outbound(tcpFrames(hostA, hostB, 5, 100)...)
		time.Sleep(20 * time.Millisecond)
	}
	require.Eventually(t, func() bool {
		engine, _ := r.engines()
		return engine["out 0x7"] == "inline"
	}, 5*time.Second, 10*time.Millisecond)
	require.NoError(t, r.nic.SetFault("none"))
	for _, frame := range r.outbound(tcpFrames(hostA, hostB, 5, 100)...) {
		openESP(t, frame[34:], classicKey, nil)
	}
}

// The device is pulled out: nothing is sent or received by it any more, the SAs are
// software's, and the gateway stops in order.
func TestDeviceGone(t *testing.T) {
	r := newRig(t, classicA, emulate("ixgbe"))
	require.Len(t, r.outbound(tcpFrames(hostA, hostB, 5, 100)...), 5)
	require.NoError(t, r.nic.SetFault("gone"))
	require.Eventually(t, func() bool {
		engine, _ := r.engines()
		return engine["out 0x7"] == "go"
	}, 5*time.Second, 10*time.Millisecond)
	require.Empty(t, r.outbound(tcpFrames(hostA, hostB, 5, 100)...))
	require.Equal(t, map[string]uint64{"tx_link_down": 5}, r.drops())
	require.ErrorIs(t, r.gateway.StartPort("eth4"), ipsec.ErrPortState)
}
