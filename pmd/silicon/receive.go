package silicon

import "sync/atomic"

// Bits of a receive descriptor's write-back (7.1.6.2): dword 2 status and error.
const (
	rxDone  = 1 << 0
	rxEOP   = 1 << 1
	rxVLAN  = 1 << 3
	rxL4CS  = 1 << 5
	rxIPCS  = 1 << 6
	rxL4Err = 1 << 30
	rxIPErr = 1 << 31

	typeIPv4    = 1 << 4
	typeIPv4Opt = 1 << 5
	typeIPv6    = 1 << 6
	typeIPv6Ext = 1 << 7
	typeTCP     = 1 << 8
	typeUDP     = 1 << 9
	typeSCTP    = 1 << 10
	typeESP     = 1 << 12
	typeAH      = 1 << 13
)

// receive takes frames from the wire, a burst at most.
func (c *Card) receive() bool {
	if c.config.Wire == nil || !c.link.up {
		return false
	}
	for k := range burst {
		n := c.config.Wire.Receive(c.in)
		if n == 0 {
			return k > 0
		}
		frame := c.in[:n]
		if n < 60 { // a frame on a wire is never shorter
			clear(c.in[n:60])
			frame = c.in[:60]
		}
		c.record(false, frame, nil)
		c.deliver(frame)
	}
	return true
}

// deliver gives a frame to the receive queue that it belongs to. The frame is changed.
func (c *Card) deliver(frame []byte) {
	if c.reg.load(regRXCTRL)&rxctrlEnable == 0 {
		c.stat.counts.RxDisabled++
		return
	}
	v := look(frame)
	if !c.accepted(frame, &v) {
		return
	}
	queue, kind, hash := c.steer(frame, &v)
	secured, inner := c.open(frame, &v)
	status := rxStatus(frame, &v, secured)
	low := uint64(kind|c.packetType(&v, secured, inner)) | uint64(hash)<<32
	tag := uint16(0)
	if v.tags > 0 && c.reg.load(rxQueueBase(queue)+offsetQueueCtrl)&queueVLAN != 0 {
		tag, status = v.tag, status|rxVLAN
		copy(frame[4:], frame[:12])
		frame = frame[4:]
	}
	c.place(queue, frame, low, status, tag)
}

// packetType is dword 0's, bits 15:4.
func (c *Card) packetType(v *frameView, secured uint32, inner byte) (t uint32) {
	if v.l3 == 0 {
		return 0
	}
	switch {
	case v.v6:
		t = typeIPv6
	default:
		t = typeIPv4
	}
	if v.options {
		t |= typeIPv4Opt
	}
	if v.extension {
		t |= typeIPv6Ext
	}
	protocol := v.protocol
	if v.ipsec() {
		if protocol == protocolESP {
			t |= typeESP
		} else {
			t |= typeAH
		}
		if protocol = 0; c.config.Settings.InnerType && secured == rxSecured {
			protocol = inner
		}
	}
	if v.fragment || v.extension {
		return t
	}
	switch protocol {
	case protocolTCP:
		t |= typeTCP
	case protocolUDP:
		t |= typeUDP
	case protocolSCTP:
		t |= typeSCTP
	}
	return t
}

// rxStatus verifies checksums (7.1.11) and puts the bits together. What is inside ESP
// is not looked at.
func rxStatus(frame []byte, v *frameView, secured uint32) uint32 {
	status := secured
	if v.l3 == 0 {
		return status
	}
	if !v.v6 {
		status |= rxIPCS
		if fold(sum(frame[v.l3:v.l4], 0)) != 0xffff {
			return status | rxIPErr
		}
	}
	if !v.plainL4() {
		return status
	}
	l4 := frame[v.l4:v.end]
	if v.protocol == protocolUDP && l4[6] == 0 && l4[7] == 0 && !v.v6 {
		return status // no checksum
	}
	src, dst := v.addresses(frame)
	status |= rxL4CS
	if fold(sum(l4, sum(dst, sum(src, uint64(v.protocol)+uint64(len(l4)))))) != 0xffff {
		status |= rxL4Err
	}
	return status
}

// place writes a frame into the buffers of a queue, one or more, and hands them over.
func (c *Card) place(queue int, frame []byte, low uint64, status uint32, tag uint16) {
	base := rxQueueBase(queue)
	q := &c.rx[queue]
	if q.ring == nil || c.reg.load(base+offsetQueueCtrl)&queueEnable == 0 {
		c.stat.missed(queue, false)
		return
	}
	control := c.reg.load(srrctl(queue))
	room := int(control&srrctlSizeKB) << 10
	head, tail := c.reg.load(base+offsetHead), c.reg.load(base+offsetTail)
	if head >= q.ring.count() || tail >= q.ring.count() || room == 0 {
		c.breach(BreachRing, "receive queue %d: head %d, tail %d of %d, buffers of %d octets", queue, head, tail, q.ring.count(), room)
		return
	}
	needed := uint32((len(frame) + room - 1) / room)
	if free := (tail + q.ring.count() - head) % q.ring.count(); free < needed {
		c.stat.missed(queue, control&srrctlDrop != 0)
		return
	}
	if !c.fill(queue, head, room, frame) {
		return
	}
	i, rest := head, len(frame)
	for ; rest > room; rest -= room {
		c.handOver(q.ring, i, low, rxDone|uint64(room)<<32)
		i = q.ring.next(i)
	}
	c.handOver(q.ring, i, low, uint64(status|rxDone|rxEOP)|uint64(rest)<<32|uint64(tag)<<48)
	c.reg.store(base+offsetHead, q.ring.next(i))
	c.stat.received(c, queue, frame)
}

// fill copies a frame into the buffers from descriptor i on. All of it must be there before
// the first is handed over: a driver that found the beginning of a frame whose end has no
// memory would put the next frame to it.
func (c *Card) fill(queue int, i uint32, room int, frame []byte) bool {
	r := c.rx[queue].ring
	for ; len(frame) > 0; i = r.next(i) {
		n := min(len(frame), room)
		address, _ := r.load(i)
		data := c.config.Memory.Slice(address, n)
		if data == nil {
			c.breach(BreachDMA, "receive queue %d: %d octets at 0x%x", queue, n, address)
			return false
		}
		copy(data, frame[:n])
		frame = frame[n:]
	}
	return true
}

// handOver writes a descriptor back: the word with the done bit last, as one.
func (c *Card) handOver(r ring, i uint32, low, high uint64) {
	atomic.StoreUint64(&r[2*i], low)
	atomic.StoreUint64(&r[2*i+1], high)
}
