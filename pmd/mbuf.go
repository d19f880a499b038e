package pmd

// #include "pmd.h"
// #include "shim.h"
import "C"

import "unsafe"

// Flags of a packet (ol_flags, rte_mbuf_core.h) that callers test or set.
const (
	FlagRxVLAN             uint64 = 1 << 0  // VLANTCI is valid
	FlagRxVLANStripped     uint64 = 1 << 6  // and the tag is not in the packet any more
	FlagRxQinQStripped     uint64 = 1 << 15 // the same for the outer tag
	FlagRxQinQ             uint64 = 1 << 20
	FlagRxL4ChecksumBad    uint64 = 1 << 3
	FlagRxL4ChecksumGood   uint64 = 1 << 8
	FlagRxL4ChecksumNone          = FlagRxL4ChecksumBad | FlagRxL4ChecksumGood // not in the packet, but the data is good
	FlagRxIPChecksumBad    uint64 = 1 << 4
	FlagRxIPChecksumGood   uint64 = 1 << 7
	FlagRxSecOffload       uint64 = 1 << 18 // the device processed the packet as IPsec
	FlagRxSecOffloadFailed uint64 = 1 << 19 // and failed
	FlagTxSecOffload       uint64 = 1 << 43
	FlagTxL4ChecksumMask   uint64 = 3 << 52
	FlagTxIPChecksum       uint64 = 1 << 54
	FlagTxIPv4             uint64 = 1 << 55
	FlagTxIPv6             uint64 = 1 << 56
	flagsMemory            uint64 = 3 << 61 // whose memory the buffer is: never touched here
	txOffloadL2Bits               = 7
	txOffloadL3Bits               = 9
)

// Buffer is the whole room of the packet's first segment: headroom, data,
// tailroom. The packet is Buffer()[Start():Start()+Len()] when Segments is 1.
func (m *Mbuf) Buffer() []byte { return unsafe.Slice((*byte)(m.bufAddr), int(m.bufLen)) }

// Start is where the packet begins in Buffer.
func (m *Mbuf) Start() int { return int(m.dataOff) }

// Len is the length of the whole packet in octets, over all segments.
func (m *Mbuf) Len() int { return int(m.pktLen) }

// Data is the part of the packet that lies in the first segment.
func (m *Mbuf) Data() []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.bufAddr, m.dataOff)), int(m.dataLen))
}

// Segments is how many buffers the packet is spread over; 1 unless the port
// scatters what it receives.
func (m *Mbuf) Segments() int { return int(m.nbSegs) }

// Next is the following segment of the same packet, nil behind the last one.
func (m *Mbuf) Next() *Mbuf { return m.next }

// Port is the number of the port that received the packet.
func (m *Mbuf) Port() int { return int(m.port) }

// Flags are the packet's offload flags (ol_flags).
func (m *Mbuf) Flags() uint64 { return m.olFlags }

// SetBounds makes Buffer()[start:end] the packet. It is for packets of one
// segment, with 0 <= start <= end <= len(Buffer()).
func (m *Mbuf) SetBounds(start, end int) {
	m.dataOff = uint16(start)
	m.dataLen = uint16(end - start)
	m.pktLen = uint32(end - start)
}

// ClearTx forgets what the receiving driver noted about the packet, so that none
// of it is taken for a request by the sending one.
func (m *Mbuf) ClearTx() {
	m.olFlags &= flagsMemory
	m.txOffload = 0
}

// RequestIPv4Checksum asks the sending port to fill in the IPv4 header checksum,
// which must be zero in the packet. The port must have been configured with
// TxIPv4Checksum. l2 and l3 are the lengths of the headers in octets.
func (m *Mbuf) RequestIPv4Checksum(l2, l3 int) {
	m.olFlags |= FlagTxIPv4 | FlagTxIPChecksum
	m.txOffload = uint64(l2) | uint64(l3)<<txOffloadL2Bits
}

// VLAN returns the tag (TCI) that the driver took out of the packet and keeps
// beside it; false when there is none. Such a tag counts as present: put it back
// before the packet leaves.
func (m *Mbuf) VLAN() (tci uint16, stripped bool) {
	return m.vlanTCI, m.olFlags&FlagRxVLANStripped != 0
}

// OuterVLAN is VLAN for the outer one of two tags.
func (m *Mbuf) OuterVLAN() (tci uint16, stripped bool) {
	return m.vlanTCIOuter, m.olFlags&FlagRxQinQStripped != 0
}

// ChecksumUnfinished says that the driver marked the transport checksum as not
// computed yet (RTE_MBUF_F_RX_L4_CKSUM_NONE): the field holds the sum of the
// pseudo header only. net_virtio says so about packets of a peer on the same host
// when receive checksum offloads are configured. See also
// PortInfo.UnmarkedChecksums about drivers that do not say.
func (m *Mbuf) ChecksumUnfinished() bool {
	return m.olFlags&FlagRxL4ChecksumNone == FlagRxL4ChecksumNone
}

// RSSHash is the hash that spread the packet over receive queues, where the port
// delivers one; 0 elsewhere.
func (m *Mbuf) RSSHash() uint32 {
	if m.olFlags&(1<<1) == 0 {
		return 0
	}
	return m.rssHash
}

// Free gives the packet back to its pool. One crossing into C: on the packet path
// use Lane.Drop.
func (m *Mbuf) Free() { C.pmd_mbuf_free((*C.struct_rte_mbuf)(unsafe.Pointer(m))) }

// SecurityUserData is SessionConf.UserData of the session in which a device opened
// the packet (InlineProtocol); meaningless without FlagRxSecOffload.
func (m *Mbuf) SecurityUserData() uint64 {
	at := securityField()
	if at < 0 {
		return 0
	}
	return *(*uint64)(unsafe.Add(unsafe.Pointer(m), at))
}

// securityField is where in an mbuf the metadata word of rte_security is; -1 while
// no driver has registered it.
func securityField() int { return int(C.rte_security_dynfield_offset) }

// Linearize puts a packet of several segments into the first one, whose room it
// must fit: false, and the packet unchanged, where it does not. One crossing into
// C: for packets that are not the common case.
func (m *Mbuf) Linearize() bool {
	return C.pmd_mbuf_linearize((*C.struct_rte_mbuf)(unsafe.Pointer(m))) == 0
}

// AppendTo appends the packet's octets, of all segments, to b.
func (m *Mbuf) AppendTo(b []byte) []byte {
	for ; m != nil; m = m.next {
		b = append(b, m.Data()...)
	}
	return b
}
