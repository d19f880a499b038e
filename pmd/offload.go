package pmd

// #include "shim.h"
import "C"

// Offload is a set of port offloads (RTE_ETH_RX_OFFLOAD_ and RTE_ETH_TX_OFFLOAD_
// bits, rte_ethdev.h). Receive and transmit offloads use the same bits for
// different things.
type Offload uint64

// Offloads that callers ask for.
const (
	RxVLANStrip    Offload = C.RTE_ETH_RX_OFFLOAD_VLAN_STRIP
	RxIPv4Checksum Offload = C.RTE_ETH_RX_OFFLOAD_IPV4_CKSUM
	RxUDPChecksum  Offload = C.RTE_ETH_RX_OFFLOAD_UDP_CKSUM
	RxTCPChecksum  Offload = C.RTE_ETH_RX_OFFLOAD_TCP_CKSUM
	RxScatter      Offload = C.RTE_ETH_RX_OFFLOAD_SCATTER
	RxSecurity     Offload = C.RTE_ETH_RX_OFFLOAD_SECURITY
	RxRSSHash      Offload = C.RTE_ETH_RX_OFFLOAD_RSS_HASH

	TxVLANInsert    Offload = C.RTE_ETH_TX_OFFLOAD_VLAN_INSERT
	TxIPv4Checksum  Offload = C.RTE_ETH_TX_OFFLOAD_IPV4_CKSUM
	TxUDPChecksum   Offload = C.RTE_ETH_TX_OFFLOAD_UDP_CKSUM
	TxTCPChecksum   Offload = C.RTE_ETH_TX_OFFLOAD_TCP_CKSUM
	TxMultiSegments Offload = C.RTE_ETH_TX_OFFLOAD_MULTI_SEGS
	TxSecurity      Offload = C.RTE_ETH_TX_OFFLOAD_SECURITY
	// TxFastFree promises that all packets sent on a queue come from one pool and
	// have one owner each (RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE).
	TxFastFree Offload = C.RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE
)

// txPrepared are the transmit offloads for which a driver may have to touch the
// packet before it is sent (rte_eth_tx_prepare).
const txPrepared = TxIPv4Checksum | TxUDPChecksum | TxTCPChecksum | TxSecurity |
	C.RTE_ETH_TX_OFFLOAD_TCP_TSO | C.RTE_ETH_TX_OFFLOAD_OUTER_IPV4_CKSUM

// RSS hash types (RTE_ETH_RSS_ bits, rte_ethdev.h).
const (
	rssIP  = C.RTE_ETH_RSS_IP
	rssTCP = C.RTE_ETH_RSS_TCP
	rssUDP = C.RTE_ETH_RSS_UDP
	rssESP = C.RTE_ETH_RSS_ESP
)

// rssTypes are the ones that are asked for, by name. ESP hashes the SPI: without
// it all SAs between two hosts land on one queue.
var rssTypes = []struct {
	bits uint64
	name string
}{{rssIP, "ip"}, {rssTCP, "tcp"}, {rssUDP, "udp"}, {rssESP, "esp"}}

const rssWanted = rssIP | rssTCP | rssUDP | rssESP

// RxNames are DPDK's names of receive offloads, lowest bit first.
func (o Offload) RxNames() []string { return o.names(rxName) }

// TxNames are DPDK's names of transmit offloads, lowest bit first.
func (o Offload) TxNames() []string { return o.names(txName) }

func (o Offload) names(name func(bit Offload) string) []string {
	var names []string
	for bit := Offload(1); bit != 0; bit <<= 1 {
		if o&bit != 0 {
			names = append(names, name(bit))
		}
	}
	return names
}

func rxName(bit Offload) string {
	return C.GoString(C.rte_eth_dev_rx_offload_name(C.uint64_t(bit)))
}

func txName(bit Offload) string {
	return C.GoString(C.rte_eth_dev_tx_offload_name(C.uint64_t(bit)))
}

func rssNames(bits uint64) []string {
	var names []string
	for _, t := range rssTypes {
		if bits&t.bits != 0 {
			names = append(names, t.name)
		}
	}
	return names
}
