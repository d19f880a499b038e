package emu_test

import (
	"net/netip"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/emu/probe"
)

func TestB09RemovalBySPI(t *testing.T) {
	r := newRig(t, "ixgbe")
	first := conf(5, true)
	one := r.open(first)
	two := r.open(conf(5, true, func(c *pmd.SessionConf) { c.Dst = netip.MustParseAddr("14.0.0.71") }))
	r.breached("breach_same_spi", 1)
	require.NoError(t, two.Close())
	require.Equal(t, 1, r.count("breach_removal"), "the first of that SPI goes")
	r.open(conf(6, true)) // lookups are on, and the slot is taken
	wire := r.send(item{espFrame(src, dst, 5, 1, counting(9)), one, 1, nil})
	_, err := opened(t, &first, wire[0], 1)
	require.Error(t, err, "under another key")
	require.Equal(t, 1, r.count("breach_stale"))
	require.NoError(t, one.Close(), "removes what is left of that SPI")
}

// A removal finds entries that were removed, too: the driver forgets no SPI.
func TestB09RemovedEntries(t *testing.T) {
	r := newRig(t, "ixgbe")
	one, two := r.raw(rawConf(5, true)), r.raw(rawConf(5, true))
	m := r.marked(espFrame(src, dst, 5, 1, counting(9)), two, 1)
	require.NoError(t, one.Close())
	require.Zero(t, r.count("breach_removal"), "it was the first")
	require.NoError(t, two.Close())
	require.Equal(t, 1, r.count("breach_removal"), "what had been the first, again")
	r.raw(rawConf(6, true)) // lookups are on
	c := conf(5, true)
	wire := r.sendRaw(m)
	_, err := opened(t, &c, wire[0], 1)
	require.NoError(t, err, "the second is in the device still")
}

func TestB09NotFound(t *testing.T) {
	r := newRig(t, "ixgbe")
	s := r.raw(rawConf(1, false))
	require.ErrorIs(t, s.Close(), syscall.EFAULT, "it had no rule")
	r.breached("breach_removal", 1)

	r = newRig(t, "ixgbe,rx=1")
	r.open(conf(1, false))
	require.Error(t, r.open(conf(2, false)).Close(), "the table was full")
	open, lost := r.sec.Sessions()
	require.Equal(t, []int{1, 1}, []int{open, lost}, "its object stays out of the pool")
}

func TestB10B11LookupsOff(t *testing.T) {
	r := newRig(t, "ixgbe")
	out, in := conf(1, true), conf(2, false)
	s := r.open(out)
	r.open(in)
	seq := uint32(0)
	sent := func() (plain, wire []byte) {
		t.Helper()
		seq++
		plain = espFrame(src, dst, 1, seq, counting(40))
		return plain, r.send(item{plain, s, uint64(seq), nil})[0]
	}
	seals := func() {
		t.Helper()
		_, wire := sent()
		_, err := opened(t, &out, wire, uint64(seq))
		require.NoError(t, err)
	}
	mark := func() uint64 { t.Helper(); return r.receive(sealed(t, &in, dst, src, 1, counting(9)))[0].marks() }

	gone := r.open(conf(3, true))
	require.NoError(t, gone.Close())
	plain, wire := sent()
	require.Equal(t, 1, r.count("leak_tx"))
	require.Equal(t, plain[50:], wire[50:], "clear text on the wire")
	require.Zero(t, sum(wire[14:34]), "in a good packet")
	require.Zero(t, r.count("tx_encrypted"))
	require.Equal(t, goodMark, mark(), "the other direction's stay on")
	r.open(conf(3, true))
	seals()

	waitDrained()
	goneIn := r.open(conf(4, false))
	require.NoError(t, goneIn.Close())
	frame := sealed(t, &in, dst, src, 1, counting(9))
	g := r.receive(frame)[0]
	require.Zero(t, g.marks())
	require.Equal(t, frame, g.frame, "as it came")
	seals()
	r.open(conf(4, false))
	require.Equal(t, goodMark, mark())
	require.Equal(t, 1, r.count("leak_tx"))
	r.kept()
}

// zero is what an empty entry of the table seals with.
func zero(spi uint32) pmd.SessionConf {
	return conf(int(spi), true, func(c *pmd.SessionConf) { c.Key, c.Salt = make([]byte, 16), make([]byte, 4) })
}

func TestB12StartEmptiesTables(t *testing.T) {
	r := newRig(t, "ixgbe")
	one, two := r.raw(rawConf(1, true)), r.raw(rawConf(2, true))
	in := r.rawIngress(3)
	m := r.marked(espFrame(src, dst, 2, 1, counting(40)), two, 1)
	require.NoError(t, r.near.Stop())
	r.breached("breach_order", 1)
	require.NoError(t, one.Close(), "the driver's tables outlast a stop")
	require.NoError(t, r.near.Start())
	c := conf(3, false)
	receive := func() uint64 { t.Helper(); return r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks() }
	wire := r.sendRaw(r.marked(espFrame(src, dst, 2, 1, counting(40)), two, 1))
	require.Equal(t, 1, r.count("leak_tx"), "lookups are off")
	require.Equal(t, espFrame(src, dst, 2, 1, counting(40))[50:], wire[0][50:])
	r.open(conf(8, true))
	r.open(conf(9, false))
	require.Zero(t, receive())
	wire = r.sendRaw(m)
	require.Equal(t, 2, r.count("breach_stale"))
	key := zero(2)
	wire[0][len(wire[0])-16] ^= 0x80 // what the model spoils
	_, err := opened(t, &key, wire[0], 1)
	require.NoError(t, err, "row B14: an empty entry's key and salt are zero")
	require.ErrorIs(t, two.Close(), syscall.EFAULT)
	require.ErrorIs(t, in.Close(), syscall.EFAULT)
}

// A reset ends the context. Other profiles' devices keep their SAs over a stop.
func TestB12ResetEndsContext(t *testing.T) {
	for _, options := range []string{"ixgbe", "crypto"} {
		r := newRig(t, options)
		s, in := r.raw(rawConf(1, true)), r.rawIngress(2)
		c := conf(2, false)
		receive := func() uint64 { t.Helper(); return r.receive(sealed(t, &c, dst, src, 1, counting(9)))[0].marks() }
		require.Equal(t, goodMark, receive())
		require.NoError(t, r.near.Stop())
		require.NoError(t, r.near.Start())
		require.Equal(t, options == "crypto", receive() == goodMark)
		require.NoError(t, r.near.Stop())
		require.NoError(t, r.near.Reset())
		require.NoError(t, r.near.Start())
		before := r.count("breach_order")
		m := r.mbuf(counting(100))
		require.Error(t, s.Metadata(m, 1))
		m.Free()
		require.Error(t, s.Close())
		require.Error(t, in.Close())
		require.Equal(t, before+3, r.count("breach_order"), "%v", r.nic.Breaches())
		r.open(conf(9, false)) // in the new context
		require.Zero(t, receive())
	}
}

func TestB12SessionBeforeStart(t *testing.T) {
	r := attached(t, "ixgbe")
	r.start(pmd.RxSecurity, pmd.TxSecurity|pmd.TxIPv4Checksum)
	require.NoError(t, r.near.Stop())
	r.raw(rawConf(1, true))
	r.breached("breach_order", 1)
	require.NoError(t, r.near.Start())
	m := r.mbuf(espFrame(src, dst, 1, 1, counting(9)))
	probe.Mark(m, sealFlags, 14, 20)
	probe.SetWord(m, (17+1)<<32) // entry 0
	r.sendRaw(m)
	require.Equal(t, 1, r.count("leak_tx"), "the start took it away")
}
