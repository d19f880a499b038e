package ipsec

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"espgw/pmd"
)

// inlineLimits is what is known of a driver's inline IPsec beyond its capability
// list: what it accepts and cannot do, what it does not tell, and what espgw has to
// work around. Zero values mean that nothing is known.
type inlineLimits struct {
	// SAs by direction, and destination addresses of ingress SAs, that may be in the
	// device at a time; what espgw needs for itself is part of them.
	EgressSAs, IngressSAs, Addresses int
	// KeyBits and ICVBits of AES-GCM are those that work, whatever the list says;
	// empty: what the list says. OtherAEADs says that others than AES-GCM may be used.
	KeyBits, ICVBits []int
	OtherAEADs       bool
	NoESN            bool
	NoUDPEncap       bool
	EgressOnly       bool // ingress SAs are refused, or cannot be removed again
	// NoTagged, NoIPv4Options and NoExtensionHeaders are packets that the device does
	// not process: software does, packet by packet.
	NoTagged, NoIPv4Options, NoExtensionHeaders bool
	// RemovalStopsLookups: the removal of one SA switches the whole direction off
	// until the next is added. RemovesBySPI: a removal finds an SA by its SPI alone.
	RemovalStopsLookups, RemovesBySPI bool
	// TxDrain is how long packets that the driver has taken may be on their way.
	TxDrain time.Duration
	// StartsAtSequence: with INLINE_PROTOCOL, numbers go on after the one that a
	// session is made with.
	StartsAtSequence bool
	MaxFrame         int    // octets; a port with a larger MTU is not used
	Unusable         string // why the device is not used at all
	Sources          []string
}

// driverLimits is a row of the table: what holds for a driver, some of its devices,
// in some releases of DPDK.
type driverLimits struct {
	Driver      string
	Family      string // of devices, for listings
	PCI         []uint32
	From, Below [2]int // DPDK releases (year, month), Below not included; zero: open
	Limits      inlineLimits
}

// The devices of net_ixgbe by MAC (drivers/net/ixgbe/base/ixgbe_type.h,
// IXGBE_DEV_ID_).
var (
	pci82598 = []uint32{0x10b6, 0x10c6, 0x10c7, 0x10c8, 0x10db, 0x10dd, 0x10e1, 0x10ec, 0x10f1, 0x10f4, 0x150b, 0x1508}
	pci82599 = []uint32{
		0x10f7, 0x10f8, 0x10f9, 0x10fb, 0x10fc, 0x1507, 0x1514, 0x1517, 0x151c, 0x1529, 0x152a, 0x154a, 0x154d, 0x1557, 0x1558,
	}
	pciX540 = []uint32{0x1528, 0x1560}
	pciX550 = []uint32{
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
	TxDrain: 100 * time.Millisecond, MaxFrame: 9500,
	Sources: []string{
		"1024 egress SAs, 1024 ingress SAs, 128 addresses: ixgbe_ipsec.h, IPSEC_MAX_SA_COUNT, IPSEC_MAX_RX_IP_COUNT",
		"256 egress SAs: the context cache keeps 8 bits of the SA index: ixgbe_rxtx.h, union ixgbe_tx_offload",
		"AES-128-GCM with 16-octet ICV: ixgbe_ipsec.c, ixgbe_crypto_create_session checks no key length",
		"no ESN: ixgbe_ipsec.c, capabilities without options; the tables have no place for the high half",
		"a removal switches lookups off: ixgbe_ipsec.c, ixgbe_crypto_remove_sa writes the index register without the enable bit",
		"a removal goes by SPI: ixgbe_ipsec.c, ixgbe_crypto_remove_sa",
		"VLAN tags, IPv4 options, extension headers: Linux, ixgbe_ipsec.c, ixgbe_ipsec_offload_ok and ixgbe_ipsec_tx",
		"9.5 KB a frame while the transmit path stores and forwards: Intel X550 datasheet 333369-009, 7.13.2.2",
		"what was sent is 4096 frames at most, 50 ms at 1 Gbit/s: the queue's depth",
	},
}

// with returns limits with a change.
func (l inlineLimits) with(change func(*inlineLimits)) inlineLimits {
	change(&l)
	return l
}

func noIngress(l *inlineLimits) {
	l.EgressOnly = true
	l.Sources = append(slices.Clone(l.Sources), "ingress on 82599 and X540 only before 26.03: ixgbe_ethdev.h, MAC_TYPE_FILTER_SUP_EXT")
}

// conservative are the limits of a driver that nothing is known of.
var conservative = inlineLimits{
	EgressSAs: 4096, IngressSAs: 4096,
	NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true, RemovesBySPI: true,
	TxDrain: 100 * time.Millisecond,
	Sources: []string{"nothing is known of this driver: what its capability list says, and caution"},
}

// limitsTable is searched from the top: the first row that fits is used.
var limitsTable = []driverLimits{
	{Driver: "net_ixgbe", Family: "82598", PCI: pci82598, Limits: inlineLimits{
		Unusable: "the 82598 has no IPsec block",
		Sources:  []string{"Linux: ixgbe_ipsec.c, ixgbe_init_ipsec_offload leaves the 82598 out"},
	}},
	{Driver: "net_ixgbe", Family: "82599", PCI: pci82599, Limits: ixgbeLimits},
	{Driver: "net_ixgbe", Family: "X540", PCI: pciX540, Limits: ixgbeLimits},
	{Driver: "net_ixgbe", Family: "X550", PCI: pciX550, Below: [2]int{26, 3}, Limits: ixgbeLimits.with(noIngress)},
	{Driver: "net_ixgbe", Family: "X550", PCI: pciX550, From: [2]int{26, 3}, Limits: ixgbeLimits},
	{Driver: "net_ixgbe", Family: "another MAC", Limits: ixgbeLimits.with(noIngress)},
	{Driver: "net_ixgbe_vf", Family: "virtual function", Limits: inlineLimits{
		Unusable: "virtual functions have no IPsec of their own",
		Sources:  []string{"ixgbe_ethdev.c, eth_ixgbevf_dev_init makes no security context"},
	}},
	{Driver: "net_txgbe", Family: "Wangxun 10G", Limits: ixgbeLimits.with(func(l *inlineLimits) {
		l.EgressOnly = true
		l.Sources = append(slices.Clone(l.Sources),
			"a copy of ixgbe's code, with its limits: drivers/net/txgbe/txgbe_ipsec.c",
			"ingress SAs cannot be removed: txgbe_ipsec.c, txgbe_crypto_remove_sa compares SPIs of different byte order")
	})},
	{Driver: "net_iavf", Family: "Intel adaptive VF", Limits: inlineLimits{
		EgressSAs: 4096, IngressSAs: 4096, NoESN: true, NoUDPEncap: true, NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true,
		TxDrain: 100 * time.Millisecond,
		Sources: []string{
			"the number of SAs is the host's to tell, and is not told: drivers/net/iavf/iavf_ipsec_crypto.c",
			"no ESN: the high half of what is received would have to be told by rte_security_session_update, which is not built",
		},
	}},
	{Driver: "net_nfp", Family: "Corigine NFP", From: [2]int{23, 11}, Limits: inlineLimits{
		EgressSAs: 8192, IngressSAs: 8192, NoUDPEncap: true, NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true,
		TxDrain: 100 * time.Millisecond,
		Sources: []string{"16384 SAs in all: drivers/net/nfp/nfp_ipsec.h, NFP_NET_IPSEC_MAX_SA_CNT"},
	}},
	{Driver: "net_cn9k", Family: "Marvell cn9k", Limits: inlineLimits{
		EgressSAs: 4096, IngressSAs: 4096, NoUDPEncap: true, NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true,
		TxDrain: 100 * time.Millisecond, Sources: []string{"drivers/net/cnxk/cn9k_ethdev_sec.c"},
	}},
	{Driver: "net_cn10k", Family: "Marvell cn10k", Limits: inlineLimits{
		EgressSAs: 4096, IngressSAs: 4096, NoUDPEncap: true, NoTagged: true, NoIPv4Options: true, NoExtensionHeaders: true,
		TxDrain: 100 * time.Millisecond, Sources: []string{"drivers/net/cnxk/cn10k_ethdev_sec.c"},
	}},
	{Driver: "net_sxe2", Family: "Stars Micro", Limits: inlineLimits{
		Unusable: "it has tunnel mode only, and no AES-GCM", Sources: []string{"drivers/net/sxe2"},
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

// limitsOf finds what is known of a port's driver.
func limitsOf(info pmd.PortInfo, dpdk [2]int) (inlineLimits, string) {
	driver := info.Emulates
	if driver == "" {
		driver = info.Driver
	}
	limits, family := conservative, "not known"
	for _, row := range limitsTable {
		if row.fits(driver, info.PCIDevice, dpdk) {
			limits, family = row.Limits, row.Family
			break
		}
	}
	if driver == "net_ixgbe" && runtime.GOARCH == "arm64" && limits.Unusable == "" && info.Emulates == "" {
		limits.EgressOnly = true
		limits.Sources = append(slices.Clone(limits.Sources), "no receive marks on Arm: ixgbe_rxtx_vec_neon.c")
	}
	return limits, family
}

func (row *driverLimits) fits(driver string, pci uint32, dpdk [2]int) bool {
	before := func(a, b [2]int) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }
	return row.Driver == driver &&
		(len(row.PCI) == 0 || slices.Contains(row.PCI, pci)) &&
		!before(dpdk, row.From) && (row.Below == [2]int{} || before(dpdk, row.Below))
}

// dpdkVersion is the running DPDK's year and month.
func dpdkVersion() (v [2]int) {
	fmt.Sscanf(pmd.Version(), "DPDK %d.%d", &v[0], &v[1])
	return v
}
