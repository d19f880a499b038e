package ipsec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
)

// emulate puts an emulated inline NIC behind eth4.
func emulate(profile string) func(*rigOptions) {
	return func(o *rigOptions) { o.emulate = profile }
}

func lcore(n int) func(*rigOptions) {
	return func(o *rigOptions) { o.lcores = []int{n} }
}

func offload(mode ipsec.OffloadMode) func(*rigOptions) {
	return func(o *rigOptions) { o.offload = mode }
}

// engines are the engines of the SAs by direction and SPI, and their reasons.
func (r *rig) engines() (engine, reason map[string]string) {
	engine, reason = map[string]string{}, map[string]string{}
	for _, s := range r.gateway.Stats().SAs {
		key := fmt.Sprintf("%s 0x%x", s.Dir, s.SPI)
		engine[key], reason[key] = s.Engine, s.EngineReason
	}
	return engine, reason
}

// offloads is the row of eth4.
func (r *rig) offloads() ipsec.OffloadStats { return r.gateway.Stats().Offload[0] }

// The device seals and opens what the classic commands protect, and the other
// gateway cannot tell: with a device of its own or without, and each with the
// conventions of its driver's releases.
func TestInlineTwoGateways(t *testing.T) {
	for _, profiles := range [][2]string{
		{"ixgbe", ""},
		{"ixgbe", "ixgbe"},
		{"ixgbe,rx=scalar", "ixgbe,dpdk=26.03"},
		{"crypto", "ixgbe"},
		{"crypto", "crypto"},
	} {
		t.Run(strings.Join(profiles[:], " and "), func(t *testing.T) {
			a := newRig(t, classicA, emulate(profiles[0]))
			b := newRig(t, classicB, emulate(profiles[1]), lcore(2))
			seen := map[[8]byte]bool{}
			total := 0
			for _, size := range []int{0, 1, 2, 3, 64, 1000, 1446} {
				for _, way := range []struct {
					from, to *rig
					src, dst string
				}{{a, b, hostA, hostB}, {b, a, hostB, hostA}} {
					plain := tcpFrames(way.src, way.dst, 40, size)
					total += len(plain)
					wire := way.from.outbound(plain...)
					require.Len(t, wire, len(plain), "%v", way.from.drops())
					for _, frame := range wire {
						require.EqualValues(t, protoESP, frame[14+9])
						require.Zero(t, sum16(frame[14:34], 0), "IPv4 header checksum")
						_, spi, seq, iv := openESP(t, frame[34:], classicKey, nil)
						require.EqualValues(t, 7, spi)
						require.NotZero(t, seq)
						require.False(t, seen[iv], "IV used twice")
						seen[iv] = true
					}
					require.Equal(t, plain, way.to.inbound(wire...))
				}
			}
			for i, r := range []*rig{a, b} {
				require.Empty(t, r.drops())
				want := "inline"
				if profiles[i] == "" {
					want = "go"
				} else {
					c := r.nic.Counters()
					require.EqualValues(t, total/2, c["tx_encrypted"])
					require.EqualValues(t, total/2, c["rx_opened"])
				}
				engine, reason := r.engines()
				require.Equal(t, map[string]string{"out 0x7": want, "in 0x7": want}, engine, "%v", reason)
				for _, s := range r.gateway.Stats().SAs {
					require.EqualValues(t, total/2, s.Packets)
					require.EqualValues(t, total/2, s.Sequence)
				}
			}
		})
	}
}

// What the device does not take packet by packet goes through software, with the
// same SA and numbers.
func TestInlineLeavesPacketsToSoftware(t *testing.T) {
	a := newRig(t, classicA, emulate("ixgbe"))
	b := newRig(t, classicB, emulate("ixgbe"), lcore(2))
	packet := ipv4(hostA, hostB, protoTCP, tcp(1, 2, counting(50)))
	options := append([]byte{0x46}, packet[1:20]...)
	options = append(append(options, 1, 1, 1, 1), packet[20:]...)
	options[2], options[3] = 0, byte(len(options))
	options[10], options[11] = 0, 0
	sum := sum16(options[:24], 0)
	options[10], options[11] = byte(sum>>8), byte(sum)
	plain := [][]byte{
		ethernet(0x0800, packet), ethernet(0x0800, packet, 5), ethernet(0x0800, options), ethernet(0x0800, packet),
	}
	wire := a.outbound(plain...)
	require.Len(t, wire, 4)
	require.EqualValues(t, 2, a.nic.Counters()["tx_encrypted"])
	require.Equal(t, plain, b.inbound(wire...))
	require.EqualValues(t, 2, b.nic.Counters()["rx_opened"])
	require.EqualValues(t, 4, b.sa(7).Sequence)
	require.Empty(t, b.drops())
	// Replays are known whoever opened the first one.
	require.Empty(t, b.inbound(wire...))
	require.Equal(t, map[string]uint64{"in_replay_duplicate": 4}, b.drops())
}

func TestInlineReasons(t *testing.T) {
	key256 := "0x" + strings.Repeat("ab", 36)
	for _, test := range []struct{ name, profile, from, to, reason string }{
		{"AES-256", "ixgbe", "0x" + classicKey, key256, "256"},
		{"ICV", "ixgbe", "128 \\\n", "96 \\\n", "ICV"},
		{"ESN", "ixgbe", "sel src", "flag esn sel src", "ESN"},
		{"UDP encapsulation", "ixgbe", "sel src", "encap espinudp 4500 4500 0.0.0.0 sel src", "UDP"},
		{"other port", "ixgbe", "dev eth4", "dev eth9", "eth9"},
		{"packet offload", "ixgbe,", "offload dev", "offload packet dev", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			config := strings.ReplaceAll(classicA, test.from, test.to)
			require.NotEqual(t, classicA, config)
			r := newRig(t, config, emulate(strings.TrimSuffix(test.profile, ",")))
			engine, reason := r.engines()
			want := "go"
			if test.name == "packet offload" {
				want = "inline" // crypto offload is the next best
				require.Contains(t, reason["out 0x7"], "crypto offload")
				require.Contains(t, reason["out 0x7"], "no packet offload")
			}
			require.Equal(t, map[string]string{"out 0x7": want, "in 0x7": want}, engine, "%v", reason)
			require.Contains(t, reason["out 0x7"], test.reason)
			require.Contains(t, reason["in 0x7"], test.reason)
			if test.name != "UDP encapsulation" && test.name != "other port" {
				require.Len(t, r.outbound(tcpFrames(hostA, hostB, 3, 10)...), 3)
			}
		})
	}
}

func TestOffloadModes(t *testing.T) {
	without := strings.NewReplacer("offload dev eth4 dir out", "", "offload dev eth4 dir in", "").Replace(classicA)
	engineOf := func(r *rig) string { e, _ := r.engines(); return e["out 0x7"] }
	t.Run("off", func(t *testing.T) {
		require.Equal(t, "go", engineOf(newRig(t, classicA, emulate("ixgbe"), offload(ipsec.OffloadOff))))
	})
	t.Run("auto", func(t *testing.T) { require.Equal(t, "go", engineOf(newRig(t, without, emulate("ixgbe")))) })
	t.Run("all", func(t *testing.T) {
		r := newRig(t, without, emulate("ixgbe"), offload(ipsec.OffloadAll))
		engine, reason := r.engines()
		require.Equal(t, map[string]string{"out 0x7": "inline", "in 0x7": "inline"}, engine, "%v", reason)
	})
	t.Run("require", func(t *testing.T) {
		r := newRig(t, classicA, emulate("ixgbe"), offload(ipsec.OffloadRequire))
		require.Equal(t, "inline", engineOf(r))
		used := r.offloads()
		err := r.run(strings.ReplaceAll(classicA[strings.Index(classicA, "ip x s"):], classicKey, strings.Repeat("ab", 36)))
		require.Error(t, err) // SPI 7 is there
		err = r.run("ip xfrm state add src 1.1.1.1 dst 1.1.1.2 proto esp spi 0x99 aead 'rfc4106(gcm(aes))' 0x" +
			strings.Repeat("ab", 36) + " 128 offload dev eth4 dir out")
		require.ErrorIs(t, err, ipsec.ErrNotOffloaded)
		require.ErrorContains(t, err, "256")
		require.Equal(t, used, r.offloads(), "a refused SA leaves nothing behind")
		require.NoError(t, r.run("ip xfrm state add src 1.1.1.1 dst 1.1.1.2 proto esp spi 0x99 aead 'rfc4106(gcm(aes))' 0x"+
			strings.Repeat("ab", 36)+" 128 dir out"), "an SA that does not ask")
	})
	t.Run("only inline", func(t *testing.T) {
		r := newRig(t, classicA, emulate("ixgbe"), func(o *rigOptions) { o.inlineOnly = true })
		require.ErrorIs(t, r.run("ip xfrm state add src 1.1.1.1 dst 1.1.1.2 proto esp spi 0x99 aead 'rfc4106(gcm(aes))' 0x"+
			classicKey+" 128 dir out"), ipsec.ErrNotOffloaded)
	})
}

// many are policies and SAs from host A to host B, one by TCP destination port, all
// of them asking for hardware; SPIs and ports count from first.
func many(first, n int) string {
	var b strings.Builder
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, "ip x p add dir out src %s dst %s proto tcp dport %d tmpl proto esp src %s dst %s reqid %d mode transport\n",
			hostA, hostB, i, hostA, hostB, i)
		b.WriteString(oneSA(i))
	}
	return b.String()
}

func oneSA(i int) string {
	return fmt.Sprintf("ip x s add src %s dst %s proto esp spi %d reqid %d mode transport aead 'rfc4106(gcm(aes))' 0x%032x%08x 128 offload dev eth4 dir out\n",
		hostA, hostB, i, i, i*7919, i)
}

func keyOf(i int) string { return fmt.Sprintf("%032x%08x", i*7919, i) }

func frameTo(port int) []byte {
	return ethernet(0x0800, ipv4(hostA, hostB, protoTCP, tcp(99, uint16(port), counting(60))))
}

// sealedBy opens what came out for a frame to that port, with the key of its SA.
func (r *rig) sealed(port int) {
	r.t.Helper()
	wire := r.outbound(frameTo(port))
	require.Len(r.t, wire, 1)
	_, spi, _, _ := openESP(r.t, wire[0][34:], keyOf(port), nil)
	require.EqualValues(r.t, port, spi)
}

// A device that is full leaves the SAs in it alone. When one goes, one of those that
// wait takes its place: the busiest.
func TestInlineFullDevice(t *testing.T) {
	r := newRig(t, "", emulate("ixgbe"))
	free := r.offloads()
	require.Equal(t, 255, free.EgressFree, "256 that the driver tells apart, less a dummy")
	first := 1000
	require.NoError(t, r.run(many(first, free.EgressFree+3)))
	row := r.offloads()
	require.Equal(t, 0, row.EgressFree)
	require.Equal(t, free.EgressFree, row.EgressUsed)
	require.Equal(t, 3, row.Waiting)
	engine, reason := r.engines()
	late := first + free.EgressFree // the first of those that wait
	require.Equal(t, "inline", engine[fmt.Sprintf("out 0x%x", first)])
	require.Equal(t, "go", engine[fmt.Sprintf("out 0x%x", late)])
	require.Contains(t, reason[fmt.Sprintf("out 0x%x", late)], "full")
	for _, port := range []int{first, late - 1, late, late + 1, late + 2, late + 2, late + 2} {
		r.sealed(port)
	}
	require.NoError(t, r.run(fmt.Sprintf("ip x s delete src %s dst %s proto esp spi %d", hostA, hostB, first+5)))
	require.Eventually(t, func() bool { return r.offloads().Waiting == 2 }, 5*time.Second, 10*time.Millisecond)
	engine, _ = r.engines()
	require.Equal(t, "inline", engine[fmt.Sprintf("out 0x%x", late+2)], "the busiest goes first")
	require.Equal(t, "go", engine[fmt.Sprintf("out 0x%x", late)])
	before := r.nic.Counters()["tx_encrypted"]
	for _, port := range []int{first, first + 1, late - 1, late, late + 2} {
		r.sealed(port)
	}
	require.EqualValues(t, 4, r.nic.Counters()["tx_encrypted"]-before, "all but the one that waits")
	require.Empty(t, r.drops())
}

// Two SAs of one SPI in one direction: the driver could not remove one of them.
func TestInlineSameSPI(t *testing.T) {
	r := newRig(t, "", emulate("ixgbe"))
	add := "ip x s add src 14.0.0.52 dst 14.0.0.%d proto esp spi 77 mode transport aead 'rfc4106(gcm(aes))' 0x" + keyOf(77) + " 128 offload dev eth4 dir out\n"
	require.NoError(t, r.run(fmt.Sprintf(add, 70)))
	require.NoError(t, r.run(strings.ReplaceAll(fmt.Sprintf(add, 71), keyOf(77), keyOf(78))))
	row := r.offloads()
	require.Equal(t, 1, row.EgressUsed)
	require.Equal(t, 1, row.Waiting)
	require.NoError(t, r.run("ip x s delete src 14.0.0.52 dst 14.0.0.70 proto esp spi 77"))
	require.Eventually(t, func() bool {
		row := r.offloads()
		return row.EgressUsed == 1 && row.Waiting == 0
	}, 5*time.Second, 10*time.Millisecond)
	engine, _ := r.engines()
	require.Equal(t, map[string]string{"out 0x4d": "inline"}, engine)
}

// Faults of the device on what it receives.
func TestInlineReceiveFaults(t *testing.T) {
	a := newRig(t, classicA, lcore(2))
	for _, profile := range []string{"ixgbe", "ixgbe,rx=scalar", "crypto"} {
		t.Run(profile, func(t *testing.T) {
			b := newRig(t, classicB, emulate(profile))
			require.NoError(t, b.nic.SetFault("noflag:1"))
			plain := tcpFrames(hostA, hostB, 20, 300)
			require.Equal(t, plain, b.inbound(a.outbound(plain...)...), "still encrypted: software opens them")
			require.NoError(t, b.nic.SetFault("icv:2"))
			require.Len(t, b.inbound(a.outbound(plain...)...), 10)
			require.Equal(t, map[string]uint64{"in_auth_failed": 10}, b.drops())
			require.NoError(t, b.nic.SetFault("none"))
			wire := a.outbound(plain[:1]...)
			wire[0][len(wire[0])-1] ^= 1
			require.Empty(t, b.inbound(wire...))
			require.Equal(t, map[string]uint64{"in_auth_failed": 11}, b.drops())
			require.Equal(t, map[string]uint64{"in_auth_failed": 11}, b.sa(7).Errors)
			wire[0][len(wire[0])-1] ^= 1
			require.Len(t, b.inbound(wire...), 1, "a forgery has not moved the window")
			a.configure(classicA)
		})
	}
}

// The device refuses: software takes the SA, and the reason is kept.
func TestInlineRefusals(t *testing.T) {
	for fault, counted := range map[string]string{"session": "out 0x7", "flow": "in 0x7"} {
		t.Run(fault, func(t *testing.T) {
			r := newRig(t, "", emulate("crypto,fault="+fault))
			require.NoError(t, r.run(classicA))
			engine, reason := r.engines()
			require.Equal(t, "go", engine[counted], "%v", reason)
			require.Contains(t, reason[counted], "refuses")
			require.Len(t, r.outbound(tcpFrames(hostA, hostB, 2, 10)...), 2)
			require.NoError(t, r.nic.SetFault("none"))
		})
	}
}

// A metadata call that fails must not let the packet leave.
func TestInlineMetadataFails(t *testing.T) {
	r := newRig(t, classicA, emulate("ixgbe"))
	require.NoError(t, r.nic.SetFault("metadata"))
	require.Empty(t, r.outbound(tcpFrames(hostA, hostB, 5, 10)...))
	require.Equal(t, map[string]uint64{"out_engine_failed": 5}, r.drops())
	require.NoError(t, r.nic.SetFault("none"))
	require.Len(t, r.outbound(tcpFrames(hostA, hostB, 5, 10)...), 5)
}

// The device keeps an SA that it was to remove, and goes on opening its packets. They
// are not those of the SA that has its address and SPI now.
func TestInlineMarksOfAnotherSA(t *testing.T) {
	a := newRig(t, classicA, lcore(2))
	b := newRig(t, classicB, func(o *rigOptions) { o.emulate, o.breaches = "ixgbe", true })
	wire := a.outbound(tcpFrames(hostA, hostB, 10, 100)...)
	require.Len(t, b.inbound(wire[:5]...), 5)
	require.NoError(t, b.nic.SetFault("destroy"))
	require.NoError(t, b.run("ip x s delete src "+hostA+" dst "+hostB+" proto esp spi 7"))
	require.Eventually(t, func() bool { return b.offloads().IngressUsed == 0 }, 5*time.Second, 10*time.Millisecond)
	require.NoError(t, b.nic.SetFault("none"))
	require.NoError(t, b.run("ip x s add src "+hostA+" dst "+hostB+" proto esp spi 7 reqid 7 mode transport dir in "+
		"aead 'rfc4106(gcm(aes))' 0x"+strings.Repeat("cd", 20)+" 128"))
	opened := b.nic.Counters()["rx_opened"]
	require.Empty(t, b.inbound(wire[5:]...))
	require.EqualValues(t, 5, b.nic.Counters()["rx_opened"]-opened, "the device did open them")
	require.Equal(t, map[string]uint64{"in_engine_failed": 5}, b.drops())
	require.Zero(t, b.sa(7).Sequence)
}

// Nothing leaves by a port that starts before its SAs are back.
func TestNothingLeavesBeforeSAsAreBack(t *testing.T) {
	r := newRig(t, many(1000, 4), emulate("ixgbe"))
	require.NoError(t, r.gateway.StopPort("eth4"))
	require.NoError(t, r.nic.SetFault("slow:50000"))
	started := make(chan error, 1)
	go func() { started <- r.gateway.StartPort("eth4") }()
	require.Eventually(t, func() bool { return r.nic.Counters()["sessions"] >= 3 }, 5*time.Second, time.Millisecond, "dummies, and one SA")
	require.Empty(t, r.outbound(frameTo(1003)))
	require.NoError(t, <-started)
	require.NoError(t, r.nic.SetFault("none"))
	require.Equal(t, map[string]uint64{"tx_port_restarting": 1}, r.drops())
	r.sealed(1003)
	require.EqualValues(t, 1, r.nic.Counters()["tx_encrypted"])
}

// A modern device takes tagged frames, too.
func TestInlineTagged(t *testing.T) {
	a := newRig(t, classicA, emulate("crypto"))
	b := newRig(t, classicB, emulate("crypto"), lcore(2))
	packet := ipv4(hostA, hostB, protoTCP, tcp(1, 2, counting(50)))
	plain := [][]byte{ethernet(0x0800, packet, 5), ethernet(0x0800, packet, 5, 6)}
	wire := a.outbound(plain...)
	require.Len(t, wire, 2)
	require.EqualValues(t, 2, a.nic.Counters()["tx_encrypted"])
	require.Equal(t, plain, b.inbound(wire...))
	require.EqualValues(t, 2, b.nic.Counters()["rx_opened"])
}

// While the link is down, what the device holds may still leave later: an egress SA
// stays in it until the link is back.
func TestInlineRemovalWaitsForTheLink(t *testing.T) {
	r := newRig(t, many(1000, 2), emulate("ixgbe"))
	r.sealed(1000)
	require.NoError(t, r.wan.SetLink(false))
	require.NoError(t, r.run(fmt.Sprintf("ip x s delete src %s dst %s proto esp spi 1000", hostA, hostB)))
	time.Sleep(400 * time.Millisecond)
	require.Equal(t, 2, r.offloads().EgressUsed)
	require.NoError(t, r.wan.SetLink(true))
	require.Eventually(t, func() bool { return r.offloads().EgressUsed == 1 }, 5*time.Second, 10*time.Millisecond)
	require.Eventually(t, func() bool { return r.gateway.Stats().Ports[1].Link }, 5*time.Second, 10*time.Millisecond)
	r.sealed(1001)
	require.EqualValues(t, 2, r.nic.Counters()["tx_encrypted"])
}

// Several lcores share the SAs of one device.
func TestInlineOnSeveralLcores(t *testing.T) {
	r := newRig(t, many(1000, 10), emulate("ixgbe"), func(o *rigOptions) { o.lcores, o.driverQueues = []int{1, 2}, 2 })
	seen := map[string]bool{}
	for range 20 {
		var frames [][]byte
		for i := range 50 {
			frames = append(frames, frameTo(1000+i%10))
		}
		for _, f := range r.outbound(frames...) {
			_, spi, seq, _ := openESP(t, f[34:], keyOf(portOf(f)), nil)
			id := fmt.Sprintf("%d/%d", spi, seq)
			require.False(t, seen[id])
			seen[id] = true
		}
	}
	require.Len(t, seen, 1000)
	require.EqualValues(t, 1000, r.nic.Counters()["tx_encrypted"])
}

// 128 destination addresses, of which a dummy has one.
func TestInlineAddresses(t *testing.T) {
	r := newRig(t, "", emulate("ixgbe,dpdk=26.03"))
	var b strings.Builder
	for i := range 130 {
		fmt.Fprintf(&b, "ip x s add src %s dst 10.0.%d.%d proto esp spi %d mode transport aead 'rfc4106(gcm(aes))' 0x%s 128 offload dev eth4 dir in\n",
			hostB, i/200, i%200, 5000+i, keyOf(5000+i))
	}
	require.NoError(t, r.run(b.String()))
	row := r.offloads()
	require.Equal(t, []int{127, 127, 3}, []int{row.IngressUsed, row.AddressesUsed, row.Waiting})
	_, reason := r.engines()
	require.Contains(t, reason["in 0x1409"], "127 destination addresses")
}

// ESN above 2^32: the device is told the high half when it gets the SA, and after a
// restart of the port.
func TestInlineESN(t *testing.T) {
	far := strings.NewReplacer("replay-window 32", "replay-window 32 flag esn replay-seq 0xffffffe0 replay-seq-hi 1 replay-oseq 0xffffffe0 replay-oseq-hi 1")
	a := newRig(t, far.Replace(classicA), emulate("crypto"))
	b := newRig(t, far.Replace(classicB), lcore(2))
	for range 3 {
		for _, way := range []struct {
			from, to *rig
			src, dst string
		}{{a, b, hostA, hostB}, {b, a, hostB, hostA}} {
			plain := tcpFrames(way.src, way.dst, 40, 100)
			require.Equal(t, plain, way.to.inbound(way.from.outbound(plain...)...), "%v %v", way.from.drops(), way.to.drops())
		}
		require.NoError(t, a.gateway.StopPort("eth4"))
		require.NoError(t, a.gateway.StartPort("eth4"))
	}
	require.EqualValues(t, 120, a.nic.Counters()["tx_encrypted"])
	require.EqualValues(t, 120, a.nic.Counters()["rx_opened"])
	require.EqualValues(t, 2<<32-32+120, a.sa(7).Sequence)
}

// With --offload all, an SA goes to the device when policies say which way it works,
// and the other way when they change their mind.
func TestInlineDirectionFromPolicies(t *testing.T) {
	sa := "ip x s add src " + hostA + " dst " + hostB + " proto esp spi 9 reqid 9 mode transport aead 'rfc4106(gcm(aes))' 0x" + keyOf(9) + " 128\n"
	policy := "ip x p %s dir %s src " + hostA + " dst " + hostB + " %s\n"
	tmpl := "tmpl proto esp reqid 9 mode transport"
	r := newRig(t, sa, emulate("ixgbe"), offload(ipsec.OffloadAll))
	require.Equal(t, "go", r.sa(9).Engine)
	require.NoError(t, r.run(fmt.Sprintf(policy, "add", "out", tmpl)))
	require.Eventually(t, func() bool { return r.sa(9).Engine == "inline" }, 5*time.Second, 10*time.Millisecond)
	require.Equal(t, 1, r.offloads().EgressUsed)
	require.NoError(t, r.run(fmt.Sprintf(policy, "delete", "out", "")+fmt.Sprintf(policy, "add", "in", tmpl)))
	require.Eventually(t, func() bool {
		row := r.offloads()
		return row.IngressUsed == 1 && row.EgressUsed == 0
	}, 5*time.Second, 10*time.Millisecond)
	require.Equal(t, "inline", r.sa(9).Engine)
}
