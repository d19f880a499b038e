package packet

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// parse is Parse of a slice whose capacity ends with the frame.
func parse(frame []byte) (m Meta) {
	Parse(frame[:len(frame):len(frame)], &m)
	return m
}

func TestParseLink(t *testing.T) {
	udp := ip4(ProtoUDP, 0, nil, ports4(1, 2, 0, 8, 0, 0))
	for _, tt := range []struct {
		name  string
		frame []byte
		kind  Kind
		fault Fault
		typ   uint16
		tags  uint8
		l3    uint16
		llc   uint8
	}{
		{"untagged", ether(udp, 0x0800), IPv4, OK, 0x0800, 0, 14, 0},
		{"one tag", ether(udp, 0x8100, 0x0800), IPv4, OK, 0x0800, 1, 18, 0},
		{"provider tag", ether(udp, 0x88a8, 0x0800), IPv4, OK, 0x0800, 1, 18, 0},
		{"two tags", ether(udp, 0x88a8, 0x8100, 0x0800), IPv4, OK, 0x0800, 2, 22, 0},
		{"two tags of the old kind", ether(udp, 0x9100, 0x8100, 0x0800), IPv4, OK, 0x0800, 2, 22, 0},
		{"ipv6 behind two tags", ether(ip6(59), 0x8100, 0x8100, 0x86dd), IPv6, OK, 0x86dd, 2, 22, 0},
		{"three tags", ether(udp, 0x88a8, 0x8100, 0x8100, 0x0800), Other, Unparsed, 0x8100, 2, 0, 0},
		{"arp", ether(make([]byte, 28), 0x0806), Other, OK, 0x0806, 0, 14, 0},
		{"tagged arp", ether(make([]byte, 28), 0x8100, 0x0806), Other, OK, 0x0806, 1, 18, 0},
		{"pppoe", ether(udp, 0x8864), Other, OK, 0x8864, 0, 14, 0},
		{"mpls", ether(udp, 0x8847), Other, OK, 0x8847, 0, 14, 0},
		{"spanning tree", ether([]byte{0x42, 0x42, 3}, 38), Other, OK, 38, 0, 14, 0x42},
		{"snap", ether(concat([]byte{0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, udp), 1000), Other, OK, 1000, 0, 14, 0xaa},
		{"tagged llc", ether([]byte{0x42, 0x42, 3}, 0x8100, 38), Other, OK, 38, 1, 18, 0x42},
		{"llc cut off", ether(nil, 38), Other, OK, 38, 0, 14, 0},
		{"type only", ether(nil, 0x88cc), Other, OK, 0x88cc, 0, 14, 0},
		{"13 octets", ether(nil, 0x0800)[:13], Other, Malformed, 0, 0, 0, 0},
		{"empty", nil, Other, Malformed, 0, 0, 0, 0},
		{"tag cut off", ether(nil, 0x8100, 0x0800)[:16], Other, Malformed, 0x8100, 0, 0, 0},
		{"tag without type", ether(nil, 0x8100, 0x0800)[:17], Other, Malformed, 0x8100, 0, 0, 0},
		{"second tag cut off", ether(nil, 0x8100, 0x8100, 0x0800)[:20], Other, Malformed, 0x8100, 1, 0, 0},
		{"ipv4 type without a packet", ether(nil, 0x0800), IPv4, Malformed, 0x0800, 0, 14, 0},
		{"ipv6 type without a packet", ether(nil, 0x86dd), IPv6, Malformed, 0x86dd, 0, 14, 0},
		{"ipv6 in an ipv4 frame", ether(ip6(59), 0x0800), IPv4, Malformed, 0x0800, 0, 14, 0},
		{"ipv4 in an ipv6 frame", ether(ip4(1, 0, nil, make([]byte, 40)), 0x86dd), IPv6, Malformed, 0x86dd, 0, 14, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := parse(tt.frame)
			require.Equal(t, tt.kind, m.Kind)
			require.Equal(t, tt.fault, m.Fault)
			require.Equal(t, tt.typ, m.EtherType)
			require.Equal(t, tt.tags, m.Tags)
			require.Equal(t, tt.l3, m.L3)
			require.Equal(t, tt.llc, m.LLC)
			require.Equal(t, tt.kind != Other && tt.fault == OK, m.IsIP())
		})
	}
}

func TestParse4(t *testing.T) {
	payload := ports4(4000, 53, 0, 8, 0, 0)
	options := []byte{7, 7, 4, 1, 2, 3, 4, 0}
	change := func(b []byte, at int, v byte, fix bool) []byte {
		b[at] = v
		if fix {
			checksum4(b)
		}
		return b
	}
	for _, tt := range []struct {
		name        string
		ip          []byte
		fault       Fault
		insert, end int // from the IP header
		flow        sa.Flow
	}{
		{"udp", ip4(17, 0, nil, payload), OK, 20, 28, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 17}},
		{"options", ip4(6, 0, options, payload), OK, 28, 36, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 6}},
		{"longest header", ip4(6, 0, make([]byte, 40), payload), OK, 60, 68, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 6}},
		{"sctp", ip4(132, 0, nil, payload), OK, 20, 28, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 132}},
		{"dccp", ip4(33, 0, nil, payload), OK, 20, 28, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 33}},
		{"udp-lite", ip4(136, 0, nil, payload), OK, 20, 28, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 136}},
		{"icmp", ip4(1, 0, nil, []byte{3, 4, 9, 9}), OK, 20, 24, sa.Flow{SrcPort: 3, DstPort: 4, Proto: 1}},
		{"icmpv6 in ipv4 is no icmp", ip4(58, 0, nil, []byte{3, 4, 9, 9}), OK, 20, 24, sa.Flow{Proto: 58}},
		{"gre", ip4(47, 0, nil, payload), OK, 20, 28, sa.Flow{Proto: 47}},
		{"esp", ip4(50, 0, nil, payload), OK, 20, 28, sa.Flow{Proto: 50}},
		{"ah", ip4(51, 0, nil, payload), OK, 20, 28, sa.Flow{Proto: 51}},
		{"no payload", ip4(17, 0, nil, nil), OK, 20, 20, sa.Flow{Proto: 17}},
		{"too short for ports", ip4(6, 0, nil, payload[:3]), OK, 20, 23, sa.Flow{Proto: 6}},
		{"too short for icmp", ip4(1, 0, nil, payload[:1]), OK, 20, 21, sa.Flow{Proto: 1}},
		{"do not fragment", ip4(17, 0x4000, nil, payload), OK, 20, 28, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 17}},
		{"first fragment", ip4(17, 0x2000, nil, payload), OK, 20, 28, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 17, Frag: sa.FragFirst}},
		{"first fragment too short for ports", ip4(17, 0x2000, nil, payload[:3]), Malformed, 20, 23, sa.Flow{}},
		{"first fragment too short for icmp", ip4(1, 0x2000, nil, payload[:1]), Malformed, 20, 21, sa.Flow{}},
		{"middle fragment", ip4(17, 0x2001, nil, payload), OK, 20, 28, sa.Flow{Proto: 17, Frag: sa.FragLater}},
		{"last fragment", ip4(17, 0x1fff, nil, payload), OK, 20, 28, sa.Flow{Proto: 17, Frag: sa.FragLater}},
		{"last fragment of one octet", ip4(17, 1, nil, payload[:1]), OK, 20, 21, sa.Flow{Proto: 17, Frag: sa.FragLater}},
		{"wrong checksum", change(ip4(17, 0, nil, payload), 10, 0x55, false), Malformed, 0, 0, sa.Flow{}},
		{"one bit of the addresses", change(ip4(17, 0, nil, payload), 15, 3, false), Malformed, 0, 0, sa.Flow{}},
		{"version 5", change(ip4(17, 0, nil, payload), 0, 0x55, true), Malformed, 0, 0, sa.Flow{}},
		{"ihl 4", change(ip4(17, 0, nil, payload), 0, 0x44, true), Malformed, 0, 0, sa.Flow{}},
		{"ihl beyond total length", change(ip4(17, 0, nil, payload), 0, 0x48, true), Malformed, 0, 0, sa.Flow{}},
		{"total length 19", change(ip4(17, 0, nil, payload), 3, 19, true), Malformed, 0, 0, sa.Flow{}},
		{"total length beyond the frame", change(ip4(17, 0, nil, payload), 3, 29, true), Malformed, 0, 0, sa.Flow{}},
		{"total length below the frame", change(ip4(17, 0, nil, payload), 3, 24, true), OK, 20, 24, sa.Flow{SrcPort: 4000, DstPort: 53, Proto: 17}},
		{"total length ends in the ports", change(ip4(17, 0, nil, payload), 3, 22, true), OK, 20, 22, sa.Flow{Proto: 17}},
		{"header cut off", ip4(17, 0, nil, payload)[:19], Malformed, 0, 0, sa.Flow{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, types := range [][]uint16{{0x0800}, {0x8100, 0x0800}} {
				m := parse(ether(tt.ip, types...))
				require.Equal(t, tt.fault, m.Fault)
				if m.Fault != OK {
					continue
				}
				l3 := 14 + 4*(len(types)-1)
				tt.flow.Src, tt.flow.Dst = sa.AddrFrom(netip.AddrFrom4([4]byte(src4))), sa.AddrFrom(netip.AddrFrom4([4]byte(dst4)))
				require.Equal(t, tt.flow, m.Flow)
				require.Equal(t, l3, int(m.L3))
				require.Equal(t, l3+tt.insert, int(m.Insert))
				require.Equal(t, l3+9, int(m.InsertNext))
				require.Equal(t, m.Insert, m.Upper)
				require.Equal(t, m.InsertNext, m.UpperNext)
				require.Equal(t, l3+tt.end, int(m.End))
				require.Equal(t, tt.end, m.IPLen())
			}
		})
	}
}

func TestParse6(t *testing.T) {
	udp := ports4(4000, 53, 0, 8, 0, 0)
	flow := func(proto uint8, src, dst uint16, f sa.Fragment) sa.Flow {
		return sa.Flow{SrcPort: src, DstPort: dst, Proto: proto, Frag: f, V6: true}
	}
	none := sa.Flow{}
	eight := concat(ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0))
	// Offsets count from the IPv6 header.
	for _, tt := range []struct {
		name                          string
		ip                            []byte
		fault                         Fault
		insert, insertNext, up, upNxt int
		flow                          sa.Flow
	}{
		{"udp", ip6(17, udp), OK, 40, 6, 40, 6, flow(17, 4000, 53, 0)},
		{"icmpv6", ip6(58, []byte{135, 1, 0, 0}), OK, 40, 6, 40, 6, flow(58, 135, 1, 0)},
		{"icmp in ipv6 is no icmpv6", ip6(1, []byte{135, 1, 0, 0}), OK, 40, 6, 40, 6, flow(1, 0, 0, 0)},
		{"no next header", ip6(59), OK, 40, 6, 40, 6, flow(59, 0, 0, 0)},
		{"esp", ip6(50, udp), OK, 40, 6, 40, 6, flow(50, 0, 0, 0)},
		{"ah is an upper layer", ip6(51, udp), OK, 40, 6, 40, 6, flow(51, 0, 0, 0)},
		{"mobility is an upper layer", ip6(135, udp), OK, 40, 6, 40, 6, flow(135, 0, 0, 0)},
		{"hop-by-hop", ip6(0, ext(17, 0), udp), OK, 48, 40, 48, 40, flow(17, 4000, 53, 0)},
		{"long hop-by-hop", ip6(0, ext(6, 3), udp), OK, 72, 40, 72, 40, flow(6, 4000, 53, 0)},
		{"routing", ip6(43, ext(17, 2), udp), OK, 64, 40, 64, 40, flow(17, 4000, 53, 0)},
		{"destination options", ip6(60, ext(17, 0), udp), OK, 40, 6, 48, 40, flow(17, 4000, 53, 0)},
		{"destination options, routing", ip6(60, ext(43, 0), ext(17, 0), udp), OK, 56, 48, 56, 48, flow(17, 4000, 53, 0)},
		{"routing, destination options", ip6(43, ext(60, 0), ext(17, 0), udp), OK, 48, 40, 56, 48, flow(17, 4000, 53, 0)},
		{"hop-by-hop, destination options, routing, destination options", ip6(0, ext(60, 0), ext(43, 0), ext(60, 1), ext(17, 0), udp), OK, 72, 56, 80, 72, flow(17, 4000, 53, 0)},
		{"atomic fragment", ip6(44, frag(17, 0), udp), OK, 48, 40, 48, 40, flow(17, 4000, 53, 0)},
		{"atomic fragment, destination options", ip6(44, frag(60, 0), ext(17, 0), udp), OK, 48, 40, 56, 48, flow(17, 4000, 53, 0)},
		{"destination options, esp", ip6(60, ext(50, 0), udp), OK, 40, 6, 48, 40, flow(50, 0, 0, 0)},
		{"first fragment", ip6(44, frag(17, 1), udp), OK, 48, 40, 48, 40, flow(17, 4000, 53, sa.FragFirst)},
		{"first fragment behind destination options", ip6(44, frag(60, 1), ext(17, 0), udp), OK, 48, 40, 56, 48, flow(17, 4000, 53, sa.FragFirst)},
		{"first fragment ends in the chain", ip6(44, frag(60, 1), []byte{17, 1, 0, 0, 0, 0, 0, 0}), Malformed, 0, 0, 0, 0, none},
		{"first fragment ends before the ports", ip6(44, frag(17, 1), udp[:2]), Malformed, 0, 0, 0, 0, none},
		{"later fragment", ip6(44, frag(17, 8|1), udp), OK, 48, 40, 48, 40, flow(17, 0, 0, sa.FragLater)},
		{"last fragment", ip6(44, frag(17, 0xfff8), udp), OK, 48, 40, 48, 40, flow(17, 0, 0, sa.FragLater)},
		{"later fragment of esp", ip6(44, frag(50, 8), udp), OK, 48, 40, 48, 40, flow(50, 0, 0, sa.FragLater)},
		{"later fragment behind destination options", ip6(44, frag(60, 8), udp), Unparsed, 0, 0, 0, 0, none},
		{"later fragment behind routing", ip6(44, frag(43, 8), udp), Unparsed, 0, 0, 0, 0, none},
		{"two fragment headers", ip6(44, frag(44, 0), frag(17, 0), udp), Malformed, 0, 0, 0, 0, none},
		{"too short for ports", ip6(17, udp[:3]), OK, 40, 6, 40, 6, flow(17, 0, 0, 0)},
		{"hop-by-hop not first", ip6(60, ext(0, 0), ext(17, 0), udp), Malformed, 0, 0, 0, 0, none},
		{"hop-by-hop twice", ip6(0, ext(0, 0), ext(17, 0), udp), Malformed, 0, 0, 0, 0, none},
		{"hop-by-hop behind a fragment header", ip6(44, frag(0, 0), ext(17, 0), udp), Malformed, 0, 0, 0, 0, none},
		{"eight extension headers", ip6(60, eight, ext(17, 0), udp), OK, 40, 6, 104, 96, flow(17, 4000, 53, 0)},
		{"nine extension headers", ip6(60, eight, ext(60, 0), ext(17, 0), udp), Malformed, 0, 0, 0, 0, none},
		{"extension header beyond the packet", ip6(60, []byte{17, 2, 0, 0, 0, 0, 0, 0}, udp), Malformed, 0, 0, 0, 0, none},
		{"extension header of 7 octets", ip6(60, ext(17, 0)[:7]), Malformed, 0, 0, 0, 0, none},
		{"fragment header of 7 octets", ip6(44, frag(17, 0)[:7]), Malformed, 0, 0, 0, 0, none},
		{"extension header and nothing", ip6(60, ext(17, 0)), OK, 40, 6, 48, 40, flow(17, 0, 0, 0)},
		{"jumbogram", jumbogram(), Malformed, 0, 0, 0, 0, none},
		{"header cut off", ip6(59)[:39], Malformed, 0, 0, 0, 0, none},
		{"payload length beyond the frame", ip6(17, udp)[:47], Malformed, 0, 0, 0, 0, none},
		{"version 4", append([]byte{0x40}, ip6(17, udp)[1:]...), Malformed, 0, 0, 0, 0, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := parse(ether(tt.ip, 0x86dd))
			require.Equal(t, IPv6, m.Kind)
			require.Equal(t, tt.fault, m.Fault)
			if m.Fault != OK {
				return
			}
			tt.flow.Src, tt.flow.Dst = sa.AddrFrom(netip.AddrFrom16([16]byte(src6))), sa.AddrFrom(netip.AddrFrom16([16]byte(dst6)))
			require.Equal(t, tt.flow, m.Flow)
			require.Equal(t, []int{tt.insert, tt.insertNext, tt.up, tt.upNxt},
				[]int{int(m.Insert) - 14, int(m.InsertNext) - 14, int(m.Upper) - 14, int(m.UpperNext) - 14})
			require.Equal(t, 14+len(tt.ip), int(m.End))
		})
	}
}

// jumbogram has payload length 0 and the real one in hop-by-hop options.
func jumbogram() []byte {
	b := ip6(0, []byte{17, 0, 0xc2, 4, 0, 1, 0, 0}, ports4(4000, 53, 0, 8, 0, 0))
	b[4], b[5] = 0, 0
	return b
}

// TestParseIgnoresPadding: what is behind the IP packet changes nothing.
func TestParseIgnoresPadding(t *testing.T) {
	for _, frame := range [][]byte{
		ether(ip4(17, 0, nil, ports4(1, 2)[:2]), 0x0800),
		ether(ip6(60, ext(17, 0)), 0x86dd),
	} {
		require.Equal(t, parse(frame), parse(append(frame, make([]byte, 30)...)))
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	frame := ether(ip6(0, ext(60, 0), ext(43, 0), ext(60, 1), ext(17, 0), ports4(1, 2)), 0x88a8, 0x8100, 0x86dd)
	var m Meta
	require.Zero(t, testing.AllocsPerRun(10, func() { Parse(frame, &m) }))
	require.Equal(t, OK, m.Fault)
}
