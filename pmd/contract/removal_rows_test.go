package contract_test

import (
	"syscall"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

var removalRows = []row{
	{name: "removal/of any SA switches that direction's lookups off: clear text (defect 8)", run: func(b *bench) {
		one, two := conf(1, true), conf(2, true)
		s := b.open(one)
		in := conf(3, false)
		b.open(in)
		require.NoError(b, b.open(two).Close())
		clear := espFrame(&one, 1, counting(40))
		b.clearText(clear, b.sendOne(clear, s), "another SA was removed")
		b.opens(&in, "the other direction goes on")
		b.open(conf(4, true))
		b.sealsAs(&one, clear, b.sendOne(clear, s), "an SA was added")
	}},
	{name: "removal/of an ingress SA: others are not opened (defect 8)", run: func(b *bench) {
		one, two, out := conf(1, false), conf(2, false), conf(3, true)
		b.open(one)
		s := b.open(out)
		require.NoError(b, b.open(two).Close())
		b.leaves(&one)
		clear := espFrame(&out, 1, counting(40))
		b.sealsAs(&out, clear, b.sendOne(clear, s), "the other direction goes on")
		b.open(conf(4, false))
		b.opens(&one)
		b.leaves(&two, "that one is gone")
	}},
	{name: "removal/goes by SPI: another destination's SA goes, and the one that was meant stays (defect 12)", run: func(b *bench) {
		c := conf(5, true)
		first, second := b.raw(rawConf(5, true)), b.raw(rawConf(5, true))
		require.NoError(b, second.Close())
		b.open(conf(6, true)) // takes the free place, and switches lookups on
		clear := espFrame(&c, 1, counting(9))
		_, err := opened(b.T, c.Key, c.Salt, b.sendRaw(first, clear)[0])
		require.Error(b, err, "the first lost its key")
	}},
	{name: "removal/of an ingress session without a rule fails (defect 21)", run: func(b *bench) {
		require.ErrorIs(b, b.raw(rawConf(1, false)).Close(), syscall.EFAULT)
	}},
	{name: "removal/an SA that was removed is not opened any more, its address by others is", run: func(b *bench) {
		one, two := conf(1, false), conf(2, false)
		s := b.open(one)
		b.open(two)
		require.NoError(b, s.Close())
		b.open(conf(3, false))
		b.leaves(&one)
		b.opens(&two)
	}},
	{name: "removal/a key comes again in another place", run: func(b *bench) {
		one := conf(1, true)
		require.NoError(b, b.open(one).Close())
		b.open(conf(2, true))
		clear := espFrame(&one, 1, counting(12))
		b.sealsAs(&one, clear, b.sendOne(clear, b.open(one)))
	}},
}

// restarted stops the port and starts it.
func (b *bench) restarted() {
	b.Helper()
	require.NoError(b, b.lane.Close())
	require.NoError(b, b.port.Stop())
	require.NoError(b, b.port.Start())
	var err error
	b.lane, err = pmd.NewLane(pmd.LaneConfig{RxPort: b.port.Port, TxPort: b.port.Port})
	require.NoError(b, err)
}
