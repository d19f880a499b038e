package ipsec_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The commands of README and lab, host A's side: TCP is protected, one key
// serves both directions.
const (
	classicKey = "44434241343332312423222114131211f4f3f2f1"

	classicA = `
ip x p add dir out src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp tmpl \
   proto esp src 14.0.0.52 dst 14.0.0.70 spi 0x07 mode transport reqid 0x07
ip x p add dir in src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp tmpl \
   proto esp dst 14.0.0.52 src 14.0.0.70 spi 0x07 mode transport reqid 0x07
ip x s add proto esp src 14.0.0.52 dst 14.0.0.70 spi 0x07 mode transport \
   reqid 0x07 replay-window 32 \
   aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 \
   sel src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp offload dev eth4 dir out
ip x s add proto esp dst 14.0.0.52 src 14.0.0.70 spi 0x07 mode transport \
   reqid 0x07 replay-window 32 \
   aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 \
   sel src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp offload dev eth4 dir in
`
	hostA, hostB = "14.0.0.52", "14.0.0.70"
)

// classicB is the other side: addresses and directions swapped.
const classicB = `
ip x p add dir out src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp tmpl \
   proto esp src 14.0.0.70 dst 14.0.0.52 spi 0x07 mode transport reqid 0x07
ip x p add dir in src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp tmpl \
   proto esp dst 14.0.0.70 src 14.0.0.52 spi 0x07 mode transport reqid 0x07
ip x s add proto esp src 14.0.0.70 dst 14.0.0.52 spi 0x07 mode transport \
   reqid 0x07 replay-window 32 \
   aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 \
   sel src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp offload dev eth4 dir out
ip x s add proto esp dst 14.0.0.70 src 14.0.0.52 spi 0x07 mode transport \
   reqid 0x07 replay-window 32 \
   aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 \
   sel src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp offload dev eth4 dir in
`

func tcpFrames(src, dst string, n, size int) [][]byte {
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = ethernet(0x0800, ipv4(src, dst, protoTCP, tcp(uint16(1024+i), 5001, counting(size))))
	}
	return frames
}

// Two gateways with the classic commands: what host A sends arrives at host B
// bit for bit, is ESP on the way, and no nonce is used twice although both
// directions share a key.
func TestTwoGateways(t *testing.T) {
	a := newRig(t, classicA)
	b := newRig(t, classicB, func(o *rigOptions) { o.lcores = []int{2} })
	seen := map[[8]byte]bool{}
	for _, size := range []int{0, 1, 2, 3, 64, 1000, 1446} {
		for _, way := range []struct {
			from, to *rig
			src, dst string
		}{{a, b, hostA, hostB}, {b, a, hostB, hostA}} {
			plain := tcpFrames(way.src, way.dst, 40, size)
			wire := way.from.outbound(plain...)
			require.Len(t, wire, len(plain), "%v", way.from.drops())
			for _, frame := range wire {
				require.EqualValues(t, protoESP, frame[14+9])
				_, spi, seq, iv := openESP(t, frame[34:], classicKey, nil)
				require.EqualValues(t, 7, spi)
				require.NotZero(t, seq)
				require.False(t, seen[iv], "IV used twice")
				seen[iv] = true
			}
			require.Equal(t, plain, way.to.inbound(wire...))
		}
	}
	require.Empty(t, a.drops())
	require.Empty(t, b.drops())

	clear := ethernet(0x0800, ipv4(hostA, hostB, protoUDP, udp(1, 2, counting(100))))
	require.Equal(t, [][]byte{clear}, a.outbound(clear), "UDP is in no policy")
	require.Equal(t, [][]byte{clear}, b.inbound(clear))
	require.Empty(t, b.inbound(tcpFrames(hostA, hostB, 1, 10)...), "TCP must not come in clear")
	require.Equal(t, map[string]uint64{"in_policy_mismatch": 1}, b.drops())

	for _, s := range a.gateway.Stats().SAs {
		require.EqualValues(t, 7*40, s.Packets)
		require.EqualValues(t, 7*40, s.Sequence)
		require.EqualValues(t, 40*(7*40+0+1+2+3+64+1000+1446), s.Bytes, "IP octets of the plain packets")
		require.Equal(t, "go", s.Engine)
		require.Equal(t, "port eth4: net_ring has no security context", s.EngineReason)
	}
	require.NoError(t, a.run("ip xfrm state flush\n"+strings.ReplaceAll(classicA[strings.Index(classicA, "ip x s"):], "eth4", "eth9")))
	require.Equal(t, "no unprotected port is named eth9", a.sa(7).EngineReason)
}

// An attacker sends our own ESP back at us. It is authentic, and the key is the
// one of the inbound SA; it must not come in.
func TestReflectedESP(t *testing.T) {
	for _, flag := range []string{"", "flag esn "} {
		t.Run(flag, func(t *testing.T) { reflectESP(t, strings.ReplaceAll(classicA, "sel src", flag+"sel src")) })
	}
}

func reflectESP(t *testing.T, config string) {
	r := newRig(t, config)
	wire := r.outbound(tcpFrames(hostA, hostB, 3, 100)...)
	require.Len(t, wire, 3)
	require.Empty(t, r.inbound(wire...))
	require.Equal(t, map[string]uint64{"in_state_mismatch": 3}, r.drops())
	// With the addresses exchanged it would hit the inbound SA, of the same key.
	for _, frame := range wire {
		ip := frame[14:34]
		src := append([]byte(nil), ip[12:16]...)
		copy(ip[12:16], ip[16:20])
		copy(ip[16:20], src)
	}
	require.Empty(t, r.inbound(wire...))
	require.Equal(t, map[string]uint64{"in_state_mismatch": 6}, r.drops())
}

// Deleting an SA and adding it again with the same key goes on above the
// highest sequence number sent: a nonce is never repeated.
func TestReAddedSAGoesOn(t *testing.T) {
	r := newRig(t, classicA)
	seen := map[[8]byte]bool{}
	last := uint32(0)
	for range 3 {
		for _, frame := range r.outbound(tcpFrames(hostA, hostB, 50, 10)...) {
			_, _, seq, iv := openESP(t, frame[34:], classicKey, nil)
			require.Greater(t, seq, last)
			require.False(t, seen[iv])
			seen[iv], last = true, seq
		}
		require.NoError(t, r.run("ip xfrm state flush\nip xfrm policy flush\n"+classicA))
	}
	require.Len(t, seen, 150)
}

const (
	simpleKey = "000102030405060708090a0b0c0d0e0f10111213"
	simpleOut = "ip xfrm policy add dir out src 10.0.0.1 dst 10.0.0.2 tmpl proto esp mode transport reqid 1\n"
	simpleIn  = "ip xfrm policy add dir in src 10.0.0.2 dst 10.0.0.1 tmpl proto esp mode transport reqid 1\n"
)

func stateOut(more string) string {
	return "ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1001 mode transport reqid 1 aead 'rfc4106(gcm(aes))' 0x" + simpleKey + " 128 dir out " + more + "\n"
}

func stateIn(more string) string {
	return "ip xfrm state add src 10.0.0.2 dst 10.0.0.1 proto esp spi 0x2001 mode transport reqid 1 aead 'rfc4106(gcm(aes))' 0x" + simpleKey + " 128 dir in " + more + "\n"
}

func plainOut(size int) []byte {
	return ethernet(0x0800, ipv4("10.0.0.1", "10.0.0.2", protoUDP, udp(7, 8, counting(size))))
}

func espIn(t testing.TB, seq uint64) []byte {
	inner := udp(8, 7, counting(20))
	return ethernet(0x0800, ipv4("10.0.0.2", "10.0.0.1", protoESP, sealESP(t, simpleKey, 0x2001, seq, false, protoUDP, inner)))
}

func TestOutboundFates(t *testing.T) {
	fragment := plainOut(40)
	binary.BigEndian.PutUint16(fragment[14+6:], 0x2000)
	binary.BigEndian.PutUint16(fragment[14+10:], 0)
	binary.BigEndian.PutUint16(fragment[14+10:], sum16(fragment[14:34], 0))
	tests := []struct {
		name   string
		config string
		frames [][]byte
		sent   int
		drops  map[string]uint64
	}{
		{"no policy", "", [][]byte{plainOut(10)}, 1, nil},
		{"no SA", simpleOut, [][]byte{plainOut(10)}, 0, map[string]uint64{"out_no_state": 1}},
		{"SA of another reqid", simpleOut + "ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x1001 mode transport reqid 2 aead 'rfc4106(gcm(aes))' 0x" + simpleKey + " 128 dir out", [][]byte{plainOut(10)}, 0, map[string]uint64{"out_no_state": 1}},
		{"optional template without SA", "ip xfrm policy add dir out src 10.0.0.1 dst 10.0.0.2 tmpl proto esp mode transport reqid 1 level use", [][]byte{plainOut(10)}, 1, nil},
		{"block policy", "ip xfrm policy add dir out src 10.0.0.1 dst 10.0.0.2 action block", [][]byte{plainOut(10)}, 0, map[string]uint64{"out_policy_block": 1}},
		{"default block", "ip xfrm policy setdefault out block", [][]byte{plainOut(10), ethernet(0x0806, counting(28))}, 1, map[string]uint64{"out_policy_block": 1}},
		{"smaller priority wins", simpleOut + "ip xfrm policy add dir out src 10.0.0.1 dst 10.0.0.2 proto udp action block priority 7\nip xfrm policy add dir out src 10.0.0.0/24 dst 10.0.0.2 proto udp priority 3", [][]byte{plainOut(10)}, 0, map[string]uint64{"out_no_state": 1}},
		{"hard packet limit", simpleOut + stateOut("limit packet-hard 3"), [][]byte{plainOut(1), plainOut(2), plainOut(3), plainOut(4), plainOut(5)}, 3, map[string]uint64{"out_state_expired": 2}},
		{"end of the sequence numbers", simpleOut + strings.Replace(stateOut("replay-oseq 0xfffffffd"), simpleKey, classicKey, 1), [][]byte{plainOut(1), plainOut(2), plainOut(3), plainOut(4)}, 2, map[string]uint64{"out_sequence_exhausted": 2}},
		{"fragment that a policy protects", simpleOut + stateOut(""), [][]byte{fragment}, 0, map[string]uint64{"out_fragment": 1}},
		{"fragment that none protects", "", [][]byte{fragment}, 1, nil},
		{"too big with ESP", simpleOut + stateOut(""), [][]byte{plainOut(1472)}, 1, nil},
		{"PPPoE", "", [][]byte{ethernet(0x8864, counting(60))}, 0, map[string]uint64{"out_unparsed": 1}},
		{"a third tag", "", [][]byte{ethernet(0x0800, ipv4("10.0.0.1", "10.0.0.2", protoUDP, udp(7, 8, nil)), 1, 2, 3)}, 0, map[string]uint64{"out_unparsed": 1}},
		{"runt", "", [][]byte{{1, 2, 3}}, 0, map[string]uint64{"out_malformed": 1}},
	}
	r := newRig(t, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.t = t
			r.configure("ip xfrm policy setdefault in accept out accept fwd accept\n" + tt.config)
			require.Len(t, r.outbound(tt.frames...), tt.sent)
			if tt.drops == nil {
				tt.drops = map[string]uint64{}
			}
			require.Equal(t, tt.drops, r.drops())
		})
	}
}

func TestInboundFates(t *testing.T) {
	unknown := func(t *testing.T) []byte {
		return ethernet(0x0800, ipv4("10.0.0.2", "10.0.0.1", protoESP, sealESP(t, simpleKey, 0x9999, 1, false, protoUDP, udp(8, 7, nil))))
	}
	clear := ethernet(0x0800, ipv4("10.0.0.2", "10.0.0.1", protoUDP, udp(8, 7, counting(10))))
	badTrailer := ethernet(0x0800, ipv4("10.0.0.2", "10.0.0.1", protoESP, sealText(t, simpleKey, 0x2001, 1, false, append(udp(8, 7, nil), 1, 3, 2, protoUDP))))
	tests := []struct {
		name   string
		config string
		frames [][]byte
		came   int
		drops  map[string]uint64
	}{
		{"good", simpleIn + stateIn(""), [][]byte{espIn(t, 1), espIn(t, 3), espIn(t, 2)}, 3, nil},
		{"an SA alone, without policies", stateIn(""), [][]byte{espIn(t, 1)}, 1, nil},
		{"replayed", stateIn(""), [][]byte{espIn(t, 1), espIn(t, 1), espIn(t, 1)}, 1, map[string]uint64{"in_replay_duplicate": 2}},
		{"left of the window", stateIn("replay-window 32"), [][]byte{espIn(t, 100), espIn(t, 68), espIn(t, 69)}, 2, map[string]uint64{"in_replay_old": 1}},
		{"window off", stateIn("replay-window 0"), [][]byte{espIn(t, 5), espIn(t, 5), espIn(t, 1)}, 3, nil},
		{"hard packet limit", stateIn("limit packet-hard 2"), [][]byte{espIn(t, 1), espIn(t, 2), espIn(t, 3)}, 2, map[string]uint64{"in_state_expired": 1}},
		{"unknown SPI", "", [][]byte{unknown(t)}, 0, map[string]uint64{"in_no_state": 1}},
		{"unknown SPI, ESP allowed by name", "ip xfrm policy add dir in src 0.0.0.0/0 dst 10.0.0.1 proto esp", [][]byte{unknown(t)}, 1, nil},
		{"unknown SPI, everything allowed but not by name", "ip xfrm policy add dir in src 0.0.0.0/0 dst 0.0.0.0/0", [][]byte{unknown(t)}, 0, map[string]uint64{"in_no_state": 1}},
		{"clear where ESP is demanded", simpleIn, [][]byte{clear}, 0, map[string]uint64{"in_policy_mismatch": 1}},
		{"clear where a fwd policy demands ESP", "ip xfrm policy add dir fwd src 10.0.0.2 dst 10.0.0.1 tmpl proto esp mode transport reqid 1", [][]byte{clear}, 0, map[string]uint64{"in_policy_mismatch": 1}},
		{"clear where ESP is optional", "ip xfrm policy add dir in src 10.0.0.2 dst 10.0.0.1 tmpl proto esp mode transport reqid 1 level use", [][]byte{clear}, 1, nil},
		{"blocked", "ip xfrm policy add dir in src 10.0.0.2 dst 10.0.0.1 action block", [][]byte{clear}, 0, map[string]uint64{"in_policy_block": 1}},
		{"default block", "ip xfrm policy setdefault in block", [][]byte{clear}, 0, map[string]uint64{"in_policy_block": 1}},
		{"ESP under another reqid than the policy's", "ip xfrm policy add dir in src 10.0.0.2 dst 10.0.0.1 tmpl proto esp mode transport reqid 9\n" + stateIn(""), [][]byte{espIn(t, 1)}, 0, map[string]uint64{"in_policy_mismatch": 1}},
		{"an outbound SA hit", "ip xfrm state add src 10.0.0.2 dst 10.0.0.1 proto esp spi 0x2001 mode transport reqid 1 aead 'rfc4106(gcm(aes))' 0x" + simpleKey + " 128 dir out", [][]byte{espIn(t, 1)}, 0, map[string]uint64{"in_state_mismatch": 1}},
		{"selector of the SA", stateIn("sel src 10.0.0.2 dst 10.0.0.1 proto tcp"), [][]byte{espIn(t, 1)}, 0, map[string]uint64{"in_state_mismatch": 1}},
		{"bare ESP for an SA in UDP", stateIn("encap espinudp 4500 4500 0.0.0.0"), [][]byte{espIn(t, 1)}, 0, map[string]uint64{"in_state_mismatch": 1}},
		{"padding wrong", stateIn(""), [][]byte{badTrailer}, 0, map[string]uint64{"in_bad_trailer": 1}},
		{"keepalive without any SA", "", [][]byte{ethernet(0x0800, ipv4("10.0.0.2", "10.0.0.1", protoUDP, udp(4500, 4500, []byte{0xff})))}, 0, map[string]uint64{"keepalive": 1}},
		{"larger than the hosts' MTU", "", [][]byte{ethernet(0x0800, ipv4("10.0.0.2", "10.0.0.1", protoUDP, udp(8, 7, counting(1473))))}, 0, map[string]uint64{"in_too_big": 1}},
		{"ARP", "ip xfrm policy setdefault in block", [][]byte{ethernet(0x0806, counting(28))}, 1, nil},
	}
	r := newRig(t, "")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.t = t
			r.configure("ip xfrm policy setdefault in accept out accept fwd accept\n" + tt.config)
			require.Len(t, r.inbound(tt.frames...), tt.came)
			if tt.drops == nil {
				tt.drops = map[string]uint64{}
			}
			require.Equal(t, tt.drops, r.drops())
		})
	}
}

// A packet of exactly the largest size fits, one octet more does not.
func TestTooBigBoundary(t *testing.T) {
	r := newRig(t, simpleOut+stateOut(""), func(o *rigOptions) { o.wanMTU = 1500 })
	require.Len(t, r.outbound(plainOut(1466-28)), 1)
	require.Empty(t, r.outbound(plainOut(1467-28)))
	require.Equal(t, map[string]uint64{"out_too_big": 1}, r.drops())
	require.EqualValues(t, 1, r.sa(0x1001).Sequence, "a packet that does not fit takes no sequence number")
	require.EqualValues(t, 1, r.sa(0x1001).Errors["out_too_big"])
}

func TestJumbo(t *testing.T) {
	r := newRig(t, simpleOut+stateOut(""), func(o *rigOptions) { o.lanMTU, o.wanMTU, o.dataRoom, o.mbufs = 9000, 9100, 9400, 511 })
	frame := plainOut(9000 - 28)
	got := r.outbound(frame)
	require.Len(t, got, 1, "%v", r.drops())
	text, _, _, _ := openESP(t, got[0][34:], simpleKey, nil)
	require.Equal(t, frame[34:], text[:len(frame)-34])
}

func TestVLANTagsStay(t *testing.T) {
	r := newRig(t, simpleOut+stateOut(""))
	for _, tags := range [][]uint16{{100}, {0}, {200, 300}} {
		frame := ethernet(0x0800, ipv4("10.0.0.1", "10.0.0.2", protoUDP, udp(7, 8, counting(30))), tags...)
		header := 14 + 4*len(tags)
		got := r.outbound(frame)
		require.Len(t, got, 1)
		require.Equal(t, frame[:header], got[0][:header])
		text, _, _, _ := openESP(t, got[0][header+20:], simpleKey, nil)
		require.Equal(t, frame[header+20:], text[:len(frame)-header-20])
	}
}

// Counters of policies say how many packets each decided.
func TestPolicyCounters(t *testing.T) {
	r := newRig(t, classicA)
	r.outbound(tcpFrames(hostA, hostB, 33, 10)...)
	r.inbound(tcpFrames(hostB, hostA, 5, 10)...)
	got := map[string]uint64{}
	for _, p := range r.gateway.Stats().Policies {
		got[p.Dir] = p.Packets
	}
	require.Equal(t, map[string]uint64{"out": 33, "in": 5}, got)
}

// An SA is replaced over and over while packets flow: none is lost, because add
// before delete leaves a usable SA at every moment.
func TestReplaceUnderTraffic(t *testing.T) {
	r := newRig(t, simpleOut+stateOut(""))
	stop := make(chan struct{})
	done := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			text := fmt.Sprintf("ip xfrm state add src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x%x mode transport reqid 1 aead 'rfc4106(gcm(aes))' 0x%032x%08x 128 dir out\n", 0x5000+i, i+1, i)
			if i > 0 {
				text += fmt.Sprintf("ip xfrm state delete dst 10.0.0.2 proto esp spi 0x%x\n", 0x5000+i-1)
			}
			if err := r.run(text); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 30 {
		frames := make([][]byte, 200)
		for i := range frames {
			frames[i] = plainOut(i)
		}
		require.Len(t, r.outbound(frames...), len(frames))
	}
	close(stop)
	require.NoError(t, <-done)
	require.Empty(t, r.drops())
}

// A hard limit in seconds ends the SA while nothing is sent, and its packets are
// counted as expired.
func TestLifetimeSeconds(t *testing.T) {
	r := newRig(t, simpleOut+stateOut("limit time-hard 2"))
	require.Len(t, r.outbound(plainOut(10)), 1)
	require.Eventually(t, func() bool { return r.sa(0x1001).State == "expired" }, 20*time.Second, 10*time.Millisecond)
	require.Empty(t, r.outbound(plainOut(10)))
	require.Equal(t, map[string]uint64{"out_state_expired": 1}, r.drops())
}
