package silicon

import "encoding/binary"

// accepted says whether the port takes a frame: its length, its address, its tag.
func (c *Card) accepted(frame []byte, v *frameView) bool {
	limit := 1518
	if c.reg.load(regHLREG0)&hlregJumbo != 0 {
		limit = int(c.reg.load(regMAXFRS) >> 16)
	}
	if len(frame)+4 > limit+4*v.tags {
		c.stat.counts.RxTooLong++
		c.stat.values[statROC]++
		return false
	}
	if !c.acceptedAddress(frame) || !c.acceptedTag(v) {
		c.stat.counts.RxFiltered++
		return false
	}
	return true
}

func (c *Card) acceptedAddress(frame []byte) bool {
	fctrl := c.reg.load(regFCTRL)
	low, high := binary.LittleEndian.Uint32(frame), uint32(binary.LittleEndian.Uint16(frame[4:]))
	switch {
	case isBroadcast(frame):
		return fctrl&(fctrlBroadcast|fctrlMulticast) != 0
	case low&1 != 0:
		return fctrl&fctrlMulticast != 0 || c.inMulticastTable(frame)
	case fctrl&fctrlUnicast != 0:
		return true
	}
	for i := range 128 {
		at := receiveAddress(i)
		if h := c.reg.load(at + 4); h>>31 == 1 && h&0xffff == high && c.reg.load(at) == low {
			return true
		}
	}
	return false
}

func isBroadcast(frame []byte) bool {
	return [6]byte(frame) == [6]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
}

// inMulticastTable looks at 12 bits of the address, which MCSTCTRL chooses.
func (c *Card) inMulticastTable(frame []byte) bool {
	control := c.reg.load(regMCSTCTRL)
	if control&4 == 0 {
		return false
	}
	shift := [4]uint{4, 3, 2, 0}[control&3]
	bits := (uint32(frame[4]) | uint32(frame[5])<<8) >> shift & 0xfff
	return c.reg.load(regMTA+4*(bits>>5))>>(bits&31)&1 == 1
}

func (c *Card) acceptedTag(v *frameView) bool {
	if v.tags == 0 || c.reg.load(regVLNCTRL)&vlnctrlFilter == 0 {
		return true
	}
	id := uint32(v.tag & 0xfff)
	return c.reg.load(regVFTA+4*(id>>5))>>(id&31)&1 == 1
}
