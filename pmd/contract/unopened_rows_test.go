package contract_test

import "github.com/stretchr/testify/require"

// unopenedRows are packets that a device with an SA leaves alone.
var unopenedRows = []row{
	{name: "unopened/an SPI or address that it does not have", run: func(b *bench) {
		c := conf(1, false)
		b.open(c)
		other, elsewhere := conf(2, false), conf(1, false, to("14.0.0.53"))
		b.leaves(&other)
		b.leaves(&elsewhere)
		b.opens(&c)
	}},
	{name: "unopened/the SA of an address of the other version", run: func(b *bench) {
		c, six := conf(1, false), conf(1, false, v6)
		b.open(c)
		b.leaves(&six)
	}},
	{name: "unopened/fragments, IPv4 options", run: func(b *bench) {
		c := conf(1, false)
		b.open(c)
		whole := wireFrame(b.T, &c, 1, counting(60))
		fragment := summed(put(whole, 20, 0x20, 0)) // more fragments
		options := put(insert(whole, 34, 1, 1, 1, 0), 14, 0x46)
		options = put(options, 16, 0, whole[17]+4)
		for _, frame := range [][]byte{fragment, options} {
			g := b.receive(frame)[0]
			require.Zero(b, g.marks())
			require.Equal(b, frame, g.frame)
		}
	}},
	{name: "unopened/tagged frames, where the card leaves them", setup: setup{skipTag: true, tagMatters: true}, run: func(b *bench) {
		c := conf(1, false)
		b.open(c)
		require.Zero(b, b.marksOf(tagged(wireFrame(b.T, &c, 1, counting(60)))))
	}},
	{name: "opened/tagged frames, where the card takes them", setup: setup{tagMatters: true}, run: func(b *bench) {
		c := conf(1, false)
		b.open(c)
		require.Equal(b, goodMark, b.marksOf(tagged(wireFrame(b.T, &c, 1, counting(60)))))
	}},
}

func tagged(frame []byte) []byte { return insert(frame, 12, 0x81, 0x00, 0x00, 0x05) }
