package contract_test

import (
	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

var ingressRows = []row{
	{name: "ingress/opened in place, each length", run: func(b *bench) {
		for _, change := range []func(*pmd.SessionConf){func(*pmd.SessionConf) {}, v6} {
			c := conf(1, false, change)
			s := b.open(c)
			for _, n := range []int{0, 1, 2, 3, 50, 64, 511, 1400} {
				clear := espFrame(&c, uint32(n+1), counting(n))
				wire := sealed(b.T, &c, clear)
				g := b.receive(wire)[0]
				require.Equal(b, goodMark, g.marks(), "%v, %d octets", c.Dst, n)
				require.Equal(b, openedInPlace(clear, wire), g.frame, "%v, %d octets", c.Dst, n)
			}
			require.NoError(b, s.Close())
		}
	}},
	{name: "ingress/several SAs, one after the other", run: func(b *bench) {
		var frames, clears [][]byte
		for i := range 20 {
			c := conf(i, false)
			b.open(c)
			clears = append(clears, espFrame(&c, 1, counting(10+i)))
			frames = append(frames, sealed(b.T, &c, clears[i]))
		}
		for i, g := range b.receive(frames...) {
			require.Equal(b, goodMark, g.marks(), "SA %d", i)
			require.Equal(b, openedInPlace(clears[i], frames[i]), g.frame, "SA %d", i)
		}
	}},
	{name: "ingress/wrong ICV, vector path", run: wrongICV},
	{name: "ingress/wrong ICV, scalar path", setup: setup{scalar: true}, run: wrongICV},
	{name: "ingress/length of no sense, vector path: no mark (defect 28)", run: func(b *bench) {
		require.Zero(b, b.marksOf(badLength(b)))
	}},
	{name: "ingress/length of no sense, scalar path: failed", setup: setup{scalar: true}, run: func(b *bench) {
		require.Equal(b, badMark, b.marksOf(badLength(b)))
	}},
}

func wrongICV(b *bench) {
	c := conf(1, false)
	b.open(c)
	good := wireFrame(b.T, &c, 1, counting(50))
	for _, at := range []int{len(good) - 1, espAt(good) + espHeader + espIV, espAt(good) + 5} { // ICV, text, sequence number
		require.Equal(b, badMark, b.marksOf(put(good, at, good[at]^1)), "octet %d", at)
	}
	b.opens(&c)
}

// badLength is a packet of an SA in the device whose ESP part is no multiple of 4 octets.
func badLength(b *bench) []byte {
	c := conf(1, false)
	b.open(c)
	return sealed(b.T, &c, paddedFrame(&c, 1, counting(50), 1))
}
