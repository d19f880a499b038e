package silicon

import "encoding/binary"

// What the receiver tells of IPsec in a descriptor (7.13.10).
const (
	rxSecured      = 1 << 17 // SECP: an SA matched
	rxErrProtocol  = 1 << 27
	rxErrLength    = 2 << 27
	rxErrICV       = 3 << 27
	minESPReceived = espHeader + espIV + 4 + espICV
)

// open looks for the SA of a packet and deciphers it in place. It returns the bits for
// the descriptor, and the inner protocol (0: not known).
func (c *Card) open(frame []byte, v *frameView) (status uint32, inner byte) {
	if !v.ipsec() || v.fragment || v.options || v.snap || v.tags > 0 && c.config.Settings.SkipTagged || !c.rxReady() {
		return 0, 0
	}
	c.stat.counts.RxIPsec++
	esp := frame[v.l4:v.end]
	isESP, at := v.protocol == protocolESP, 0
	if !isESP {
		at = 4
	}
	if len(esp) < at+4 {
		return 0, 0 // no SPI; whatever else is missing is an error of the length
	}
	spi := binary.LittleEndian.Uint32(esp[at:])
	_, dst := v.addresses(frame)
	i := c.lookup(tableAddress(dst), spi, v.v6, isESP)
	if i < 0 {
		c.stat.counts.RxNoSA++
		return 0, 0
	}
	e := &c.ipsec.key[i]
	switch {
	case (e.mode&modESP != 0) != isESP:
		return rxSecured | rxErrProtocol, 0
	case !isESP:
		return rxSecured | rxErrICV, 0 // AH is not made here
	case len(esp) < minESPReceived || len(esp)%4 != 0:
		c.stat.counts.RxBadLength++
		return rxSecured | rxErrLength, 0
	}
	return c.decipher(e, esp)
}

func (c *Card) decipher(e *keyEntry, esp []byte) (status uint32, inner byte) {
	nonce := e.nonce(esp[espHeader : espHeader+espIV])
	text := esp[espHeader+espIV:]
	if due(&c.faults.icv, c.faults.ICVEvery) {
		text[len(text)-1] ^= 1
		defer func() { text[len(text)-1] ^= 1 }()
	}
	if e.mode&modDecrypt == 0 {
		// GMAC: everything is authenticated, nothing enciphered (RFC 4543).
		body := len(text) - espICV
		if _, err := e.aead.Open(nil, nonce[:], text[body:], esp[:espHeader+espIV+body]); err != nil {
			c.stat.counts.RxICVFailed++
			return rxSecured | rxErrICV, 0
		}
		c.stat.counts.RxOpened++
		return rxSecured, text[body-1]
	}
	plain, err := e.aead.Open(c.side[:0], nonce[:], text, esp[:espHeader])
	if err != nil {
		c.stat.counts.RxICVFailed++
		if !c.config.Settings.KeepFailed {
			e.keystream(nonce, text[:len(text)-espICV])
		}
		return rxSecured | rxErrICV, 0
	}
	copy(text, plain)
	c.stat.counts.RxOpened++
	return rxSecured, plain[len(plain)-1]
}

// keystream deciphers without verifying: GCM's counter begins at 2 for the text (NIST
// SP 800-38D, 7.1). Sealing the ciphertext gives the same bits.
func (k *cipherKey) keystream(nonce [12]byte, text []byte) {
	copy(text, k.aead.Seal(nil, nonce[:], text, nil)[:len(text)])
}

// tableAddress is an address in the form of the address table: IPv4 stands in the
// last word, octets in the order of the wire.
func tableAddress(address []byte) (w [4]uint32) {
	if len(address) == 4 {
		w[3] = binary.LittleEndian.Uint32(address)
		return w
	}
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(address[4*i:])
	}
	return w
}
