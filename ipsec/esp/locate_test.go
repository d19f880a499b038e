package esp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

// udpFrame is a frame with a UDP datagram from 30001 to 4500; length is its
// length field, or 0 for the right one.
func udpFrame(ip []byte, length int, data ...byte) []byte {
	if length == 0 {
		length = 8 + len(data)
	}
	b := naiveLength(concat(ip, []byte{0x75, 0x31, 0x11, 0x94, byte(length >> 8), byte(length), 0, 0}, data))
	if ip[0]>>4 == 6 {
		return concat(macs, []byte{0x86, 0xdd}, b)
	}
	return concat(macs, []byte{8, 0}, b)
}

func TestEncapsulated(t *testing.T) {
	esp := []byte{0, 0, 1, 0, 0, 0, 0, 1}
	fragment := func(b []byte) []byte {
		b = append([]byte(nil), b...)
		b[20] = 0x20
		naiveLength(b[14:])
		return b
	}
	for _, tt := range []struct {
		name  string
		frame []byte
		want  Encapsulation
		spi   uint32 // and whether there is one, for ESP
		ok    bool
	}{
		{"esp", udpFrame(head4, 0, esp...), ESP, 256, true},
		{"esp over ipv6", udpFrame(head6, 0, esp...), ESP, 256, true},
		{"esp, spi with the high bit", udpFrame(head4, 0, 0xff, 0, 0, 0, 0, 0, 0, 1), ESP, 0xff000000, true},
		{"spi only", udpFrame(head4, 0, esp[:4]...), ESP, 0, false},
		{"spi and half a sequence number", udpFrame(head4, 0, esp[:7]...), ESP, 0, false},
		{"keepalive", udpFrame(head4, 0, 0xff), Keepalive, 0, false},
		{"keepalive with padding in the ip packet", udpFrame(head4, 9, 0xff, 0, 0, 0), Keepalive, 0, false},
		{"one octet, not 0xff", udpFrame(head4, 0, 0xfe), Malformed, 0, false},
		{"two octets 0xff", udpFrame(head4, 0, 0xff, 0xff), Malformed, 0, false},
		{"three octets", udpFrame(head4, 0, 0, 0, 0), Malformed, 0, false},
		{"empty", udpFrame(head4, 0), Malformed, 0, false},
		{"marker only", udpFrame(head4, 0, 0, 0, 0, 0), IKE, 0, false},
		{"ike", udpFrame(head4, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5), IKE, 0, false},
		{"udp length beyond the packet", udpFrame(head4, 17, esp...), Malformed, 0, false},
		{"udp length 7", udpFrame(head4, 7, esp...), Malformed, 0, false},
		{"udp length cuts the esp packet", udpFrame(head4, 15, esp...), ESP, 0, false},
		{"udp header cut off", plainFrame(head4, 7), Malformed, 0, false},
		{"fragment", fragment(udpFrame(head4, 0, esp...)), NotESP, 0, false},
		{"tcp", plainFrame(concat(head4[:9], []byte{6}, head4[10:]), 20), NotESP, 0, false},
		{"no ip", concat(macs, []byte{8, 6}, make([]byte, 28)), NotESP, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m packet.Meta
			packet.Parse(tt.frame, &m)
			require.Equal(t, tt.want, Encapsulated(tt.frame, &m))
			spi, ok := SPIAt(tt.frame, &m, true)
			if tt.want == ESP {
				require.Equal(t, tt.ok, ok)
				require.Equal(t, tt.spi, spi)
			}
		})
	}
}

func TestLocate(t *testing.T) {
	espHead := concat(head4[:9], []byte{50}, head4[10:])
	for _, tt := range []struct {
		name    string
		tr      Transform
		ip      []byte
		payload int // octets behind ip
		text    int // octets, where it is located
		err     error
	}{
		{"smallest", Transform{ICVLen: 16}, espHead, 8 + 8 + 4 + 16, 4, nil},
		{"smallest, icv 8", Transform{ICVLen: 8}, espHead, 8 + 8 + 4 + 8, 4, nil},
		{"no text", Transform{ICVLen: 16}, espHead, 8 + 8 + 16, 0, ErrMalformed},
		{"one octet of text", Transform{ICVLen: 16}, espHead, 8 + 8 + 1 + 16, 0, ErrMalformed},
		{"two octets of text", Transform{ICVLen: 16}, espHead, 8 + 8 + 2 + 16, 0, ErrMalformed},
		{"five octets of text", Transform{ICVLen: 16}, espHead, 8 + 8 + 5 + 16, 0, ErrMalformed},
		{"less than an icv", Transform{ICVLen: 16}, espHead, 12, 0, ErrMalformed},
		{"nothing", Transform{ICVLen: 16}, espHead, 0, 0, ErrMalformed},
		{"bare esp for an sa with encapsulation", Transform{ICVLen: 16, Encap: true}, espHead, 36, 0, ErrEncapsulation},
		{"udp for an sa without", Transform{ICVLen: 16}, head4, 44, 0, ErrEncapsulation},
		{"tcp", Transform{ICVLen: 16}, concat(head4[:9], []byte{6}, head4[10:]), 44, 0, ErrEncapsulation},
		{"tcp for an sa with encapsulation", Transform{ICVLen: 16, Encap: true}, concat(head4[:9], []byte{6}, head4[10:]), 44, 0, ErrEncapsulation},
	} {
		t.Run(tt.name, func(t *testing.T) {
			frame := plainFrame(tt.ip, tt.payload)
			if tt.payload >= 8 {
				copy(frame[14+len(tt.ip):], []byte{0, 0, 1, 0, 0x12, 0x34, 0x56, 0x78})
			}
			r := newRoom(frame)
			before := append([]byte(nil), r.buf...)
			o, seq, err := tt.tr.Locate(r.buf, r.start, &r.meta)
			require.Equal(t, before, r.buf)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				require.Zero(t, o)
				return
			}
			require.NoError(t, err)
			at := headroom + 14 + len(tt.ip)
			require.Equal(t, Offsets{ESP: at, Text: at + 16, TextLen: tt.text, ICV: r.end - tt.tr.ICVLen}, o)
			require.Equal(t, uint32(0x12345678), seq)
		})
	}
}

// TestLocateInUDP: the UDP length bounds the ESP packet.
func TestLocateInUDP(t *testing.T) {
	tr := Transform{ICVLen: 16, Encap: true}
	data := make([]byte, 8+8+8+16)
	for length, text := range map[int]int{0: 8, 8 + 36: 4, 8 + 35: -1, 8 + 41: -1, 7: -1} {
		r := newRoom(udpFrame(head4, length, data...))
		o, _, err := tr.Locate(r.buf, r.start, &r.meta)
		if text < 0 {
			require.ErrorIs(t, err, ErrMalformed, length)
			continue
		}
		require.NoError(t, err, length)
		require.Equal(t, text, o.TextLen, length)
		require.Equal(t, headroom+14+20+8, o.ESP)
		require.Equal(t, o.Text+text, o.ICV)
	}
}
