package silicon_test

import "encoding/binary"

// rxRing is a receive queue as a driver has it.
type rxRing struct {
	r       *rig
	n       int
	address uint64
	buffers []uint64
	room    int // octets of a buffer
	next    int // the descriptor that is to be done next
}

// received is a receive descriptor that the card has written back.
type received struct {
	words [4]uint32
	data  []byte // of its buffer
}

func (d received) status() uint32 { return d.words[2] }
func (d received) kind() uint32   { return d.words[0] &^ rssType }
func (d received) tag() uint16    { return uint16(d.words[3] >> 16) }
func (d received) length() int    { return int(d.words[3] & 0xffff) }

// rxQueue sets a receive queue of count descriptors up, with buffers of kilobytes KiB
// of which count-1 are the card's, enables it and the receiver.
func (r *rig) rxQueue(n, count, kilobytes int) *rxRing {
	r.t.Helper()
	q := &rxRing{r: r, n: n, address: r.mem.room(16 * count), room: kilobytes << 10}
	for i := range count {
		q.buffers = append(q.buffers, r.mem.room(q.room))
		q.arm(i)
	}
	base := rxBlock(n)
	r.put(base+ringLow, uint32(q.address))
	r.put(base+ringHigh, uint32(q.address>>32))
	r.put(base+ringLength, uint32(16*count))
	r.put(base+ringHead, 0)
	r.put(srrctlOf(n), 1<<25|uint32(kilobytes))
	r.setBits(base+queueCtrl, queueOn)
	q.tail(count - 1)
	r.setBits(rxctrl, 1)
	r.setBits(fctrl, 1<<10) // broadcasts
	r.mem.kept = r.mem.used
	r.settle()
	return q
}

// arm writes descriptor i as the driver gives it to the card.
func (q *rxRing) arm(i int) {
	q.r.mem.setWord(q.address, 2*i, q.buffers[i])
	q.r.mem.setWord(q.address, 2*i+1, 0)
}

// tail gives the card the descriptors below i.
func (q *rxRing) tail(i int) { q.r.put(rxBlock(q.n)+ringTail, uint32(i)) }

func (q *rxRing) head() int { return int(q.r.get(rxBlock(q.n) + ringHead)) }

// take is what the card has written back since the last take. The descriptors are the
// card's again.
func (q *rxRing) take() (list []received) {
	for range q.buffers {
		low, high := q.r.mem.word(q.address, 2*q.next), q.r.mem.word(q.address, 2*q.next+1)
		if high&rxDD == 0 {
			break
		}
		d := received{words: [4]uint32{uint32(low), uint32(low >> 32), uint32(high), uint32(high >> 32)}}
		if n := d.length(); n <= q.room {
			d.data = append(d.data, q.r.mem.Slice(q.buffers[q.next], n)...)
		}
		list = append(list, d)
		q.arm(q.next)
		q.tail(q.next)
		q.next = (q.next + 1) % len(q.buffers)
	}
	return list
}

// receive has frames come in over the wire and returns what is written back.
func (q *rxRing) receive(frames ...[]byte) []received {
	q.r.t.Helper()
	q.r.arrive(frames...)
	return q.take()
}

// arrive has frames come in over the wire.
func (r *rig) arrive(frames ...[]byte) {
	r.t.Helper()
	for _, f := range frames {
		r.wire.coming = append(r.wire.coming, append([]byte(nil), f...))
	}
	r.settle()
}

// writeMAC puts an address into a pair of registers, RAL and RAH.
func (r *rig) writeMAC(offset uint32, mac []byte, valid bool) {
	r.put(offset, binary.LittleEndian.Uint32(mac))
	high := uint32(binary.LittleEndian.Uint16(mac[4:]))
	if valid {
		high |= 1 << 31
	}
	r.put(offset+4, high)
}
