package packet

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// inRoom puts frame into a buffer with that much room on both sides.
func inRoom(frame []byte, head, tail int) []byte {
	buf := make([]byte, head+len(frame)+tail)
	for i := range buf {
		buf[i] = 0xa5
	}
	copy(buf[head:], frame)
	return buf
}

func TestTooBig(t *testing.T) {
	for _, v := range readMTUVectors(t).TooBig {
		t.Run(v.Name, func(t *testing.T) {
			frame := concat(unhex(t, v.Headers), pattern(v.Pattern))
			m := parse(frame)
			require.True(t, m.IsIP())
			want := concat(unhex(t, v.Answer), frame[m.L3:int(m.L3)+v.Quoted])
			for _, head := range []int{128, 48, 47, 28, 27, 1, 0} {
				buf := inRoom(concat(frame, []byte{1, 2, 3}), head, 64) // Ethernet padding
				require.True(t, MayAnswer(buf[head:], &m))
				start, end, ok := TooBig(buf, head, &m, v.MTU)
				require.True(t, ok, head)
				require.Equal(t, want, buf[start:end], head)
				require.Equal(t, max(0, head-len(want)+int(m.L3)+v.Quoted), start)
				require.Equal(t, inRoom(nil, start, 0), buf[:start], "in front of the answer")
				behind := max(end, head+len(frame)+3)
				require.Equal(t, inRoom(nil, 0, len(buf)-behind), buf[behind:])

				answer := parse(buf[start:end])
				require.True(t, answer.IsIP() && answer.Whole())
				require.Equal(t, m.Flow.Src, answer.Flow.Dst)
				require.Equal(t, uint16(0xffff), checksumOf(buf[start:end], &answer))
				require.False(t, MayAnswer(buf[start:end], &answer), "an answer to an answer")
			}
		})
	}
}

// TestTooBigRoom: where there is no headroom the packet moves back, if it can.
func TestTooBigRoom(t *testing.T) {
	for name, frame := range map[string][]byte{
		"ipv4": ether(ip4(17, 0x4000, nil, pattern(100)), 0x8100, 0x0800),
		"ipv6": ether(ip6(17, pattern(100)), 0x88a8, 0x8100, 0x86dd),
	} {
		m := parse(frame)
		need := 28
		if m.Kind == IPv6 {
			need = 48
		}
		for head := range need + 1 {
			for tail := range need + 1 {
				buf := inRoom(frame, head, tail)
				before := concat(buf)
				start, end, ok := TooBig(buf, head, &m, 1300)
				require.Equal(t, head+tail >= need, ok, "%s %d %d", name, head, tail)
				if !ok {
					require.Equal(t, before, buf)
					continue
				}
				require.Equal(t, 0, start-head+need-(end-len(frame)-head))
				require.Equal(t, frame[m.L3:], buf[end-m.IPLen():end])
			}
		}
	}
}

func TestTooBigBadArguments(t *testing.T) {
	frame := ether(ip4(17, 0x4000, nil, pattern(100)), 0x0800)
	m := parse(frame)
	buf := inRoom(frame, 64, 0)
	before := concat(buf)
	for _, start := range []int{-1, 65, len(buf), len(buf) + 1, -1 << 63, 1<<63 - 1} {
		_, _, ok := TooBig(buf, start, &m, 1000)
		require.False(t, ok, start)
		require.Equal(t, before, buf)
	}
	_, _, ok := TooBig(nil, 0, &Meta{}, 1000)
	require.False(t, ok)
	for _, mtu := range []int{-1 << 63, -1, 0, 67, 68, 0xffff, 0x10000, 1<<63 - 1} {
		work := concat(buf)
		start, _, ok := TooBig(work, 64, &m, mtu)
		require.True(t, ok)
		require.Equal(t, min(max(mtu, 68), 0xffff), int(binary.BigEndian.Uint16(work[start+40:])))
	}
	frame = ether(ip6(17, pattern(100)), 0x86dd)
	m = parse(frame)
	for _, mtu := range []int{-1 << 63, 1279, 1280, 1 << 32, 1<<63 - 1} {
		work := inRoom(frame, 64, 0)
		start, _, ok := TooBig(work, 64, &m, mtu)
		require.True(t, ok)
		require.Equal(t, min(max(mtu, 1280), 0xffff_ffff), int(binary.BigEndian.Uint32(work[start+58:])))
	}
}

func TestTooBigDoesNotAllocate(t *testing.T) {
	for _, frame := range [][]byte{
		ether(ip4(17, 0x4000, nil, pattern(1480)), 0x0800),
		ether(ip6(17, pattern(1460)), 0x86dd),
	} {
		image := inRoom(frame, 64, 0)
		buf, m, ok := concat(image), parse(frame), true
		require.Zero(t, testing.AllocsPerRun(10, func() {
			copy(buf, image)
			_, _, done := TooBig(buf, 64, &m, 1400)
			ok = ok && done
		}))
		require.True(t, ok)
	}
}

func BenchmarkTooBig(b *testing.B) {
	frame := ether(ip4(17, 0x4000, nil, pattern(1480)), 0x0800)
	image := inRoom(frame, 64, 0)
	buf, m := concat(image), parse(frame)
	for b.Loop() {
		copy(buf, image[:128])
		TooBig(buf, 64, &m, 1400)
	}
}
