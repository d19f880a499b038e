package packet

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// mayAnswer asks both functions; they have to agree, and TooBig to leave alone
// what may not be answered.
func mayAnswer(t *testing.T, frame []byte) bool {
	t.Helper()
	m := parse(frame)
	may := MayAnswer(frame, &m)
	buf := inRoom(frame, 64, 64)
	_, _, ok := TooBig(buf, 64, &m, 1300)
	require.Equal(t, may, ok)
	if !ok {
		require.Equal(t, inRoom(frame, 64, 64), buf)
	}
	return may
}

// change writes octets at an offset from the IP header, and the IPv4 checksum.
func change(frame []byte, at int, octets ...byte) []byte {
	copy(frame[14+at:], octets)
	if frame[14]>>4 == 4 {
		checksum4(frame[14:])
	}
	return frame
}

func TestMayAnswer4(t *testing.T) {
	udp := func() []byte { return ether(ip4(17, 0x4000, nil, pattern(40)), 0x0800) }
	ah := func(next byte) []byte { return ether(ip4(51, 0x4000, nil, []byte{next, 4, 0, 0}), 0x0800) }
	for _, tt := range []struct {
		name  string
		frame []byte
		may   bool
	}{
		{"udp", udp(), true},
		{"without DF", ether(ip4(17, 0, nil, pattern(40)), 0x0800), false},
		{"first fragment", ether(ip4(17, 0x6000, nil, pattern(40)), 0x0800), true},
		{"middle fragment", ether(ip4(17, 0x6001, nil, pattern(40)), 0x0800), false},
		{"last fragment", ether(ip4(17, 0x4001, nil, pattern(40)), 0x0800), false},
		{"esp", ether(ip4(50, 0x4000, nil, pattern(40)), 0x0800), true},
		{"gre", ether(ip4(47, 0x4000, nil, pattern(40)), 0x0800), true},
		{"icmpv6 is nothing here", ether(ip4(58, 0x4000, nil, pattern(40)), 0x0800), true},
		{"icmp without a type", ether(ip4(1, 0x4000, nil, nil), 0x0800), false},
		{"icmp echo of one octet", ether(ip4(1, 0x4000, nil, []byte{8}), 0x0800), true},
		{"icmp error of one octet", ether(ip4(1, 0x4000, nil, []byte{3}), 0x0800), false},
		{"first fragment of an icmp error", ether(ip4(1, 0x6000, nil, []byte{3, 1}), 0x0800), false},
		{"udp behind ah", ah(17), true},
		{"icmp behind ah", ah(1), false},
		{"ah behind ah", ah(51), false},
		{"ah without a next header", ether(ip4(51, 0x4000, nil, nil), 0x0800), false},
		{"malformed", udp()[:50], false},
		{"no ip", ether(pattern(60), 0x0806), false},
		{"source 0.0.0.0", change(udp(), 12, 0, 0, 0, 0), false},
		{"source 0.0.0.1", change(udp(), 12, 0, 0, 0, 1), false},
		{"source 1.0.0.0", change(udp(), 12, 1, 0, 0, 0), true},
		{"source 126.255.255.255", change(udp(), 12, 126, 255, 255, 255), true},
		{"source 127.0.0.1", change(udp(), 12, 127, 0, 0, 1), false},
		{"source 128.0.0.1", change(udp(), 12, 128, 0, 0, 1), true},
		{"source 223.255.255.254", change(udp(), 12, 223, 255, 255, 254), true},
		{"source 224.0.0.1", change(udp(), 12, 224, 0, 0, 1), false},
		{"source 240.0.0.1", change(udp(), 12, 240, 0, 0, 1), false},
		{"source 255.255.255.255", change(udp(), 12, 255, 255, 255, 255), false},
		{"destination 0.0.0.0", change(udp(), 16, 0, 0, 0, 0), false},
		{"destination 127.0.0.1", change(udp(), 16, 127, 0, 0, 1), false},
		{"destination 223.0.0.1", change(udp(), 16, 223, 0, 0, 1), true},
		{"destination 224.0.0.1", change(udp(), 16, 224, 0, 0, 1), false},
		{"destination 239.255.255.255", change(udp(), 16, 239, 255, 255, 255), false},
		{"destination 255.255.255.255", change(udp(), 16, 255, 255, 255, 255), false},
		{"sent to ff:ff:ff:ff:ff:ff", change(udp(), -14, 255, 255, 255, 255, 255, 255), false},
		{"sent to a multicast MAC", change(udp(), -14, 1, 0, 0x5e, 0, 0, 1), false},
		{"sent from a multicast MAC", change(udp(), -8, 3), false},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.may, mayAnswer(t, tt.frame)) })
	}
}

func TestMayAnswer6(t *testing.T) {
	udp := func() []byte { return ether(ip6(17, pattern(40)), 0x86dd) }
	address := func(first, last byte) []byte { return []byte{first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last} }
	for _, tt := range []struct {
		name  string
		frame []byte
		may   bool
	}{
		{"udp", udp(), true},
		{"first fragment", ether(ip6(44, frag(17, 1), pattern(40)), 0x86dd), true},
		{"later fragment", ether(ip6(44, frag(17, 9), pattern(40)), 0x86dd), false},
		{"esp", ether(ip6(50, pattern(40)), 0x86dd), true},
		{"no next header", ether(ip6(59, pattern(40)), 0x86dd), true},
		{"routing header", ether(ip6(43, ext(17, 0), pattern(40)), 0x86dd), true},
		{"icmpv6 without a type", ether(ip6(58), 0x86dd), false},
		{"icmpv6 error behind destination options", ether(ip6(60, ext(58, 0), []byte{2, 0, 0, 0}), 0x86dd), false},
		{"echo behind destination options", ether(ip6(60, ext(58, 0), []byte{128, 0, 0, 0}), 0x86dd), true},
		{"icmp is nothing here", ether(ip6(1, []byte{3, 0, 0, 0}), 0x86dd), true},
		{"tcp behind ah", ether(ip6(51, []byte{6, 4, 0, 0}), 0x86dd), true},
		{"icmpv6 behind ah", ether(ip6(51, []byte{58, 4, 0, 0}), 0x86dd), false},
		{"options behind ah", ether(ip6(51, []byte{60, 4, 0, 0}), 0x86dd), false},
		{"source ::", change(udp(), 8, address(0, 0)...), false},
		{"source ::1", change(udp(), 8, address(0, 1)...), false},
		{"source ::2", change(udp(), 8, address(0, 2)...), true},
		{"source fe80::1", change(udp(), 8, address(0xfe, 1)...), true},
		{"source ff02::1", change(udp(), 8, address(0xff, 1)...), false},
		{"destination ::", change(udp(), 24, address(0, 0)...), false},
		{"destination ::1", change(udp(), 24, address(0, 1)...), false},
		{"destination 100::1", change(udp(), 24, address(1, 1)...), true},
		{"destination ff02::1", change(udp(), 24, address(0xff, 1)...), false},
		{"sent to a multicast MAC", change(udp(), -14, 0x33, 0x33, 0, 0, 0, 1), false},
		{"sent from a multicast MAC", change(udp(), -8, 0x33), false},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.may, mayAnswer(t, tt.frame)) })
	}
}

// TestMayAnswerICMP lists all types: of ICMP only queries are answered, of ICMPv6
// only informational messages other than the redirect.
func TestMayAnswerICMP(t *testing.T) {
	queries := map[int]bool{
		0: true, 8: true, 9: true, 10: true, 13: true, 14: true, 15: true, 16: true, 17: true, 18: true,
		42: true, 43: true,
	}
	for typ := range 256 {
		message := []byte{byte(typ), 0, 0, 0, 0, 0, 0, 0}
		require.Equal(t, queries[typ], mayAnswer(t, ether(ip4(1, 0x4000, nil, message), 0x0800)), "ICMP %d", typ)
		require.Equal(t, typ >= 128 && typ != 137, mayAnswer(t, ether(ip6(58, message), 0x86dd)), "ICMPv6 %d", typ)
	}
}

// TestMayAnswerDistrustsMeta: a frame that is shorter than its Meta says, with
// more octets behind it.
func TestMayAnswerDistrustsMeta(t *testing.T) {
	for _, frame := range [][]byte{
		ether(ip4(17, 0x4000, nil, pattern(40)), 0x0800),
		ether(ip6(17, pattern(40)), 0x86dd),
	} {
		m := parse(frame)
		require.True(t, MayAnswer(frame, &m))
		for n := range frame {
			require.False(t, MayAnswer(frame[:n], &m), n)
			_, _, ok := TooBig(frame[:n], 0, &m, 1300)
			require.False(t, ok, n)
		}
		m.Fault = Malformed
		require.False(t, MayAnswer(frame, &m))
	}
}
