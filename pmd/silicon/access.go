package silicon

import "time"

// Read is a driver's read of a register in the moment that it happens. It returns what the
// driver gets, and has the effects of reading. Registers that nobody watches are read
// without it.
func (c *Card) Read(offset uint32) uint32 {
	c.watched = true
	switch offset {
	case regEICR:
		v := c.reg.load(regEICR)
		c.reg.clear(regEICR, v)
		return v
	case regFirstStatistic:
		c.giveStatistics()
	}
	return c.reg.load(offset)
}

// Write is a driver's write of a register in the moment that it happens; see Read.
func (c *Card) Write(offset, value uint32) {
	c.watched = true
	switch offset {
	case regEICR:
		c.reg.clear(regEICR, value)
	case regEICS:
		c.reg.set(regEICR, value)
		c.interrupt()
	case regEIMS:
		c.reg.set(regEIMS, value)
		c.interrupt()
	case regEIMC:
		c.reg.clear(regEIMS, value)
	case regSTATUS, regLINKS, regSECTXSTAT, regSECRXSTAT: // the card's to tell
	case regIPSTXIDX:
		c.faults.heldBack[0] = 0
		c.reg.store(offset, value)
	case regIPSRXIDX:
		c.faults.heldBack[1] = 0
		c.reg.store(offset, value)
	default:
		c.reg.store(offset, value)
	}
	c.ipsec.lastControl = 0 // the driver waits for us: nothing is late
	c.control(time.Now(), true)
}

// interrupt raises the interrupt if a cause is there and not masked.
func (c *Card) interrupt() {
	if c.reg.load(regEICR)&c.reg.load(regEIMS) == 0 || c.config.Interrupt == nil {
		return
	}
	c.stat.counts.Interrupts++
	c.config.Interrupt()
}
