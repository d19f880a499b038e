package silicon_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// rssKey is the key of Microsoft's "Verifying the RSS Hash Calculation".
var rssKey = []byte{
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb,
	0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30,
	0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
}

// rssVectors are that page's: hashes of the addresses alone, and with TCP's ports.
var rssVectors = []struct {
	src, dst         string
	srcPort, dstPort uint16
	ip, tcp          uint32
}{
	{"66.9.149.187", "161.142.100.80", 2794, 1766, 0x323e8fc2, 0x51ccc178},
	{"199.92.111.2", "65.69.140.83", 14230, 4739, 0xd718262a, 0xc626b0ea},
	{"24.19.198.95", "12.22.207.184", 12898, 38024, 0xd2d0a5de, 0x5c2b394a},
	{"38.27.205.30", "209.142.163.6", 48228, 2217, 0x82989176, 0xafc7327f},
	{"153.39.163.191", "202.188.127.2", 44251, 1303, 0x5d1809c5, 0x10e828a2},
	{"3ffe:2501:200:1fff::7", "3ffe:2501:200:3::1", 2794, 1766, 0x2cc18cd5, 0x40207d3d},
	{"3ffe:501:8::260:97ff:fe40:efab", "ff02::1", 14230, 4739, 0x0f0c461c, 0xdde51bbf},
	{"3ffe:1900:4545:3:200:f8ff:fe21:67cf", "fe80::200:f8ff:fe21:67cf", 44251, 38024, 0x4b61e985, 0x02d1feef},
}

// Bits of MRQC: RSS, and what may be hashed.
const (
	mrqcRSS   = 1
	mrqcTCPv4 = 1 << 16
	mrqcIPv4  = 1 << 17
	mrqcIPv6  = 1 << 20
	mrqcTCPv6 = 1 << 21
	mrqcUDPv4 = 1 << 22
	mrqcUDPv6 = 1 << 23
	mrqcAll   = mrqcRSS | mrqcTCPv4 | mrqcIPv4 | mrqcIPv6 | mrqcTCPv6 | mrqcUDPv4 | mrqcUDPv6
)

// putRSSKey writes the key, its first octet in bits 7:0.
func (r *rig) putRSSKey(key []byte) {
	for i := range uint32(10) {
		k := key[4*i:]
		r.put(rssrk+4*i, uint32(k[0])|uint32(k[1])<<8|uint32(k[2])<<16|uint32(k[3])<<24)
	}
}

func TestToeplitz(t *testing.T) {
	for _, test := range rssVectors {
		src, dst := netip.MustParseAddr(test.src), netip.MustParseAddr(test.dst)
		types := map[bool][3]uint32{true: {1, 2, 7}, false: {3, 5, 8}}[src.Is4()] // TCP, IP, UDP
		for _, kind := range []struct {
			name       string
			mrqc       uint32
			frame      []byte
			kind, hash uint32
		}{
			{"TCP", mrqcAll, toCard(tcp(src, dst, test.srcPort, test.dstPort, nil)), types[0], test.tcp},
			{"UDP", mrqcAll, toCard(udp(src, dst, test.srcPort, test.dstPort, nil)), types[2], test.tcp},
			{"UDP with a tag", mrqcAll, toCard(udp(src, dst, test.srcPort, test.dstPort, nil), 9), types[2], test.tcp},
			{"ICMP", mrqcAll, toCard(ipOf(src, dst, 1, counting(20))), types[1], test.ip},
			{"ESP", mrqcAll, toCard(ipOf(src, dst, 50, counting(40))), types[1], test.ip},
			{"TCP, IP hashes only", mrqcRSS | mrqcIPv4 | mrqcIPv6, toCard(tcp(src, dst, 1, 2, nil)), types[1], test.ip},
			{"ICMP, no IP hashes", mrqcAll &^ (mrqcIPv4 | mrqcIPv6), toCard(ipOf(src, dst, 1, counting(20))), 0, 0},
			{"no RSS", mrqcAll &^ mrqcRSS, toCard(tcp(src, dst, test.srcPort, test.dstPort, nil)), 0, 0},
		} {
			t.Run(test.src+" "+kind.name, func(t *testing.T) {
				r := newRig(t)
				q := r.rxQueue(0, 64, 2)
				r.putRSSKey(rssKey)
				r.put(mrqc, kind.mrqc)
				got := q.receive(kind.frame)
				require.Len(t, got, 1)
				require.Equal(t, kind.kind, got[0].words[0]&rssType)
				require.Equalf(t, kind.hash, got[0].words[1], "%08x", got[0].words[1])
			})
		}
	}
}

// TestFragmentsHaveNoPorts: the first fragment of a packet of TCP is hashed as the others.
func TestFragmentsHaveNoPorts(t *testing.T) {
	v := rssVectors[0]
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	r.putRSSKey(rssKey)
	r.put(mrqc, mrqcAll)
	ip := tcp(netip.MustParseAddr(v.src), netip.MustParseAddr(v.dst), v.srcPort, v.dstPort, nil)
	for _, field := range []uint16{0x2000, 0x0001, 0x2005} {
		got := q.receive(toCard(fragment4(ip, field)))
		require.EqualValues(t, 2, got[0].words[0]&rssType)
		require.Equal(t, v.ip, got[0].words[1])
	}
	require.Equal(t, v.tcp, q.receive(toCard(fragment4(ip, 0x4000)))[0].words[1], "don't fragment")
}

// TestRSSKeyMayChange: the tables that the model makes of it follow.
func TestRSSKeyMayChange(t *testing.T) {
	v := rssVectors[0]
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	r.put(mrqc, mrqcAll)
	frame := toCard(tcp(netip.MustParseAddr(v.src), netip.MustParseAddr(v.dst), v.srcPort, v.dstPort, nil))
	require.Zero(t, q.receive(frame)[0].words[1], "a key of zeros")
	r.putRSSKey(rssKey)
	require.Equal(t, v.tcp, q.receive(frame)[0].words[1])
}

// TestRedirection: the hash's low 7 bits choose one of RETA's 128 entries, of which 4 bits
// count; what is not IP goes to queue 0.
func TestRedirection(t *testing.T) {
	r := newRig(t)
	var queues []*rxRing
	for n := range 16 {
		queues = append(queues, r.rxQueue(n, 8, 2))
	}
	r.putRSSKey(rssKey)
	r.put(mrqc, mrqcAll)
	for _, v := range rssVectors {
		frame := toCard(tcp(netip.MustParseAddr(v.src), netip.MustParseAddr(v.dst), v.srcPort, v.dstPort, nil))
		entry := v.tcp & 127
		for n := range uint32(16) {
			for i := range uint32(32) {
				r.put(reta+4*i, 0)
			}
			r.put(reta+entry&^3, (0xf0|n)<<(8*(entry&3)))
			r.arrive(frame)
			for k, q := range queues {
				require.Equal(t, k == int(n), len(q.take()) == 1, "entry %d says queue %d", entry, n)
			}
		}
	}
	for i := range uint32(32) {
		r.put(reta+4*i, 0x0f0f0f0f)
	}
	require.Len(t, queues[0].receive(append(framed(cardMAC[:]...)[:12], make([]byte, 60)...)), 1, "no IP")
}
