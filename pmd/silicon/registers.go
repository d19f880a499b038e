package silicon

import "sync/atomic"

// BARSize is the size of the card's register memory in octets: the driver's highest
// register lies below it (drivers/net/ixgbe/base/ixgbe_type.h).
const BARSize = 512 << 10

// Registers is the memory of BAR 0, in 32-bit words, as the driver sees it:
// BARSize/4 of them. The host is little-endian, as the bus is.
type Registers []uint32

func (r Registers) load(offset uint32) uint32  { return atomic.LoadUint32(&r[offset>>2]) }
func (r Registers) store(offset, value uint32) { atomic.StoreUint32(&r[offset>>2], value) }
func (r Registers) set(offset, bits uint32)    { atomic.OrUint32(&r[offset>>2], bits) }
func (r Registers) clear(offset, bits uint32)  { atomic.AndUint32(&r[offset>>2], ^bits) }
func (r Registers) swap(offset, from, to uint32) bool {
	return atomic.CompareAndSwapUint32(&r[offset>>2], from, to)
}

// Offsets, by their names in the datasheet and in ixgbe_type.h.
const (
	regCTRL    = 0x00000
	regSTATUS  = 0x00008
	regCTRLEXT = 0x00018
	regEICR    = 0x00800
	regEICS    = 0x00808
	regEIMS    = 0x00880
	regEIMC    = 0x00888
	regGPIE    = 0x00898

	regRXCTRL = 0x03000
	regRXPB0  = 0x03c00
	regHLREG0 = 0x04240
	regMSCA   = 0x0425c
	regMSRWD  = 0x04260
	regMAXFRS = 0x04268
	regAUTOC  = 0x042a0
	regLINKS  = 0x042a4
	regAUTOC2 = 0x042a8
	regANLP1  = 0x042b0

	regDMATXCTL = 0x04a80
	regRXCSUM   = 0x05000
	regFCTRL    = 0x05080
	regVLNCTRL  = 0x05088
	regMCSTCTRL = 0x05090
	regMTA      = 0x05200
	regRAL0     = 0x05400
	regRALHigh  = 0x0a200
	regMRQC     = 0x05818
	regRETA     = 0x05c00
	regRSSRK    = 0x05c80
	regVFTA     = 0x0a000

	regSECTXCTRL    = 0x08800
	regSECTXSTAT    = 0x08804
	regSECTXBUFFAF  = 0x08808
	regSECTXMINIFG  = 0x08810
	regIPSTXIDX     = 0x08900
	regIPSTXSALT    = 0x08904
	regIPSTXKEY     = 0x08908 // 4 words
	regSECRXCTRL    = 0x08d00
	regSECRXSTAT    = 0x08d04
	regIPSRXIDX     = 0x08e00
	regIPSRXIPADDR  = 0x08e04 // 4 words
	regIPSRXSPI     = 0x08e14
	regIPSRXIPIDX   = 0x08e18
	regIPSRXKEY     = 0x08e1c // 4 words
	regIPSRXSALT    = 0x08e2c
	regIPSRXMOD     = 0x08e30
	regEEC          = 0x10010
	regEERD         = 0x10014
	regRQSMR        = 0x02300 // 32 words: statistics counter of each receive queue
	regTQSM         = 0x08600
	regFDIRCTRL     = 0x0ee00
	offsetDesc0     = 0x00 // of a ring: low half of its address
	offsetDesc1     = 0x04
	offsetDescLen   = 0x08
	offsetHead      = 0x10
	offsetTail      = 0x18
	offsetQueueCtrl = 0x28 // RXDCTL, TXDCTL
)

// Bits.
const (
	ctrlLinkReset = 1 << 3
	ctrlReset     = 1 << 26

	eicrLinkChange = 1 << 20

	eerdStart = 1 << 0
	eerdDone  = 1 << 1

	mscaCommand = 1 << 30

	linksUp = 1 << 30

	hlregTxCRC    = 1 << 0
	hlregRxStrip  = 1 << 1
	hlregJumbo    = 1 << 2
	hlregTxPad    = 1 << 10
	hlregLoopback = 1 << 15

	rxctrlEnable = 1 << 0
	txEnable     = 1 << 0 // DMATXCTL.TE

	queueEnable  = 1 << 25
	queueVLAN    = 1 << 30 // RXDCTL.VME
	srrctlDrop   = 1 << 28
	srrctlSizeKB = 0x1f

	fctrlMulticast = 1 << 8
	fctrlUnicast   = 1 << 9
	fctrlBroadcast = 1 << 10

	vlnctrlFilter = 1 << 30

	secTxDisable      = 1 << 0
	secTxStoreForward = 1 << 2
	secRxDisable      = 1 << 0
	secReady          = 1 << 0

	indexEnable = 1 << 0
	indexRead   = 1 << 30
	indexWrite  = 1 << 31

	fdirInitDone = 1 << 3
)

// rxQueueBase is the offset of a receive queue's registers; n is 0 to 127.
func rxQueueBase(n int) uint32 {
	if n < 64 {
		return 0x01000 + 0x40*uint32(n)
	}
	return 0x0d000 + 0x40*uint32(n-64)
}

// txQueueBase is the offset of a transmit queue's registers; n is 0 to 127.
func txQueueBase(n int) uint32 { return 0x06000 + 0x40*uint32(n) }

// srrctl is the offset of a receive queue's SRRCTL: the first 16 have an alias, which
// drivers use.
func srrctl(n int) uint32 {
	if n < 16 {
		return 0x02100 + 4*uint32(n)
	}
	return rxQueueBase(n) + 0x14
}

// receiveAddress is the offset of RAL(i), 0 to 127; RAH(i) follows it.
func receiveAddress(i int) uint32 {
	if i < 16 {
		return regRAL0 + 8*uint32(i)
	}
	return regRALHigh + 8*uint32(i)
}
