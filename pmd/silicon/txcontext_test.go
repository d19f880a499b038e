package silicon_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// tagged is a frame with a VLAN tag behind its addresses.
func tagged(frame []byte, tag uint16) []byte {
	f := append([]byte(nil), frame[:12]...)
	f = binary.BigEndian.AppendUint16(append(f, 0x81, 0x00), tag)
	return append(f, frame[12:]...)
}

// TestVLANInsertion: VLE puts the context's tag in, and the frame is padded with it.
func TestVLANInsertion(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	for _, n := range []int{14, 55, 56, 57, 60, 1514} {
		for _, tag := range []uint16{0, 1, 0x0fff, 0xe123, 0xffff} {
			want := tagged(fromHost(n), tag)
			if len(want) < 60 {
				want = append(want, make([]byte, 60-len(want))...)
			}
			sent := q.send(packet{frame: fromHost(n), context: &context{tag: tag}, options: txVLE})
			require.Equal(t, [][]byte{want}, sent, "%d octets, tag %#x", n, tag)
		}
	}
	r.breached()
}

// TestNoVLEMeansNoTag: a tag in the context is not enough.
func TestNoVLEMeansNoTag(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	require.Equal(t, [][]byte{fromHost(60)}, q.send(packet{frame: fromHost(60), context: &context{tag: 5}}))
}

// TestContextsAreKept: two a queue, over packets and bursts, until they are overwritten;
// other queues have their own.
func TestContextsAreKept(t *testing.T) {
	r := newRig(t)
	a, b := r.txQueue(0, 64), r.txQueue(1, 64)
	f := fromHost(100)
	a.write(context{tag: 10, idx: 0}.words())
	a.write(context{tag: 11, idx: 1}.words())
	b.write(context{tag: 20, idx: 0}.words())
	b.write(context{tag: 21, idx: 1}.words())
	a.send()
	b.send()
	tags := func(q *txRing, want0, want1 uint16) {
		t.Helper()
		for range 3 {
			require.Equal(t, [][]byte{tagged(f, want1), tagged(f, want0)}, q.send(
				packet{frame: f, options: txVLE | idx(1)}, packet{frame: f, options: txVLE | idx(0)}))
		}
	}
	tags(a, 10, 11)
	tags(b, 20, 21)
	a.send(packet{frame: f, context: &context{tag: 12, idx: 1}})
	tags(a, 10, 12)
	tags(b, 20, 21)
	r.breached()
	require.EqualValues(t, 5, r.counts().TxContexts)
}

// TestContextInOneBurst: of two contexts with one index each packet has the one in front
// of it.
func TestContextInOneBurst(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	f := fromHost(100)
	require.Equal(t, [][]byte{tagged(f, 1), tagged(f, 2), tagged(f, 2)}, q.send(
		packet{frame: f, context: &context{tag: 1}, options: txVLE},
		packet{frame: f, context: &context{tag: 2}, options: txVLE},
		packet{frame: f, options: txVLE},
	))
}

// TestContextIsNotDone: RS is none of its bits.
func TestContextIsNotDone(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	low, high := context{}.words()
	q.write(low, high)
	q.send()
	require.Equal(t, high, q.upper(0))
	require.EqualValues(t, 1, q.head(), "it uses a slot")
}

// TestContextNeededAndMissing: the packet leaves without what it asked for, and the card
// says so; what asks for nothing needs none.
func TestContextNeededAndMissing(t *testing.T) {
	for name, option := range map[string]uint64{
		"VLE": txVLE, "IXSM": txIXSM, "TXSM": txTXSM, "TSE": txTSE, "IPSEC": txIPSEC,
		"index 2": txVLE | idx(2), "index 1": txVLE | idx(1),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.txQueue(0, 64)
			if name == "index 1" {
				q.send(packet{frame: fromHost(60), context: &context{idx: 0}})
			}
			require.Equal(t, [][]byte{fromHost(60)}, q.send(packet{frame: fromHost(60), options: option}))
			r.breached("tx-context-missing")
		})
	}
	r := newRig(t)
	q := r.txQueue(0, 64)
	q.send(packet{frame: fromHost(60), options: idx(1)})
	r.breached()
}
