package esp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

func plainFrame(ip []byte, payload int) []byte {
	link := []byte{8, 0}
	if ip[0]>>4 == 6 {
		link = []byte{0x86, 0xdd}
	}
	return concat(macs, link, naiveLength(concat(ip, make([]byte, payload))))
}

// TestWrapRoom gives exactly the room that is needed, and one octet less.
func TestWrapRoom(t *testing.T) {
	frame := plainFrame(head4, 23) // three pad octets
	for _, tt := range []struct {
		name       string
		tr         Transform
		head, tail int
	}{
		{"icv 16", Transform{ICVLen: 16}, 16, 3 + 2 + 16},
		{"icv 8", Transform{ICVLen: 8}, 16, 3 + 2 + 8},
		{"encapsulated", Transform{ICVLen: 16, Encap: true}, MaxHead, MaxTail},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, lack := range []struct{ head, tail int }{{0, 0}, {1, 0}, {0, 1}} {
				buf := make([]byte, tt.head-lack.head+len(frame)+tt.tail-lack.tail)
				start := tt.head - lack.head
				end := start + copy(buf[start:], frame)
				before := append([]byte(nil), buf...)
				var m packet.Meta
				packet.Parse(buf[start:end], &m)
				newStart, newEnd, o, err := tt.tr.Wrap(buf, start, end, &m, 1)
				if lack.head+lack.tail > 0 {
					require.ErrorIs(t, err, ErrNoRoom)
					require.Equal(t, before, buf)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, 0, newStart)
				require.Equal(t, len(buf), newEnd)
				require.Equal(t, len(buf), o.ICV+tt.tr.ICVLen)
			}
		})
	}
}

func TestWrapTooLong(t *testing.T) {
	tr := Transform{ICVLen: 16}
	for _, tt := range []struct {
		name string
		ip   []byte
		most int // payload that still fits: the text is a multiple of 4, 65480 and 65500
	}{
		{"ipv4", head4, 65535 - 20 - 16 - 2 - 16 - 3},
		{"ipv6", head6, 65535 - 16 - 2 - 16 - 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(plainFrame(tt.ip, tt.most))
			_, _, _, err := tr.Wrap(r.buf, r.start, r.end, &r.meta, 1)
			require.NoError(t, err)
			r = newRoom(plainFrame(tt.ip, tt.most+1))
			_, _, _, err = tr.Wrap(r.buf, r.start, r.end, &r.meta, 1)
			require.ErrorIs(t, err, ErrTooLong)
		})
	}
}

// TestLargestPacket: with AES-GCM and an ICV of 16, 1466 octets become 1500.
func TestLargestPacket(t *testing.T) {
	tr := Transform{ICVLen: 16}
	for _, ip := range [][]byte{head4, head6} {
		for total, sealed := range map[int]int{1466: 1500, 1467: 1504} {
			r := newRoom(plainFrame(ip, total-len(ip)))
			require.Equal(t, sealed, r.meta.IPLen()+tr.Overhead(&r.meta))
			start, end, _, err := tr.Wrap(r.buf, r.start, r.end, &r.meta, 1)
			require.NoError(t, err)
			require.Equal(t, 14+sealed, end-start)
		}
	}
}

// TestWrapDistrustsMeta: a Meta that does not fit the frame changes nothing.
func TestWrapDistrustsMeta(t *testing.T) {
	tr := Transform{ICVLen: 16}
	r := newRoom(plainFrame(head4, 40))
	before := append([]byte(nil), r.buf...)
	for name, call := range map[string]func() error{
		"frame cut off": func() error {
			_, _, _, err := tr.Wrap(r.buf, r.start, r.end-1, &r.meta, 1)
			return err
		},
		"end beyond the buffer": func() error {
			_, _, _, err := tr.Wrap(r.buf, r.start, len(r.buf)+1, &r.meta, 1)
			return err
		},
		"no meta": func() error {
			_, _, _, err := tr.Wrap(r.buf, r.start, r.end, new(packet.Meta), 1)
			return err
		},
		"not located": func() error {
			_, _, err := tr.Locate(r.buf, r.start, new(packet.Meta))
			return err
		},
	} {
		require.ErrorIs(t, call(), ErrMalformed, name)
		require.Equal(t, before, r.buf, name)
	}
}

// TestPutChecksum: UDP over IPv6 has a checksum, but behind a routing header,
// where the address that counts is not in the IPv6 header. UDP over IPv4 has none.
func TestPutChecksum(t *testing.T) {
	tr := Transform{ICVLen: 16, Encap: true}
	n := suites()[2]
	a := n.fast(t)
	for _, tt := range []struct {
		name string
		ip   []byte
		need bool
	}{
		{"ipv4", head4, false},
		{"ipv6", head6, true},
		{"ipv6 routed", head6x, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(plainFrame(tt.ip, 100))
			require.Equal(t, tt.need, tr.NeedsChecksum(&r.meta))
			require.Equal(t, tt.name == "ipv6 routed", r.meta.Routed())
			require.NoError(t, r.seal(NewScratch(0), &tr, a, 1))
			got := r.ip()[len(tt.ip)+6 : len(tt.ip)+8]
			if tt.name != "ipv6" {
				require.Equal(t, []byte{0, 0}, got)
				return
			}
			want := concat(r.ip())
			want[len(tt.ip)+6], want[len(tt.ip)+7] = 0, 0
			naiveUDPSum(want, len(tt.ip))
			require.Equal(t, want, r.ip())
			require.NotEqual(t, []byte{0, 0}, got)
		})
	}
}
