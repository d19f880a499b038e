package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// resetBits are the two resets of CTRL; the card answers by clearing them.
var resetBits = map[string]uint32{"RST": 1 << 26, "LNK_RST": 1 << 3}

func TestResetClearsItsBitsInOneStep(t *testing.T) {
	for name, bit := range resetBits {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.put(ctrl, bit|4)
			require.True(t, r.step())
			require.EqualValues(t, 4, r.get(ctrl), "other bits stay")
			require.EqualValues(t, 2, r.counts().Resets, "power-up is one, too")
		})
	}
}

// TestResetGivesDefaults: whatever a driver wrote, registers read as after power-up.
func TestResetGivesDefaults(t *testing.T) {
	for name, bit := range resetBits {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.rxQueue(0, 64, 2)
			r.txQueue(0, 64)
			r.engines()
			r.txSA(3, saOf(3))
			r.rxSA(3, saOf(3), host4)
			for _, v := range resetValues {
				if v.offset != ctrl && v.offset != ipsTxIdx && v.offset != ipsRxIdx {
					r.put(v.offset, v.value^0x00005a50)
				}
			}
			r.put(ctrl, bit)
			r.step()
			r.hasResetValues()
			r.settle()
			r.hasResetValues()
		})
	}
}

// TestResetAndIPsecTables: transmit SAs and receive keys are gone, addresses and SPIs are
// still there (datasheet 7.13.5.1, 7.13.9.1).
func TestResetAndIPsecTables(t *testing.T) {
	r := newRig(t)
	r.engines()
	s := saOf(7)
	r.txSA(7, s)
	r.rxSA(7, s, host6)
	r.put(ctrl, 1<<26)
	r.step()

	for i := range uint32(4) {
		r.put(ipsTxKey+4*i, 0xffffffff)
		r.put(ipsRxKey+4*i, 0xffffffff)
		r.put(ipsRxIPAddr+4*i, 0xffffffff)
	}
	for _, offset := range []uint32{ipsTxSalt, ipsRxSalt, ipsRxMod, ipsRxSPI, ipsRxIPIndex} {
		r.put(offset, 0xffffffff)
	}
	r.access(ipsTxIdx, indexRead|7<<3)
	for _, table := range []uint32{tableIP, tableSPI, tableKey} {
		r.access(ipsRxIdx, indexRead|table|7<<3)
	}
	for i := range uint32(4) {
		require.Zero(t, r.get(ipsTxKey+4*i), "transmit key")
		require.Zero(t, r.get(ipsRxKey+4*i), "receive key")
	}
	require.Zero(t, r.get(ipsTxSalt))
	require.Zero(t, r.get(ipsRxSalt))
	require.Zero(t, r.get(ipsRxMod), "not valid any more")
	require.EqualValues(t, 0x07332211, r.get(ipsRxSPI), "the SPI is kept")
	require.EqualValues(t, 7, r.get(ipsRxIPIndex))
	require.Equal(t, []uint32{0xb80d0120, 0x00001400, 0, 0x52000000}, []uint32{
		r.get(ipsRxIPAddr), r.get(ipsRxIPAddr + 4), r.get(ipsRxIPAddr + 8), r.get(ipsRxIPAddr + 12),
	}, "the address is kept: 2001:db8:14::52")
}

// TestTablesReadBack: each entry gives what was written to it, at both ends of the tables.
func TestTablesReadBack(t *testing.T) {
	r := newRig(t)
	places := []int{0, 1, 127, 128, 255, 1023}
	for _, i := range places {
		r.txSA(i, saOf(i))
		r.rxSA(i, saOf(i), host4)
	}
	for _, i := range places {
		key := saOf(i)
		want := make([]uint32, 4)
		for k := range 4 {
			for _, octet := range key.key[12-4*k : 16-4*k] {
				want[k] = want[k]<<8 | uint32(octet)
			}
		}
		r.access(ipsTxIdx, indexRead|uint32(i)<<3)
		r.access(ipsRxIdx, indexRead|tableSPI|uint32(i)<<3)
		r.access(ipsRxIdx, indexRead|tableKey|uint32(i)<<3)
		r.access(ipsRxIdx, indexRead|tableIP|uint32(i%128)<<3)
		for k := range uint32(4) {
			require.Equal(t, want[k], r.get(ipsTxKey+4*k), "entry %d", i)
			require.Equal(t, want[k], r.get(ipsRxKey+4*k), "entry %d", i)
		}
		require.Equal(t, 0xa0b0c0d0+uint32(i), r.get(ipsTxSalt))
		require.Equal(t, 0xa0b0c0d0+uint32(i), r.get(ipsRxSalt))
		require.EqualValues(t, modValid|modESP|modDecrypt, r.get(ipsRxMod))
		require.EqualValues(t, i%128, r.get(ipsRxIPIndex))
		require.EqualValues(t, 0x3400000e, r.get(ipsRxIPAddr+12), "14.0.0.52")
		require.Zero(t, r.get(ipsRxIPAddr))
	}
}

// TestDataRegistersAloneDoNothing: without WRITE the tables stay as they are; DPDK's driver
// forgets it when it removes an address.
func TestDataRegistersAloneDoNothing(t *testing.T) {
	r := newRig(t)
	r.rxIP(5, host4)
	r.put(ipsRxIPAddr+12, 0)
	r.settle()
	r.access(ipsRxIdx, indexRead|tableIP|5<<3)
	require.EqualValues(t, 0x3400000e, r.get(ipsRxIPAddr+12))
}

// TestResetStopsQueues: a ring that was in use is neither read nor written any more.
func TestResetStopsQueues(t *testing.T) {
	r := newRig(t)
	tx, rx := r.txQueue(0, 64), r.rxQueue(0, 64, 2)
	frame := toCard(udp(peer4, host4, 1, 2, counting(100)))
	require.Len(t, tx.send(packet{frame: frame}), 1)
	require.Len(t, rx.receive(frame), 1)
	r.put(ctrl, 1<<26)
	r.settle()
	require.Zero(t, tx.head())
	require.Zero(t, rx.head())
	tx.add(packet{frame: frame})
	tx.doorbell()
	require.Empty(t, rx.receive(frame))
	require.Empty(t, r.wire.take())
	require.EqualValues(t, 1, r.counts().RxDisabled, "the receiver is off")
}

// TestResetForgetsContexts: a queue that is set up anew has none.
func TestResetForgetsContexts(t *testing.T) {
	r := newRig(t)
	frame := toCard(udp(host4, peer4, 1, 2, counting(100)))
	tx := r.txQueue(0, 64)
	tx.send(packet{frame: frame, context: &context{}, options: txIXSM})
	r.breached()
	r.put(ctrl, 1<<26)
	r.settle()
	tx = r.txQueue(0, 64)
	tx.send(packet{frame: frame, options: txIXSM})
	r.breached("tx-context-missing")
}

// TestHLREG0AfterReset: no document at hand tells it, so a setting chooses.
func TestHLREG0AfterReset(t *testing.T) {
	r := newRig(t, set("hlreg0=0x8403"))
	require.EqualValues(t, 0x8403, r.get(hlreg0))
	r.put(hlreg0, 0)
	r.put(ctrl, 1<<26)
	r.step()
	require.EqualValues(t, 0x8403, r.get(hlreg0))
}
