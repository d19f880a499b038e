package ipsec

import (
	"slices"
	"time"
)

// The devices of net_ixgbe by MAC (drivers/net/ixgbe/base/ixgbe_type.h,
// IXGBE_DEV_ID_).
var (
	pci82598 = []uint32{0x10b6, 0x10c6, 0x10c7, 0x10c8, 0x10db, 0x10dd, 0x10e1, 0x10ec, 0x10f1, 0x10f4, 0x150b, 0x1508}
	pci82599 = []uint32{
		0x10f7, 0x10f8, 0x10f9, 0x10fb, 0x10fc, 0x1507, 0x1514, 0x1517, 0x151c, 0x1529, 0x152a, 0x154a, 0x154d, 0x1557, 0x1558,
	}
	pciX540 = []uint32{0x1528, 0x1560}
	pciX550 = []uint32{ // X550, X550EM_x, X550EM_a
		0x1563, 0x15d1, 0x15aa, 0x15ab, 0x15ac, 0x15ad, 0x15ae, 0x15b0, 0x15c2, 0x15c3, 0x15c4, 0x15c6, 0x15c7, 0x15c8,
		0x15ca, 0x15cc, 0x15ce, 0x15e4, 0x15e5,
	}
)

// ixgbeLimits are those of every MAC of net_ixgbe that has the IPsec block.
var ixgbeLimits = inlineLimits{
	EgressSAs: 256, IngressSAs: 1024, Addresses: 128,
	KeyBits: []int{128}, ICVBits: []int{128}, NoESN: true, NoUDPEncap: true,
	NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true,
	RemovalStopsLookups: true, RemovesBySPI: true,
	MixesFamilies: true, FlagsUnset: true,
	TxDrain: 100 * time.Millisecond, MaxFrame: 9500,
	Sources: []string{
		"1024 egress SAs, 1024 ingress SAs, 128 addresses: ixgbe_ipsec.h, IPSEC_MAX_SA_COUNT, IPSEC_MAX_RX_IP_COUNT",
		"256 egress SAs: the context cache keeps 8 bits of the SA index: ixgbe_rxtx.h, union ixgbe_tx_offload",
		"AES-128-GCM with 16-octet ICV: ixgbe_ipsec.c, ixgbe_crypto_create_session checks no key length",
		"no ESN: ixgbe_ipsec.c, capabilities without options; the tables have no place for the high half",
		"a removal switches lookups off: ixgbe_ipsec.c, ixgbe_crypto_remove_sa writes the index register without the enable bit",
		"a removal goes by SPI: ixgbe_ipsec.c, ixgbe_crypto_remove_sa",
		"IPv4 a.b.c.d and IPv6 aabb:ccdd:: are one address: ixgbe_ipsec.c, CMP_IP",
		"the context's flags are not set: ixgbe_ipsec.c, ixgbe_ipsec_ctx_create",
		"VLAN tags, IPv4 options, extension headers: Linux, ixgbe_ipsec.c, ixgbe_ipsec_offload_ok and ixgbe_ipsec_tx",
		"9.5 KB a frame while the transmit path stores and forwards: Intel X550 datasheet 333369-009, 7.13.2.2",
		"what was sent is 4096 frames at most, 50 ms at 1 Gbit/s: the queue's depth",
	},
}

func noIngress(l *inlineLimits) {
	l.EgressOnly = true
	l.Sources = append(l.Sources, "ingress on 82599 and X540 only before 26.03: ixgbe_ethdev.h, MAC_TYPE_FILTER_SUP_EXT")
}

// conservative are the limits of a driver that nothing is known of.
var conservative = inlineLimits{
	EgressSAs: 4096, IngressSAs: 4096, NoESN: true, NoUDPEncap: true,
	NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true, RemovesBySPI: true,
	TxDrain: 100 * time.Millisecond,
	Sources: []string{"nothing is known of this driver: what its capability list says, and caution"},
}

// cnxk are the limits of Marvell's drivers, which make contexts with a flag on purpose.
var cnxk = inlineLimits{
	EgressSAs: 4096, IngressSAs: 4096, NoUDPEncap: true, NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true,
	TxDrain: 100 * time.Millisecond,
	Sources: []string{
		"4096 egress SAs unless the device argument ipsec_out_max_sa says otherwise: cnxk_ethdev_devargs.c",
		"ingress SAs have places by the low bits of their SPI, 256 unless ipsec_in_max_spi says otherwise; one whose place is taken waits: " +
			"cnxk_ethdev_devargs.c, cn10k_ethdev_sec.c, cn10k_eth_sec_session_create",
	},
}

const withoutBlock = "without an IPsec block, packets that were marked for it would leave in clear text"

// limitsTable is searched from the top: the first row that fits is used.
var limitsTable = []driverLimits{
	{Driver: "net_ixgbe", Family: "82598", PCI: pci82598, Limits: inlineLimits{
		Unusable: "the 82598 has no IPsec block",
		Sources:  []string{"Linux: ixgbe_ipsec.c, ixgbe_init_ipsec_offload leaves the 82598 out", withoutBlock},
	}},
	{Driver: "net_ixgbe", Family: "any MAC on Arm", PCI: slices.Concat(pci82599, pciX540, pciX550), Arch: "arm64", Limits: ixgbeLimits.with(func(l *inlineLimits) {
		l.EgressOnly = true
		l.Sources = append(l.Sources, "what was received is not marked on Arm: ixgbe_rxtx_vec_neon.c sets no security flags")
	})},
	{Driver: "net_ixgbe", Family: "82599", PCI: pci82599, Limits: ixgbeLimits},
	{Driver: "net_ixgbe", Family: "X540", PCI: pciX540, Limits: ixgbeLimits},
	{Driver: "net_ixgbe", Family: "X550", PCI: pciX550, Below: [2]int{26, 3}, Limits: ixgbeLimits.with(noIngress)},
	{Driver: "net_ixgbe", Family: "X550", PCI: pciX550, From: [2]int{26, 3}, Limits: ixgbeLimits},
	{Driver: "net_ixgbe", Family: "another MAC", Limits: inlineLimits{
		Unusable: "whether this MAC has an IPsec block is not known",
		Sources:  []string{"E610 and later: no datasheet was at hand, and ixgbe_ipsec.c, ixgbe_crypto_capable asks one register only", withoutBlock},
	}},
	{Driver: "net_ixgbe_vf", Family: "virtual function", Limits: inlineLimits{
		Unusable: "virtual functions have no IPsec of their own",
		Sources:  []string{"ixgbe_ethdev.c, eth_ixgbevf_dev_init makes no security context"},
	}},
	{Driver: "net_txgbe", Family: "Wangxun 10G", Limits: ixgbeLimits.with(func(l *inlineLimits) {
		l.EgressOnly = true
		l.Sources = append(l.Sources,
			"a copy of ixgbe's code, with its limits: drivers/net/txgbe/txgbe_ipsec.c",
			"ingress SAs cannot be removed: txgbe_ipsec.c, txgbe_crypto_remove_sa compares SPIs of different byte order")
	})},
	{Driver: "net_iavf", Family: "Intel adaptive VF", Limits: inlineLimits{
		EgressSAs: 4096, IngressSAs: 4096, NoESN: true, NoUDPEncap: true, NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true,
		FlagsUnset: true, TxDrain: 100 * time.Millisecond,
		Sources: []string{
			"the number of SAs is the host's to tell, and is not told: drivers/net/iavf/iavf_ipsec_crypto.c",
			"no ESN: the high half of what is received would have to be told by rte_security_session_update, which is not built",
			"the context's flags are not set: iavf_ipsec_crypto.c, iavf_security_ctx_create",
		},
	}},
	{Driver: "net_nfp_pf", Family: "Corigine NFP", Limits: noNFP},
	{Driver: "net_nfp_vf", Family: "Corigine NFP", Limits: noNFP},
	{Driver: "net_cn9k", Family: "Marvell cn9k", Limits: cnxk},
	{Driver: "net_cn10k", Family: "Marvell cn10k", Limits: cnxk},
	{Driver: "net_cn20k", Family: "Marvell cn20k", From: [2]int{25, 3}, Limits: cnxk},
	{Driver: "mlx5_pci", Family: "NVIDIA ConnectX, BlueField", Limits: noMLX5},
	{Driver: "mlx5_auxiliary", Family: "NVIDIA ConnectX, BlueField", Limits: noMLX5},
	{Driver: "sxe2_pci", Family: "Stars Micro", Limits: inlineLimits{
		Unusable: "it has tunnel mode only, and no AES-GCM",
		Sources:  []string{"drivers/net/sxe2/sxe2_security.c, the capability list"},
	}},
	{Driver: "net_emu_crypto", Family: "emulated, inline crypto", Limits: inlineLimits{
		EgressSAs: 4096, IngressSAs: 4096, NoUDPEncap: true, NoIPv4Options: true, NoExtensionHeaders: true,
		TxDrain: time.Millisecond, Sources: []string{"pmd/emu"},
	}},
	{Driver: "net_emu_packet", Family: "emulated, inline protocol", Limits: inlineLimits{
		EgressSAs: 4096, IngressSAs: 4096, NoUDPEncap: true, NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true,
		TxDrain: time.Millisecond, StartsAtSequence: true, Sources: []string{"pmd/emu"},
	}},
}

// noNFP: its firmware makes the IV of the number that the driver hands over. Without
// ESN that is always the same, and AES-GCM must never see a nonce twice.
var noNFP = inlineLimits{
	Unusable: "its driver would have packets of an SA without ESN sealed with one and the same IV",
	Sources: []string{
		"the IV is the ESN by default: drivers/net/nfp/nfp_ipsec.c, nfp_aead_map",
		"without ESN that is the number that the session began with: nfp_ipsec.c, nfp_security_set_pkt_metadata",
	},
}

var noMLX5 = inlineLimits{
	Unusable: "no release of DPDK has one for it, whatever the card can do",
	Sources:  []string{"drivers/net/mlx5 does not use rte_security"},
}
