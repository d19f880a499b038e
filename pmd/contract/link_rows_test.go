package contract_test

import "github.com/stretchr/testify/require"

var linkRows = []row{
	{name: "link/SAs are there when it comes back", run: func(b *bench) {
		out, in := conf(1, true), conf(2, false)
		s := b.open(out)
		b.open(in)
		b.device.link(b.T, false)
		l, err := b.port.Link()
		require.NoError(b, err)
		require.False(b, l.Up)
		b.device.link(b.T, true)
		clear := espFrame(&out, 1, counting(40))
		b.sealsAs(&out, clear, b.sendOne(clear, s))
		b.opens(&in)
	}},
}
