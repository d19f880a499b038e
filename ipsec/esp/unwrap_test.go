package esp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

// clearText is a frame with an ESP packet that was opened: text in clear.
func clearText(ip, text []byte) *room {
	b := concat(ip, make([]byte, 16), text, make([]byte, 16))
	b[next(ip)] = packet.ProtoESP
	return newRoom(concat(macs, link(ip), naiveLength(b)))
}

func next(ip []byte) int {
	if ip[0]>>4 == 6 {
		return 6
	}
	return 9
}

func link(ip []byte) []byte {
	if ip[0]>>4 == 6 {
		return []byte{0x86, 0xdd}
	}
	return []byte{8, 0}
}

func TestUnwrapTrailer(t *testing.T) {
	counting := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i + 1)
		}
		return b
	}
	for _, tt := range []struct {
		name    string
		text    []byte
		payload int
		err     error
	}{
		{"no padding", []byte{9, 9, 0, 17}, 2, nil},
		{"no payload", []byte{1, 2, 2, 17}, 0, nil},
		{"padding of 1", []byte{9, 1, 1, 17}, 1, nil},
		{"padding of 254", concat(counting(254), []byte{254, 6}), 0, nil},
		{"padding of 255", concat([]byte{9, 9, 9}, counting(255), []byte{255, 6}), 3, nil},
		{"more padding than needed", concat([]byte{9, 9, 9, 9}, counting(10), []byte{10, 6}), 4, nil},
		{"one pad octet wrong", []byte{9, 0, 1, 17}, 0, ErrBadTrailer},
		{"padding counts from 0", []byte{0, 1, 2, 17}, 0, ErrBadTrailer},
		{"first of 255 wrong", concat([]byte{9, 9, 9, 0}, counting(255)[1:], []byte{255, 6}), 0, ErrBadTrailer},
		{"last of 255 wrong", concat([]byte{9, 9, 9}, counting(254), []byte{0, 255, 6}), 0, ErrBadTrailer},
		{"pad length one too many", []byte{1, 2, 3, 17}, 0, ErrBadTrailer},
		{"pad length 255", []byte{1, 2, 255, 17}, 0, ErrBadTrailer},
		{"dummy", []byte{1, 2, 2, 59}, 0, ErrDummy},
		{"dummy whose rest is noise", []byte{7, 7, 99, 59}, 0, ErrDummy},
	} {
		for family, ip := range map[string][]byte{"ipv4": head4, "ipv4 options": head4o, "ipv6": head6, "ipv6 headers": head6x} {
			t.Run(tt.name+", "+family, func(t *testing.T) {
				if family == "ipv6 headers" {
					ip = concat(ip)
					ip[len(ip)-8] = packet.ProtoESP // names what is behind the last header
				}
				checkTrailer(t, ip, tt.text, tt.payload, tt.err)
			})
		}
	}
}

func checkTrailer(t *testing.T, ip, text []byte, payload int, want error) {
	b := concat(ip, make([]byte, 16), text, make([]byte, 16))
	at := next(ip)
	if len(ip) > 64 && ip[0]>>4 == 6 {
		at = len(ip) - 8
	}
	b[at] = packet.ProtoESP
	r := newRoom(concat(macs, link(ip), naiveLength(b)))
	before := append([]byte(nil), r.buf...)
	tr := Transform{ICVLen: 16}
	o, _, err := tr.Locate(r.buf, r.start, &r.meta)
	require.NoError(t, err)
	start, end, nextHeader, err := tr.Unwrap(r.buf, r.start, &r.meta, o)
	if want != nil {
		require.ErrorIs(t, err, want)
		require.Equal(t, before, r.buf)
		return
	}
	require.NoError(t, err)
	require.Equal(t, text[len(text)-1], nextHeader)
	plain := concat(ip, text[:payload])
	plain[at] = nextHeader
	require.Equal(t, concat(macs, link(ip), naiveLength(plain)), r.buf[start:end])
	require.Equal(t, r.start+16, start)
	r.checkAround(t, r.start, r.end)
}

// TestUnwrapNextHeaders: every next header but 59 is restored, whatever it is.
func TestUnwrapNextHeaders(t *testing.T) {
	tr := Transform{ICVLen: 16}
	for proto := range 256 {
		r := clearText(head4, []byte{1, 2, 2, byte(proto)})
		o, _, err := tr.Locate(r.buf, r.start, &r.meta)
		require.NoError(t, err)
		start, end, got, err := tr.Unwrap(r.buf, r.start, &r.meta, o)
		if proto == packet.ProtoNone {
			require.ErrorIs(t, err, ErrDummy)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, byte(proto), got)
		var m packet.Meta
		packet.Parse(r.buf[start:end], &m)
		require.Equal(t, packet.OK, m.Fault, proto)
		require.Equal(t, byte(proto), m.Flow.Proto)
	}
}
