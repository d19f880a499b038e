package contract_test

import (
	"syscall"

	"github.com/stretchr/testify/require"
)

var ruleRows = []row{
	{name: "rules/validation installs the SA, and its session's end does not remove it (defect 2)", run: func(b *bench) {
		c := conf(1, false)
		s := b.raw(rawConf(1, false))
		require.NoError(b, s.Validate(ruleTo(near)))
		b.opens(&c, "after the validation alone")
		_, err := s.Flow(ruleTo(near))
		require.NoError(b, err)
		require.NoError(b, s.Close())
		b.open(conf(9, false)) // switches lookups on again
		b.opens(&c, "one of the two is left")
	}},
	{name: "rules/one rule cannot be destroyed (defect 4)", run: func(b *bench) {
		c := conf(1, false)
		s := b.raw(rawConf(1, false))
		flow, err := s.Flow(ruleTo(near))
		require.NoError(b, err)
		require.ErrorIs(b, flow.Destroy(), syscall.EINVAL)
		b.opens(&c, "the SA is there still")
	}},
	{name: "rules/without a rule nothing is opened", run: func(b *bench) {
		c := conf(1, false)
		b.open(conf(9, false)) // lookups are on
		b.raw(rawConf(1, false))
		b.leaves(&c)
	}},
	{name: "rules/the address is the rule's (defect 7)", run: func(b *bench) {
		c, elsewhere := conf(1, false), conf(1, false, to("14.0.0.99"))
		_, err := b.raw(rawConf(1, false)).Flow(ruleTo("14.0.0.99"))
		require.NoError(b, err)
		b.leaves(&c)
		b.opens(&elsewhere)
	}},
}
