package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"espgw/pmd/silicon"
)

// Device is a modelled card on the bus.
type Device struct {
	Address   string // 0000:01:00.N
	Registers silicon.Registers
	file      *os.File
	uio       *uio
}

// Bus is a made-up PCI bus with devices.
type Bus struct {
	Devices []*Device
	folder  string
}

// MaxDevices is how many functions a PCI device has.
const MaxDevices = 8

// New makes a bus with n devices that have a vendor's and a device's number, Intel's
// 82599 for instance: 0x8086, 0x10f7.
func New(n int, vendor, device uint16) (b *Bus, err error) {
	if n < 1 || n > MaxDevices {
		return nil, fmt.Errorf("%d devices: there can be 1 to %d", n, MaxDevices)
	}
	folder, err := os.MkdirTemp("", "nicmodel-")
	if err != nil {
		return nil, fmt.Errorf("making a PCI bus: %w", err)
	}
	b = &Bus{folder: folder}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("making a PCI bus: %w", err), b.Close())
		}
	}()
	for i := range n {
		d := &Device{Address: fmt.Sprintf("0000:01:00.%d", i)}
		b.Devices = append(b.Devices, d)
		if err := d.make(filepath.Join(b.pci(), d.Address), i, vendor, device); err != nil {
			return b, err
		}
		if d.uio, err = newUIO(); err != nil {
			return b, err
		}
	}
	return b, nil
}

// pci is the folder that stands for /sys/bus/pci/devices.
func (b *Bus) pci() string { return filepath.Join(b.folder, "devices") }

// Environment is what the program's environment needs.
func (b *Bus) Environment() []string { return []string{"SYSFS_PCI_DEVICES=" + b.pci()} }

// make makes a device's folder: see Documentation/PCI/sysfs-pci.rst of Linux, and
// drivers/bus/pci/linux/pci.c of DPDK for what is read.
func (d *Device) make(folder string, i int, vendor, device uint16) error {
	uio := fmt.Sprintf("uio%d", i)
	if err := os.MkdirAll(filepath.Join(folder, "uio", uio), 0o755); err != nil {
		return err
	}
	start := uint64(0xf000_0000) + uint64(i)*silicon.BARSize
	resource := fmt.Sprintf("0x%016x 0x%016x 0x%016x\n", start, start+silicon.BARSize-1, 0x40200)
	for range 12 {
		resource += fmt.Sprintf("0x%016x 0x%016x 0x%016x\n", 0, 0, 0)
	}
	id := func(v uint16) string { return fmt.Sprintf("0x%04x\n", v) }
	for name, text := range map[string]string{
		"vendor": id(vendor), "device": id(device), "subsystem_vendor": id(vendor), "subsystem_device": id(0),
		"class": "0x020000\n", "numa_node": "-1\n", "max_vfs": "0\n", "resource": resource,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	config := make([]byte, 4096)
	config[0], config[1], config[2], config[3] = byte(vendor), byte(vendor>>8), byte(device), byte(device>>8)
	if err := os.WriteFile(filepath.Join(folder, "config"), config, 0o644); err != nil {
		return err
	}
	if err := os.Symlink("/sys/bus/pci/drivers/igb_uio", filepath.Join(folder, "driver")); err != nil {
		return err
	}
	return d.makeRegisters(filepath.Join(folder, "resource0"))
}

// makeRegisters makes the file of BAR 0. It lies in memory: what is written to a file
// on a disk is written out, and the next access to it waits.
func (d *Device) makeRegisters(name string) error {
	fd, err := unix.MemfdCreate("nicmodel-registers", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("making registers: %w", err)
	}
	d.file = os.NewFile(uintptr(fd), "registers")
	if err := os.Symlink(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd), name); err != nil {
		return err
	}
	if err = d.file.Truncate(silicon.BARSize); err != nil {
		return err
	}
	memory, err := unix.Mmap(int(d.file.Fd()), 0, silicon.BARSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping %s: %w", name, err)
	}
	d.Registers = unsafe.Slice((*uint32)(unsafe.Pointer(&memory[0])), silicon.BARSize/4)
	return nil
}

// Inode identifies the file of the registers, as /proc/PID/maps shows it.
func (d *Device) Inode() (device, inode uint64, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(d.file.Fd()), &st); err != nil {
		return 0, 0, fmt.Errorf("the registers' file: %w", err)
	}
	return st.Dev, st.Ino, nil
}

// Interrupt raises the device's interrupt.
func (d *Device) Interrupt() { d.uio.interrupt() }

// Close removes the bus; the program must have ended. The registers stay mapped.
func (b *Bus) Close() error {
	var errs []error
	for _, d := range b.Devices {
		if d.uio != nil {
			errs = append(errs, d.uio.close())
		}
		if d.file != nil {
			errs = append(errs, d.file.Close())
		}
	}
	errs = append(errs, os.RemoveAll(b.folder))
	return errors.Join(errs...)
}
