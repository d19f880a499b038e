package esp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

// TestNoAllocations: the packet path allocates nothing, on any suite.
func TestNoAllocations(t *testing.T) {
	s := NewScratch(2048)
	for _, n := range suites() {
		for _, sh := range shapes() {
			a := n.fast(t)
			tr := Transform{SPI: n.spi, ICVLen: n.icvLen, ESN: sh.esn, Encap: sh.encap}
			r := newRoom(concat(sh.link, naiveLength(concat(sh.ip, make([]byte, 1400)))))
			start, end := r.start, r.end
			var err error
			allocs := testing.AllocsPerRun(20, func() {
				r.start, r.end = start, end
				packet.Parse(r.frame(), &r.meta)
				if err = r.seal(s, &tr, a, 1); err != nil {
					return
				}
				packet.Parse(r.frame(), &r.meta)
				err = r.open(s, &tr, a, 0)
			})
			require.NoError(t, err)
			require.Zero(t, allocs, "%s, %s", n.name(), sh.name)
		}
	}
}

// TestNoAllocationsOnErrors: neither does a forged packet.
func TestNoAllocationsOnErrors(t *testing.T) {
	s := NewScratch(2048)
	for _, n := range suites() {
		a := n.fast(t)
		tr := Transform{SPI: n.spi, ICVLen: n.icvLen}
		r := newRoom(plainFrame(head4, 1400))
		require.NoError(t, r.seal(s, &tr, a, 1))
		r.buf[r.end-n.icvLen] ^= 1
		packet.Parse(r.frame(), &r.meta)
		var err error
		require.Zero(t, testing.AllocsPerRun(20, func() { err = r.open(s, &tr, a, 0) }), n.name())
		require.ErrorIs(t, err, ErrAuth)
	}
}

// TestScratchGrowsOnce: a text longer than expected costs one growth.
func TestScratchGrowsOnce(t *testing.T) {
	n := suites()[0] // ICV of 8
	a := n.fast(t)
	s := NewScratch(0)
	tr := Transform{SPI: n.spi, ICVLen: n.icvLen}
	r := newRoom(plainFrame(head4, 60000))
	require.NoError(t, r.seal(s, &tr, a, 1))
	before := cap(s.text)
	require.GreaterOrEqual(t, before, 60000)
	packet.Parse(r.frame(), &r.meta)
	require.NoError(t, r.open(s, &tr, a, 0))
	require.Equal(t, before, cap(s.text))
}
