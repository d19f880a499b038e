// Package bus makes modelled cards appear on the PCI bus of one program, and gives
// the model the program's memory. Linux, root.
//
//   - [New] makes a folder as the kernel has one for each PCI device, with the
//     registers (BAR 0) as a file that the program maps (folder.go). DPDK looks there
//     instead of /sys/bus/pci/devices when SYSFS_PCI_DEVICES says so.
//   - The devices' driver is said to be igb_uio. Its files under /sys/class/uio and /dev
//     exist in a mount namespace of the program's own only (namespace.go).
//   - /dev/uioN is a terminal: four octets one way are an interrupt, the other way they
//     enable it (uio.go).
//   - [Memory] finds the process that maps the registers, and maps its huge pages at
//     their physical addresses, which are the addresses that it gives the card
//     (memory.go).
//
// Nothing of it is left when the program and the model have ended.
package bus
