package pmd

import (
	"regexp"
	"strconv"
)

// busDevice is how the PCI bus describes a device (rte_dev_bus_info, rte_dev.h):
// "vendor_id=8086, device_id=10fb".
var busDevice = regexp.MustCompile(`device_id=(?:0x)?([0-9a-fA-F]+)`)

// pciDevice reads the PCI device id out of what a bus says about a device; 0 when
// it says none.
func pciDevice(bus string) uint32 {
	m := busDevice.FindStringSubmatch(bus)
	if m == nil {
		return 0
	}
	id, err := strconv.ParseUint(m[1], 16, 16)
	if err != nil {
		return 0
	}
	return uint32(id)
}
