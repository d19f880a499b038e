package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// fromPeer is a frame to the card of n octets, 60 or more.
func fromPeer(n int) []byte { return toCard(udp(peer4, host4, 1, 2, counting(n-42))) }

// TestReceiveEveryLength: one descriptor has the whole frame, without CRC.
func TestReceiveEveryLength(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	for n := 60; n <= 1514; n++ {
		got := q.receive(fromPeer(n))
		require.Len(t, got, 1)
		require.Equal(t, n, got[0].length())
		require.Equal(t, fromPeer(n), got[0].data)
		require.EqualValues(t, rxDD|rxEOP, got[0].status()&3)
	}
	require.EqualValues(t, (1514-60+1)%64, q.head())
	r.breached()
}

// TestReceiveSpansBuffers: each descriptor has its buffer's octets and DD, the last EOP and
// what is known of the frame.
func TestReceiveSpansBuffers(t *testing.T) {
	for _, n := range []int{1024, 1025, 2048, 2049, 3000, 9000} {
		r := newRig(t)
		q := r.rxQueue(0, 16, 1)
		r.setBits(hlreg0, 1<<2)
		r.put(maxfrs, 9018<<16)
		r.put(rxBlock(0)+queueCtrl, queueOn|stripVLAN)
		frame := toCard(udp(peer4, host4, 1, 2, counting(n-42)), 7) // n octets without its tag
		got := q.receive(frame)
		require.Len(t, got, (n+1023)/1024, "%d octets", n)
		var data []byte
		for i, d := range got {
			data = append(data, d.data...)
			if i < len(got)-1 {
				require.EqualValues(t, rxDD, d.status(), "not the last")
				require.Equal(t, 1024, d.length())
				require.Zero(t, d.tag())
				continue
			}
			require.EqualValues(t, rxDD|rxEOP|rxVP|rxIPCS|rxL4CS, d.status())
			require.EqualValues(t, 7, d.tag())
			require.Equal(t, (n-1)%1024+1, d.length())
		}
		require.Equal(t, fromPeer(n), data)
		require.Equal(t, len(got), q.head())
		r.breached()
	}
}

// TestReceiveWithoutDescriptors: the card owns those from head to below tail; where too
// few are left for a frame, it is lost whole and nothing is written.
func TestReceiveWithoutDescriptors(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 16, 1)
	q.tail(3)
	require.Len(t, q.buffers, 16)
	r.arrive(fromPeer(1500), fromPeer(1500), fromPeer(60))
	require.Equal(t, 3, q.head())
	require.EqualValues(t, 1, r.counts().RxMissed, "the second needs two, one is left, which the third takes")
	q.tail(3)
	r.arrive(fromPeer(60))
	require.EqualValues(t, 2, r.counts().RxMissed)
	require.EqualValues(t, 2, r.counts().RxFrames)
	q.tail(15)
	require.Len(t, q.take(), 3)
	r.breached()
}

// TestReceiveAllButOne: a ring with head at tail is empty, so one descriptor is never used.
func TestReceiveAllButOne(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 8, 2)
	var frames [][]byte
	for n := range 10 {
		frames = append(frames, fromPeer(60+n))
	}
	r.arrive(frames...)
	require.EqualValues(t, 7, r.counts().RxFrames)
	require.EqualValues(t, 3, r.counts().RxMissed)
	require.Zero(t, r.mem.word(q.address, 2*7+1), "the last descriptor")
	for i, d := range q.take() {
		require.Equal(t, frames[i], d.data, "in ring order")
	}
}

// TestReceiveMoreThanABurst: what comes at once is taken, in order.
func TestReceiveMoreThanABurst(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 128, 2)
	var frames [][]byte
	for n := range 127 {
		frames = append(frames, fromPeer(60+n))
	}
	r.arrive(frames...)
	got := q.take()
	require.Len(t, got, 127)
	for i, d := range got {
		require.Equal(t, frames[i], d.data)
	}
}

// TestReceiveWritesNothingElse: neither behind the frame in a buffer, nor behind the ring.
func TestReceiveWritesNothingElse(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 8, 2)
	before := append([]byte(nil), r.mem.octets...)
	for range 20 {
		q.receive(fromPeer(100))
	}
	for _, b := range q.buffers {
		copy(before[b-memoryBase:], fromPeer(100))
	}
	require.Equal(t, before, r.mem.octets, "take has armed the descriptors again")
}

// TestReceiveIntoABadBuffer: the frame is lost and told; no descriptor is done, neither
// the bad one nor one in front of it, for the driver would take the frame's beginning.
func TestReceiveIntoABadBuffer(t *testing.T) {
	for bad := range 3 {
		r := newRig(t)
		q := r.rxQueue(0, 16, 1)
		r.setBits(hlreg0, 1<<2)
		r.put(maxfrs, 9018<<16)
		r.mem.setWord(q.address, 2*bad, 0x1234)
		require.Empty(t, q.receive(fromPeer(2500)), "buffer %d", bad)
		require.Zero(t, q.head())
		r.breached("dma-fault")
		r.mem.setWord(q.address, 2*bad, q.buffers[bad])
		require.Len(t, q.receive(fromPeer(2500)), 3)
	}
}

// TestReceiveQueueOfNoSense: told, nothing written.
func TestReceiveQueueOfNoSense(t *testing.T) {
	for name, change := range map[string]func(r *rig){
		"no buffer size":       func(r *rig) { r.put(srrctlOf(0), 1<<25) },
		"head beyond the ring": func(r *rig) { r.put(rxBlock(0)+ringHead, 16) },
		"tail beyond the ring": func(r *rig) { r.put(rxBlock(0)+ringTail, 16) },
		"tail of all ones":     func(r *rig) { r.put(rxBlock(0)+ringTail, 0xffffffff) },
		"head just below 2^32": func(r *rig) { r.put(rxBlock(0)+ringHead, 0xfffffffe) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.rxQueue(0, 16, 2)
			change(r)
			r.arrive(fromPeer(60))
			require.Zero(t, r.mem.word(q.address, 1))
			r.breached("ring")
		})
	}
}

// TestLoopback: with HLREG0.LPBK what is sent is received, and does not leave.
func TestLoopback(t *testing.T) {
	r := newRig(t)
	tx, rx := r.txQueue(0, 64), r.rxQueue(0, 64, 2)
	r.setBits(hlreg0, 1<<15)
	require.Empty(t, tx.send(packet{frame: fromPeer(100)}))
	got := rx.take()
	require.Len(t, got, 1)
	require.Equal(t, fromPeer(100), got[0].data)

	r.put(hlreg0, 0x8003) // no padding: frames that no wire brings
	short := fromPeer(100)[:14]
	short[12], short[13] = 0x81, 0x00 // a tag's type, and no tag
	require.Empty(t, tx.send(packet{frame: short}))
	got = rx.take()
	require.Len(t, got, 1)
	require.Equal(t, short, got[0].data)
	require.Zero(t, got[0].status()&rxVP)
}
