package silicon_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// openRig is a rig with its engines and lookups on, receive SA 1 programmed for the card's
// host (IPv4), SA 2 for IPv6, and a receive queue.
func openRig(t testing.TB, change ...func(*silicon.Config)) (*rig, *rxRing) {
	t.Helper()
	r := newRig(t, change...)
	r.engines()
	r.rxSA(1, saOf(1), host4)
	r.rxSA(2, saOf(2), host6)
	return r, r.rxQueue(0, 64, 2)
}

// Status of an ESP packet over IPv4 (reference 6.5), by what IPsec says of it.
const (
	statusMatched  = 0x00020043
	statusNoSA     = 0x00000043
	statusProtocol = 0x08020043
	statusLength   = 0x10020043
	statusICV      = 0x18020043
)

// TestPublishedPacketsAreOpened, in place: everything else of the frame stays.
func TestPublishedPacketsAreOpened(t *testing.T) {
	for _, v := range append(vectors, gmacVector) {
		t.Run(v.name, func(t *testing.T) {
			r, q := openRig(t)
			s, text, packet := v.read(t)
			r.rxSA(7, s, host4)
			if v == gmacVector {
				r.rxKey(7, s, modValid|modESP)
			}
			got := q.receive(fromPeerESP(host4, packet))
			want := slices.Concat(packet[:16], text, packet[len(packet)-16:])
			require.Equal(t, fromPeerESP(host4, want), got[0].data)
			require.EqualValues(t, statusMatched, got[0].status())
			require.EqualValues(t, ptIPv4|ptESP, got[0].words[0])
			r.breached()
		})
	}
}

func TestOpenEveryLength(t *testing.T) {
	r, q := openRig(t)
	for n := range 200 {
		for dst, number := range map[netip.Addr]int{host4: 1, host6: 2} {
			e := esp{sa: saOf(number), seq: uint32(n), iv: uint64(n) << 32, payload: counting(n), next: 17}
			e.padding = n % 5 * 4
			got := q.receive(fromPeerESP(dst, e.sealed()))
			require.Equal(t, fromPeerESP(dst, e.opened()), got[0].data, "%d octets to %s", n, dst)
			want := uint32(statusMatched)
			if dst.Is6() {
				want &^= rxIPCS // IPv6 has no checksum
			}
			require.Equal(t, want, got[0].status())
		}
	}
	r.breached()
	require.EqualValues(t, 400, r.counts().RxOpened)
	require.EqualValues(t, 400, r.counts().RxIPsec)
}

// TestOpenGMAC: an SA without DECRYPT authenticates only; the frame stays as it is.
func TestOpenGMAC(t *testing.T) {
	r, q := openRig(t)
	r.rxKey(1, saOf(1), modValid|modESP)
	for n := range 40 {
		e := esp{sa: saOf(1), seq: 1, iv: uint64(n), payload: counting(n), next: 17}
		frame := fromPeerESP(host4, e.authentic())
		got := q.receive(frame)
		require.Equal(t, frame, got[0].data)
		require.EqualValues(t, statusMatched, got[0].status())
		for _, at := range []int{38, 44, 50, len(frame) - 17, len(frame) - 1} { // not the SPI
			got := q.receive(wrong(frame, at))
			require.Equal(t, wrong(frame, at), got[0].data)
			require.EqualValues(t, statusICV, got[0].status(), "octet %d", at)
		}
	}
	require.EqualValues(t, 40, r.counts().RxOpened)
	require.EqualValues(t, 200, r.counts().RxICVFailed)
}

// TestOpenBehindTags: datasheet 7.13.2.2. With skip-tagged they are no IPsec packets.
func TestOpenBehindTags(t *testing.T) {
	e := esp{sa: saOf(1), seq: 1, payload: counting(60), next: 17}
	for _, skip := range []bool{false, true} {
		_, q := openRig(t, set("skip-tagged="+yes(skip)))
		for _, tags := range [][]uint16{{5}, {5, 6}} {
			got := q.receive(fromPeerESP(host4, e.sealed(), tags...))
			want, status := fromPeerESP(host4, e.opened(), tags...), uint32(statusMatched)
			if skip {
				want, status = fromPeerESP(host4, e.sealed(), tags...), statusNoSA
			}
			require.Equal(t, want, got[0].data)
			require.Equal(t, status, got[0].status())
			require.EqualValues(t, ptIPv4|ptESP, got[0].words[0], "the type says ESP in any case")
		}
		got := q.receive(fromPeerESP(host4, e.sealed()))
		require.EqualValues(t, statusMatched, got[0].status(), "without a tag")
	}
}

func yes(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

// TestOpenStrippedAndSpread: with the tag stripped, over several buffers: what IPsec says
// is in the last descriptor.
func TestOpenStrippedAndSpread(t *testing.T) {
	r := newRig(t)
	r.engines()
	r.rxSA(1, saOf(1), host4)
	q := r.rxQueue(0, 64, 1)
	r.setBits(rxBlock(0)+queueCtrl, stripVLAN)
	e := esp{sa: saOf(1), seq: 1, payload: counting(1300), next: 17}
	got := q.receive(fromPeerESP(host4, e.sealed(), 9))
	require.Len(t, got, 2)
	require.Equal(t, fromPeerESP(host4, e.opened()), append(got[0].data, got[1].data...))
	require.EqualValues(t, rxDD, got[0].status())
	require.EqualValues(t, statusMatched|rxVP, got[1].status())
	require.EqualValues(t, 9, got[1].tag())
}
