package silicon

// eeprom is the card's EEPROM in 16-bit words. All pointers in it are 0: no
// firmware, no alternative addresses, no blocks.
type eeprom [eepromWords]uint16

const (
	eepromWords = 2048
	// eecValue: an EEPROM is present (bit 8), was read (9), has 2^(5+6) words.
	eecValue = 1<<8 | 1<<9 | 5<<11 | 1<<10

	eepromCaps     = 0x2c
	eepromChecksum = 0x3f
	eepromSum      = 0xbaba // what words 0 to 0x3f add up to
)

func newEEPROM() eeprom {
	var e eeprom
	e[eepromCaps] = 0
	e[eepromChecksum] = eepromSum
	for _, w := range e[:eepromChecksum] {
		e[eepromChecksum] -= w
	}
	return e
}

// serveEEPROM answers a read: the address stands in bits 15:2, the word goes to
// bits 31:16.
func (c *Card) serveEEPROM(seen bool) bool {
	v := c.reg.load(regEERD)
	if v&eerdStart == 0 || v&eerdDone != 0 {
		return false
	}
	if !seen && c.config.Ready != nil && !c.config.Ready() {
		return false
	}
	address := v >> 2 & 0x3fff
	word := uint16(0xffff)
	if address < eepromWords {
		word = c.eeprom[address]
	}
	return c.reg.swap(regEERD, v, address<<2|eerdDone|uint32(word)<<16)
}
