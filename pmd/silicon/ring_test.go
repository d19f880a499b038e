package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRingsThatCannotBe: address and length are looked at when the queue is enabled, the
// queue is not enabled then.
func TestRingsThatCannotBe(t *testing.T) {
	for name, set := range map[string]func(r *rig, base uint32){
		"no length":         func(r *rig, base uint32) { r.put(base+ringLength, 0) },
		"not of 128":        func(r *rig, base uint32) { r.put(base+ringLength, 1024+16) },
		"above 64 KiB":      func(r *rig, base uint32) { r.put(base+ringLength, 64<<10+128) },
		"unaligned address": func(r *rig, base uint32) { r.setBits(base+ringLow, 64) },
	} {
		for direction, base := range map[string]uint32{"tx": txBlock(3), "rx": rxBlock(3)} {
			t.Run(direction+" "+name, func(t *testing.T) {
				r := newRig(t)
				at := uint64(memoryBase)
				r.put(base+ringLow, uint32(at))
				r.put(base+ringHigh, uint32(at>>32))
				r.put(base+ringLength, 1024)
				set(r, base)
				r.put(dmatxctl, 1)
				r.put(base+queueCtrl, queueOn)
				r.settle()
				require.Zero(t, r.get(base+queueCtrl)&queueOn)
				r.breached("ring")
			})
		}
	}
}

// TestRingOutOfReach: a ring that is not found yet is waited for, whatever its tail says.
func TestRingOutOfReach(t *testing.T) {
	r := newRig(t)
	r.mem.unreachable = [2]uint64{memoryBase, memoryBase + 1024}
	q := r.txQueue(0, 64)
	r.mem.unreachable = [2]uint64{}
	q.add(packet{frame: fromHost(60)})
	r.mem.unreachable = [2]uint64{memoryBase, memoryBase + 1024}
	q.doorbell()
	r.settle()
	r.breached()
	require.Zero(t, q.head())
	r.mem.unreachable = [2]uint64{}
	require.Equal(t, [][]byte{fromHost(60)}, q.send())
}

// TestIndicesBeyondTheRing stop the queue.
func TestIndicesBeyondTheRing(t *testing.T) {
	for name, register := range map[string]uint32{"head": ringHead, "tail": ringTail} {
		for _, value := range []uint32{64, 65, 0xffff, 0xffffffff} {
			r := newRig(t)
			r.txQueue(0, 64)
			r.put(txBlock(0)+register, value)
			r.settle()
			require.Zero(t, r.get(txBlock(0)+queueCtrl)&queueOn, "%s %d", name, value)
			require.Empty(t, r.wire.take())
			r.breached("ring")
		}
	}
}

// TestHeadBeyondTheRingAsATableChanges: the card looks at what waits between head and tail
// before it has seen that there is no such head.
func TestHeadBeyondTheRingAsATableChanges(t *testing.T) {
	for _, head := range []uint32{64, 1 << 20, 0xffffffff} {
		r, q := sealRig(t)
		pending(q, marked())
		r.put(txBlock(0)+ringHead, head)
		r.putKey(ipsTxKey, ipsTxSalt, saOf(1))
		r.put(ipsTxIdx, indexWrite|1<<3|indexOn)
		r.settle()
		require.EqualValues(t, 1, r.card.Report().Breaches["ring"])
		require.Zero(t, r.get(txBlock(0)+queueCtrl)&queueOn)
	}
}

// TestReceiveRingIsLookedUpAnew likewise.
func TestReceiveRingIsLookedUpAnew(t *testing.T) {
	r := newRig(t)
	old := r.rxQueue(0, 64, 2)
	require.Len(t, old.receive(fromPeer(60)), 1)
	r.put(rxBlock(0)+queueCtrl, 0)
	r.settle()
	q := r.rxQueue(0, 32, 2)
	require.Len(t, q.receive(fromPeer(99)), 1)
	require.Empty(t, old.take())
}

// TestQueueOffAtOnce: from the very next step on nothing moves, though the card looks for
// queues in each 16th only.
func TestQueueOffAtOnce(t *testing.T) {
	for steps := range 17 {
		r := newRig(t)
		tx, rx := r.txQueue(0, 64), r.rxQueue(0, 64, 2)
		for range steps {
			r.step()
		}
		pending(tx, packet{frame: fromHost(60)})
		r.put(txBlock(0)+queueCtrl, 0)
		r.put(rxBlock(0)+queueCtrl, 0)
		require.Empty(t, rx.receive(fromPeer(60)))
		require.Empty(t, r.wire.take())
		require.EqualValues(t, 1, r.counts().RxMissed)
		r.breached()
	}
}

// TestRingIsLookedUpAnew when its queue was off, whether or not DMATXCTL.TE was off, too;
// its contexts are gone.
func TestRingIsLookedUpAnew(t *testing.T) {
	for _, port := range []bool{false, true} {
		r := newRig(t)
		old := r.txQueue(0, 64)
		old.send(packet{frame: fromHost(60), context: &context{tag: 1}})
		if port {
			r.put(dmatxctl, 0)
		}
		r.put(txBlock(0)+queueCtrl, 0)
		r.settle()
		q := r.txQueue(0, 32)
		require.NotEqual(t, old.address, q.address)
		require.Equal(t, [][]byte{fromHost(99)}, q.send(packet{frame: fromHost(99)}))
		r.breached()
		q.send(packet{frame: fromHost(99), options: txVLE})
		r.breached("tx-context-missing")
	}
}
