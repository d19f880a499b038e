package silicon

import (
	"slices"
	"time"
)

// Tables that IPSRXIDX chooses.
const (
	tableIP  = 1
	tableSPI = 2
	tableKey = 3
)

// lateAfter is how long the card may be away before a driver could have given up a
// table write: DPDK's waits 5 ms.
const lateAfter = 4 * time.Millisecond

// serveTables looks at the index registers and at the engines.
func (c *Card) serveTables(now time.Time) bool {
	b := &c.ipsec
	gap := now.UnixNano() - b.lastControl
	if b.lastControl != 0 && gap > c.stat.counts.LongestGap {
		c.stat.counts.LongestGap = gap
	}
	late := b.lastControl != 0 && gap > int64(lateAfter)
	if late {
		c.stat.counts.Absences++
	}
	b.lastControl = now.UnixNano()
	c.watchEngines()
	worked := c.serveIndex(regIPSTXIDX, &b.txOn, late, c.accessTx)
	return c.serveIndex(regIPSRXIDX, &b.rxOn, late, c.accessRx) || worked
}

// watchEngines notices that an engine is switched while packets ask for it.
func (c *Card) watchEngines() {
	b := &c.ipsec
	for i, offset := range [2]uint32{regSECTXCTRL, regSECRXCTRL} {
		v := c.reg.load(offset) & (secTxDisable | secTxStoreForward)
		if v == b.engine[i] {
			continue
		}
		if i == 0 && c.asking(-1) {
			c.breach(BreachBusyEngine, "SECTXCTRL changes from %#x to %#x", b.engine[i], v)
		}
		b.engine[i] = v
	}
}

// serveIndex executes what an index register asks for. Its enable bit is a level; the
// bits that ask are cleared when it is done.
func (c *Card) serveIndex(offset uint32, on *bool, late bool, access func(index uint32, write bool)) bool {
	v := c.reg.load(offset)
	if enable := v&indexEnable != 0; enable != *on {
		*on = enable
		if !enable {
			c.stat.counts.LookupsOff++
			if offset == regIPSTXIDX && c.asking(-1) {
				c.breach(BreachBusyTable, "SA lookups of the transmit direction are switched off")
			}
		}
	}
	if v&(indexWrite|indexRead) == 0 {
		return false
	}
	held := &c.faults.heldBack[0]
	if offset == regIPSRXIDX {
		held = &c.faults.heldBack[1]
	}
	if *held == v {
		return false // stuck, by a fault, until the driver writes again
	}
	*held = 0
	if v&indexWrite != 0 {
		c.stat.counts.TableWrites++
		if late {
			c.stat.counts.LateWrites++
		}
		if due(&c.faults.stuck, c.faults.StuckWriteEvery) {
			*held = v
			return false
		}
		if !due(&c.faults.lost, c.faults.LostWriteEvery) {
			access(v, true)
		}
	} else {
		access(v, false)
	}
	c.reg.swap(offset, v, v&^(indexWrite|indexRead))
	return true
}

func (c *Card) words(offset uint32) (w [4]uint32) {
	for i := range w {
		w[i] = c.reg.load(offset + 4*uint32(i))
	}
	return w
}

func (c *Card) showWords(offset uint32, w [4]uint32) {
	for i, v := range w {
		c.reg.store(offset+4*uint32(i), v)
	}
}

// accessTx reads or writes the transmit SA table (7.13.5.2).
func (c *Card) accessTx(v uint32, write bool) {
	i := int(v >> 3 & 0x3ff)
	e := &c.ipsec.tx[i]
	if !write {
		c.showWords(regIPSTXKEY, e.words)
		c.reg.store(regIPSTXSALT, e.salt)
		return
	}
	if e.programmed && c.asking(i) {
		c.breach(BreachBusyTable, "transmit SA %d is written while packets ask for it", i)
	}
	*e = txEntry{}
	e.set(c.words(regIPSTXKEY), c.reg.load(regIPSTXSALT))
	e.programmed = !e.zero()
	if e.programmed && i > 255 {
		c.breach(BreachTooMany, "transmit SA %d", i)
	}
}

// accessRx reads or writes one of the three receive tables (7.13.9.2).
func (c *Card) accessRx(v uint32, write bool) {
	b := &c.ipsec
	table, i := v>>1&3, int(v>>3&0x3ff)
	switch table {
	case tableIP:
		if i >= ipEntries {
			c.breach(BreachIndex, "address %d of %d", i, ipEntries)
			return
		}
		if !write {
			c.showWords(regIPSRXIPADDR, b.ip[i])
			return
		}
		if b.ip[i] == c.words(regIPSRXIPADDR) {
			return
		}
		b.ip[i] = c.words(regIPSRXIPADDR)
		for k := range b.spi {
			if b.spi[k].spi != 0 && int(b.spi[k].address) == i {
				c.checkDuplicate(k)
			}
		}
	case tableSPI:
		if !write {
			c.reg.store(regIPSRXSPI, b.spi[i].spi)
			c.reg.store(regIPSRXIPIDX, b.spi[i].address)
			return
		}
		c.moveSPI(i, spiEntry{c.reg.load(regIPSRXSPI), c.reg.load(regIPSRXIPIDX) & (ipEntries - 1)})
	case tableKey:
		e := &b.key[i]
		if !write {
			c.showWords(regIPSRXKEY, e.words)
			c.reg.store(regIPSRXSALT, e.salt)
			c.reg.store(regIPSRXMOD, e.mode)
			return
		}
		e.set(c.words(regIPSRXKEY), c.reg.load(regIPSRXSALT))
		e.mode = c.reg.load(regIPSRXMOD)
		c.checkDuplicate(i)
	default:
		c.breach(BreachIndex, "receive table %d", table)
	}
}

// moveSPI writes an entry of the SPI table and keeps the way to find it.
func (c *Card) moveSPI(i int, to spiEntry) {
	b := &c.ipsec
	from := b.spi[i]
	b.spi[i] = to
	if from == to {
		return
	}
	defer c.checkDuplicate(i)
	if from.spi == to.spi {
		return
	}
	if list := slices.DeleteFunc(b.bySPI[from.spi], func(k int) bool { return k == i }); len(list) > 0 {
		b.bySPI[from.spi] = list
	} else {
		delete(b.bySPI, from.spi)
	}
	if to.spi == 0 {
		return // an empty entry; SPI 0 is no SA's (RFC 4303, 2.1)
	}
	list := append(b.bySPI[to.spi], i)
	slices.Sort(list)
	b.bySPI[to.spi] = list
}

// checkDuplicate notices that two valid entries match the same packets.
func (c *Card) checkDuplicate(i int) {
	b := &c.ipsec
	if b.key[i].mode&modValid == 0 || b.spi[i].spi == 0 {
		return
	}
	for _, k := range b.bySPI[b.spi[i].spi] {
		if k != i && b.key[k].mode&modValid != 0 && b.ip[b.spi[k].address] == b.ip[b.spi[i].address] {
			c.breach(BreachDuplicate, "entries %d and %d", k, i)
		}
	}
}

// asking says whether descriptors that were handed to the card and not fetched yet
// ask for IPsec with one SA, or, with -1, with any.
func (c *Card) asking(sa int) bool {
	for _, n := range c.activeTx {
		q := &c.tx[n]
		base := txQueueBase(n)
		tail := c.reg.load(base + offsetTail)
		if tail >= q.ring.count() {
			continue
		}
		contexts := q.contexts
		for i := c.reg.load(base + offsetHead); i != tail; i = q.ring.next(i) {
			low, high := q.ring.load(i)
			k := contextIndex(high)
			switch {
			case k >= uint64(len(contexts)):
			case dtyp(high) == dtypContext:
				contexts[k] = txContext{valid: true, words: [4]uint32{0, uint32(low >> 32)}}
			case high&txIPsec != 0 && contexts[k].valid && (sa < 0 || contexts[k].saIndex() == sa):
				return true
			}
		}
	}
	return false
}
