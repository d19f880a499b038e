package contract_test

import (
	"github.com/stretchr/testify/require"

	"espgw/pmd/emu/probe"
)

var keyRows = []row{
	{name: "keys/32 octets are cut to 16, and the salt is what is behind them (defects 22, 23)", run: func(b *bench) {
		c := conf(1, true)
		raw := rawConf(1, true, func(r *probe.Conf) {
			r.KeyLen = 32
			r.Key = append(append([]byte(nil), c.Key...), counting(16)...)
			r.Key = append(r.Key, c.Salt...)
			r.Salt = []byte{9, 9, 9, 9} // of the configuration: not looked at
		})
		s := b.raw(raw)
		clear := espFrame(&c, 1, counting(33))
		b.sealsAs(&c, clear, b.sendRaw(s, clear)[0])
		require.NoError(b, s.Close())
	}},
	{name: "keys/an ingress key is read when its rule is made, its salt before (defect 24)", run: func(b *bench) {
		c, other := conf(1, false), conf(2, false)
		s := b.raw(rawConf(1, false))
		copy(s.Key(), append(append([]byte(nil), other.Key[:16]...), other.Salt...))
		_, err := s.Flow(ruleTo(near))
		require.NoError(b, err)
		mixed := conf(1, false)
		mixed.Key = other.Key
		b.opens(&mixed, "the new key, the old salt")
		require.Equal(b, badMark, b.marksOf(wireFrame(b.T, &c, 1, counting(9))))
	}},
}
