package silicon_test

import (
	"github.com/stretchr/testify/require"
)

// txRing is a transmit queue as a driver has it.
type txRing struct {
	r       *rig
	n       int
	address uint64
	count   uint32
	tail    uint32
}

// txQueue sets a transmit queue of count descriptors up and enables it.
func (r *rig) txQueue(n, count int) *txRing {
	r.t.Helper()
	q := &txRing{r: r, n: n, address: r.mem.room(16 * count), count: uint32(count)}
	base := txBlock(n)
	r.put(base+ringLow, uint32(q.address))
	r.put(base+ringHigh, uint32(q.address>>32))
	r.put(base+ringLength, uint32(16*count))
	r.put(base+ringHead, 0)
	r.put(base+ringTail, 0)
	r.setBits(dmatxctl, 1)
	r.setBits(base+queueCtrl, queueOn)
	r.mem.kept = r.mem.used
	r.settle()
	return q
}

// write puts a descriptor at the tail, which the card is not told yet.
func (q *txRing) write(low, high uint64) (slot uint32) {
	slot = q.tail
	q.r.mem.setWord(q.address, int(2*slot), low)
	q.r.mem.setWord(q.address, int(2*slot+1), high)
	q.tail = (q.tail + 1) % q.count
	return slot
}

// doorbell tells the card the tail.
func (q *txRing) doorbell() { q.r.put(txBlock(q.n)+ringTail, q.tail) }

func (q *txRing) head() uint32 { return q.r.get(txBlock(q.n) + ringHead) }

// upper is the upper half of a descriptor.
func (q *txRing) upper(slot uint32) uint64 { return q.r.mem.word(q.address, int(2*slot+1)) }

func (q *txRing) done(slot uint32) bool { return q.upper(slot)&txDD != 0 }

// context is a context descriptor; the zero value is one of Ethernet and IPv4 without
// anything.
type context struct {
	macLen, ipLen int // 0: 14 and 20
	tag           uint16
	sa            int
	espLen        int
	v6            bool // TUCMD.IPV4 is not set
	l4            int  // 0 UDP, 1 TCP, 2 SCTP, 3 none
	ah, clear     bool // not IPSEC_TYPE, not ENCRYPT_EN
	idx           int
	l4Len, mss    int
}

// words are the descriptor's two halves.
func (c context) words() (low, high uint64) {
	if c.macLen == 0 {
		c.macLen = 14
	}
	if c.ipLen == 0 {
		if c.ipLen = 20; c.v6 {
			c.ipLen = 40
		}
	}
	low = uint64(c.ipLen) | uint64(c.macLen)<<9 | uint64(c.tag)<<16 | uint64(c.sa)<<32
	high = txDEXT | txContextType | uint64(c.espLen) | uint64(c.l4)<<11 |
		uint64(c.idx)<<36 | uint64(c.l4Len)<<40 | uint64(c.mss)<<48
	for bit, on := range map[int]bool{10: !c.v6, 13: !c.ah, 14: !c.clear} {
		if on {
			high |= 1 << bit
		}
	}
	return low, high
}

// packet is what a driver writes descriptors of.
type packet struct {
	frame   []byte
	context *context // written in front; nil: none
	options uint64   // bits of the data descriptors: txRS and so on, the context's index
	cuts    []int    // where buffers end before the frame does
	payLen  int      // 0: the frame's length
}

// idx is the option that names context i.
func idx(i int) uint64 { return uint64(i) << 36 }

// add writes a packet's descriptors and returns its last slot. RS is in the last only.
func (q *txRing) add(p packet) (last uint32) {
	if p.context != nil {
		q.write(p.context.words())
	}
	if p.payLen == 0 {
		p.payLen = len(p.frame)
	}
	cuts := append(append([]int{}, p.cuts...), len(p.frame))
	begin := 0
	for i, end := range cuts {
		high := uint64(end-begin) | txDataType | txIFCS | txDEXT | uint64(p.payLen)<<46 | p.options&^txRS
		if i == len(cuts)-1 {
			high |= txEOP | p.options&txRS
		}
		last = q.write(q.r.mem.place(p.frame[begin:end]), high)
		begin = end
	}
	return last
}

// send adds packets, has the card take them, and returns what came out on the wire. The
// memory of packets is free again afterwards.
func (q *txRing) send(packets ...packet) [][]byte {
	q.r.t.Helper()
	for _, p := range packets {
		q.add(p)
	}
	q.doorbell()
	q.r.settle()
	require.Equal(q.r.t, q.tail, q.head(), "all descriptors are fetched")
	q.r.mem.used = q.r.mem.kept
	return q.r.wire.take()
}
