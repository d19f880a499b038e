package silicon_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// ah is a packet of AH (RFC 4302) with an SPI.
func ah(s sa) []byte {
	h := []byte{17, 5, 0, 0}
	return slices.Concat(h, good().header()[:8], make([]byte, 16), counting(40))
}

// TestProtocolError: an SA of the other protocol is error 01 and the packet comes as it is;
// with protocol-is-match it is no match. The datasheet says both.
func TestProtocolError(t *testing.T) {
	for _, isMatch := range []bool{false, true} {
		want := uint32(statusProtocol)
		if isMatch {
			want = statusNoSA
		}
		for name, test := range map[string]struct {
			mode  uint32
			frame []byte
		}{
			"ESP for an SA of AH": {modValid | modDecrypt, fromPeerESP(host4, good().sealed())},
			"AH for an SA of ESP": {modValid | modESP | modDecrypt, toCard(packet4(peer4, host4, 51, ah(saOf(1))))},
			"before the length":   {modValid | modDecrypt, fromPeerESP(host4, good().sealed()[:33])},
		} {
			t.Run(name, func(t *testing.T) {
				r, q := openRig(t, set("protocol-is-match="+yes(isMatch)))
				r.rxKey(1, saOf(1), test.mode)
				got := q.receive(test.frame)
				require.Equal(t, test.frame, got[0].data)
				require.Equalf(t, want, got[0].status(), "%#x", got[0].status())
			})
		}
	}
}

// TestAHIsNotMade: for an SA of AH the model has no way to verify, so it says that the ICV is
// wrong; it never says that it is right.
func TestAHIsNotMade(t *testing.T) {
	r, q := openRig(t)
	r.rxKey(1, saOf(1), modValid)
	frame := toCard(packet4(peer4, host4, 51, ah(saOf(1))))
	got := q.receive(frame)
	require.Equal(t, frame, got[0].data)
	require.EqualValues(t, statusICV, got[0].status())
	require.EqualValues(t, ptIPv4|ptAH, got[0].words[0])
	require.Zero(t, r.counts().RxOpened)
}

// TestProtocolChoosesAmongDuplicates: with protocol-is-match the SA of the right protocol
// is found behind one of the other.
func TestProtocolChoosesAmongDuplicates(t *testing.T) {
	r, q := openRig(t, set("protocol-is-match=yes"))
	r.rxKey(1, saOf(1), modValid|modDecrypt)
	r.rxSA(9, saOf(1), host4)
	require.EqualValues(t, statusMatched, q.receive(fromPeerESP(host4, good().sealed()))[0].status())
}

// TestDuplicates: of two valid SAs of one SPI and address the lowest counts, or, with
// highest-duplicate, the highest; whichever was programmed first.
func TestDuplicates(t *testing.T) {
	low, high := saOf(8), saOf(9)
	low.spi, high.spi = 5, 5
	for _, highest := range []bool{false, true} {
		for _, entries := range [][]int{{20, 900}, {900, 20}} {
			r, q := openRig(t, set("highest-duplicate="+yes(highest)))
			for _, i := range entries {
				r.rxSA(i, map[int]sa{20: low, 900: high}[i], host4)
			}
			r.breached("rx-duplicate-sa")
			for isHigh, s := range map[bool]sa{false: low, true: high} {
				e := good()
				e.sa = s
				got := q.receive(fromPeerESP(host4, e.sealed()))
				require.Equal(t, isHigh == highest, got[0].status() == statusMatched)
			}
		}
	}
}
