package packet

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

func TestParseUpper(t *testing.T) {
	udp := ports4(4000, 53, 0, 8, 0, 0)
	esp := make([]byte, 64)
	for _, tt := range []struct {
		name          string
		sealed, plain []byte
		fault         Fault
		flow          sa.Flow // without addresses
	}{
		{"ipv4 udp", ip4(50, 0, nil, esp), ip4(17, 0, nil, udp), OK, sa.Flow{Proto: 17, SrcPort: 4000, DstPort: 53}},
		{"ipv4 with options", ip4(50, 0, make([]byte, 8), esp), ip4(1, 0, make([]byte, 8), []byte{8, 0}), OK, sa.Flow{Proto: 1, SrcPort: 8}},
		{"ipv4 from udp encapsulation", ip4(17, 0, nil, concat(ports4(4500, 4500), esp)), ip4(6, 0, nil, udp), OK, sa.Flow{Proto: 6, SrcPort: 4000, DstPort: 53}},
		{"ipv4 bare header", ip4(50, 0, nil, esp), ip4(17, 0, nil, nil), OK, sa.Flow{Proto: 17}},
		{"ipv4 esp again", ip4(50, 0, nil, esp), ip4(50, 0, nil, udp), OK, sa.Flow{Proto: 50}},
		{"ipv4 protocol 0 is no extension header", ip4(50, 0, nil, esp), ip4(0, 0, nil, udp), OK, sa.Flow{}},
		{"ipv6 udp", ip6(50, esp), ip6(17, udp), OK, sa.Flow{V6: true, Proto: 17, SrcPort: 4000, DstPort: 53}},
		{"ipv6 destination options inside", ip6(0, ext(50, 0), esp), ip6(0, ext(60, 0), ext(17, 1), udp), OK, sa.Flow{V6: true, Proto: 17, SrcPort: 4000, DstPort: 53}},
		{"ipv6 hop-by-hop inside", ip6(50, esp), ip6(0, ext(17, 0), udp), Malformed, sa.Flow{}},
		{"ipv6 fragment inside", ip6(50, esp), ip6(44, frag(17, 1), udp), OK, sa.Flow{V6: true, Proto: 17, SrcPort: 4000, DstPort: 53, Frag: sa.FragFirst}},
		{"ipv6 later fragment inside", ip6(50, esp), ip6(44, frag(17, 9), udp), OK, sa.Flow{V6: true, Proto: 17, Frag: sa.FragLater}},
		{"ipv6 fragment headers on both sides", ip6(44, frag(50, 0), esp), ip6(44, frag(44, 0), frag(17, 0), udp), Malformed, sa.Flow{}},
		{"ipv6 chain cut off inside", ip6(50, esp), ip6(60, []byte{17, 9, 0, 0, 0, 0, 0, 0}), Malformed, sa.Flow{}},
		{
			"ipv6 eight headers, two of them inside",
			ip6(60, ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(50, 0), esp),
			ip6(60, ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(17, 0), udp),
			OK,
			sa.Flow{V6: true, Proto: 17, SrcPort: 4000, DstPort: 53},
		},
		{
			"ipv6 nine headers, three of them inside",
			ip6(60, ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(50, 0), esp),
			ip6(60, ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(17, 0), udp),
			Malformed,
			sa.Flow{},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			typ := uint16(0x0800)
			if tt.plain[0]>>4 == 6 {
				typ = 0x86dd
			}
			frame, m := ether(tt.plain, typ), parse(ether(tt.sealed, typ))
			require.Equal(t, OK, m.Fault)
			ParseUpper(frame[:len(frame):len(frame)], frame[m.UpperNext], &m)
			require.Equal(t, tt.fault, m.Fault)
			if m.Fault != OK {
				return
			}
			tt.flow.Src, tt.flow.Dst = m.Flow.Src, m.Flow.Dst
			require.Equal(t, tt.flow, m.Flow)
			require.Equal(t, len(frame), int(m.End))
			require.Equal(t, m.Flow.Proto, frame[m.UpperNext])
		})
	}
}

func TestParseUpperDistrustsFrame(t *testing.T) {
	m := parse(ether(ip4(50, 0, nil, make([]byte, 64)), 0x0800))
	for name, frame := range map[string][]byte{
		"shorter than the headers":     make([]byte, 33),
		"length beyond the frame":      ether(ip4(17, 0, nil, make([]byte, 20)), 0x0800)[:50],
		"length that ends in a header": make([]byte, 64),
		"nothing":                      nil,
	} {
		c := m
		ParseUpper(frame, 17, &c)
		require.Equal(t, Malformed, c.Fault, name)
	}
	other := parse(ether(nil, 0x0806))
	ParseUpper(make([]byte, 100), 17, &other)
	require.Equal(t, Malformed, other.Fault)
}
