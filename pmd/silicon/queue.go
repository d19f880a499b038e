package silicon

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// ring is a descriptor ring in the host's memory: two 64-bit words a descriptor.
type ring []uint64

// load is descriptor i; 0 where there is none: drivers write indices.
func (r ring) load(i uint32) (low, high uint64) {
	if i >= r.count() {
		return 0, 0
	}
	return atomic.LoadUint64(&r[2*i]), atomic.LoadUint64(&r[2*i+1])
}

// count is the number of descriptors.
func (r ring) count() uint32 { return uint32(len(r) / 2) }

// next is the index after i; after one beyond the ring it is 0.
func (r ring) next(i uint32) uint32 {
	if i >= r.count()-1 {
		return 0
	}
	return i + 1
}

// txContext is a context descriptor that a queue keeps (7.2.3.2.3).
type txContext struct {
	words [4]uint32
	valid bool
}

type txQueue struct {
	ring     ring
	contexts [2]txContext
	missing  time.Time // since when a buffer cannot be reached
}

type rxQueue struct {
	ring ring
}

// findQueues makes lists of the queues that are enabled, and finds the memory of
// those that have become so.
func (c *Card) findQueues() {
	c.activeTx = c.activeTx[:0]
	sends := c.reg.load(regDMATXCTL)&txEnable != 0
	for n := range queues {
		if c.reg.load(txQueueBase(n)+offsetQueueCtrl)&queueEnable == 0 {
			if c.tx[n].ring != nil {
				c.tx[n] = txQueue{}
			}
		} else if sends && c.findRing(&c.tx[n].ring, txQueueBase(n)) {
			c.activeTx = append(c.activeTx, n)
		}
	}
	c.activeRx = c.activeRx[:0]
	for n := range queues {
		if c.reg.load(rxQueueBase(n)+offsetQueueCtrl)&queueEnable == 0 {
			c.rx[n] = rxQueue{}
		} else if c.findRing(&c.rx[n].ring, rxQueueBase(n)) {
			c.activeRx = append(c.activeRx, n)
		}
	}
}

// findRing maps a ring, if it is not mapped yet; false: not now.
func (c *Card) findRing(r *ring, base uint32) bool {
	if *r != nil {
		return true
	}
	address := uint64(c.reg.load(base+offsetDesc0)) | uint64(c.reg.load(base+offsetDesc1))<<32
	size := c.reg.load(base + offsetDescLen)
	if size == 0 || size%128 != 0 || size > 64<<10 || address%128 != 0 {
		c.breach(BreachRing, "registers 0x%05x: a ring of %d octets at 0x%x", base, size, address)
		c.reg.clear(base+offsetQueueCtrl, queueEnable)
		return false
	}
	memory := c.config.Memory.Slice(address, int(size))
	if memory == nil {
		return false // not mapped yet
	}
	// Descriptors change hands word by word; the address is aligned.
	*r = unsafe.Slice((*uint64)(unsafe.Pointer(&memory[0])), size/8)
	return true
}
