package silicon_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestDoneInRingOrder: a driver that counts done descriptors instead of looking for the
// first that is not (DPDK's vector receive does) must never see one done behind one that is
// not, nor one done whose other half is not written yet. Another goroutine looks all the
// time, from the ring's end to its beginning.
func TestDoneInRingOrder(t *testing.T) {
	r := newRig(t)
	r.setBits(hlreg0, 1<<2)
	r.put(maxfrs, 9018<<16)
	q := r.rxQueue(0, 1024, 1)
	octets := r.mem.Slice(q.address, 16*1024)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&octets[0])), 2*1024)
	var stop atomic.Bool
	var looks, holes, halves atomic.Int64
	var group sync.WaitGroup
	group.Go(func() {
		for !stop.Load() {
			behind := false
			for i := 1023; i >= 0; i-- {
				switch done := atomic.LoadUint64(&words[2*i+1])&rxDD != 0; {
				case behind && !done:
					holes.Add(1)
				case done && atomic.LoadUint64(&words[2*i]) == q.buffers[i]:
					halves.Add(1)
				case done:
					behind = true
				}
			}
			looks.Add(1)
		}
	})
	for range 113 { // of 9 descriptors each
		r.arrive(fromPeer(9000))
	}
	for looks.Load() < 3 {
		runtime.Gosched()
	}
	stop.Store(true)
	group.Wait()
	require.EqualValues(t, 113*9, q.head())
	require.Zero(t, holes.Load())
	require.Zero(t, halves.Load())
}
