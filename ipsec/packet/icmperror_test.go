package packet

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

func TestAboutESP(t *testing.T) {
	kinds := map[string]ErrorKind{"mtu": PathMTU, "other": OtherError}
	for _, v := range readMTUVectors(t).AboutESP {
		t.Run(v.Name, func(t *testing.T) {
			frame := unhex(t, v.Frame)
			q := v.Quoted
			want := QuotedESP{
				Src: sa.AddrFrom4(src4), Dst: sa.AddrFrom4(dst4), V6: q.V6, Encap: q.Encap,
				SrcPort: q.SPort, DstPort: q.DPort, SPI: q.SPI, Sequence: q.Sequence, MTU: q.MTU,
			}
			if q.V6 {
				want.Src, want.Dst = sa.AddrFrom16(src6), sa.AddrFrom16(dst6)
			}
			require.Contains(t, kinds, v.Kind)
			m := parse(frame)
			got := QuotedESP{SPI: 1, MTU: 2, Encap: true} // to be overwritten
			require.Equal(t, kinds[v.Kind], AboutESP(frame, &m, &got))
			require.Equal(t, want, got)
			require.Equal(t, unhex(t, v.Frame), frame)
			require.Equal(t, parse(frame), m)
			for at := int(m.Upper); at < int(m.End); at++ { // one bit in each octet
				damaged := concat(frame)
				damaged[at] ^= 0x10
				got = QuotedESP{}
				kind := AboutESP(damaged, &m, &got)
				if at == int(m.Upper)+2 { // the checksum itself
					require.Equal(t, want, got)
				}
				require.Contains(t, []ErrorKind{BadChecksum, NotAbout}, kind, at)
				if at > int(m.Upper)+1 && at < int(m.Upper)+8 {
					require.Equal(t, BadChecksum, kind, at)
				}
			}
		})
	}
}

// icmp4 is an ICMP message in a frame, with the right checksum.
func icmp4(typ, code byte, quote []byte) []byte {
	u := concat([]byte{typ, code, 0, 0, 0, 0, 5, 120}, quote)
	binary.BigEndian.PutUint16(u[2:], 0xffff-naiveSum(u))
	return ether(ip4(1, 0, nil, u), 0x0800)
}

// icmp6 is icmp4 for IPv6.
func icmp6(typ byte, quote []byte) []byte {
	frame := ether(ip6(58, []byte{typ, 0, 0, 0, 0, 0, 5, 120}, quote), 0x86dd)
	m := parse(frame)
	binary.BigEndian.PutUint16(frame[m.Upper+2:], 0xffff-checksumOf(frame, &m))
	return frame
}

var quotedHeader = []byte{0, 0, 16, 1, 0, 0, 0, 9} // SPI and sequence number

// datagram is a UDP datagram whose length field says n.
func datagram(n byte, payload []byte) []byte {
	return concat(ports4(4500, 4500, 0, n, 0, 0), payload)
}

func TestAboutESPNot(t *testing.T) {
	esp4, esp6 := ip4(50, 0x4000, nil, quotedHeader), ip6(50, quotedHeader)
	eight := concat(ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0))
	outer := func(frame []byte) []byte { return frame[14+20:] }
	for name, frame := range map[string][]byte{
		"echo request":                  icmp4(8, 0, esp4),
		"echo reply":                    icmp4(0, 0, esp4),
		"icmpv6 echo":                   icmp6(128, esp6),
		"icmpv6 redirect":               icmp6(137, esp6),
		"udp":                           ether(ip4(17, 0, nil, outer(icmp4(3, 4, esp4))), 0x0800),
		"no ip":                         ether(outer(icmp4(3, 4, esp4)), 0x0806),
		"icmpv6 over ipv4":              ether(ip4(58, 0, nil, outer(icmp4(3, 4, esp4))), 0x0800),
		"icmp over ipv6":                ether(ip6(1, outer(icmp4(3, 4, esp4))), 0x86dd),
		"first fragment":                ether(ip4(1, 0x2000, nil, outer(icmp4(3, 4, esp4))), 0x0800),
		"later fragment":                ether(ip4(1, 0x0001, nil, outer(icmp4(3, 4, esp4))), 0x0800),
		"malformed":                     icmp4(3, 4, esp4)[:60],
		"header cut off":                ether(ip4(1, 0, nil, outer(icmp4(3, 4, nil))[:7]), 0x0800),
		"routing header":                ether(ip6(43, ext(58, 0), icmp6(2, esp6)[54:]), 0x86dd),
		"no quote":                      icmp4(3, 4, nil),
		"ipv6 no quote":                 icmp6(2, nil),
		"quote of 19 octets":            icmp4(3, 4, esp4[:19]),
		"quote ends in the sequence":    icmp4(3, 4, esp4[:27]),
		"ipv6 quote of 39 octets":       icmp6(2, esp6[:39]),
		"ipv6 ends in the sequence":     icmp6(2, esp6[:47]),
		"quote of another version":      icmp4(3, 4, esp6),
		"ipv6 quote of another version": icmp6(2, esp4),
		"quote of version 5":            icmp4(3, 4, concat([]byte{0x55}, esp4[1:])),
		"ipv6 quote of version 5":       icmp6(2, concat([]byte{0x50}, esp6[1:])),
		"ihl 4":                         icmp4(3, 4, concat([]byte{0x44}, esp4[1:], quotedHeader)),
		"ihl beyond the quote":          icmp4(3, 4, concat([]byte{0x4f}, esp4[1:], quotedHeader)),
		"quoted later fragment":         icmp4(3, 4, ip4(50, 0x2001, nil, quotedHeader)),
		"quoted tcp":                    icmp4(3, 4, ip4(6, 0, nil, quotedHeader)),
		"quoted ah":                     icmp4(3, 4, ip4(51, 0, nil, quotedHeader)),
		"spi 0":                         icmp4(3, 4, ip4(50, 0, nil, make([]byte, 8))),
		"udp cut off":                   icmp4(3, 3, ip4(17, 0, nil, datagram(16, nil)[:7])),
		"udp ends in the sequence":      icmp4(3, 3, ip4(17, 0, nil, datagram(16, quotedHeader[:7]))),
		"udp length 15":                 icmp4(3, 3, ip4(17, 0, nil, datagram(15, quotedHeader))),
		"udp keepalive":                 icmp4(3, 3, ip4(17, 0, nil, datagram(9, []byte{0xff, 0, 0, 0, 0, 0, 0, 0}))),
		"udp non-ESP marker":            icmp4(3, 3, ip4(17, 0, nil, datagram(99, make([]byte, 8)))),
		"ipv6 quoted later fragment":    icmp6(2, ip6(44, frag(50, 8), quotedHeader)),
		"ipv6 header cut off":           icmp6(2, ip6(60, ext(50, 0)[:7])),
		"ipv6 long header cut off":      icmp6(2, ip6(60, ext(50, 1), quotedHeader)[:55]),
		"ipv6 nine headers":             icmp6(2, ip6(60, eight, ext(60, 0), ext(50, 0), quotedHeader)),
		"ipv6 quoted tcp":               icmp6(2, ip6(6, quotedHeader)),
		"nothing":                       nil,
	} {
		m := parse(frame)
		q := QuotedESP{SPI: 7}
		require.Equal(t, NotAbout, AboutESP(frame[:len(frame):len(frame)], &m, &q), name)
		require.Equal(t, QuotedESP{SPI: 7}, q, name)
	}
}

// TestAboutESPJust has neighbours of the cases above that are about ESP.
func TestAboutESPJust(t *testing.T) {
	eight := concat(ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0))
	swapped := ip4(50, 0x4000, nil, quotedHeader)
	swapped[2], swapped[3] = swapped[3], swapped[2]
	shortest := icmp4(3, 4, ip4(50, 0, nil, quotedHeader))
	for name, frame := range map[string][]byte{
		"shortest":                          shortest,
		"quoted first fragment":             icmp4(3, 4, ip4(50, 0x2000, nil, quotedHeader)),
		"longest header":                    icmp4(3, 4, ip4(50, 0, make([]byte, 40), quotedHeader)),
		"wrong checksum, swapped length":    icmp4(3, 4, swapped),
		"udp length 16":                     icmp4(3, 4, ip4(17, 0, nil, datagram(16, quotedHeader))),
		"udp longer than the quote":         icmp4(3, 4, ip4(17, 0, nil, datagram(255, quotedHeader))),
		"in tags, with Ethernet padding":    append(ether(shortest[14:], 0x88a8, 0x8100, 0x0800), 1, 2, 3),
		"ipv6 shortest":                     icmp6(2, ip6(50, quotedHeader)),
		"ipv6 eight headers":                icmp6(2, ip6(60, eight, ext(50, 0), quotedHeader)),
		"ipv6 first fragment":               icmp6(2, ip6(44, frag(50, 1), quotedHeader)),
		"ipv6 long header":                  icmp6(2, ip6(0, ext(50, 4), quotedHeader)),
		"ipv6 udp behind destination opts.": icmp6(2, ip6(60, ext(17, 0), datagram(16, quotedHeader))),
	} {
		m := parse(frame)
		var q QuotedESP
		require.Equal(t, PathMTU, AboutESP(frame, &m, &q), name)
		require.Equal(t, []any{uint32(0x1001), uint32(9), 1400}, []any{q.SPI, q.Sequence, q.MTU}, name)
	}
}

// TestAboutESPKinds lists all types and codes.
func TestAboutESPKinds(t *testing.T) {
	errors4 := map[int]bool{3: true, 4: true, 5: true, 11: true, 12: true}
	esp4, esp6 := ip4(50, 0, nil, quotedHeader), ip6(50, quotedHeader)
	for typ := range 256 {
		for code := range 16 {
			want := NotAbout
			switch {
			case typ == 3 && code == 4:
				want = PathMTU
			case errors4[typ]:
				want = OtherError
			}
			frame := icmp4(byte(typ), byte(code), esp4)
			m := parse(frame)
			var q QuotedESP
			require.Equal(t, want, AboutESP(frame, &m, &q), "ICMP %d, %d", typ, code)
			require.Equal(t, want == PathMTU, q.MTU == 1400)
		}
		want := OtherError
		switch {
		case typ == 2:
			want = PathMTU
		case typ >= 128:
			want = NotAbout
		}
		frame := icmp6(byte(typ), esp6)
		m := parse(frame)
		var q QuotedESP
		require.Equal(t, want, AboutESP(frame, &m, &q), "ICMPv6 %d", typ)
		require.Equal(t, want == PathMTU, q.MTU == 1400)
	}
}

// TestAboutESPDistrustsMeta: a frame that is shorter than its Meta says.
func TestAboutESPDistrustsMeta(t *testing.T) {
	var q QuotedESP
	for _, frame := range [][]byte{icmp4(3, 4, ip4(50, 0, nil, quotedHeader)), icmp6(2, ip6(50, quotedHeader))} {
		m := parse(frame)
		for n := range frame {
			require.Equal(t, NotAbout, AboutESP(frame[:n], &m, &q), n)
		}
		m.Fault = Malformed
		require.Equal(t, NotAbout, AboutESP(frame, &m, &q))
	}
	require.Equal(t, NotAbout, AboutESP(nil, &Meta{}, &q))
}

func TestAboutESPDoesNotAllocate(t *testing.T) {
	for _, frame := range [][]byte{
		icmp4(3, 4, ip4(17, 0, nil, datagram(200, quotedHeader))),
		icmp6(2, ip6(60, ext(50, 0), quotedHeader)),
	} {
		m, kind := parse(frame), PathMTU
		var q QuotedESP
		require.Zero(t, testing.AllocsPerRun(10, func() {
			if k := AboutESP(frame, &m, &q); k != PathMTU {
				kind = k
			}
		}))
		require.Equal(t, PathMTU, kind)
	}
}
