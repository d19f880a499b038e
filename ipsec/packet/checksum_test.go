package packet

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		require.Equal(t, naiveSum(b), Sum(b), n)
		for i := range b {
			b[i] = 0xff // most carries
		}
		require.Equal(t, naiveSum(b), Sum(b), n)
	}
	require.Equal(t, uint16(0), Sum(make([]byte, 33)))
	require.Equal(t, uint16(1), AddSums(0xffff, 1))
}

func BenchmarkParse(b *testing.B) {
	frames := map[string][]byte{
		"ipv4": ether(ip4(17, 0, nil, make([]byte, 1400)), 0x0800),
		"ipv6": ether(ip6(0, ext(17, 0), make([]byte, 1400)), 0x8100, 0x86dd),
	}
	for name, frame := range frames {
		b.Run(name, func(b *testing.B) {
			var m Meta
			for b.Loop() {
				Parse(frame, &m)
			}
		})
	}
}

// Packets whose checksums scapy computed.
var checksummed = map[string]struct {
	typ uint16
	ip  string
	at  int // of the checksum, from the upper layer
}{
	"tcp":   {0x0800, "4500002b0001000040068e95c0000201c633640203e80050000000010000000050182000cbf400006f6464", 16},
	"udp":   {0x86dd, "60000000000d114020010db8000a0000000000000000000120010db8000b000000000000000000020fa00035000d50a368656c6c6f", 6},
	"icmp6": {0x86dd, "60000000000d3a4020010db8000a0000000000000000000120010db8000b000000000000000000028000245a0001000270696e6721", 2},
	"udp behind destination options": {
		0x86dd,
		"6000000000153c4020010db8000a0000000000000000000120010db8000b0000000000000000000211000104000000000fa00035000d50a368656c6c6f", 6,
	},
	"sctp": {0x0800, "450000340001000040848e0ec0000201c633640213888e3c000000003465b27601000014123456780000ffff000a000a00000001", 8},
}

func frameOf(t testing.TB, typ uint16, text string) ([]byte, Meta) {
	t.Helper()
	ip, err := hex.DecodeString(text)
	require.NoError(t, err)
	frame := append(ether(ip, typ), 0xee, 0xee) // with Ethernet padding
	m := parse(frame)
	require.Equal(t, OK, m.Fault)
	return frame, m
}

// TestMendChecksum: a NAT changed an address; the whole sum must be right again.
func TestMendChecksum(t *testing.T) {
	for name, c := range checksummed {
		t.Run(name, func(t *testing.T) {
			frame, m := frameOf(t, c.typ, c.ip)
			want := append([]byte(nil), frame...)
			require.False(t, MendChecksum(frame, &m), "a right checksum")
			require.Equal(t, want, frame)
			if name == "sctp" {
				return // no pseudo header, so a NAT leaves it right
			}
			at := int(m.Upper) + c.at
			frame[at] ^= 0x5a
			require.True(t, MendChecksum(frame, &m))
			require.Equal(t, want, frame, "back to the value that scapy computed")

			last := int(m.L3) + 15 // an octet of the source address
			frame[last]++
			require.True(t, MendChecksum(frame, &m))
			require.Equal(t, want[:last], frame[:last])
			changed := append([]byte(nil), frame...)
			frame[last]--
			require.True(t, MendChecksum(frame, &m))
			require.Equal(t, want, frame)
			require.NotEqual(t, want, changed)
		})
	}
}

func TestMendChecksumLeavesAlone(t *testing.T) {
	udp := func(length byte, sum byte) []byte { return []byte{0, 1, 0, 2, 0, length, sum, sum, 1, 2} }
	for name, frame := range map[string][]byte{
		"udp without checksum":      ether(ip4(17, 0, nil, udp(10, 0)), 0x0800),
		"udp length beyond":         ether(ip4(17, 0, nil, udp(11, 1)), 0x0800),
		"udp length 7":              ether(ip4(17, 0, nil, udp(7, 1)), 0x0800),
		"udp cut off":               ether(ip4(17, 0, nil, udp(10, 1)[:7]), 0x0800),
		"tcp cut off":               ether(ip4(6, 0, nil, make([]byte, 19)), 0x0800),
		"icmp":                      ether(ip4(1, 0, nil, make([]byte, 19)), 0x0800),
		"icmpv6 over ipv4":          ether(ip4(58, 0, nil, make([]byte, 19)), 0x0800),
		"fragment":                  ether(ip4(17, 0x2000, nil, udp(10, 1)), 0x0800),
		"later fragment":            ether(ip4(17, 1, nil, udp(10, 1)), 0x0800),
		"another address may count": ether(ip6(43, ext(17, 0), udp(10, 1)), 0x86dd),
		"no ip":                     ether(udp(10, 1), 0x0806),
		"malformed":                 ether(ip4(17, 0, nil, udp(10, 1))[:25], 0x0800),
	} {
		m, before := parse(frame), append([]byte(nil), frame...)
		require.False(t, MendChecksum(frame, &m), name)
		require.True(t, FinishChecksum(frame, &m), name)
		require.Equal(t, before, frame, name)
	}
}

// TestFinishChecksum: the kernel leaves the sum of the pseudo header in the
// field, and its network card is to do the rest.
func TestFinishChecksum(t *testing.T) {
	for name, c := range checksummed {
		t.Run(name, func(t *testing.T) {
			frame, m := frameOf(t, c.typ, c.ip)
			want := append([]byte(nil), frame...)
			require.True(t, FinishChecksum(frame, &m))
			require.Equal(t, want, frame, "a finished checksum stays")

			at := int(m.Upper) + c.at
			frame[at] ^= 0x5a
			wrong := append([]byte(nil), frame...)
			require.True(t, FinishChecksum(frame, &m))
			require.Equal(t, wrong, frame, "a wrong checksum is the sender's business")

			unfinish(frame, &m, at)
			require.True(t, FinishChecksum(frame, &m))
			require.Equal(t, want, frame)
		})
	}
}

// unfinish leaves what Linux leaves for the card.
func unfinish(frame []byte, m *Meta, at int) {
	if m.Flow.Proto == ProtoSCTP {
		clear(frame[at : at+4])
		return
	}
	h := frame[m.L3:]
	var addresses []byte
	if m.Kind == IPv4 {
		addresses = h[12:20]
	} else {
		addresses = h[8:40]
	}
	n := int(m.End) - int(m.Upper)
	sum := naiveSum(concat(addresses, []byte{0, m.Flow.Proto, byte(n >> 8), byte(n)}))
	frame[at], frame[at+1] = byte(sum>>8), byte(sum)
}

func TestFinishChecksumCannot(t *testing.T) {
	frame := ether(ip4(17, 0, nil, []byte{0, 1, 0, 2, 0, 9, 0, 0, 1, 2}), 0x0800)
	m := parse(frame)
	unfinish(frame, &m, int(m.Upper)+6)
	before := append([]byte(nil), frame...)
	require.False(t, FinishChecksum(frame, &m), "UDP length and IP length disagree")
	require.Equal(t, before, frame)
}

// TestChecksumZero: a UDP checksum that comes out as 0 is sent as 0xffff.
func TestChecksumZero(t *testing.T) {
	frame := ether(ip4(17, 0, nil, []byte{0, 1, 0, 2, 0, 10, 0, 0, 0, 0}), 0x0800)
	m := parse(frame)
	u := frame[m.Upper:m.End]
	rest := ^naiveSum(concat(src4, dst4, []byte{0, 17, 0, 10}, u))
	u[8], u[9] = byte(rest>>8), byte(rest)
	unfinish(frame, &m, int(m.Upper)+6)
	require.True(t, FinishChecksum(frame, &m))
	require.Equal(t, []byte{0xff, 0xff}, u[6:8])
	require.False(t, MendChecksum(frame, &m))
}
