package silicon_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestDoneInRingOrder: a driver that counts done descriptors instead of looking for the
// first that is not (DPDK's vector receive does) must never see one done behind one that is
// not, nor one done whose other half is not written yet. Another goroutine watches the two
// descriptors of each frame as the card writes them: it sees a wrong order in some of the
// 60,000 frames only, but in some it does, where there are two CPUs.
func TestDoneInRingOrder(t *testing.T) {
	const frames, passes = 2047, 30
	r := newRig(t)
	q := r.rxQueue(0, 4096, 0) // no room of their own: all use the same
	r.put(srrctlOf(0), 1<<25|1)
	buffer := r.mem.room(1024)
	octets := r.mem.Slice(q.address, 16*4096)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&octets[0])), 2*4096)
	frame := fromPeer(1100)
	var holes, halves int
	for range passes {
		for i := range 4096 {
			words[2*i], words[2*i+1] = buffer, 0
		}
		r.put(rxBlock(0)+ringHead, 0)
		q.tail(4095)
		for range frames {
			r.wire.coming = append(r.wire.coming, frame)
		}
		var group sync.WaitGroup
		group.Go(func() {
			for f := range frames {
				hole, half := watch(words[4*f:4*f+4], buffer)
				holes, halves = holes+hole, halves+half
			}
		})
		r.settle()
		group.Wait()
	}
	require.EqualValues(t, passes*frames, r.counts().RxFrames)
	require.Zero(t, holes, "the second descriptor was done before the first")
	require.Zero(t, halves, "a descriptor was done before it was whole")
}

// watch looks at two descriptors until both are done, and says what it has seen that must
// not be.
func watch(words []uint64, buffer uint64) (hole, half int) {
	for {
		second := atomic.LoadUint64(&words[3])&rxDD != 0
		first := atomic.LoadUint64(&words[1])&rxDD != 0
		if first && atomic.LoadUint64(&words[0]) == buffer {
			half = 1
		}
		switch {
		case second && !first:
			hole = 1
		case second:
			return hole, half
		}
	}
}
