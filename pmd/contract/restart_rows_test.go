package contract_test

import (
	"syscall"

	"github.com/stretchr/testify/require"
)

var restartRows = []row{
	{name: "restart/a start empties the tables; sessions look valid: clear text (defect 19)", run: func(b *bench) {
		out, in := conf(1, true), conf(2, false)
		s := b.raw(rawConf(1, true))
		_, err := b.raw(rawConf(2, false)).Flow(ruleTo(near))
		require.NoError(b, err)
		b.opens(&in)
		b.restarted()
		b.device.link(b.T, true)
		clear := espFrame(&out, 1, counting(40))
		b.clearText(clear, b.sendRaw(s, clear)[0])
		b.leaves(&in)
		require.ErrorIs(b, s.Close(), syscall.EFAULT, "defect 20")
	}},
	{name: "restart/what is added after it works", run: func(b *bench) {
		b.restarted()
		b.device.link(b.T, true)
		out, in := conf(1, true), conf(2, false)
		b.open(in)
		clear := espFrame(&out, 1, counting(40))
		b.sealsAs(&out, clear, b.sendOne(clear, b.open(out)))
		b.opens(&in)
	}},
}
