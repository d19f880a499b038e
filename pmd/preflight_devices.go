package pmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

var pciAddress = regexp.MustCompile(`^(?:pci:)?((?:[0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])(?:,|$)`)

// userDrivers hand a PCI device to user space; bifurcated ones let DPDK and the
// kernel share it.
var (
	userDrivers       = []string{"vfio-pci", "uio_pci_generic", "igb_uio"}
	bifurcatedDrivers = []string{"mlx4_core", "mlx5_core", "mana"}
)

// checkPCI looks at the devices of -a: are they there, and may DPDK have them?
func (h host) checkPCI(o ealOptions) []string {
	if o.has("no-pci") {
		return nil
	}
	var findings []string
	for _, value := range slices.Concat(o["a"], o["allow"]) {
		match := pciAddress.FindStringSubmatch(value)
		if match == nil {
			continue
		}
		address := strings.ToLower(match[1])
		if strings.Count(address, ":") == 1 {
			address = "0000:" + address
		}
		if finding := h.checkPCIDevice(address, o); finding != "" {
			findings = append(findings, finding)
		}
	}
	return findings
}

// pciFolder is where EAL looks for PCI devices (lib/eal: rte_pci_get_sysfs_path).
func (h host) pciFolder() string {
	if folder := h.env("SYSFS_PCI_DEVICES"); folder != "" {
		return folder
	}
	return "/sys/bus/pci/devices"
}

func (h host) checkPCIDevice(address string, o ealOptions) string {
	device := h.pciFolder() + "/" + address
	if _, err := os.Stat(h.path(device)); err != nil {
		return fmt.Sprintf("-a %s: there is no such PCI device", address)
	}
	link, err := os.Readlink(h.path(device + "/driver"))
	driver := filepath.Base(link)
	switch {
	case err != nil:
		return fmt.Sprintf("-a %s: the device has no driver: bind it with dpdk-devbind.py -b vfio-pci %s", address, address)
	case slices.Contains(bifurcatedDrivers, driver):
		return ""
	case !slices.Contains(userDrivers, driver):
		return fmt.Sprintf("-a %s: the device belongs to the kernel's driver %s: bind it with dpdk-devbind.py -b vfio-pci %s", address, driver, address)
	case driver != "vfio-pci":
		return ""
	}
	return h.checkVFIO(address, device, o)
}

func (h host) checkVFIO(address, device string, o ealOptions) string {
	link, err := os.Readlink(h.path(device + "/iommu_group"))
	if err != nil {
		if h.read("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y" {
			return ""
		}
		return fmt.Sprintf("-a %s: there is no IOMMU for it: switch the IOMMU on (firmware; intel_iommu=on), or set enable_unsafe_noiommu_mode of module vfio", address)
	}
	group := "/dev/vfio/" + filepath.Base(link)
	if _, err := os.Stat(h.path(group)); err != nil { // devices without IOMMU have noiommu-N
		return ""
	}
	if err := unix.Access(h.path(group), unix.R_OK|unix.W_OK); err != nil {
		return fmt.Sprintf("-a %s: %s cannot be opened (%v): chown it to your user", address, group, err)
	}
	if want := o.memory(); h.uid != 0 && !h.capable(unix.CAP_IPC_LOCK) && h.memlock < want {
		return fmt.Sprintf("-a %s: %d MiB are to be locked for the device, the limit is %d MiB: raise memlock in limits.conf (ulimit -l)",
			address, want>>20, h.memlock>>20)
	}
	return ""
}

// memory is what -m and --socket-mem ask for, in octets.
func (o ealOptions) memory() uint64 {
	sum := parseSize(o.last("m") + "M")
	for _, text := range strings.Split(o.last("socket-mem"), ",") {
		sum += parseSize(text + "M")
	}
	return sum
}

// checkVdevs looks at what virtual devices stand on: interfaces, files, rights.
func (h host) checkVdevs(o ealOptions) []string {
	var findings []string
	for _, value := range o["vdev"] {
		name, args, _ := strings.Cut(value, ",")
		for _, missing := range h.checkVdev(name, args) {
			findings = append(findings, fmt.Sprintf("--vdev %s: %s", name, missing))
		}
	}
	return findings
}

func (h host) checkVdev(name, args string) []string {
	var missing []string
	need := func(capability int, word string) {
		if !h.capable(capability) {
			missing = append(missing, "needs the capability "+word+": run as root, or setcap it on the program")
		}
	}
	is := func(prefix string) bool { return strings.HasPrefix(name, prefix) } // as EAL finds the driver
	switch {
	case is("net_tap"), is("eth_tap"), is("net_tun"):
		need(unix.CAP_NET_ADMIN, "CAP_NET_ADMIN")
		if _, err := os.Stat(h.path("/dev/net/tun")); err != nil {
			missing = append(missing, "/dev/net/tun is not there: modprobe tun")
		}
		missing = append(missing, h.missingInterfaces(args, "remote")...)
	case is("net_af_packet"), is("eth_af_packet"):
		need(unix.CAP_NET_RAW, "CAP_NET_RAW")
		missing = append(missing, h.missingInterfaces(args, "iface")...)
	case is("net_af_xdp"):
		missing = append(missing, h.missingInterfaces(args, "iface")...)
	case is("net_pcap"), is("eth_pcap"):
		missing = append(missing, h.missingInterfaces(args, "iface", "rx_iface", "tx_iface", "rx_iface_in")...)
		missing = append(missing, h.missingFiles(args)...)
	case is("net_virtio_user"), is("virtio_user"):
		missing = append(missing, h.missingPeer(args)...)
	}
	return missing
}

// missingPeer looks for what a virtio-user port connects to, unless it waits for
// its peer itself.
func (h host) missingPeer(args string) []string {
	if slices.Contains(arguments(args, "server"), "1") {
		return nil
	}
	var missing []string
	for _, name := range arguments(args, "path") {
		if err := unix.Access(name, unix.R_OK|unix.W_OK); err != nil {
			missing = append(missing, fmt.Sprintf("%s cannot be opened: %v", name, err))
		}
	}
	return missing
}

// arguments are the values of a key in "key=value,key=value".
func arguments(args, key string) []string {
	var values []string
	for _, item := range strings.Split(args, ",") {
		if name, value, ok := strings.Cut(item, "="); ok && name == key {
			values = append(values, value)
		}
	}
	return values
}

func (h host) missingInterfaces(args string, keys ...string) []string {
	var missing []string
	for _, key := range keys {
		for _, name := range arguments(args, key) {
			if _, err := os.Stat(h.path("/sys/class/net/" + name)); errors.Is(err, fs.ErrNotExist) {
				missing = append(missing, fmt.Sprintf("there is no network interface %q", name))
			}
		}
	}
	return missing
}

func (h host) missingFiles(args string) []string {
	var missing []string
	for _, name := range arguments(args, "rx_pcap") {
		if err := unix.Access(name, unix.R_OK); err != nil {
			missing = append(missing, fmt.Sprintf("the capture %s cannot be read: %v", name, err))
		}
	}
	for _, name := range arguments(args, "tx_pcap") {
		if err := unix.Access(filepath.Dir(name), unix.W_OK|unix.X_OK); err != nil {
			missing = append(missing, fmt.Sprintf("the folder of %s cannot be written: %v", name, err))
		}
	}
	return missing
}
