package packet

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClampMSS(t *testing.T) {
	for _, v := range readMTUVectors(t).MSS {
		t.Run(v.Name, func(t *testing.T) {
			frame, want := unhex(t, v.Before), unhex(t, v.After)
			m := parse(frame)
			require.True(t, m.IsIP())
			before := m
			require.Equal(t, v.Before != v.After, ClampMSS(frame, &m, v.MSS))
			require.Equal(t, want, frame)
			require.Equal(t, before, m)
			require.False(t, ClampMSS(frame, &m, v.MSS), "again")
			require.Equal(t, want, frame)
		})
	}
}

// syn is a TCP SYN with these options; words says what the data offset says.
func syn(words byte, options ...byte) []byte {
	return concat(ports4(40000, 443, 1, 2, 3, 4, 0, 0, 0, 0, words<<4, 2, 0xfa, 0xf0, 0x12, 0x34, 0, 0), options)
}

// finished writes the right TCP checksum.
func finished(frame []byte) []byte {
	m := parse(frame)
	u := frame[m.Upper:m.End]
	u[16], u[17] = 0, 0
	binary.BigEndian.PutUint16(u[16:], 0xffff-checksumOf(frame, &m))
	return frame
}

// TestClampMSSLeavesAlone: nothing that is not surely an MSS option is changed.
func TestClampMSSLeavesAlone(t *testing.T) {
	mss := []byte{2, 4, 5, 180}
	tcp := syn(6, mss...)
	udp := concat(tcp)
	for name, frame := range map[string][]byte{
		"length 0":                        ether(ip4(6, 0, nil, syn(7, concat([]byte{9, 0, 1, 1}, mss)...)), 0x0800),
		"length 1":                        ether(ip4(6, 0, nil, syn(7, concat([]byte{9, 1, 1, 1}, mss)...)), 0x0800),
		"length beyond the offset":        ether(ip4(6, 0, nil, syn(7, concat([]byte{9, 9, 1, 1}, mss)...)), 0x0800),
		"kind without length":             ether(ip4(6, 0, nil, syn(6, concat([]byte{1, 1, 1, 2}, mss)...)), 0x0800),
		"mss that runs past the offset":   ether(ip4(6, 0, nil, syn(6, concat([]byte{1, 2, 4, 5}, mss)...)), 0x0800),
		"mss of length 3":                 ether(ip4(6, 0, nil, syn(6, 2, 3, 5, 0)), 0x0800),
		"mss of length 6":                 ether(ip4(6, 0, nil, syn(7, 2, 6, 5, 180, 5, 180, 0, 0)), 0x0800),
		"behind the data offset":          ether(ip4(6, 0, nil, syn(5, mss...)), 0x0800),
		"data offset 4":                   ether(ip4(6, 0, nil, syn(4, mss...)), 0x0800),
		"data offset beyond the packet":   ether(ip4(6, 0, nil, syn(7, mss...)), 0x0800),
		"in the Ethernet padding":         append(ether(ip4(6, 0, nil, syn(6)), 0x0800), mss...),
		"header cut off behind the flags": ether(ip4(6, 0, nil, tcp[:14]), 0x0800),
		"first fragment":                  ether(ip4(6, 0x2000, nil, tcp), 0x0800),
		"later fragment":                  ether(ip4(6, 0x0001, nil, tcp), 0x0800),
		"ipv6 later fragment":             ether(ip6(44, frag(6, 8), tcp), 0x86dd),
		"udp":                             ether(ip4(17, 0, nil, udp), 0x0800),
		"no ip":                           ether(tcp, 0x0806),
		"malformed":                       ether(ip4(6, 0, nil, tcp), 0x0800)[:57],
		"nothing":                         nil,
	} {
		m, before := parse(frame), concat(frame)
		require.False(t, ClampMSS(frame[:len(frame):len(frame)], &m, 100), name)
		require.Equal(t, before, concat(frame), name)
	}
}

// TestClampMSSBeforeBadOption: what was in front of a bad option has been done.
func TestClampMSSBeforeBadOption(t *testing.T) {
	for _, bad := range [][]byte{{9, 0, 1, 1}, {9, 5, 1, 1}, {1, 1, 1, 9}} {
		frame := finished(ether(ip4(6, 0, nil, syn(7, concat([]byte{2, 4, 5, 180}, bad)...)), 0x0800))
		m := parse(frame)
		require.True(t, ClampMSS(frame, &m, 100))
		require.Equal(t, concat([]byte{2, 4, 0, 100}, bad), frame[m.Upper+20:m.End])
		require.Equal(t, uint16(0xffff), checksumOf(frame, &m))
	}
}

// TestClampMSSDistrustsMeta: a frame that is shorter than its Meta says.
func TestClampMSSDistrustsMeta(t *testing.T) {
	frame := ether(ip4(6, 0, nil, syn(6, 2, 4, 5, 180)), 0x0800)
	m := parse(frame)
	for n := range frame {
		require.False(t, ClampMSS(frame[:n], &m, 100), n)
	}
	bad := m
	bad.Fault = Malformed
	require.False(t, ClampMSS(frame, &bad, 100))
	require.True(t, ClampMSS(frame, &m, 100))
}

// TestClampMSSChecksum goes through all checksums that a packet can have, at both
// kinds of offset: the result is what a full computation gives, never 0xffff.
func TestClampMSSChecksum(t *testing.T) {
	for name, options := range map[string][]byte{
		"even": {2, 4, 5, 180},
		"odd":  {1, 2, 4, 5, 180, 1, 1, 1},
	} {
		frame := ether(ip4(6, 0, nil, syn(byte(5+len(options)/4), options...)), 0x0800)
		m := parse(frame)
		work := make([]byte, len(frame))
		zeros := 0
		for v := range 0x10000 {
			binary.BigEndian.PutUint16(frame[m.Upper+4:], uint16(v)) // in the sequence number
			copy(work, finished(frame))
			if !ClampMSS(work, &m, 1386) || checksumOf(work, &m) != 0xffff {
				t.Fatalf("%s: wrong after clamping with %#x in the sequence number", name, v)
			}
			switch binary.BigEndian.Uint16(work[m.Upper+16:]) {
			case 0:
				zeros++
			case 0xffff:
				t.Fatalf("%s: 0xffff is no TCP checksum", name)
			}
		}
		require.NotZero(t, zeros, name)
	}
}

// TestClampMSSWrongChecksum: a wrong checksum is not made right.
func TestClampMSSWrongChecksum(t *testing.T) {
	frame := finished(ether(ip6(6, syn(7, 1, 2, 4, 5, 180, 1, 1, 1)), 0x86dd))
	m := parse(frame)
	for v := range 0x10000 {
		work := concat(frame)
		binary.BigEndian.PutUint16(work[m.Upper+16:], uint16(v))
		before := checksumOf(work, &m)
		if !ClampMSS(work, &m, 1300) || checksumOf(work, &m) != before {
			t.Fatalf("checksum %#x: summed to %#x, now to %#x", v, before, checksumOf(work, &m))
		}
	}
}

func TestClampMSSDoesNotAllocate(t *testing.T) {
	frame := finished(ether(ip4(6, 0, nil, syn(6, 2, 4, 5, 180)), 0x0800))
	m := parse(frame)
	changed, mss := true, uint16(1400)
	require.Zero(t, testing.AllocsPerRun(10, func() { changed = ClampMSS(frame, &m, mss) && changed; mss-- }))
	require.True(t, changed)
}

// BenchmarkClampMSS: data is what nearly all packets are.
func BenchmarkClampMSS(b *testing.B) {
	frame := finished(ether(ip4(6, 0, nil, syn(6, 2, 4, 5, 180)), 0x0800))
	m := parse(frame)
	b.Run("SYN", func(b *testing.B) {
		for b.Loop() {
			frame[m.Upper+22] = 5
			ClampMSS(frame, &m, 1200)
		}
	})
	frame[m.Upper+13] = 0x10 // ACK
	b.Run("data", func(b *testing.B) {
		for b.Loop() {
			ClampMSS(frame, &m, 1200)
		}
	})
}
