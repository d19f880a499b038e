package silicon_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// TestDescriptorsOfNoSense: each is told as a breach, nothing panics, and the card goes on
// with what follows.
func TestDescriptorsOfNoSense(t *testing.T) {
	const whole = txDEXT | txDataType | txEOP
	for name, test := range map[string]struct {
		write  func(q *txRing)
		sent   int
		breach silicon.Breach
	}{
		"legacy": {func(q *txRing) { q.write(memoryBase, 60|txEOP|txDataType) }, 0, "tx-descriptor"},
		"type 0": {func(q *txRing) { q.write(memoryBase, 60|txDEXT|txEOP) }, 0, "tx-descriptor"},
		"type 5": {func(q *txRing) { q.write(memoryBase, 60|txDEXT|txEOP|5<<20) }, 0, "tx-descriptor"},
		"a context inside a packet": {func(q *txRing) {
			q.write(memoryBase, 60|txDEXT|txDataType|120<<46)
			q.write(context{}.words())
		}, 0, "tx-descriptor"},
		"context 2":         {func(q *txRing) { q.write(context{idx: 2}.words()) }, 0, "tx-descriptor"},
		"context 7":         {func(q *txRing) { q.write(context{idx: 7}.words()) }, 0, "tx-descriptor"},
		"13 octets":         {func(q *txRing) { q.write(memoryBase, 13|whole|13<<46) }, 0, "tx-descriptor"},
		"no octets":         {func(q *txRing) { q.write(memoryBase, whole) }, 0, "tx-descriptor"},
		"PAYLEN too small":  {func(q *txRing) { q.write(memoryBase, 60|whole|59<<46) }, 1, "tx-icv-room"},
		"PAYLEN too large":  {func(q *txRing) { q.write(memoryBase, 60|whole|61<<46) }, 1, "tx-icv-room"},
		"PAYLEN of 0":       {func(q *txRing) { q.write(memoryBase, 60|whole) }, 1, "tx-icv-room"},
		"39 buffers":        {many, 1, "tx-descriptor"},
		"more than 256 KiB": {huge, 0, "tx-descriptor"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.txQueue(0, 64)
			test.write(q)
			require.Len(t, q.send(), test.sent)
			r.breached(test.breach)
			require.Equal(t, [][]byte{fromHost(80)}, q.send(packet{frame: fromHost(80)}), "the next one")
			r.breached(test.breach)
		})
	}
}

// many is a packet of 39 buffers.
func many(q *txRing) {
	cuts := make([]int, 38)
	for i := range cuts {
		cuts[i] = i + 1
	}
	q.add(packet{frame: fromHost(100), cuts: cuts})
}

// huge is a packet of 5 buffers of 65,535 octets. The card drops the first four with the
// fifth's beginning.
func huge(q *txRing) {
	for range 5 {
		q.write(memoryBase, 0xffff|txDEXT|txDataType)
	}
}

// TestMemoryOutOfReach: for 200 ms the card waits, as the model cannot tell a wrong address
// from one that it has not found yet; then it is a fault.
func TestMemoryOutOfReach(t *testing.T) {
	for name, at := range map[string]uint64{
		"0": 0, "below": memoryBase - 1, "across the end": memoryBase + 4<<20 - 50, "far above": 1 << 63,
		"the last": ^uint64(0),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.txQueue(0, 64)
			q.write(at, 60|txDEXT|txDataType|txEOP|txRS|60<<46)
			q.doorbell()
			r.settle()
			r.now = r.now.Add(190 * time.Millisecond)
			r.settle()
			require.Zero(t, q.head())
			r.breached()
			r.now = r.now.Add(20 * time.Millisecond)
			r.settle()
			require.EqualValues(t, 1, q.head())
			require.True(t, q.done(0))
			r.breached("dma-fault")
		})
	}
}

// TestMemoryThatIsFoundLate: nothing is lost and nothing is told.
func TestMemoryThatIsFoundLate(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	at := r.mem.used
	r.mem.unreachable = [2]uint64{memoryBase + uint64(at), memoryBase + uint64(at) + 4096}
	r.mem.used += 4096
	q.add(packet{frame: fromHost(200), cuts: []int{100}})
	copy(r.mem.octets[at:], fromHost(200)[:100])
	r.mem.setWord(q.address, 0, memoryBase+uint64(at))
	q.doorbell()
	for range 5 {
		r.now = r.now.Add(30 * time.Millisecond)
		r.settle()
		require.Empty(t, r.wire.take())
	}
	r.mem.unreachable = [2]uint64{}
	require.Equal(t, [][]byte{fromHost(200)}, q.send())
	r.breached()
}

// TestPatienceIsAPackets: memory that is away for less than 200 ms is no fault, however often.
func TestPatienceIsAPackets(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	for range 5 {
		q.add(packet{frame: fromHost(60)})
		q.doorbell()
		r.mem.unreachable = [2]uint64{memoryBase + 1024, memoryBase + 1<<20}
		r.settle()
		r.now = r.now.Add(150 * time.Millisecond)
		r.settle()
		require.Empty(t, r.wire.take())
		r.mem.unreachable = [2]uint64{}
		r.settle()
		require.Equal(t, [][]byte{fromHost(60)}, r.wire.take())
		r.now = r.now.Add(150 * time.Millisecond)
	}
	r.breached()
}

// TestStoreForwardLimit: 9.5 KB with CRC, for all packets, while SECTXCTRL.STORE_FORWARD is
// set (datasheet 7.13.2.2).
func TestStoreForwardLimit(t *testing.T) {
	for _, test := range []struct {
		length       int
		storeForward bool
		breaches     []silicon.Breach
	}{
		{9728 - 4, true, nil}, {9728 - 3, true, []silicon.Breach{"tx-frame-too-long"}}, {9728 - 3, false, nil},
	} {
		r := newRig(t)
		q := r.txQueue(0, 64)
		if test.storeForward {
			r.put(secTxCtrl, 4)
		}
		require.Len(t, q.send(packet{frame: fromHost(test.length), cuts: []int{5000}}), 1)
		r.breached(test.breaches...)
	}
}
