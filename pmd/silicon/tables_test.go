package silicon_test

import (
	"encoding/binary"
	"net/netip"

	"github.com/stretchr/testify/require"
)

// sa is a security association as the tests know it: octets in the order of the wire
// and of AES.
type sa struct {
	key  [16]byte
	salt [4]byte
	spi  uint32
}

// saOf is SA number i of the tests; all numbers have keys of their own.
func saOf(i int) (s sa) {
	for k := range s.key {
		s.key[k] = byte(i*16 + k + 1)
	}
	binary.BigEndian.PutUint32(s.salt[:], 0xa0b0c0d0+uint32(i))
	s.spi = 0x11223300 + uint32(i)
	return s
}

const (
	indexOn    = 1 << 0 // IPS_TX_EN, IPS_RX_EN
	indexRead  = 1 << 30
	indexWrite = 1 << 31
	tableIP    = 1 << 1
	tableSPI   = 2 << 1
	tableKey   = 3 << 1
)

// access executes an index register and asserts the answer: the asking bit is gone, the
// rest stays.
func (r *rig) access(register, value uint32) {
	r.t.Helper()
	r.put(register, value)
	r.step()
	require.Equal(r.t, value&^(indexRead|indexWrite), r.get(register))
}

// putKey loads a key and a salt as the card wants them (reference 4.3): the last word
// has the key's first octets, each word and the salt are big-endian.
func (r *rig) putKey(key, salt uint32, s sa) {
	for i := range 4 {
		r.put(key+4*uint32(i), binary.BigEndian.Uint32(s.key[12-4*i:]))
	}
	r.put(salt, binary.BigEndian.Uint32(s.salt[:]))
}

// txSA programs entry i of the transmit table and leaves lookups on.
func (r *rig) txSA(i int, s sa) {
	r.t.Helper()
	r.putKey(ipsTxKey, ipsTxSalt, s)
	r.access(ipsTxIdx, indexWrite|uint32(i)<<3|indexOn)
}

// putAddress loads an address: the octets of IPv6 from the first word on, IPv4 in the
// last word, the first octet of a word in bits 7:0.
func (r *rig) putAddress(a netip.Addr) {
	octets := make([]byte, 16)
	if copy(octets, a.AsSlice()); a.Is4() {
		octets = append(make([]byte, 12), a.AsSlice()...)
	}
	for i := range 4 {
		r.put(ipsRxIPAddr+4*uint32(i), binary.LittleEndian.Uint32(octets[4*i:]))
	}
}

func (r *rig) rxIP(i int, a netip.Addr) {
	r.t.Helper()
	r.putAddress(a)
	r.access(ipsRxIdx, indexWrite|tableIP|uint32(i)<<3|indexOn)
}

// rxSPI programs entry i of the SPI table; the SPI's first octet is in bits 7:0.
func (r *rig) rxSPI(i int, spi uint32, address int) {
	r.t.Helper()
	var octets [4]byte
	binary.BigEndian.PutUint32(octets[:], spi)
	r.put(ipsRxSPI, binary.LittleEndian.Uint32(octets[:]))
	r.put(ipsRxIPIndex, uint32(address))
	r.access(ipsRxIdx, indexWrite|tableSPI|uint32(i)<<3|indexOn)
}

func (r *rig) rxKey(i int, s sa, mode uint32) {
	r.t.Helper()
	r.putKey(ipsRxKey, ipsRxSalt, s)
	r.put(ipsRxMod, mode)
	r.access(ipsRxIdx, indexWrite|tableKey|uint32(i)<<3|indexOn)
}

// rxSA programs entry i for ESP of an address, which has the same place in its table,
// modulo that table's size.
func (r *rig) rxSA(i int, s sa, dst netip.Addr) {
	r.t.Helper()
	mode := uint32(modValid | modESP | modDecrypt)
	if dst.Is6() {
		mode |= modIPv6
	}
	r.rxIP(i%128, dst)
	r.rxSPI(i, s.spi, i%128)
	r.rxKey(i, s, mode)
}

// engines turns both engines on, as DPDK's driver does at each start: no lookups yet.
func (r *rig) engines() {
	r.put(secTxBuffAF, 0x15)
	r.put(secTxMinIFG, 3)
	r.put(secRxCtrl, 0)
	r.put(secTxCtrl, 4)
	r.step()
}
