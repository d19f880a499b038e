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
// highest-duplicate, the highest.
func TestDuplicates(t *testing.T) {
	for _, highest := range []bool{false, true} {
		r, q := openRig(t, set("highest-duplicate="+yes(highest)))
		other := saOf(9)
		other.spi = saOf(1).spi
		r.rxSA(900, other, host4)
		r.breached("rx-duplicate-sa")
		for counts, s := range map[bool]sa{false: saOf(1), true: other} {
			e := good()
			e.sa = s
			got := q.receive(fromPeerESP(host4, e.sealed()))
			require.Equal(t, counts == highest, got[0].status() == statusMatched)
		}
	}
}
