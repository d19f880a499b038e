package silicon

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// Sizes of the tables (7.13.5.1, 7.13.9.1).
const (
	ipEntries = 128
	saEntries = 1024
)

// Bits of IPSRXMOD.
const (
	modValid   = 1 << 0
	modESP     = 1 << 2
	modDecrypt = 1 << 3
	modIPv6    = 1 << 4
)

// ipsecBlock is the card's IPsec block: its tables and what is remembered of them.
type ipsecBlock struct {
	ip  [ipEntries][4]uint32
	spi [saEntries]spiEntry
	key [saEntries]keyEntry
	tx  [saEntries]txEntry
	// bySPI finds receive SAs: indices of the SPI table, ascending, in the form of the
	// register.
	bySPI map[uint32][]int

	txOn, rxOn  bool // the enable bits when they were seen last
	engine      [2]uint32
	lastControl int64
}

type spiEntry struct {
	spi     uint32 // first octet on the wire in bits 7:0
	address uint32 // index into the address table
}

// cipherKey is a key with its salt, as the tables hold it: the first octet of the key
// in bits 31:24 of words[3], that of the salt in bits 31:24.
type cipherKey struct {
	words [4]uint32
	salt  uint32
	aead  cipher.AEAD
}

type keyEntry struct {
	cipherKey
	mode uint32
}

type txEntry struct {
	cipherKey
	programmed bool
	spi        uint32 // of the first packet that it sealed; 0: none yet
	ivs        ivSet
}

func (b *ipsecBlock) powerUp() { b.bySPI = map[uint32][]int{} }

// set makes the cipher. A key of zeros is one, too.
func (k *cipherKey) set(words [4]uint32, salt uint32) {
	var key [16]byte
	for i := range 4 {
		binary.BigEndian.PutUint32(key[4*i:], words[3-i])
	}
	block, _ := aes.NewCipher(key[:]) // 16 octets: no error
	aead, _ := cipher.NewGCM(block)   // a block of 16 octets: no error
	*k = cipherKey{words: words, salt: salt, aead: aead}
}

// nonce is RFC 4106's: salt, then IV.
func (k *cipherKey) nonce(iv []byte) (n [12]byte) {
	binary.BigEndian.PutUint32(n[:], k.salt)
	copy(n[4:], iv)
	return n
}

// zero says whether a table entry was emptied.
func (k *cipherKey) zero() bool { return k.words == [4]uint32{} && k.salt == 0 }

// resetIPsec is what a reset does to the block: transmit SAs and receive keys are
// gone, addresses and SPIs stay (7.13.5.1, 7.13.9.1); both engines are off.
func (c *Card) resetIPsec() {
	b := &c.ipsec
	clear(b.tx[:])
	clear(b.key[:])
	b.txOn, b.rxOn = false, false
	r := c.reg
	r.store(regSECTXCTRL, secTxDisable)
	r.store(regSECRXCTRL, secRxDisable)
	r.store(regSECTXBUFFAF, 0x250)
	r.store(regSECTXMINIFG, 1)
	r.store(regIPSTXIDX, 0)
	r.store(regIPSRXIDX, 0)
	ready := uint32(secReady)
	if c.faults.NotReady {
		ready = 0
	}
	r.store(regSECTXSTAT, ready)
	r.store(regSECRXSTAT, ready)
	b.engine = [2]uint32{secTxDisable, secRxDisable}
}

// txReady says whether packets are sealed: the engine is on, stores and forwards, and
// SAs are looked up.
func (c *Card) txReady() bool {
	return c.reg.load(regSECTXCTRL)&(secTxDisable|secTxStoreForward) == secTxStoreForward &&
		c.reg.load(regIPSTXIDX)&indexEnable != 0
}

func (c *Card) rxReady() bool {
	return c.reg.load(regSECRXCTRL)&secRxDisable == 0 && c.reg.load(regIPSRXIDX)&indexEnable != 0
}

// lookup finds the receive SA of an address, in the table's form, and an SPI in the
// register's form (7.13.9.1); -1: none.
func (c *Card) lookup(address [4]uint32, spi uint32, v6, esp bool) int {
	b := &c.ipsec
	found := -1
	for _, i := range b.bySPI[spi] {
		if b.ip[b.spi[i].address] != address {
			continue
		}
		mode := b.key[i].mode
		if mode&modValid == 0 || (mode&modIPv6 != 0) != v6 {
			continue
		}
		if c.config.Settings.ProtocolIsMatch && (mode&modESP != 0) != esp {
			continue
		}
		if found = i; !c.config.Settings.HighestDuplicate {
			break
		}
	}
	return found
}
