package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInnerType: with inner-type the packet type tells what was inside, of packets that
// were opened without an error (datasheet 7.13.11); otherwise ESP alone.
func TestInnerType(t *testing.T) {
	for _, inner := range []bool{false, true} {
		r, q := openRig(t, set("inner-type="+yes(inner)))
		for next, kind := range map[byte]uint32{6: ptTCP, 17: ptUDP, 132: ptSCTP, 1: 0, 4: 0, 41: 0, 59: 0} {
			e := good()
			e.next = next
			if !inner {
				kind = 0
			}
			got := q.receive(fromPeerESP(host4, e.sealed()))
			require.EqualValues(t, ptIPv4|ptESP|kind, got[0].words[0], "next header %d", next)
			got = q.receive(fromPeerESP(host4, wrong(e.sealed(), 40)))
			require.EqualValues(t, ptIPv4|ptESP, got[0].words[0], "wrong ICV")
			e.sa.spi++
			got = q.receive(fromPeerESP(host4, e.sealed()))
			require.EqualValues(t, ptIPv4|ptESP, got[0].words[0], "no SA")
		}
		r.rxKey(1, saOf(1), modValid|modESP)
		e := good()
		want := uint32(ptIPv4 | ptESP)
		if inner {
			want |= ptUDP
		}
		require.Equal(t, want, q.receive(fromPeerESP(host4, e.authentic()))[0].words[0], "GMAC")
	}
}
