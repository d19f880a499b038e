package silicon_test

// Registers and bits that the tests use, written down from the reference and not taken
// from the package: a wrong offset there must show. DPDK has them in
// drivers/net/ixgbe/base/ixgbe_type.h.

const (
	ctrl     = 0x00000
	status   = 0x00008
	eicr     = 0x00800
	eics     = 0x00808
	eims     = 0x00880
	eimc     = 0x00888
	rxctrl   = 0x03000
	rxpbsize = 0x03c00
	hlreg0   = 0x04240
	msca     = 0x0425c
	msrwd    = 0x04260
	maxfrs   = 0x04268
	autoc    = 0x042a0
	links    = 0x042a4
	autoc2   = 0x042a8
	anlp1    = 0x042b0
	dmatxctl = 0x04a80
	fctrl    = 0x05080
	vlnctrl  = 0x05088
	mcstctrl = 0x05090
	mta      = 0x05200
	ral0     = 0x05400
	rah0     = 0x05404
	ralHigh  = 0x0a200 // RAL(i) from i = 16 on, 8 octets for each i from 0 on
	mrqc     = 0x05818
	reta     = 0x05c00
	rssrk    = 0x05c80
	vfta     = 0x0a000
	fwsm     = 0x10148
	factps   = 0x10150
	swsm     = 0x10140
	gssr     = 0x10160
	eec      = 0x10010
	eerd     = 0x10014
	fdirctrl = 0x0ee00

	secTxCtrl    = 0x08800
	secTxStat    = 0x08804
	secTxBuffAF  = 0x08808
	secTxMinIFG  = 0x08810
	ipsTxIdx     = 0x08900
	ipsTxSalt    = 0x08904
	ipsTxKey     = 0x08908
	secRxCtrl    = 0x08d00
	secRxStat    = 0x08d04
	ipsRxIdx     = 0x08e00
	ipsRxIPAddr  = 0x08e04
	ipsRxSPI     = 0x08e14
	ipsRxIPIndex = 0x08e18
	ipsRxKey     = 0x08e1c
	ipsRxSalt    = 0x08e2c
	ipsRxMod     = 0x08e30
)

// Of a queue's block of registers.
const (
	ringLow    = 0x00
	ringHigh   = 0x04
	ringLength = 0x08
	ringHead   = 0x10
	ringTail   = 0x18
	queueCtrl  = 0x28

	queueOn    = 1 << 25
	stripVLAN  = 1 << 30 // RXDCTL.VME
	dropEnable = 1 << 28 // SRRCTL.DROP_EN
)

// txBlock is the first register of transmit queue n.
func txBlock(n int) uint32 { return 0x06000 + 0x40*uint32(n) }

// rxBlock is the first register of receive queue n.
func rxBlock(n int) uint32 {
	if n >= 64 {
		return 0x0d000 + 0x40*uint32(n-64)
	}
	return 0x01000 + 0x40*uint32(n)
}

// srrctlOf is SRRCTL of receive queue n: the first 16 are reached by the alias.
func srrctlOf(n int) uint32 {
	if n >= 16 {
		return rxBlock(n) + 0x14
	}
	return 0x02100 + 4*uint32(n)
}

// Bits of a transmit descriptor's upper 64 bits: dword 2 below, dword 3 above.
const (
	txContextType = 2 << 20
	txDataType    = 3 << 20
	txEOP         = 1 << 24
	txIFCS        = 1 << 25
	txRS          = 1 << 27
	txDEXT        = 1 << 29
	txVLE         = 1 << 30
	txTSE         = 1 << 31
	txDD          = 1 << 32
	txIXSM        = 1 << 40
	txTXSM        = 1 << 41
	txIPSEC       = 1 << 42
)

// Bits of a receive descriptor's write-back: dword 2, and the packet type in dword 0.
const (
	rxDD    = 1 << 0
	rxEOP   = 1 << 1
	rxVP    = 1 << 3
	rxL4CS  = 1 << 5
	rxIPCS  = 1 << 6
	rxSECP  = 1 << 17
	secErr  = 3 << 27 // the field
	errType = 1 << 27
	errLen  = 2 << 27
	errICV  = 3 << 27
	rxL4E   = 1 << 30
	rxIPE   = 1 << 31

	ptIPv4    = 1 << 4
	ptOptions = 1 << 5
	ptIPv6    = 1 << 6
	ptIPv6Ext = 1 << 7
	ptTCP     = 1 << 8
	ptUDP     = 1 << 9
	ptSCTP    = 1 << 10
	ptESP     = 1 << 12
	ptAH      = 1 << 13
	rssType   = 0xf // the field
)

// Bits of IPSRXMOD.
const (
	modValid   = 1 << 0
	modESP     = 1 << 2
	modDecrypt = 1 << 3
	modIPv6    = 1 << 4
)
