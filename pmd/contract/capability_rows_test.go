package contract_test

import (
	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

var capabilityRows = []row{
	{name: "capabilities/inline crypto with AES-GCM 128, no ESN", run: func(b *bench) {
		list := b.sec.Capabilities()
		require.NotEmpty(b, list)
		for _, c := range list {
			require.Equal(b, pmd.InlineCrypto, c.Action)
			require.False(b, c.ESN)
		}
	}},
	{name: "capabilities/what is not AES-GCM is refused", run: func(b *bench) {
		for _, transform := range []int{probe.ChaCha20, probe.Cipher} {
			raw := rawConf(1, true, func(r *probe.Conf) { r.Transform = transform })
			require.Nil(b, b.port.raw.Open(raw), "transform %d", transform)
		}
	}},
	{name: "capabilities/the action is not looked at (defect 25)", run: func(b *bench) {
		c := conf(1, true)
		s := b.raw(rawConf(1, true, func(r *probe.Conf) { r.Protocol = true }))
		clear := espFrame(&c, 1, counting(21))
		_, err := opened(b.T, c.Key, c.Salt, b.sendRaw(s, clear)[0])
		require.NoError(b, err)
	}},
}
