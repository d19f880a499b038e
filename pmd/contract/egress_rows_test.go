package contract_test

import (
	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

var egressRows = []row{
	{name: "egress/octet for octet, each length and padding", run: func(b *bench) {
		for _, change := range []func(*pmd.SessionConf){func(*pmd.SessionConf) {}, v6} {
			c := conf(1, true, change)
			s := b.open(c)
			for _, n := range []int{0, 1, 2, 3, 4, 45, 64, 511, 1400} {
				clear := espFrame(&c, uint32(n+1), counting(n))
				b.sealsAs(&c, clear, b.sendOne(clear, s), "%v, %d octets", c.Dst, n)
			}
			require.NoError(b, s.Close())
		}
	}},
	{name: "egress/several SAs and plain packets in one burst", run: func(b *bench) {
		var confs []pmd.SessionConf
		var burst []packet
		for i := range 5 {
			c := conf(i, true)
			confs = append(confs, c)
			burst = append(burst, packet{espFrame(&c, 1, counting(20+i)), b.open(c)})
		}
		plain := ipFrame(confs[0].Src, confs[0].Dst, protocolUDP, counting(60))
		burst = append(burst, packet{frame: summed(plain)}, packet{espFrame(&confs[2], 2, counting(7)), burst[2].session})
		for i, wire := range b.send(burst...) {
			switch i {
			case 5:
				require.Equal(b, burst[5].frame, wire, "it asked for nothing")
			case 6:
				b.sealsAs(&confs[2], burst[6].frame, wire)
			default:
				b.sealsAs(&confs[i], burst[i].frame, wire, "SA %d", i)
			}
		}
	}},
	{name: "egress/SAs 256 apart share a context (defect 14)", run: func(b *bench) {
		var confs [257]pmd.SessionConf
		var sessions [257]*pmd.SecuritySession
		for i := range confs {
			confs[i] = conf(i, true)
			sessions[i] = b.open(confs[i])
		}
		first, last := espFrame(&confs[0], 1, counting(40)), espFrame(&confs[256], 1, counting(40))
		wire := b.send(packet{first, sessions[0]}, packet{last, sessions[256]})
		b.sealsAs(&confs[0], first, wire[0])
		_, err := opened(b.T, confs[256].Key, confs[256].Salt, wire[1])
		require.Error(b, err, "its own key has not sealed it")
	}},
}
