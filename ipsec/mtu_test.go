package ipsec_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
)

// mtuConfig protects everything between the hosts, IPv4 and IPv6, outbound with
// 16-octet ICVs and inbound with 8-octet ones over IPv4.
const (
	mtuKey    = "000102030405060708090a0b0c0d0e0f10111213"
	mtuKey2   = "f00102030405060708090a0b0c0d0e0f10111213"
	hostA6    = "2001:db8::52"
	hostB6    = "2001:db8::70"
	mtuConfig = `
ip x p add dir out src 14.0.0.52 dst 14.0.0.70 tmpl proto esp mode transport reqid 1
ip x p add dir in src 14.0.0.70 dst 14.0.0.52 tmpl proto esp mode transport reqid 1
ip x p add dir out src 2001:db8::52 dst 2001:db8::70 tmpl proto esp mode transport reqid 1
ip x s add src 14.0.0.52 dst 14.0.0.70 proto esp spi 0x1001 mode transport reqid 1 aead 'rfc4106(gcm(aes))' 0x` + mtuKey + ` 128
ip x s add src 14.0.0.70 dst 14.0.0.52 proto esp spi 0x1002 mode transport reqid 1 aead 'rfc4106(gcm(aes))' 0x` + mtuKey2 + ` 128
ip x s add src 2001:db8::52 dst 2001:db8::70 proto esp spi 0x1003 mode transport reqid 1 aead 'rfc4106(gcm(aes))' 0x` + mtuKey2 + ` 128
`
)

func mtu1500(o *rigOptions) { o.wanMTU, o.mssClamp = 1500, ipsec.ClampAuto }

// sized is an IPv4 UDP packet of that many octets.
func sized(octets int, df bool) []byte {
	ip := ipv4(hostA, hostB, protoUDP, udp(1, 2, counting(octets-28)))
	if df {
		ip[6] |= 0x40
		ip[10], ip[11] = 0, 0
		binary.BigEndian.PutUint16(ip[10:], sum16(ip[:20], 0))
	}
	return ethernet(0x0800, ip, 42)
}

func sized6(octets int) []byte {
	return ethernet(0x86dd, ipv6(hostA6, hostB6, protoUDP, udp(1, 2, counting(octets-48))))
}

// toldMTU checks an answer to frame and returns the MTU in it.
func toldMTU(t *testing.T, frame, answer []byte) int {
	t.Helper()
	require.Equal(t, append(append([]byte(nil), frame[6:12]...), frame[:6]...), answer[:12], "back to the sender")
	at := 12
	for binary.BigEndian.Uint16(answer[at:]) == 0x8100 {
		require.Equal(t, frame[at:at+4], answer[at:at+4], "tags stay")
		at += 4
	}
	sent, ip := frame[at+2:], answer[at+2:]
	if binary.BigEndian.Uint16(answer[at:]) == 0x0800 {
		require.Zero(t, sum16(ip[:20], 0))
		require.Equal(t, sent[12:16], ip[16:20])
		require.Equal(t, sent[16:20], ip[12:16], "from the address that the packet was sent to")
		icmp := ip[20:binary.BigEndian.Uint16(ip[2:])]
		require.Zero(t, sum16(icmp, 0))
		require.Equal(t, []byte{3, 4}, icmp[:2])
		require.Equal(t, sent[:len(icmp)-8], icmp[8:], "quotes the packet")
		return int(binary.BigEndian.Uint16(icmp[6:]))
	}
	icmp := ip[40 : 40+binary.BigEndian.Uint16(ip[4:])]
	require.Equal(t, []byte{2, 0}, icmp[:2])
	require.Equal(t, sent[:len(icmp)-8], icmp[8:])
	return int(binary.BigEndian.Uint32(icmp[4:]))
}

// TestTooBigIsAnswered: what the sender is told is what fits, to the octet.
func TestTooBigIsAnswered(t *testing.T) {
	for name, make := range map[string]func(int) []byte{
		"IPv4": func(n int) []byte { return sized(n, true) }, "IPv6": sized6,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, mtuConfig, mtu1500)
			require.Empty(t, r.outbound(make(1500)))
			require.Len(t, r.answers, 1)
			mtu := toldMTU(t, make(1500), r.answers[0])
			require.Equal(t, 1466, mtu)
			require.Equal(t, map[string]uint64{"out_too_big": 1}, r.drops())
			require.EqualValues(t, 1, r.gateway.Stats().Totals.Originated)
			require.Len(t, r.outbound(make(mtu)), 1)
			require.Empty(t, r.answers)
			require.Empty(t, r.outbound(make(mtu+1)))
			require.Len(t, r.answers, 1)
		})
	}
}

func TestTooBigIsNotAnswered(t *testing.T) {
	r := newRig(t, mtuConfig, mtu1500)
	multicast := sized(1500, true)
	multicast[0] |= 1
	icmpError := sized(1500, true)
	icmpError[18+9], icmpError[18+20] = protoICMP, 3
	binary.BigEndian.PutUint16(icmpError[18+10:], 0)
	binary.BigEndian.PutUint16(icmpError[18+10:], sum16(icmpError[18:38], 0))
	for i, frame := range [][]byte{sized(1500, false), multicast, icmpError} {
		require.Empty(t, r.outbound(frame))
		require.Empty(t, r.answers, i)
		require.EqualValues(t, i+1, r.drops()["out_too_big"])
	}
	require.EqualValues(t, 3, r.sa(0x1001).Errors["out_too_big"])
	require.Zero(t, r.gateway.Stats().Totals.Originated)
}

// TestClearTooBig: what passes unsealed is told the MTU itself.
func TestClearTooBig(t *testing.T) {
	r := newRig(t, "", func(o *rigOptions) { o.wanMTU = 1400 })
	require.Empty(t, r.outbound(sized(1401, true)))
	require.Equal(t, 1400, toldMTU(t, sized(1401, true), r.answers[0]))
	require.Len(t, r.outbound(sized(1400, true)), 1)
}

// TestAnswersAreBounded: a sender that does not listen gets a few a second.
func TestAnswersAreBounded(t *testing.T) {
	r := newRig(t, mtuConfig, mtu1500)
	answers := 0
	start := time.Now()
	for range 20 {
		frames := make([][]byte, 30)
		for i := range frames {
			frames[i] = sized(1500, true)
		}
		require.Empty(t, r.outbound(frames...))
		answers += len(r.answers)
	}
	require.GreaterOrEqual(t, answers, 10)
	require.LessOrEqual(t, float64(answers), 10+10*time.Since(start).Seconds()+1)
	require.EqualValues(t, 600, r.drops()["out_too_big"], "all are counted")
}

// TestAnswersAcrossLcores: with a single queue on each port, the lcore that finds
// a packet too big cannot send to the hosts; the other one does it.
func TestAnswersAcrossLcores(t *testing.T) {
	r := newRig(t, mtuConfig, mtu1500, func(o *rigOptions) { o.lcores = []int{1, 2} })
	for range 5 {
		require.Empty(t, r.outbound(sized(1500, true)))
		require.Len(t, r.answers, 1)
		require.Equal(t, 1466, toldMTU(t, sized(1500, true), r.answers[0]))
	}
	require.Equal(t, map[string]uint64{"out_too_big": 5}, r.drops())
}

// syn is a SYN that announces a segment size.
func syn(src, dst string, mss uint16) []byte {
	h := tcp(1000, 2000, nil)
	h[12], h[13] = 6<<4, 2
	h = append(h, 2, 4, byte(mss>>8), byte(mss))
	return ethernet(0x0800, ipv4(src, dst, protoTCP, h))
}

func mssOf(t *testing.T, segment []byte) int {
	t.Helper()
	require.Equal(t, []byte{2, 4}, segment[20:22])
	return int(binary.BigEndian.Uint16(segment[22:]))
}

func TestClamp(t *testing.T) {
	tests := []struct {
		name    string
		clamp   int
		wan     int
		mss     uint16
		out, in int
	}{
		{"auto", ipsec.ClampAuto, 1500, 1460, 1426, 1426}, // 1466 less the headers
		{"auto, smaller already", ipsec.ClampAuto, 1500, 1000, 1000, 1000},
		{"auto, room enough", ipsec.ClampAuto, 1600, 1460, 1460, 1460},
		{"auto, bounded by the hosts' own link", ipsec.ClampAuto, 1600, 9000, 1460, 1460},
		{"a number", 1300, 1500, 1460, 1300, 1300},
		{"off", ipsec.ClampOff, 1500, 1460, 1460, 1460},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, mtuConfig, func(o *rigOptions) { o.wanMTU, o.mssClamp = tt.wan, tt.clamp })
			wire := r.outbound(syn(hostA, hostB, tt.mss))
			require.Len(t, wire, 1)
			plain, _, _, _ := openESP(t, wire[0][34:], mtuKey, nil)
			require.Equal(t, tt.out, mssOf(t, plain))

			sealed := syn(hostB, hostA, tt.mss)
			segment := sealed[34:]
			got := r.inbound(ethernet(0x0800, ipv4(hostB, hostA, protoESP, sealESP(t, mtuKey2, 0x1002, 1, false, protoTCP, segment))))
			require.Len(t, got, 1)
			require.Equal(t, tt.in, mssOf(t, got[0][34:]))
		})
	}
	// What is not protected is left alone.
	r := newRig(t, "", mtu1500)
	require.Equal(t, [][]byte{syn(hostA, hostB, 1460)}, r.outbound(syn(hostA, hostB, 1460)))
}

// icmpAbout is the ICMP error of a router about an ESP frame.
func icmpAbout(frame []byte, typ, code byte, mtu int) []byte {
	quote := frame[14:min(len(frame), 14+28)]
	icmp := append([]byte{typ, code, 0, 0, 0, 0, byte(mtu >> 8), byte(mtu)}, quote...)
	binary.BigEndian.PutUint16(icmp[2:], sum16(icmp, 0))
	return ethernet(0x0800, ipv4("14.0.0.1", hostA, protoICMP, icmp))
}

func plain(frame []byte) []byte { return append(append([]byte(nil), frame[:12]...), frame[16:]...) }

// TestPathMTU: a router on the way says that our ESP does not fit; from then on
// hosts are told what does, and connections are clamped to it.
func TestPathMTU(t *testing.T) {
	r := newRig(t, mtuConfig, mtu1500)
	wire := r.outbound(sized(1466, true))
	require.Len(t, wire, 1)
	esp := plain(wire[0]) // the tests' frames have a tag
	require.Equal(t, []any{1466, 0}, []any{r.sa(0x1001).MTU, r.sa(0x1001).PathMTU})

	require.Empty(t, r.inbound(icmpAbout(esp, 3, 4, 1400)))
	require.Equal(t, map[string]uint64{"in_path_mtu": 1}, r.drops())
	require.Equal(t, []any{1366, 1400}, []any{r.sa(0x1001).MTU, r.sa(0x1001).PathMTU})
	require.Empty(t, r.outbound(sized(1466, true)))
	require.Equal(t, 1366, toldMTU(t, sized(1466, true), r.answers[0]))
	require.Len(t, r.outbound(sized(1366, true)), 1)
	sealed, _, _, _ := openESP(t, r.outbound(syn(hostA, hostB, 1460))[0][34:], mtuKey, nil)
	require.Equal(t, 1326, mssOf(t, sealed))

	require.Empty(t, r.inbound(icmpAbout(esp, 3, 4, 1450)))
	require.Equal(t, 1400, r.sa(0x1001).PathMTU, "only lower, until it ends")
	require.Empty(t, r.inbound(icmpAbout(esp, 3, 4, 68)))
	require.Equal(t, []any{578, 612}, []any{r.sa(0x1001).MTU, r.sa(0x1001).PathMTU}, "never below what hosts can go by")
	require.Equal(t, map[string]uint64{"in_path_mtu": 3, "out_too_big": 1}, r.drops())

	// An update of the SA keeps it.
	require.NoError(t, r.run("ip x s update src 14.0.0.52 dst 14.0.0.70 proto esp spi 0x1001 mode transport reqid 1 replay-window 64 aead 'rfc4106(gcm(aes))' 0x"+mtuKey+" 128"))
	require.Equal(t, 612, r.sa(0x1001).PathMTU)
}

// TestPathMTU6: an ICMPv6 error cannot make packets of 1280 octets too big, below
// which hosts do not go.
func TestPathMTU6(t *testing.T) {
	r := newRig(t, mtuConfig, mtu1500)
	esp := r.outbound(sized6(1466))[0]
	for told, want := range map[int][]any{1400: {1366, 1400}, 1280: {1282, 1316}, 68: {1282, 1316}} {
		icmp := append([]byte{2, 0, 0, 0, 0, 0, byte(told >> 8), byte(told)}, esp[14:14+48]...)
		ip := ipv6("2001:db8::1", hostA6, 58, icmp)
		pseudo := append(append([]byte(nil), ip[8:40]...), 0, 0, 0, byte(len(icmp)), 0, 0, 0, 58)
		binary.BigEndian.PutUint16(ip[42:], sum16(append(pseudo, icmp...), 0))
		require.Empty(t, r.inbound(ethernet(0x86dd, ip)))
		if told == 1400 && r.sa(0x1003).PathMTU == 1316 {
			continue // came after the others
		}
		require.Equal(t, want, []any{r.sa(0x1003).MTU, r.sa(0x1003).PathMTU}, told)
	}
	require.Len(t, r.outbound(sized6(1280)), 1)
}

func TestPathMTUIsNotBelieved(t *testing.T) {
	r := newRig(t, mtuConfig, mtu1500)
	esp := plain(r.outbound(sized(1000, true))[0])
	changed := func(at int, to ...byte) []byte {
		c := append([]byte(nil), esp...)
		copy(c[at:], to)
		return c
	}
	badSum := icmpAbout(esp, 3, 4, 1400)
	badSum[14+20+2] ^= 1
	for name, tt := range map[string]struct {
		frame  []byte
		reason string
	}{
		"another error":         {icmpAbout(esp, 3, 1, 0), "in_esp_error"},
		"time exceeded":         {icmpAbout(esp, 11, 0, 0), "in_esp_error"},
		"no MTU said":           {icmpAbout(esp, 3, 4, 0), "in_esp_error"},
		"a number not yet sent": {icmpAbout(changed(38, 0, 0, 0, 9), 3, 4, 1400), "in_esp_error"},
		"a number never sent":   {icmpAbout(changed(38, 0, 0, 0, 0), 3, 4, 1400), "in_esp_error"},
		"wrong checksum":        {badSum, "in_malformed"},
		// Not about our ESP: the policies decide, and these demand ESP.
		"unknown SPI":     {icmpAbout(changed(34, 9), 3, 4, 1400), "in_policy_mismatch"},
		"another source":  {icmpAbout(changed(14+12, 13), 3, 4, 1400), "in_policy_mismatch"},
		"an inbound SA":   {icmpAbout(changed(14+12, 14, 0, 0, 70, 14, 0, 0, 52, 0, 0, 0x10, 2), 3, 4, 1400), "in_policy_mismatch"},
		"not about ESP":   {icmpAbout(changed(14+9, protoUDP), 3, 4, 1400), "in_policy_mismatch"},
		"no error at all": {icmpAbout(esp, 8, 0, 0), "in_policy_mismatch"},
	} {
		r.t = t
		before := r.drops()[tt.reason]
		// From the peer, so that a policy is about it.
		frame := append([]byte(nil), tt.frame...)
		copy(frame[14+12:], []byte{14, 0, 0, 70})
		binary.BigEndian.PutUint16(frame[14+10:], 0)
		binary.BigEndian.PutUint16(frame[14+10:], sum16(frame[14:34], 0))
		require.Empty(t, r.inbound(frame), name)
		require.Equal(t, before+1, r.drops()[tt.reason], fmt.Sprintf("%s: %v", name, r.drops()))
	}
	require.Zero(t, r.sa(0x1001).PathMTU)

	ignoring := newRig(t, mtuConfig, mtu1500, func(o *rigOptions) { o.ignoreICMP, o.lcores = true, []int{2} })
	esp = plain(ignoring.outbound(sized(1466, true))[0])
	require.Empty(t, ignoring.inbound(icmpAbout(esp, 3, 4, 1400)))
	require.Equal(t, map[string]uint64{"in_path_mtu": 1}, ignoring.drops())
	require.Zero(t, ignoring.sa(0x1001).PathMTU)
}
