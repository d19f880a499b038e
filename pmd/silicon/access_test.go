package silicon_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWritesSeenHaveTheirEffectAtOnce: a driver that reads the register next finds the
// answer, without a step in between.
func TestWritesSeenHaveTheirEffectAtOnce(t *testing.T) {
	r := newRig(t)
	r.card.Write(ctrl, 1<<26)
	require.Zero(t, r.card.Read(ctrl))
	require.EqualValues(t, 2, r.counts().Resets)

	r.card.Write(eerd, 0x3f<<2|1)
	require.EqualValues(t, 0x3f<<2|2|0xbaba<<16, r.card.Read(eerd), "of an image of zeros")

	r.card.Write(msca, 1<<30|5<<21)
	require.EqualValues(t, 5<<21, r.card.Read(msca))

	for i := range uint32(4) {
		r.card.Write(ipsTxKey+4*i, i+1)
	}
	r.card.Write(ipsTxSalt, 9)
	r.card.Write(ipsTxIdx, indexWrite|3<<3|indexOn)
	require.EqualValues(t, 3<<3|indexOn, r.card.Read(ipsTxIdx))
	r.card.Write(ipsTxSalt, 0)
	r.card.Write(ipsTxIdx, indexRead|3<<3|indexOn)
	require.EqualValues(t, 9, r.card.Read(ipsTxSalt))
}

// TestWritesOfTheCardsOwnRegisters have none: STATUS, LINKS and the two that tell whether the
// security paths are ready.
func TestWritesOfTheCardsOwnRegisters(t *testing.T) {
	r := newRig(t)
	for _, offset := range []uint32{status, links, secTxStat, secRxStat} {
		before := r.card.Read(offset)
		r.card.Write(offset, ^before)
		require.Equal(t, before, r.card.Read(offset), "%#x", offset)
	}
}

// TestOtherRegistersAreMemory, as they are to a driver that nobody watches.
func TestOtherRegistersAreMemory(t *testing.T) {
	r := newRig(t)
	for _, offset := range []uint32{swsm, gssr, secTxBuffAF, secTxMinIFG, rssrk, reta, mta, vfta, maxfrs, 0x7fffc} {
		r.card.Write(offset, 0x12345678)
		require.EqualValues(t, 0x12345678, r.card.Read(offset), "%#x", offset)
		require.EqualValues(t, 0x12345678, r.get(offset))
	}
}

// TestSecurityEnableSequence: SECRXCTRL must read 0 and SECTXCTRL 4 after they are written,
// or DPDK's driver does not start (reference 4.5).
func TestSecurityEnableSequence(t *testing.T) {
	r := newRig(t)
	r.card.Write(secRxCtrl, 0)
	require.Zero(t, r.card.Read(secRxCtrl))
	r.card.Write(secTxCtrl, 4)
	require.EqualValues(t, 4, r.card.Read(secTxCtrl))
	r.settle()
	require.Zero(t, r.get(secRxCtrl))
	require.EqualValues(t, 4, r.get(secTxCtrl))
}

// TestLateWrites: DPDK's driver gives a table write up after 5 ms, so one that is seen more
// than 4 ms after the card's last look is told. One that is seen in its moment is not late.
func TestLateWrites(t *testing.T) {
	r := newRig(t)
	write := func(gap time.Duration) {
		r.step()
		r.put(ipsTxIdx, indexWrite|1<<3)
		r.now = r.now.Add(gap - 10*time.Microsecond)
		r.step()
	}
	write(4 * time.Millisecond)
	require.Zero(t, r.counts().LateWrites+r.counts().Absences)
	write(4*time.Millisecond + 1)
	require.EqualValues(t, 1, r.counts().LateWrites)
	require.EqualValues(t, 1, r.counts().Absences)
	require.EqualValues(t, 4*time.Millisecond+1, r.counts().LongestGap)
	r.now = r.now.Add(time.Second)
	r.card.Write(ipsTxIdx, indexWrite|1<<3)
	require.EqualValues(t, 1, r.counts().LateWrites)
	require.EqualValues(t, 3, r.counts().TableWrites)
}
