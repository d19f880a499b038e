package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// resetValues are registers that a driver's start depends on, as they read after power-up
// and after a reset (reference 6.1, 6.2).
var resetValues = []struct {
	name   string
	offset uint32
	value  uint32
}{
	{"CTRL", ctrl, 0},
	{"STATUS: first LAN, no bus master", status, 0},
	{"EEC: present, read, 2048 words", eec, 0x00002f00},
	{"RAL(0)", ral0, 0x90598202},
	{"RAH(0): valid", rah0, 1<<31 | 0x3412},
	{"AUTOC: KX4 and KX", autoc, 0xc0008000},
	{"AUTOC2", autoc2, 0},
	{"LINKS: up, 10 Gbit/s", links, 0xf0000000},
	{"ANLP1: not 0, or the pipeline's reset fails", anlp1, 0x00010000},
	{"SECTXCTRL: the engine is off", secTxCtrl, 1},
	{"SECRXCTRL", secRxCtrl, 1},
	{"SECTXSTAT: ready", secTxStat, 1},
	{"SECRXSTAT", secRxStat, 1},
	{"SECTXBUFFAF", secTxBuffAF, 0x250},
	{"SECTXMINIFG", secTxMinIFG, 1},
	{"IPSTXIDX: no lookups", ipsTxIdx, 0},
	{"IPSRXIDX", ipsRxIdx, 0},
	{"HLREG0: CRC, strip, pad", hlreg0, 0x403},
	{"RXPBSIZE(0)", rxpbsize, 0x80000},
	{"RXCTRL", rxctrl, 0},
	{"DMATXCTL", dmatxctl, 0},
	{"FCTRL", fctrl, 0},
	{"MRQC", mrqc, 0},
	{"EICR", eicr, 0},
	{"EIMS", eims, 0},
	{"RXDCTL(0)", rxBlock(0) + queueCtrl, 0},
	{"RXDCTL(127)", rxBlock(127) + queueCtrl, 0},
	{"TXDCTL(0)", txBlock(0) + queueCtrl, 0},
	{"TXDCTL(127)", txBlock(127) + queueCtrl, 0},
}

func (r *rig) hasResetValues() {
	r.t.Helper()
	for _, v := range resetValues {
		require.Equalf(r.t, v.value, r.get(v.offset), "%s", v.name)
	}
}

func TestPowerUpValues(t *testing.T) {
	r := newRig(t)
	r.hasResetValues()
	for name, offset := range map[string]uint32{"FWSM": fwsm, "FACTPS": factps, "SWSM": swsm, "GSSR": gssr} {
		require.Zero(t, r.get(offset), name)
	}
	r.settle()
	r.hasResetValues()
	r.breached()
	require.Zero(t, r.interrupts)
}

func TestConfigMustBeWhole(t *testing.T) {
	good := silicon.Config{
		Registers: make(silicon.Registers, silicon.BARSize/4), Memory: newMemory(4096), MAC: cardMAC,
	}
	_, err := silicon.New(good)
	require.NoError(t, err, "no wire, no recorder, no interrupt")
	for name, change := range map[string]func(*silicon.Config){
		"too few registers": func(c *silicon.Config) { c.Registers = c.Registers[1:] },
		"no memory":         func(c *silicon.Config) { c.Memory = nil },
		"group address":     func(c *silicon.Config) { c.MAC[0] |= 1 },
		"no address":        func(c *silicon.Config) { c.MAC = [6]byte{} },
	} {
		bad := good
		change(&bad)
		_, err := silicon.New(bad)
		require.ErrorIs(t, err, silicon.ErrConfig, name)
	}
}

// word reads an EEPROM word as drivers do: START with the address, DONE with the word.
func (r *rig) word(address uint32) uint16 {
	r.t.Helper()
	r.put(eerd, address<<2|1)
	r.step()
	v := r.get(eerd)
	require.Equal(r.t, address<<2|2, v&0xffff, "DONE is set, START is not, the address stays")
	return uint16(v >> 16)
}

// TestEEPROMChecksum goes by the rule of the 82599's drivers: words 0 to 0x3e and the
// blocks that pointers 3 to 0xe lead to add up, with word 0x3f, to 0xbaba.
func TestEEPROMChecksum(t *testing.T) {
	r := newRig(t)
	var sum uint16
	for at := range uint32(0x3f) {
		sum += r.word(at)
	}
	for p := uint32(3); p <= 0xe; p++ {
		block := uint32(r.word(p))
		if block == 0 || block == 0xffff {
			continue
		}
		if length := uint32(r.word(block)); length != 0xffff {
			for at := range length {
				sum += r.word(block + 1 + at)
			}
		}
	}
	require.EqualValues(t, 0xbaba, sum+r.word(0x3f))
}

func TestEEPROMHasNoFirmwareNorOtherAddresses(t *testing.T) {
	r := newRig(t)
	for name, at := range map[string]uint32{"firmware": 0x0f, "alternative SAN MAC": 0x27, "SAN MAC": 0x28} {
		require.Contains(t, []uint16{0, 0xffff}, r.word(at), name)
	}
	require.EqualValues(t, 0xffff, r.word(2048), "beyond the end")
	require.EqualValues(t, 0xffff, r.word(0x3fff), "the last that EERD can name")
}

func TestEERDWithoutStartIsNoRead(t *testing.T) {
	r := newRig(t)
	for _, v := range []uint32{0, 0x3f << 2, 0x3f<<2 | 2, 0x3f<<2 | 3} {
		r.put(eerd, v)
		r.settle()
		require.Equal(t, v, r.get(eerd))
	}
}

// TestReadyHoldsEEPROMBack: the first thing that a driver waits for waits for the host.
func TestReadyHoldsEEPROMBack(t *testing.T) {
	ready := false
	r := newRig(t, func(c *silicon.Config) { c.Ready = func() bool { return ready } })
	r.put(eerd, 1)
	r.settle()
	require.EqualValues(t, 1, r.get(eerd), "not yet")
	ready = true
	r.settle()
	require.EqualValues(t, 2, r.get(eerd)&3)
	ready = false
	r.card.Write(eerd, 0x3f<<2|1)
	require.EqualValues(t, 0x3f<<2|2, r.get(eerd)&0xffff, "a read that is seen is answered at once")
}

// TestMDIO: a backplane card has a PHY at none of its 32 addresses: the identifier that
// is read is 0xffff, and the command bit does not stick.
func TestMDIO(t *testing.T) {
	r := newRig(t)
	for address := range uint32(32) {
		for _, op := range []uint32{0, 3 << 26} { // address cycle, read cycle of clause 45
			r.put(msrwd, 0)
			command := 2 | 1<<16 | address<<21 | op
			r.put(msca, command|1<<30)
			r.step()
			require.Equal(t, command, r.get(msca))
			require.EqualValues(t, 0xffff, r.get(msrwd)>>16)
		}
	}
}

// TestSemaphoresAreMemory: a driver takes and gives them by writing what it read.
func TestSemaphoresAreMemory(t *testing.T) {
	r := newRig(t)
	for _, v := range []uint32{0, 1, 2, 3, 0x7ff, 0x80000000, 0} {
		r.put(swsm, v)
		r.put(gssr, v)
		r.settle()
		require.Equal(t, v, r.get(swsm))
		require.Equal(t, v, r.get(gssr))
	}
}

func TestFlowDirectorInitDone(t *testing.T) {
	r := newRig(t)
	r.settle()
	require.Zero(t, r.get(fdirctrl), "nobody has asked")
	r.put(fdirctrl, 1)
	r.step()
	require.EqualValues(t, 1|1<<3, r.get(fdirctrl))
}
