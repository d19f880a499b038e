package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// fromHost is a frame from the card's host of n octets, with as much of an UDP packet as
// there is room for.
func fromHost(n int) []byte {
	return ethernet(peerMAC, udp(host4, peer4, 1000, 2000, counting(max(n, 60))))[:n]
}

func TestTransmitEveryLengthAsItIs(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	for n := 60; n <= 1514; n++ {
		require.Equal(t, [][]byte{fromHost(n)}, q.send(packet{frame: fromHost(n)}))
	}
	r.breached()
	require.EqualValues(t, 1514-60+1, r.counts().TxFrames)
}

// TestTransmitPadding: to 60 octets with zeros, where HLREG0.TXPADEN says so.
func TestTransmitPadding(t *testing.T) {
	for _, pads := range []bool{true, false} {
		r := newRig(t)
		if !pads {
			r.put(hlreg0, 3)
		}
		q := r.txQueue(0, 64)
		for n := 14; n < 60; n++ {
			want := fromHost(n)
			if pads {
				want = append(want, make([]byte, 60-n)...)
			}
			require.Equal(t, [][]byte{want}, q.send(packet{frame: fromHost(n)}), "%d octets", n)
		}
		r.breached()
	}
}

// TestTransmitPaddingIsZeros: nothing of a packet before is in it.
func TestTransmitPaddingIsZeros(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	q.send(packet{frame: fromHost(1514)})
	require.Equal(t, make([]byte, 46), q.send(packet{frame: fromHost(14)})[0][14:])
}

func TestTransmitGathersBuffers(t *testing.T) {
	many := make([]int, 37) // 38 buffers, the most that a packet may have
	for i := range many {
		many[i] = 1 + i*40
	}
	for name, cuts := range map[string][]int{
		"two": {100}, "one octet each": {1, 2, 3}, "headers and rest": {14, 34, 42}, "empty ones": {0, 0, 700, 700},
		"most": many,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.txQueue(0, 64)
			require.Equal(t, [][]byte{fromHost(1514)}, q.send(packet{frame: fromHost(1514), cuts: cuts}))
			r.breached()
		})
	}
}

// TestOptionsAreTheFirstDescriptors: the driver repeats them; the card goes by the first.
func TestOptionsAreTheFirstDescriptors(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	q.write((context{tag: 77}).words())
	f := fromHost(100)
	at := r.mem.place(f)
	q.write(at, 40|txDataType|txDEXT|txVLE|100<<46)
	q.write(at+40, 60|txDataType|txDEXT|txEOP)
	require.Equal(t, [][]byte{tagged(f, 77)}, q.send())
}

func TestTransmitWrapsRound(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 8) // the smallest ring: 128 octets
	for i := range 50 {
		f := append(fromHost(100), byte(i))
		slot := q.add(packet{frame: f, cuts: []int{20, 40}, options: txRS})
		require.Equal(t, [][]byte{f}, q.send())
		require.True(t, q.done(slot))
	}
	r.breached()
	require.EqualValues(t, 150%8, q.head())
}

// TestTransmitMoreThanABurst: a ring that is full is emptied, in order.
func TestTransmitMoreThanABurst(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 256)
	var packets []packet
	var frames [][]byte
	for i := range 255 {
		frames = append(frames, append(fromHost(80), byte(i)))
		packets = append(packets, packet{frame: frames[i]})
	}
	require.Equal(t, frames, q.send(packets...))
}

// TestTransmitWaitsForTheWholePacket: what is behind the tail is not the card's yet.
func TestTransmitWaitsForTheWholePacket(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	q.add(packet{frame: fromHost(300), cuts: []int{100, 200}})
	for tail := range uint32(3) {
		r.put(txBlock(0)+ringTail, tail)
		r.settle()
		require.Empty(t, r.wire.take())
		require.Zero(t, q.head(), "of 3 descriptors %d are handed over", tail)
	}
	require.Equal(t, [][]byte{fromHost(300)}, q.send())
}

// TestTransmitSwitches: the port's and the queue's.
func TestTransmitSwitches(t *testing.T) {
	for name, off := range map[string]func(*rig){
		"DMATXCTL.TE":   func(r *rig) { r.put(dmatxctl, 0) },
		"TXDCTL.ENABLE": func(r *rig) { r.put(txBlock(0)+queueCtrl, 0) },
		"no link":       func(r *rig) { r.card.SetLink(false) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.txQueue(0, 64)
			off(r)
			r.settle()
			q.add(packet{frame: fromHost(60)})
			q.doorbell()
			r.settle()
			require.Empty(t, r.wire.take())
			require.Zero(t, q.head())
		})
	}
}

func TestTransmitQueues(t *testing.T) {
	r := newRig(t)
	for i, n := range []int{0, 1, 15, 16, 63, 64, 127} {
		q := r.txQueue(n, 64)
		f := append(fromHost(60), byte(n))
		require.Equal(t, [][]byte{f}, q.send(packet{frame: f}), "queue %d", n)
		require.EqualValues(t, i+1, r.counts().TxFrames)
	}
}
