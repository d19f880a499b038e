package ipsec_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
)

// Packet offload: SAs with keys of their own, as it demands.
const (
	packetKeyAB = "00112233445566778899aabbccddeeff01020304"
	packetKeyBA = "ffeeddccbbaa9988776655443322110004030201"
)

// packetConfig is one side's configuration; swapped is host B's.
func packetConfig(swapped bool, extra string) string {
	out, in, keyOut, keyIn := "out", "in", packetKeyAB, packetKeyBA
	own, peer := hostA, hostB
	spiOut, spiIn := 0x7001, 0x7002
	if swapped {
		own, peer, keyOut, keyIn, spiOut, spiIn = peer, own, keyIn, keyOut, spiIn, spiOut
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ip x p add dir out src %s dst %s tmpl proto esp reqid 7 mode transport\n", own, peer)
	fmt.Fprintf(&b, "ip x p add dir in src %s dst %s tmpl proto esp reqid 7 mode transport\n", peer, own)
	sa := "ip x s add src %s dst %s proto esp spi %d reqid 7 mode transport replay-window 64 %s aead 'rfc4106(gcm(aes))' 0x%s 128 offload packet dev eth4 dir %s\n"
	fmt.Fprintf(&b, sa, own, peer, spiOut, extra, keyOut, out)
	fmt.Fprintf(&b, sa, peer, own, spiIn, extra, keyIn, in)
	return b.String()
}

// sequences are those of sealed frames of an SA.
func sequences(t *testing.T, frames [][]byte, key string) (list []uint32) {
	t.Helper()
	for _, f := range frames {
		_, _, seq, _ := openESP(t, f[34:], key, nil)
		list = append(list, seq)
	}
	return list
}

func TestPacketOffload(t *testing.T) {
	for name, extra := range map[string]string{"no limits": "", "limits": "limit packet-hard 1000000"} {
		t.Run(name, func(t *testing.T) { packetOffload(t, extra) })
	}
}

func packetOffload(t *testing.T, extra string) {
	a := newRig(t, packetConfig(false, extra), emulate("packet"))
	b := newRig(t, packetConfig(true, extra), lcore(2))
	engine, reason := a.engines()
	require.Equal(t, map[string]string{"out 0x7001": "inline", "in 0x7002": "inline"}, engine, "%v", reason)
	require.Contains(t, reason["out 0x7001"], "packet offload")
	total := uint64(0)
	for _, size := range []int{0, 1, 2, 3, 64, 1000, 1446} {
		for _, way := range []struct {
			from, to *rig
			src, dst string
		}{{a, b, hostA, hostB}, {b, a, hostB, hostA}} {
			plain := tcpFrames(way.src, way.dst, 40, size)
			wire := way.from.outbound(plain...)
			require.Len(t, wire, len(plain), "%v", way.from.drops())
			require.Equal(t, plain, way.to.inbound(wire...))
		}
		total += 40
	}
	require.Empty(t, a.drops())
	require.Empty(t, b.drops())
	for _, spi := range []uint32{0x7001, 0x7002} {
		require.Equal(t, total, a.sa(spi).Packets)
		require.Equal(t, a.sa(spi).Bytes, b.sa(spi).Bytes)
	}
	require.Equal(t, total, a.sa(0x7001).Sequence)
	require.Eventually(t, func() bool { return a.sa(0x7002).Sequence == total }, 5*time.Second, 10*time.Millisecond,
		"as many as came out of the device: kept over a restart of the process")
	for _, spi := range []uint32{0x7001, 0x7002} {
		require.Eventually(t, func() bool { d := a.sa(spi).Device; return d != nil && d.Packets == total }, 5*time.Second, 10*time.Millisecond)
		require.Equal(t, a.sa(spi).Bytes, a.sa(spi).Device.Bytes)
		require.Zero(t, a.sa(spi).Device.Errors)
	}
}

// What the device does not open is not opened by anybody else; what it refuses is
// the engine's failure.
func TestPacketOffloadTruth(t *testing.T) {
	a := newRig(t, packetConfig(false, ""), emulate("packet"))
	b := newRig(t, packetConfig(true, ""), lcore(2))
	wire := b.outbound(tcpFrames(hostB, hostA, 10, 100)...)
	require.NoError(t, a.nic.SetFault("noflag:1"))
	require.Empty(t, a.inbound(wire[:5]...), "still encrypted")
	require.Equal(t, map[string]uint64{"in_engine_failed": 5}, a.drops())
	require.NoError(t, a.nic.SetFault("none"))
	require.Len(t, a.inbound(wire...), 10)
	require.Empty(t, a.inbound(wire...), "replays: the device's window")
	require.Equal(t, map[string]uint64{"in_engine_failed": 15}, a.drops())
	require.EqualValues(t, 10, a.nic.Counters()["rx_replayed"])
	// A tagged packet, which the device leaves alone, may not be sealed by software.
	require.Empty(t, a.outbound(ethernet(0x0800, ipv4(hostA, hostB, protoUDP, udp(1, 2, counting(20))), 5)))
	require.Equal(t, map[string]uint64{"in_engine_failed": 15, "out_engine_failed": 1}, a.drops())
	// Policies hold for what comes out of the device, too.
	require.NoError(t, a.run("ip x p add dir in src "+hostB+" dst "+hostA+" proto udp priority 1 action block\n"+
		"ip x p delete dir in src "+hostB+" dst "+hostA+"\n"+
		"ip x p add dir in src "+hostB+" dst "+hostA+" priority 5 tmpl proto esp reqid 7 mode transport"))
	require.Empty(t, a.inbound(b.outbound(ethernet(0x0800, ipv4(hostB, hostA, protoUDP, udp(1, 2, counting(20)))))...))
	require.EqualValues(t, 1, a.drops()["in_policy_block"])
}

func TestPacketOffloadRefused(t *testing.T) {
	for name, config := range map[string]string{
		"shared key": strings.ReplaceAll(packetConfig(false, ""), packetKeyBA, packetKeyAB),
		"window":     strings.ReplaceAll(packetConfig(false, ""), "replay-window 64", "replay-window 2048"),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, config, emulate("packet"))
			engine, reason := r.engines()
			require.Equal(t, "go", engine["in 0x7002"], "%v", reason)
			require.NotEmpty(t, reason["in 0x7002"])
		})
	}
}

// A restart of the port takes the SA to software and back. No number comes twice on
// the wire, and what the device accepted is not accepted again.
func TestPacketOffloadRestart(t *testing.T) {
	a := newRig(t, packetConfig(false, ""), emulate("packet"))
	b := newRig(t, packetConfig(true, ""), lcore(2))
	used := map[uint32]bool{}
	send := func() {
		t.Helper()
		wire := a.outbound(tcpFrames(hostA, hostB, 20, 50)...)
		require.Len(t, wire, 20)
		for _, seq := range sequences(t, wire, packetKeyAB) {
			require.False(t, used[seq], "sequence number %d twice", seq)
			used[seq] = true
		}
		require.Len(t, b.inbound(wire...), 20)
	}
	send()
	wire := b.outbound(tcpFrames(hostB, hostA, 20, 50)...)
	require.Len(t, a.inbound(wire...), 20)
	require.NoError(t, a.gateway.StopPort("eth4"))
	require.NoError(t, a.gateway.StartPort("eth4"))
	engine, reason := a.engines()
	require.Equal(t, map[string]string{"out 0x7001": "inline", "in 0x7002": "inline"}, engine, "%v", reason)
	send()
	require.Empty(t, a.inbound(wire...), "replays over a restart")
	require.EqualValues(t, 64, a.sa(0x7002).WindowGap)
	// The gap: so many numbers are lost, and then it goes on.
	lost := 0
	for lost < 200 {
		if len(a.inbound(b.outbound(tcpFrames(hostB, hostA, 1, 50)...)...)) == 1 {
			break
		}
		lost++
	}
	require.Equal(t, 64, lost, "the window gap")
}

// The device may not number further than its reserve, which is extended as it goes.
func TestPacketOffloadHardLimit(t *testing.T) {
	t.Cleanup(ipsec.SetReserveStep(256)) // after the gateway has stopped
	a := newRig(t, packetConfig(false, ""), emulate("packet"))
	sent := 0
	for range 30 {
		wire := a.outbound(tcpFrames(hostA, hostB, 50, 20)...)
		require.Len(t, wire, 50, "%v", a.drops())
		for _, seq := range sequences(t, wire, packetKeyAB) {
			sent++
			require.EqualValues(t, sent, seq)
		}
		require.Eventually(t, func() bool { return ipsec.DeviceReserve(a.gateway, 0x7001) >= 128 }, 5*time.Second, time.Millisecond)
	}
	require.Zero(t, a.nic.Counters()["tx_after_hard"])
	// When the SA leaves the device, it goes on above all that the device might have used.
	reserve := ipsec.DeviceReserve(a.gateway, 0x7001)
	require.NoError(t, a.gateway.StopPort("eth4"))
	require.Equal(t, uint64(sent)+reserve, a.sa(0x7001).Sequence)
}

// The ingress window of the device, with numbers that jump.
func TestPacketOffloadWindow(t *testing.T) {
	a := newRig(t, packetConfig(false, ""), emulate("packet"))
	b := newRig(t, packetConfig(true, ""), lcore(2))
	wire := b.outbound(tcpFrames(hostB, hostA, 200, 10)...)
	require.Len(t, a.inbound(wire[150]), 1)
	require.Len(t, a.inbound(wire[100]), 1)
	require.Empty(t, a.inbound(wire[150-64]), "left of the window")
	require.Empty(t, a.inbound(wire[100]), "seen")
	require.EqualValues(t, 101, binary.BigEndian.Uint32(wire[100][34+4:]))
}

// An SA in packet offload leaves the device when another with its key is added.
func TestPacketOffloadKeyBecomesShared(t *testing.T) {
	a := newRig(t, packetConfig(false, ""), emulate("packet"))
	require.Len(t, a.outbound(tcpFrames(hostA, hostB, 5, 10)...), 5)
	require.NoError(t, a.run("ip x s add src 10.9.0.1 dst 10.9.0.2 proto esp spi 0x9001 dir in "+
		"aead 'rfc4106(gcm(aes))' 0x"+packetKeyAB+" 128"))
	engine, reason := a.engines()
	require.Equal(t, "go", engine["out 0x7001"])
	require.Contains(t, reason["out 0x7001"], "same key")
	require.Equal(t, "inline", engine["in 0x7002"])
	for _, seq := range sequences(t, a.outbound(tcpFrames(hostA, hostB, 5, 10)...), packetKeyAB) {
		require.Greater(t, seq, uint32(1<<22), "above all that the device might have used")
	}
	require.Eventually(t, func() bool { return a.offloads().EgressUsed == 0 }, 5*time.Second, 10*time.Millisecond)
}
