package silicon

import (
	"encoding/binary"
	"time"
)

// control looks at the registers by which a driver has something done. The access may
// have been seen.
func (c *Card) control(now time.Time, seen bool) bool {
	worked := false
	if c.reg.load(regCTRL)&(ctrlReset|ctrlLinkReset) != 0 {
		c.reset()
		worked = true
	}
	worked = c.serveEEPROM(seen) || worked
	worked = c.servePHY() || worked
	if v := c.reg.load(regFDIRCTRL); v != 0 && v&fdirInitDone == 0 {
		c.reg.set(regFDIRCTRL, fdirInitDone)
	}
	return c.serveTables(now) || worked
}

// servePHY answers MDIO commands: at none of the 32 addresses is a PHY, as on a
// backplane card.
func (c *Card) servePHY() bool {
	v := c.reg.load(regMSCA)
	if v&mscaCommand == 0 {
		return false
	}
	c.reg.store(regMSRWD, 0xffff0000)
	return c.reg.swap(regMSCA, v, v&^mscaCommand)
}

// reset is what CTRL.RST does: queues stop and forget what they held, most registers
// get their defaults, some of IPsec's tables are emptied (7.13.5.1, 7.13.9.1).
func (c *Card) reset() {
	r := c.reg
	for n := range queues {
		for _, base := range [2]uint32{rxQueueBase(n), txQueueBase(n)} {
			r.store(base+offsetQueueCtrl, 0)
			r.store(base+offsetHead, 0)
			r.store(base+offsetTail, 0)
		}
		c.tx[n], c.rx[n] = txQueue{}, rxQueue{}
	}
	c.activeTx, c.activeRx = c.activeTx[:0], c.activeRx[:0]
	c.scans = 0
	for _, offset := range []uint32{regRXCTRL, regDMATXCTL, regMRQC, regFCTRL, regVLNCTRL, regEICR, regEIMS, regGPIE, regMAXFRS, regFDIRCTRL} {
		r.store(offset, 0)
	}
	r.store(regHLREG0, c.config.Settings.HLREG0)
	r.store(regRXPB0, 0x80000)
	r.store(regSTATUS, 0)
	r.store(regEEC, eecValue)
	r.store(regAUTOC, 0xc0008000) // 10GBASE-KX4 and 1000BASE-KX, no negotiation of speed
	r.store(regAUTOC2, 0)
	r.store(regANLP1, 0x00010000)
	mac := c.config.MAC
	r.store(regRAL0, binary.LittleEndian.Uint32(mac[:4]))
	r.store(regRAL0+4, uint32(binary.LittleEndian.Uint16(mac[4:]))|1<<31)
	c.resetIPsec()
	c.showLink()
	r.clear(regCTRL, ctrlReset|ctrlLinkReset)
	c.stat.counts.Resets++
}
