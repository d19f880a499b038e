package silicon_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TCP flags.
const (
	tcpFIN = 0x01
	tcpPSH = 0x08
	tcpACK = 0x10
	tcpCWR = 0x80
)

// bigTCP is a packet of TCP of any length, with options and flags; lengths and checksums
// in it are not yet right.
func bigTCP(version string, options int, flags byte, payload []byte) []byte {
	ends := versions[version]
	ip := tcp(ends[0], ends[1], 80, 40000, slices.Concat(counting(options), payload))
	l4 := ip[ipHeader(ip):]
	l4[12], l4[13] = byte(5+options/4)<<4, flags
	return ip
}

// segmentsOf are what a big packet must become: each made by itself and summed by the
// tests' own means.
func segmentsOf(ip []byte, mss int) (list [][]byte) {
	header := ipHeader(ip)
	data := header + int(ip[header+12]>>4)*4
	for k, at := 0, data; at < len(ip); k, at = k+1, at+mss {
		end := min(at+mss, len(ip))
		s := slices.Concat(ip[:data], ip[at:end])
		if header == 40 {
			binary.BigEndian.PutUint16(s[4:], uint16(len(s)-40))
		} else {
			binary.BigEndian.PutUint16(s[2:], uint16(len(s)))
			binary.BigEndian.PutUint16(s[4:], binary.BigEndian.Uint16(ip[4:])+uint16(k))
			s[10], s[11] = 0, 0
			binary.BigEndian.PutUint16(s[10:], checksum(s[:20]))
		}
		binary.BigEndian.PutUint32(s[header+4:], binary.BigEndian.Uint32(ip[header+4:])+uint32(at-data))
		if k > 0 {
			s[header+13] &^= tcpCWR
		}
		if end < len(ip) {
			s[header+13] &^= tcpFIN | tcpPSH
		}
		list = append(list, summed(s, 6, 16))
	}
	return list
}

// sendBig sends a packet as DPDK's driver does: the field holds the sum of a pseudo header
// without length, PAYLEN counts what is behind the headers.
func sendBig(q *txRing, ip []byte, mss int, change ...func(*packet)) [][]byte {
	q.r.t.Helper()
	header := ipHeader(ip)
	l4Len := int(ip[header+12]>>4) * 4
	ip = slices.Clone(ip)
	binary.BigEndian.PutUint16(ip[header+16:], ^checksum(pseudo(ip, 6, 0)))
	c := &context{ipLen: header, v6: header == 40, l4: 1, l4Len: l4Len, mss: mss}
	p := packet{
		frame: ethernet(peerMAC, ip), context: c, options: txTSE | txTXSM, payLen: max(1, len(ip)-header-l4Len),
	}
	if header == 20 {
		p.options |= txIXSM
	}
	for at := 4000; at < len(p.frame); at += 4000 { // a buffer has 16 bits of length at most
		p.cuts = append(p.cuts, at)
	}
	for _, f := range change {
		f(&p)
	}
	return q.send(p)
}

func TestSegmentation(t *testing.T) {
	for version := range versions {
		for _, options := range []int{0, 12, 40} {
			r := newRig(t)
			q := r.txQueue(0, 64)
			for _, mss := range []int{1, 536, 1448, 9000} {
				for _, n := range []int{1, mss - 1, mss, mss + 1, 3 * mss, 5*mss + 7} {
					if n == 0 {
						continue
					}
					ip := bigTCP(version, options, tcpACK|tcpPSH, counting(n))
					var want [][]byte
					for _, s := range segmentsOf(ip, mss) {
						want = append(want, pad(ethernet(peerMAC, s)))
					}
					require.Len(t, want, (n+mss-1)/mss)
					sent := sendBig(q, ip, mss)
					require.Equal(t, want, sent, "%s, options of %d, %d of %d", version, options, mss, n)
				}
			}
			r.breached()
		}
	}
}

// TestSegmentationFlags: FIN and PSH belong to the last segment, CWR to the first
// (RFC 3168, 6.1.2), the others to all.
func TestSegmentationFlags(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	for flags := range 256 {
		sent := sendBig(q, bigTCP("IPv4", 0, byte(flags), counting(300)), 100)
		require.Len(t, sent, 3)
		require.Equal(t, []byte{byte(flags) &^ 0x09, byte(flags) &^ 0x89, byte(flags) &^ 0x80},
			[]byte{sent[0][47], sent[1][47], sent[2][47]}, "flags %#x", flags)
	}
}

// TestSegmentationSequenceWraps, and so does IPv4's identification.
func TestSegmentationSequenceWraps(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	ip := bigTCP("IPv4", 0, tcpACK, counting(250))
	binary.BigEndian.PutUint32(ip[24:], 0xffffff9c) // 100 below the end
	binary.BigEndian.PutUint16(ip[4:], 0xfffe)
	sent := sendBig(q, ip, 100)
	for k, want := range []struct {
		sequence uint32
		id       uint16
	}{{0xffffff9c, 0xfffe}, {0, 0xffff}, {100, 0}} {
		require.Equal(t, want.sequence, binary.BigEndian.Uint32(sent[k][38:]))
		require.Equal(t, want.id, binary.BigEndian.Uint16(sent[k][18:]))
	}
}

// TestSegmentationTags: each segment has the tag.
func TestSegmentationTags(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	ip := bigTCP("IPv6", 0, tcpACK, counting(250))
	var want [][]byte
	for _, s := range segmentsOf(ip, 100) {
		want = append(want, tagged(ethernet(peerMAC, s), 0x2042))
	}
	require.Equal(t, want, sendBig(q, ip, 100, func(p *packet) { p.options |= txVLE; p.context.tag = 0x2042 }))
}

// TestSegmentationDone: RS is answered once, in its descriptor.
func TestSegmentationDone(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	sent := sendBig(q, bigTCP("IPv4", 0, tcpACK, counting(1000)), 100, func(p *packet) { p.options |= txRS })
	require.Len(t, sent, 10)
	require.True(t, q.done(1))
}

// TestSegmentationOfTheOtherVersion: the card goes by the context's IPV4 bit when it mends
// lengths and checksums; the model goes by the packet, and says so.
func TestSegmentationOfTheOtherVersion(t *testing.T) {
	for version := range versions {
		r := newRig(t)
		q := r.txQueue(0, 64)
		ip := bigTCP(version, 0, tcpACK, counting(300))
		sent := sendBig(q, ip, 100, func(p *packet) { p.context.v6 = version == "IPv4" })
		require.Len(t, sent, 3)
		require.Equal(t, ethernet(peerMAC, segmentsOf(ip, 100)[2]), sent[2])
		r.breached("tx-ip-version")
	}
}

// TestSegmentationThatCannotBe: nothing is sent.
func TestSegmentationThatCannotBe(t *testing.T) {
	for name, change := range map[string]func(*packet){
		"MSS 0":            func(p *packet) { p.context.mss = 0 },
		"UDP":              func(p *packet) { p.context.l4 = 0 },
		"L4LEN below 20":   func(p *packet) { p.context.l4Len = 16 },
		"IPLEN below 20":   func(p *packet) { p.context.ipLen = 16 },
		"headers too long": func(p *packet) { p.context.ipLen = 511 },
		"IPLEN of 20 for IPv6": func(p *packet) {
			p.context.ipLen, p.context.v6, p.payLen = 20, true, p.payLen+20
			p.frame = ethernet(peerMAC, bigTCP("IPv6", 0, tcpACK, counting(300)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.txQueue(0, 64)
			require.Empty(t, sendBig(q, bigTCP("IPv4", 0, tcpACK, counting(300)), 100, change))
			r.breached("tx-header-lengths")
		})
	}
	r := newRig(t)
	q := r.txQueue(0, 64)
	require.Len(t, sendBig(q, bigTCP("IPv4", 0, tcpACK, counting(300)), 100, func(p *packet) { p.payLen++ }), 3)
	r.breached("tx-icv-room") // the lengths of descriptors and frame disagree
}
