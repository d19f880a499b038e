package silicon

import "encoding/binary"

// ESP's sizes in octets with AES-GCM: SPI and sequence number, IV, ICV (RFC 4303,
// RFC 4106).
const (
	espHeader = 8
	espIV     = 8
	espICV    = 16
	// espTrailer is the least that ESP_LEN counts beside padding: pad length, next
	// header, ICV.
	espTrailer = 2 + espICV

	protocolESP = 50
	protocolAH  = 51
)

// seal encrypts a packet in place and writes its ICV (7.13.6.1). It says whether the
// packet is sent.
func (c *Card) seal(context *txContext, frame []byte) bool {
	if context == nil {
		return true // in clear text; the missing context was told
	}
	if !c.txReady() {
		c.stat.counts.TxClear++
		c.breach(BreachClear, "SA %d: SECTXCTRL %#x, IPSTXIDX %#x", context.saIndex(),
			c.reg.load(regSECTXCTRL), c.reg.load(regIPSTXIDX))
		switch c.config.Settings.TxOff {
		case TxOffClear:
			return true
		case TxOffDrop:
			return false
		}
	}
	if !context.esp() || !context.encrypt() {
		c.breach(BreachMode, "TUCMD %#x", context.words[2])
		return true
	}
	esp, ok := c.findESP(context, frame)
	if !ok {
		return true
	}
	c.checkTrailer(context, frame, esp)
	e := &c.ipsec.tx[context.saIndex()]
	if !e.programmed {
		c.breach(BreachNoSA, "SA %d", context.saIndex())
	}
	if e.aead == nil {
		e.set([4]uint32{}, 0) // an empty entry is a key of zeros
	}
	c.checkSA(context, e, frame[esp:])
	iv := frame[esp+espHeader : esp+espHeader+espIV]
	nonce := e.nonce(iv)
	text := frame[esp+espHeader+espIV : len(frame)-espICV]
	e.aead.Seal(text[:0], nonce[:], text, frame[esp:esp+espHeader])
	if due(&c.faults.txICV, c.faults.TxICVEvery) {
		frame[len(frame)-1] ^= 1
	}
	c.stat.counts.TxSealed++
	return true
}

// findESP says where ESP begins: behind 20 octets of IPv4 or 40 of IPv6, whatever
// IPLEN says, and what is wrong with what stands there.
func (c *Card) findESP(context *txContext, frame []byte) (esp int, ok bool) {
	l3 := context.macLen()
	if l3+20 > len(frame) {
		c.breach(BreachHeaders, "MACLEN is %d, the packet has %d octets", l3, len(frame))
		return 0, false
	}
	v4 := frame[l3]>>4 == 4
	if v4 != context.v4() {
		c.breach(BreachVersion, "IPV4 is %v, the packet's version %d", context.v4(), frame[l3]>>4)
		if c.config.Settings.StrictVersion {
			v4 = context.v4()
		}
	}
	esp = l3 + 40
	if v4 {
		esp = l3 + 20
	}
	if len(frame) < esp+espHeader+espIV+espTrailer {
		c.breach(BreachFraming, "no room for ESP in %d octets", len(frame))
		return 0, false
	}
	c.checkHeader(context, frame, l3, v4)
	return esp, true
}

func (c *Card) checkHeader(context *txContext, frame []byte, l3 int, v4 bool) {
	protocol, total, header := frame[l3+6], 40+int(binary.BigEndian.Uint16(frame[l3+4:])), 40
	plain := true
	if v4 {
		protocol, total, header = frame[l3+9], int(binary.BigEndian.Uint16(frame[l3+2:])), 20
		plain = frame[l3]&0xf == 5 && binary.BigEndian.Uint16(frame[l3+6:])&0x3fff == 0
	}
	if protocol != protocolESP || !plain {
		c.breach(BreachNotESP, "version and header length %#x, protocol %d", frame[l3], protocol)
	}
	if total != len(frame)-l3 {
		c.breach(BreachFraming, "the IP packet has %d octets, the frame has %d for it", total, len(frame)-l3)
	}
	if n := context.ipLen(); n != header && n != header+espHeader+espIV {
		c.breach(BreachHeaders, "IPLEN is %d", n)
	}
	if at := etherTypeAt(frame); l3 != at+2 {
		c.breach(BreachHeaders, "MACLEN is %d, IP begins at %d", l3, at+2)
	}
}

// etherTypeAt is where the EtherType of what Ethernet carries stands, behind VLAN
// tags.
func etherTypeAt(frame []byte) int {
	at := 12
	for range 2 {
		if at+6 > len(frame) {
			break
		}
		if t := binary.BigEndian.Uint16(frame[at:]); t != 0x8100 && t != 0x88a8 {
			break
		}
		at += 4
	}
	return at
}

// checkTrailer compares padding and ICV room with what they must be.
func (c *Card) checkTrailer(context *txContext, frame []byte, esp int) {
	end := len(frame) - espICV
	for _, octet := range frame[end:] {
		if octet != 0 {
			c.breach(BreachICV, "%x", frame[end:])
			break
		}
	}
	padding := int(frame[end-2])
	if context.espLen() != padding+espTrailer {
		c.breach(BreachESPLength, "ESP_LEN is %d, the padding %d octets", context.espLen(), padding)
	}
	if (end-esp)%4 != 0 {
		c.breach(BreachPadding, "%d octets of ESP", end-esp)
	}
	start := end - 2 - padding
	if start < esp+espHeader+espIV {
		c.breach(BreachPadding, "%d octets in a packet of %d", padding, len(frame))
		return
	}
	for i, octet := range frame[start : end-2] {
		if octet != byte(i+1) {
			c.breach(BreachPadding, "%x", frame[start:end-2])
			return
		}
	}
}

// checkSA notices an SA that seals for two SPIs, and an IV that comes twice.
func (c *Card) checkSA(context *txContext, e *txEntry, esp []byte) {
	spi := binary.BigEndian.Uint32(esp)
	switch {
	case e.spi == 0:
		e.spi = spi
	case e.spi != spi:
		c.breach(BreachAliased, "SA %d sealed packets of SPI 0x%08x and of 0x%08x", context.saIndex(), e.spi, spi)
	}
	if iv := binary.BigEndian.Uint64(esp[espHeader:]); e.ivs.add(iv) {
		c.breach(BreachIV, "SA %d, SPI 0x%08x, IV %016x", context.saIndex(), spi, iv)
	}
}
