package silicon_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDoneOnlyWhereAsked: DD comes in descriptors with RS and in no other, whatever EOP
// says (reference 3.1).
func TestDoneOnlyWhereAsked(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	var slots []uint32
	for i := range 9 {
		p := packet{frame: fromHost(200), cuts: []int{100}}
		if i%3 == 2 {
			p.options = txRS
		}
		slots = append(slots, q.add(p))
	}
	require.Len(t, q.send(), 9)
	for i, slot := range slots {
		require.False(t, q.done(slot-1), "the first buffer of packet %d", i)
		require.Equal(t, i%3 == 2, q.done(slot), "packet %d", i)
	}
}

// TestDoneChangesOneBit: the address, dword 2 and the rest of dword 3 stay.
func TestDoneChangesOneBit(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	slot := q.add(packet{frame: fromHost(60), options: txRS})
	low, high := r.mem.word(q.address, 0), q.upper(slot)
	q.send()
	require.Equal(t, low, r.mem.word(q.address, 0))
	require.Equal(t, high|txDD, q.upper(slot))
}

// TestDoneIsWrittenOnce: a driver takes DD away when it has freed the buffer; nothing
// puts it there again.
func TestDoneIsWrittenOnce(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	slot := q.add(packet{frame: fromHost(60), options: txRS})
	q.send()
	require.True(t, q.done(slot))
	r.mem.setWord(q.address, int(2*slot+1), 0)
	q.send(packet{frame: fromHost(60), options: txRS})
	require.Zero(t, q.upper(slot))
}

// TestDoneBeforeSentMeansNothing: drivers begin with DD in each descriptor; only the tail
// says what is to be sent.
func TestDoneBeforeSentMeansNothing(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	for i := range 64 {
		r.mem.setWord(q.address, 2*i+1, txDD)
	}
	r.settle()
	require.Empty(t, r.wire.take())
	require.Equal(t, [][]byte{fromHost(60)}, q.send(packet{frame: fromHost(60)}))
}

// TestEmptyBufferIsNotDone: a descriptor of no octets moves nothing and gets no DD, even
// with RS (reference 6.4).
func TestEmptyBufferIsNotDone(t *testing.T) {
	r := newRig(t)
	q := r.txQueue(0, 64)
	f := fromHost(60)
	at := r.mem.place(f)
	q.write(at, txRS|txDataType|txDEXT|60<<46)
	q.write(at, 60|txRS|txEOP|txDataType|txDEXT|60<<46)
	require.Equal(t, [][]byte{f}, q.send())
	require.False(t, q.done(0))
	require.True(t, q.done(1))
	r.breached()
}
