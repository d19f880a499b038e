package contract_test

import (
	"fmt"

	"github.com/stretchr/testify/require"
)

// addressOf is destination number i.
func addressOf(i int) string { return fmt.Sprintf("14.1.%d.%d", i>>8, i&0xff) }

var tableRows = []row{
	{name: "tables/1024 SAs out, and no more", run: func(b *bench) {
		for i := range 1024 {
			require.NotNil(b, b.port.raw.Open(rawConf(i, true)), "SA %d", i)
		}
		require.Nil(b, b.port.raw.Open(rawConf(1024, true)))
	}},
	{name: "tables/128 addresses; a rule for one more is made, and is not there (defect 3)", run: func(b *bench) {
		for i := range 129 {
			_, err := b.raw(rawConf(i, false)).Flow(ruleTo(addressOf(i)))
			require.NoError(b, err, "address %d", i)
		}
		last, one := conf(127, false, to(addressOf(127))), conf(128, false, to(addressOf(128)))
		b.opens(&last)
		b.leaves(&one, "the driver said that it is there")
	}},
	{name: "tables/1024 SAs in; a rule for one more is made, and is not there (defect 3)", run: func(b *bench) {
		for i := range 1025 {
			_, err := b.raw(rawConf(i, false)).Flow(ruleTo(near))
			require.NoError(b, err, "SA %d", i)
		}
		last, one := conf(1023, false), conf(1024, false)
		b.opens(&last)
		b.leaves(&one)
	}},
	{name: "tables/a place that is free again is used again", run: func(b *bench) {
		for i := range 300 {
			require.NoError(b, b.open(conf(i, true)).Close())
		}
		c := conf(301, true)
		clear := espFrame(&c, 1, counting(11))
		b.sealsAs(&c, clear, b.sendOne(clear, b.open(c)))
	}},
}
