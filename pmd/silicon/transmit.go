package silicon

import (
	"encoding/binary"
	"sync/atomic"
	"time"
)

// Bits of transmit descriptors (7.2.3.2.3, 7.2.3.2.4), in the upper 64-bit word:
// dword 2 below, dword 3 above.
const (
	txEOP    = 1 << 24
	txRS     = 1 << 27
	txDEXT   = 1 << 29
	txVLE    = 1 << 30
	txTSE    = 1 << 31
	txDone   = 1 << 32
	txIXSM   = 1 << (32 + 8)
	txTXSM   = 1 << (32 + 9)
	txIPsec  = 1 << (32 + 10)
	txLenMax = 0xffff

	dtypContext = 2
	dtypData    = 3

	// buffersMax is how many buffers a packet may have (40 - WTHRESH - 2, 7.2.3.3).
	buffersMax = 38
	// missingMax is how long memory may be out of reach before it is a fault.
	missingMax = 200 * time.Millisecond
)

func dtyp(high uint64) uint64 { return high >> 20 & 0xf }

// descriptorLen is a data descriptor's number of octets.
func descriptorLen(high uint64) int { return int(high & txLenMax) }

// contextIndex is the context that a descriptor names.
func contextIndex(high uint64) uint64 { return high >> (32 + 4) & 7 }

// transmit sends what queue n holds, a burst at most.
func (c *Card) transmit(n int, now time.Time) bool {
	base := txQueueBase(n)
	q := &c.tx[n]
	head, tail := c.reg.load(base+offsetHead), c.reg.load(base+offsetTail)
	if head == tail || c.reg.load(base+offsetQueueCtrl)&queueEnable == 0 {
		return false
	}
	if tail >= q.ring.count() || head >= q.ring.count() {
		c.breach(BreachRing, "transmit queue %d: head %d, tail %d of %d", n, head, tail, q.ring.count())
		c.reg.clear(base+offsetQueueCtrl, queueEnable)
		return false
	}
	worked := false
	for range burst {
		if head == tail {
			break
		}
		next, ok := c.transmitOne(q, n, head, tail, now)
		if !ok {
			break
		}
		head = next
		c.reg.store(base+offsetHead, head)
		worked = true
	}
	return worked
}

// transmitOne takes the packet at head, or a context, and returns what follows; not
// ok: it is not complete, or not in reach yet.
func (c *Card) transmitOne(q *txQueue, n int, head, tail uint32, now time.Time) (next uint32, ok bool) {
	c.witness.frame = c.witness.frame[:0]
	frame := c.frame[:0]
	var first uint64
	buffers := 0
	for i := head; ; i = next {
		if i == tail {
			return 0, false
		}
		next = q.ring.next(i)
		low, high := q.ring.load(i)
		switch {
		case high&txDEXT == 0:
			c.breach(BreachDescriptor, "transmit queue %d: a legacy descriptor", n)
			return next, true
		case dtyp(high) == dtypContext:
			if buffers > 0 {
				c.breach(BreachDescriptor, "transmit queue %d: a context inside a packet", n)
			}
			c.keepContext(q, low, high)
			return next, true
		case dtyp(high) != dtypData:
			c.breach(BreachDescriptor, "transmit queue %d: descriptor type %d", n, dtyp(high))
			return next, true
		}
		if buffers == 0 {
			first = high
		}
		if length := descriptorLen(high); length > 0 {
			data := c.config.Memory.Slice(low, length)
			if data == nil && !c.givenUp(q, now) {
				return 0, false
			}
			if data == nil {
				c.breach(BreachDMA, "transmit queue %d: %d octets at 0x%x", n, length, low)
				data = make([]byte, length)
			}
			q.missing = time.Time{}
			if len(frame)+length > frameRoom {
				c.breach(BreachDescriptor, "transmit queue %d: a packet of more than %d octets", n, frameRoom)
				return next, true
			}
			frame = append(frame, data...)
		}
		if buffers++; high&txEOP != 0 {
			break
		}
	}
	if buffers > buffersMax {
		c.breach(BreachDescriptor, "transmit queue %d: %d buffers", n, buffers)
	}
	c.process(q, n, first, frame)
	c.writeBack(q, head, next)
	return next, true
}

// givenUp says whether memory has been out of reach for too long.
func (c *Card) givenUp(q *txQueue, now time.Time) bool {
	if q.missing.IsZero() {
		q.missing = now
	}
	return now.Sub(q.missing) > missingMax
}

// keepContext stores a context in its queue, until it is overwritten.
func (c *Card) keepContext(q *txQueue, low, high uint64) {
	i := contextIndex(high)
	if i >= uint64(len(q.contexts)) {
		c.breach(BreachDescriptor, "context %d", i)
		return
	}
	c.stat.counts.TxContexts++
	q.contexts[i] = txContext{valid: true, words: [4]uint32{uint32(low), uint32(low >> 32), uint32(high), uint32(high >> 32)}}
}

// writeBack says that descriptors are done, where the driver has asked for it. One of no
// octets is not written back (X550 datasheet).
func (c *Card) writeBack(q *txQueue, head, next uint32) {
	for i := head; i != next; i = q.ring.next(i) {
		if _, high := q.ring.load(i); high&txRS != 0 && descriptorLen(high) > 0 {
			atomic.StoreUint64(&q.ring[2*i+1], high|txDone)
		}
	}
}

// The fields of a context.
func (t *txContext) macLen() int      { return int(t.words[0] >> 9 & 0x7f) }
func (t *txContext) ipLen() int       { return int(t.words[0] & 0x1ff) }
func (t *txContext) tag() uint16      { return uint16(t.words[0] >> 16) }
func (t *txContext) saIndex() int     { return int(t.words[1] & 0x3ff) }
func (t *txContext) espLen() int      { return int(t.words[2] & 0x1ff) }
func (t *txContext) v4() bool         { return t.words[2]>>10&1 == 1 }
func (t *txContext) l4Type() int      { return int(t.words[2] >> 11 & 3) }
func (t *txContext) esp() bool        { return t.words[2]>>13&1 == 1 }
func (t *txContext) encrypt() bool    { return t.words[2]>>14&1 == 1 }
func (t *txContext) l4Len() int       { return int(t.words[3] >> 8 & 0xff) }
func (t *txContext) segmentSize() int { return int(t.words[3] >> 16) }

// process does what a packet's descriptor asks for, and sends it.
func (c *Card) process(q *txQueue, n int, high uint64, frame []byte) {
	var context *txContext
	if high&(txVLE|txTSE|txIXSM|txTXSM|txIPsec) != 0 {
		if i := contextIndex(high); i < 2 && q.contexts[i].valid {
			context = &q.contexts[i]
		} else {
			c.breach(BreachNoContext, "transmit queue %d: context %d", n, i)
		}
	}
	if len(frame) < 14 {
		c.breach(BreachDescriptor, "transmit queue %d: a packet of %d octets", n, len(frame))
		return
	}
	if high&txTSE == 0 && int(high>>46) != len(frame) {
		c.breach(BreachFraming, "transmit queue %d: PAYLEN is %d, the buffers have %d octets", n, high>>46, len(frame))
	}
	if high&txIPsec != 0 {
		c.stat.counts.TxIPsec++
		if high&(txTXSM|txTSE) != 0 {
			c.breach(BreachOffloads, "transmit queue %d: segmentation or L4 checksum of an ESP packet", n)
		}
		if high&txTSE != 0 {
			return // segments would leave in clear text; what the card does of 7.13.6.3 is not made here
		}
	}
	switch {
	case context == nil:
	case high&txTSE != 0:
		c.segment(n, high, context, frame)
		return
	default:
		if high&txTXSM != 0 {
			c.fillL4(context, frame)
		}
		if high&txIXSM != 0 {
			c.fillIPv4(context, frame, high&txIPsec != 0)
		}
	}
	if high&txIPsec != 0 && !c.seal(context, frame) {
		return
	}
	c.emit(n, high, context, frame)
}

// emit sends one frame, with its VLAN tag, padded to what Ethernet demands.
func (c *Card) emit(n int, high uint64, context *txContext, frame []byte) {
	if high&txVLE != 0 && context != nil {
		c.side = append(c.side[:0], frame[:12]...)
		c.side = append(c.side, 0x81, 0x00)
		c.side = binary.BigEndian.AppendUint16(c.side, context.tag())
		frame = append(c.side, frame[12:]...)
	}
	hlreg := c.reg.load(regHLREG0)
	if len(frame) < 60 && hlreg&hlregTxPad != 0 {
		frame = append(frame, make([]byte, 60-len(frame))...)
	}
	if len(frame)+4 > storeForwardMax && c.reg.load(regSECTXCTRL)&secTxStoreForward != 0 {
		c.breach(BreachLong, "%d octets with CRC", len(frame)+4)
	}
	c.stat.sent(c, n, frame)
	c.record(true, frame, c.witness.frame)
	if hlreg&hlregLoopback != 0 {
		c.deliver(append([]byte(nil), frame...))
		return
	}
	if c.config.Wire != nil {
		c.config.Wire.Send(frame)
	}
}

// storeForwardMax is the longest frame, with CRC, of a path that stores and forwards
// (7.13.2.2: 9.5 KB).
const storeForwardMax = 9728
