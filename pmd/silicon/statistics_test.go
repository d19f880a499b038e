package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Registers of statistics (ixgbe_type.h).
const (
	firstStatistic = 0x04000 // CRCERRS, which DPDK's driver reads first
	mpc            = 0x03fa0
	prc64          = 0x0405c // and five larger classes, 4 octets apart
	gorc           = 0x04088
	gprc           = 0x04074
	bprc           = 0x04078
	mprc           = 0x0407c
	roc            = 0x040ac
	gptc           = 0x04080
	gotc           = 0x04090
	tor            = 0x040c0
	tpr            = 0x040d0
	tpt            = 0x040d4
	ptc64          = 0x040d8
	mptc           = 0x040f0
	bptc           = 0x040f4
	rqsmr          = 0x02300
	tqsm           = 0x08600
)

// Counters of queues; i is 0 to 15.
func qprc(i int) uint32  { return 0x01030 + 0x40*uint32(i) }
func qbrc(i int) uint32  { return 0x01034 + 0x40*uint32(i) }
func qprdc(i int) uint32 { return 0x01430 + 0x40*uint32(i) }
func qptc(i int) uint32  { return 0x06030 + 0x40*uint32(i) }
func qbtc(i int) uint32  { return 0x08700 + 8*uint32(i) }

// statistics reads as DPDK's driver does, which begins with one register; the others then
// show what was counted since the last time.
func (r *rig) statistics() {
	r.t.Helper()
	r.card.Read(firstStatistic)
}

// wide is a counter of two registers, the low one first.
func (r *rig) wide(offset uint32) uint64 {
	return uint64(r.card.Read(offset)) | uint64(r.card.Read(offset+4))<<32
}

// TestStatisticsOfTraffic: packets both ways; octets count with CRC, but for those of
// receive queues, which count them without when they are stripped (reference 2.4).
func TestStatisticsOfTraffic(t *testing.T) {
	r := newRig(t)
	tx, rx := r.txQueue(0, 64), r.rxQueue(0, 64, 2)
	tx.send(packet{frame: fromHost(14)}, packet{frame: fromHost(100)}, packet{frame: fromHost(1514)})
	rx.receive(fromPeer(60), fromPeer(1000))
	require.Zero(t, r.get(gptc), "nobody has asked")
	r.statistics()
	sent, got := 60+100+1514, 60+1000
	for name, test := range map[string]struct {
		want int
		is   uint64
	}{
		"GPTC": {3, uint64(r.card.Read(gptc))}, "GOTC": {sent + 12, r.wide(gotc)}, "TPT": {3, uint64(r.card.Read(tpt))},
		"QPTC": {3, uint64(r.card.Read(qptc(0)))}, "QBTC": {sent + 12, r.wide(qbtc(0))},
		"GORC": {got + 8, r.wide(gorc)}, "TOR": {got + 8, r.wide(tor)}, "TPR": {2, uint64(r.card.Read(tpr))},
		"QPRC": {2, uint64(r.card.Read(qprc(0)))}, "QBRC": {got, r.wide(qbrc(0))},
		"MPC": {0, uint64(r.card.Read(mpc))}, "QPRDC": {0, uint64(r.card.Read(qprdc(0)))},
	} {
		require.EqualValues(t, test.want, test.is, name)
	}
	counts := r.counts()
	require.EqualValues(t, []int{3, sent, 2, got}, []int{
		int(counts.TxFrames), int(counts.TxOctets), int(counts.RxFrames), int(counts.RxOctets),
	})
}

// TestStatisticsAreClearedByReading: what was read once is not read again, and what came
// in between is not lost.
func TestStatisticsAreClearedByReading(t *testing.T) {
	r := newRig(t)
	tx := r.txQueue(0, 64)
	total := uint32(0)
	for n := range 5 {
		for range n {
			tx.send(packet{frame: fromHost(60)})
		}
		r.statistics()
		require.EqualValues(t, n, r.card.Read(gptc))
		require.EqualValues(t, 64*n, r.wide(gotc))
		total += r.card.Read(gptc)
	}
	require.EqualValues(t, 10, total)
	r.statistics()
	require.Zero(t, r.card.Read(gptc))
	require.EqualValues(t, 10, r.counts().TxFrames, "the report goes on")
}

// TestSizeClasses: by length with CRC: 64, 65 to 127, to 255, to 511, to 1023, above.
func TestSizeClasses(t *testing.T) {
	for class, lengths := range [][]int{{64}, {65, 127}, {128, 255}, {256, 511}, {512, 1023}, {1024, 1518}} {
		for _, n := range lengths {
			r := newRig(t)
			r.txQueue(0, 64).send(packet{frame: fromHost(n - 4)})
			r.rxQueue(0, 64, 2).receive(fromPeer(n - 4))
			r.statistics()
			for i := range 6 {
				want := 0
				if i == class {
					want = 1
				}
				require.EqualValues(t, want, r.card.Read(ptc64+4*uint32(i)), "%d octets sent, class %d", n, i)
				require.EqualValues(t, want, r.card.Read(prc64+4*uint32(i)), "%d octets received, class %d", n, i)
			}
		}
	}
}

// TestQueueMaps: RQSMR and TQSM have a counter's number for each queue, an octet each.
func TestQueueMaps(t *testing.T) {
	r := newRig(t)
	frame := fromPeer(100)
	for i := range uint32(32) { // all hashes lead to queue 6
		r.put(reta+4*i, 0x06060606)
	}
	r.put(mrqc, mrqcAll)
	rx, tx := r.rxQueue(6, 64, 2), r.txQueue(6, 64)
	for _, counter := range []int{0, 1, 15, 16} { // there is no 16th
		r.put(rqsmr+4, uint32(counter)<<16) // queue 6
		r.put(tqsm+4, uint32(counter)<<16)
		rx.receive(frame, frame)
		tx.send(packet{frame: frame})
		r.statistics()
		for i := range 16 {
			packets := 0
			if i == counter {
				packets = 1
			}
			require.EqualValues(t, 2*packets, r.card.Read(qprc(i)), "counter %d of %d", i, counter)
			require.EqualValues(t, 200*packets, r.wide(qbrc(i)))
			require.EqualValues(t, packets, r.card.Read(qptc(i)))
			require.EqualValues(t, 104*packets, r.wide(qbtc(i)))
		}
	}
}

// TestMissedStatistics: without a descriptor a frame counts in MPC, or, for a queue with
// SRRCTL.DROP_EN, in QPRDC of the queue.
func TestMissedStatistics(t *testing.T) {
	for _, drops := range []bool{false, true} {
		r := newRig(t)
		for i := range uint32(32) {
			r.put(reta+4*i, 0x03030303)
		}
		r.put(mrqc, mrqcAll)
		q := r.rxQueue(3, 8, 2)
		if drops {
			r.setBits(srrctlOf(3), dropEnable)
		}
		q.tail(2)
		r.arrive(fromPeer(60), fromPeer(60), fromPeer(60), fromPeer(60), fromPeer(60))
		r.statistics()
		want := map[bool][2]uint32{false: {3, 0}, true: {0, 3}}[drops]
		require.Equal(t, want, [2]uint32{r.card.Read(mpc), r.card.Read(qprdc(3))})
		require.EqualValues(t, 2, r.card.Read(qprc(0)))
		require.EqualValues(t, 3, r.counts().RxMissed)
	}
}

// TestGroupStatistics: multicasts and broadcasts that are sent, multicasts that are received.
func TestGroupStatistics(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	q.send(packet{frame: fromHost(60)})
	r.statistics()
	require.Zero(t, r.card.Read(mptc)+r.card.Read(bptc))
	q.send(packet{frame: framed(0x01, 0, 0x5e, 0, 0, 1)})
	r.statistics()
	require.Equal(t, [2]uint32{1, 0}, [2]uint32{r.card.Read(mptc), r.card.Read(bptc)})
	q.send(packet{frame: framed(broadcast...)})
	r.statistics()
	require.EqualValues(t, 1, r.card.Read(bptc))
	rx := r.rxQueue(0, 64, 2)
	r.put(fctrl, fctrlMPE)
	rx.receive(fromPeer(60))
	r.statistics()
	require.Zero(t, r.card.Read(mprc))
	rx.receive(framed(0x01, 0, 0x5e, 0, 0, 1))
	r.statistics()
	require.EqualValues(t, 1, r.card.Read(mprc))
}

// TestWhatIsNotDeliveredIsNotCounted as received by a queue.
func TestWhatIsNotDeliveredIsNotCounted(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	q.receive(framed(0x02, 1, 1, 1, 1, 1), fromPeer(1515))
	r.statistics()
	require.Zero(t, r.card.Read(qprc(0)))
	require.Zero(t, r.wide(qbrc(0)))
	require.EqualValues(t, 1, r.counts().RxFiltered)
	require.EqualValues(t, 1, r.counts().RxTooLong)
}

// TestStatisticsOfGroups: broadcasts are no multicasts (82599 datasheet, MPRC, MPTC).
func TestStatisticsOfGroups(t *testing.T) {
	r := newRig(t)
	r.setBits(fctrl, 1<<8|1<<9|1<<10)
	tx, rx := r.txQueue(0, 64), r.rxQueue(0, 64, 2)
	one, all, group := fromPeer(60), fromPeer(60), fromPeer(60)
	copy(all, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	copy(group, []byte{1, 0, 0x5e, 0, 0, 1})
	rx.receive(one, all, all, group, group, group)
	tx.send(packet{frame: one}, packet{frame: all}, packet{frame: group}, packet{frame: group})
	r.statistics()
	for offset, want := range map[uint32]int{gprc: 6, bprc: 2, mprc: 3, roc: 0, gptc: 4, bptc: 1, mptc: 2} {
		require.EqualValues(t, want, r.card.Read(offset), "%#x", offset)
	}
	r.arrive(fromPeer(1600))
	r.settle()
	r.statistics()
	require.EqualValues(t, 1, r.card.Read(roc))
}
