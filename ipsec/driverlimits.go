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
	// KeyBits and ICVBits of AES-GCM are those that work, whatever the list says, and
	// other algorithms do not; empty: what the list says.
	KeyBits, ICVBits []int
	NoESN            bool
	NoUDPEncap       bool
	EgressOnly       bool // ingress SAs are refused, cannot be removed again or are not marked
	// MixesFamilies: in the table of addresses of ingress SAs, an IPv6 address whose
	// last 96 bits are zero is the same as an IPv4 address.
	MixesFamilies bool
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
	// FlagsUnset: the driver leaves its context's flags as it finds the memory; one that
	// is set would have its metadata skipped, and packets would leave in clear text.
	FlagsUnset bool
	MaxFrame   int    // octets; a port with a larger MTU is not used
	Unusable   string // why the device is not used at all
	Sources    []string
}

// driverLimits is a row of the table: what holds for a driver, some of its devices,
// in some releases of DPDK.
type driverLimits struct {
	Driver      string
	Family      string   // of devices, for listings
	PCI         []uint32 // device ids; empty: all
	Arch        string   // GOARCH; empty: all
	From, Below [2]int   // DPDK releases (year, month), Below not included; zero: open
	Limits      inlineLimits
}

// limitsOf finds what is known of a port's driver, and the family of its device.
func limitsOf(info pmd.PortInfo, dpdk [2]int) (inlineLimits, string) {
	if info.Emulates != "" {
		// Its receive path is not the driver's, on any CPU.
		return findLimits(info.Emulates, info.PCIDevice, "", dpdk)
	}
	return findLimits(info.Driver, info.PCIDevice, runtime.GOARCH, dpdk)
}

func findLimits(driver string, pci uint32, arch string, dpdk [2]int) (inlineLimits, string) {
	for i := range limitsTable {
		if row := &limitsTable[i]; row.fits(driver, pci, arch, dpdk) {
			return row.Limits, row.Family
		}
	}
	return conservative, "not known"
}

func (row *driverLimits) fits(driver string, pci uint32, arch string, dpdk [2]int) bool {
	before := func(a, b [2]int) bool { return a[0] < b[0] || a[0] == b[0] && a[1] < b[1] }
	return row.Driver == driver &&
		(len(row.PCI) == 0 || slices.Contains(row.PCI, pci)) &&
		(row.Arch == "" || row.Arch == arch) &&
		!before(dpdk, row.From) && (row.Below == [2]int{} || before(dpdk, row.Below))
}

// with returns limits with a change; its sources are its own.
func (l inlineLimits) with(change func(*inlineLimits)) inlineLimits {
	l.Sources = slices.Clone(l.Sources)
	change(&l)
	return l
}

// dpdkVersion is the running DPDK's year and month; zeros where it does not say.
func dpdkVersion() [2]int { return parseVersion(pmd.Version()) }

// parseVersion reads "DPDK 22.11.11".
func parseVersion(text string) (v [2]int) {
	fmt.Sscanf(text, "DPDK %d.%d", &v[0], &v[1])
	return v
}
