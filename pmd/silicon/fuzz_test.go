package silicon_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ringOctets are a ring's descriptors from a slot on, as they are in memory.
func (q *txRing) ringOctets(from, to uint32) []byte {
	at := q.address + 16*uint64(from)
	return slices.Clone(q.r.mem.Slice(at, int(16*(to-from))))
}

// fuzzPackets are packets whose descriptors a fuzzer begins with.
func fuzzPackets() (list []packet) {
	e := esp{sa: saOf(1), seq: 1, iv: 1, payload: counting(80)}
	big := ethernet(peerMAC, bigTCP("IPv4", 12, tcpACK, counting(900)))
	v4 := ethernet(peerMAC, forOffload(udp(host4, peer4, 1, 2, counting(50)), 17, 6))
	return []packet{
		{frame: fromHost(60), options: txRS},
		{frame: fromHost(1000), cuts: []int{14, 34, 500}, options: txRS},
		{frame: fromHost(100), context: &context{tag: 7}, options: txVLE},
		{frame: v4, context: &context{}, options: txIXSM | txTXSM},
		{frame: big, context: &context{l4: 1, l4Len: 32, mss: 100}, options: txTSE | txIXSM | txTXSM, payLen: 900},
		e.asks("IPv4", 1), e.asks("IPv6", 1), e.asks("IPv4", 2),
		{frame: fromHost(60), payLen: 3},
		{frame: nil, payLen: 1},
		{frame: fromHost(13)},
	}
}

// FuzzTransmit has a ring filled with anything, over memory with anything in it. The card
// never panics, comes to an end, and writes nothing into the host's memory but DD into
// descriptors with RS that it has fetched.
func FuzzTransmit(f *testing.F) {
	for _, p := range fuzzPackets() {
		_, q := sealRig(f)
		q.add(p)
		f.Add(q.ringOctets(0, q.tail), p.frame, uint8(q.tail), uint8(0))
		f.Add(q.ringOctets(0, q.tail), p.frame, uint8(q.tail), uint8(0xff))
	}
	f.Fuzz(func(t *testing.T, descriptors, data []byte, tail, choice uint8) {
		r := newRigOf(t, 16<<10, set("tx-off="+[]string{"clear", "drop", "seal"}[choice%3]),
			set("strict-version="+yes(choice&4 != 0)))
		r.engines()
		r.txSA(1, saOf(1))
		q := r.txQueue(0, 64)
		if choice&8 != 0 {
			r.put(secTxCtrl, 1)
		}
		if choice&16 != 0 {
			r.put(hlreg0, 0x8403) // loopback
			r.rxQueue(0, 8, 1)
		}
		at := r.mem.room(4096)
		copy(r.mem.Slice(at, 4096), data)
		copy(r.mem.Slice(q.address, 1024), descriptors)
		for i := range 64 { // most descriptors have their octets in data
			if low := r.mem.word(q.address, 2*i); low>>60 == 0 {
				r.mem.setWord(q.address, 2*i, at+low%2048)
			}
			high := r.mem.word(q.address, 2*i+1)
			r.mem.setWord(q.address, 2*i+1, high&^0xf800)
		}
		before := slices.Clone(r.mem.octets)
		r.put(txBlock(0)+ringTail, uint32(tail))
		for range 40 {
			r.now = r.now.Add(150 * time.Millisecond)
			r.step()
		}
		head := q.head()
		require.Less(t, head, uint32(64))
		for i := range uint32(64) {
			at := q.address - memoryBase + 16*uint64(i) + 8
			high := binary.LittleEndian.Uint64(before[at:])
			if i < head && high&txRS != 0 && q.upper(i) == high|txDD {
				binary.LittleEndian.PutUint64(before[at:], high|txDD)
			}
		}
		if choice&16 == 0 {
			require.Equal(t, before, r.mem.octets)
		}
		for _, frame := range r.wire.take() {
			require.GreaterOrEqual(t, len(frame), 60)
		}
	})
}
