package pmd

// #include <stdlib.h>
// #include "pmd.h"
// #include "security.h"
// #include "shim.h"
// #include "standin.h"
import "C"

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// PortInfo is what a port is and can do.
type PortInfo struct {
	ID     int    // DPDK's port number
	Device string // "0000:01:00.0", "net_tap0"
	Driver string // "net_ixgbe"
	Args   string // device arguments it was created with, "iface=tap0"
	Socket int    // NUMA node, SocketAny when it has none
	MAC    net.HardwareAddr

	MaxRxQueues, MaxTxQueues int
	MinMTU, MaxMTU           int // octets; 0 and 65535 when the driver names no limit
	MTU                      int // as it is now
	MaxFrame                 int // longest frame that the driver admits to, octets
	MinDataRoom              int // smallest Pool.DataRoom that the driver takes, octets; 0: any

	RxOffloads, TxOffloads Offload
	RSS                    []string // of ip, tcp, udp, esp: what it can hash, in part at least
	rss                    uint64   // the same in DPDK's bits

	// PCIDevice is the PCI device id (0x10fb: an 82599), 0 when it is no PCI device.
	PCIDevice uint32
	// Emulates is the driver that an emulated inline NIC in front of the port
	// imitates, "" when there is none; PCIDevice and the offloads are then its.
	Emulates string

	// KernelInterface is the network interface of the kernel behind the port
	// (net_tap, net_af_packet, net_pcap with iface), "" when there is none or the
	// driver does not tell.
	KernelInterface string
	// UnmarkedChecksums says that packets may come with transport checksums that
	// the kernel has not computed, and that the driver does not mark them
	// (ChecksumUnfinished stays false): the sending side of a veth pair leaves
	// checksums to a device that is not there. Detect them in the packet, or switch
	// transmit checksum offload off on the interface that sends.
	UnmarkedChecksums bool
}

// Port is an Ethernet device of DPDK. There is one Port per device in a process,
// however often it is looked up. Its methods may be called from any goroutine.
type Port struct {
	id     int
	device string

	life    sync.RWMutex // held for reading by whoever is in DPDK with the port, against Close
	mu      sync.Mutex
	rx, tx  int // queues; 0 before Configure
	rxOn    Offload
	txOn    Offload
	config  PortConfig // as last configured
	promisc bool
	pool    *Pool
	started bool
	running bool // the driver is: below a stand-in it may go on while the port is stopped
	closed  bool
	own     uint64 // leak number of ports that this package created; 0 for others
	vdev    bool   // made by CreateVdev or NewRingPair: Close removes the device
	release func() // frees what the port stands on, after the device has gone

	standIn   *C.struct_pmd_standin // does what the driver cannot, or nil
	standInOn bool                  // its hooks are to be called: the port was configured
	security  *Security             // nil until opened
	secCtx    *unsafe.Pointer       // C memory: the context, where lanes find it; nil before Configure
	events    *C.struct_pmd_events  // nil until watched
}

// ports are the Port of each number.
var ports = struct {
	sync.Mutex
	byID map[int]*Port
}{byID: map[int]*Port{}}

// Ports describes every port there is, in order of their numbers.
func Ports() []PortInfo {
	if alive() != nil {
		return nil
	}
	var list []PortInfo
	for id := int(C.pmd_port_next(-1)); id >= 0; id = int(C.pmd_port_next(C.int(id))) {
		if info, err := portInfo(id); err == nil {
			list = append(list, info)
		}
	}
	return list
}

// FindPort finds a port by its number or by its device's name. When there is
// none, the error is ErrNoPort and lists those that exist.
func FindPort(numberOrName string) (*Port, error) {
	if err := alive(); err != nil {
		return nil, fmt.Errorf("finding port %q: %w", numberOrName, err)
	}
	all := Ports()
	number, err := strconv.Atoi(numberOrName)
	for _, info := range all {
		if info.Device == numberOrName || err == nil && info.ID == number {
			return portOf(info), nil
		}
	}
	return nil, fmt.Errorf("%w %q; %s", ErrNoPort, numberOrName, describePorts(all))
}

func describePorts(all []PortInfo) string {
	text := "there is none: name a device with -a or --vdev in front of the --"
	if len(all) > 0 {
		names := make([]string, len(all))
		for i, info := range all {
			names[i] = fmt.Sprintf("%d %s", info.ID, info.Device)
		}
		text = "there are: " + strings.Join(names, ", ")
	}
	if len(startLines) > 0 {
		text += "; DPDK said: " + strings.Join(startLines, " | ")
	}
	return text
}

func portOf(info PortInfo) *Port {
	ports.Lock()
	defer ports.Unlock()
	p := ports.byID[info.ID]
	if p == nil {
		p = &Port{id: info.ID, device: info.Device}
		ports.byID[info.ID] = p
	}
	return p
}

func portInfo(id int) (PortInfo, error) {
	var c C.struct_pmd_port_info
	if rc := C.pmd_port_info(C.uint16_t(id), &c); rc < 0 {
		return PortInfo{}, failed(int(rc), "reading about port %d", id)
	}
	info := PortInfo{
		ID:          id,
		Device:      C.GoString(&c.device[0]),
		Driver:      C.GoString(&c.driver[0]),
		Args:        C.GoString(&c.args[0]),
		Socket:      int(c.socket),
		MaxRxQueues: int(c.max_rx_queues),
		MaxTxQueues: int(c.max_tx_queues),
		MinMTU:      int(c.min_mtu),
		MaxMTU:      int(c.max_mtu),
		MTU:         int(c.mtu),
		MaxFrame:    int(c.max_frame),
		RxOffloads:  Offload(c.rx_offloads),
		TxOffloads:  Offload(c.tx_offloads),
		RSS:         rssNames(uint64(c.rss)),
		rss:         uint64(c.rss),
		PCIDevice:   pciDevice(C.GoString(&c.bus[0])),
	}
	for _, octet := range c.mac {
		info.MAC = append(info.MAC, byte(octet))
	}
	if c.if_index != 0 {
		if i, err := net.InterfaceByIndex(int(c.if_index)); err == nil {
			info.KernelInterface = i.Name
		}
	}
	info.describe()
	return info, nil
}

// ID is DPDK's number of the port.
func (p *Port) ID() int { return p.id }

// String is the device's name.
func (p *Port) String() string { return p.device }

// Info reads what the port is and can do. After Close only ID and Device are set.
func (p *Port) Info() PortInfo {
	p.life.RLock()
	defer p.life.RUnlock()
	if p.usable() == nil {
		if info, err := portInfo(p.id); err == nil {
			p.standInInfo(&info)
			return info
		}
	}
	return PortInfo{ID: p.id, Device: p.device}
}

// Pool is where the port takes buffers for received packets; nil before Configure.
func (p *Port) Pool() *Pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pool
}

func (p *Port) usable() error {
	if err := alive(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrPortClosed
	}
	return nil
}

// call runs a C function on an open port and names the failure.
func (p *Port) call(doing string, fn func(id C.uint16_t) C.int) error {
	p.life.RLock()
	defer p.life.RUnlock()
	if err := p.usable(); err != nil {
		return fmt.Errorf("%s port %s: %w", doing, p, err)
	}
	return failed(int(fn(C.uint16_t(p.id))), "%s port %s", doing, p)
}

func (p *Port) rxQueues() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rx
}

func (p *Port) txQueues() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tx
}

// Offloads are those that Configure switched on.
func (p *Port) Offloads() (rx, tx Offload) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rxOn, p.txOn
}

func (p *Port) preparesTx() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.txOn&txPrepared != 0
}

// Start starts the port: from then on packets move, and the link comes up.
func (p *Port) Start() error {
	err := p.call("starting", func(id C.uint16_t) C.int { return C.pmd_port_start(id) })
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.running = true
	p.mu.Unlock()
	p.setStarted(true)
	return p.tellStandIn(standInStarted)
}

// stopIsFinal are drivers that do not start again after a stop, with what their stop
// does.
var stopIsFinal = map[string]string{
	"net_af_packet": "it closes the sockets that only the creation of the device opens (rte_eth_af_packet.c: eth_dev_stop)",
}

func (p *Port) driver() string { return p.Info().Driver }

// CanRestart is nil if the port can be started again after a stop. The error is
// ErrNotSupported. A stand-in's device can, whatever the driver below it does.
func (p *Port) CanRestart() error {
	info := p.Info()
	if why := stopIsFinal[info.Driver]; why != "" && info.Emulates == "" {
		return fmt.Errorf("restarting port %s: %w by %s: %s", p, ErrNotSupported, info.Driver, why)
	}
	return nil
}

// Stop stops the port; no lane may use it while it is stopped, and no session of its
// security context may be open (ErrConfig). Where the driver below a stand-in could
// not start again, only the stand-in's device stops.
func (p *Port) Stop() error {
	if s := p.openSecurity(); s != nil {
		if n, _ := s.Sessions(); n > 0 {
			return fmt.Errorf("stopping port %s: %w: %d sessions are open", p, ErrConfig, n)
		}
	}
	if p.Started() {
		if err := p.tellStandIn(standInStopping); err != nil {
			return err
		}
	}
	if p.standIn != nil && stopIsFinal[p.driver()] != "" {
		p.setStarted(false)
		return nil
	}
	err := p.call("stopping", func(id C.uint16_t) C.int { return C.pmd_port_stop(id) })
	if err == nil {
		p.mu.Lock()
		p.running = false
		p.mu.Unlock()
		p.setStarted(false)
	}
	return err
}

func (p *Port) setStarted(started bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = started
}

// Started says whether the port was started.
func (p *Port) Started() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// Reset resets the device of a stopped port (rte_eth_dev_reset), the way out for one
// that asked for it (EventReset), and configures it as it was. Its security context
// is another one afterwards; sessions must have been closed.
func (p *Port) Reset() error {
	err := p.call("resetting", func(id C.uint16_t) C.int {
		rc := C.pmd_port_reset(id)
		if p.standIn != nil && Errno(-rc) == Errno(syscall.ENOTSUP) {
			return 0 // virtual ports have no reset; the emulated device has
		}
		return rc
	})
	if err != nil {
		return err
	}
	p.setStarted(false)
	if err := p.tellStandIn(standInReset); err != nil {
		return err
	}
	if s := p.openSecurity(); s != nil {
		if err := s.renew(); err != nil {
			return err
		}
	}
	p.mu.Lock()
	config, promisc := p.config, p.promisc
	applied := Applied{RxOffloads: p.rxOn, TxOffloads: p.txOn}
	p.mu.Unlock()
	if p.standIn != nil && stopIsFinal[p.driver()] != "" {
		return p.standInConfigured(config, applied) // the driver below was not stopped
	}
	if _, err := p.Configure(config); err != nil {
		return err
	}
	if promisc {
		return p.SetPromiscuous(true)
	}
	return nil
}

// SetPromiscuous makes the port receive frames for all addresses, or only those
// for its own.
func (p *Port) SetPromiscuous(on bool) error {
	flag := C.int(0)
	if on {
		flag = 1
	}
	err := p.call("setting promiscuous mode of", func(id C.uint16_t) C.int {
		return C.pmd_port_set_promiscuous(id, flag)
	})
	if err == nil {
		p.mu.Lock()
		p.promisc = on
		p.mu.Unlock()
	}
	return err
}

// Close stops the port and gives its device back; buffers in its queues return to
// their pool. It may be called twice. Lanes must be closed before.
func (p *Port) Close() error {
	security := p.closeSecurity()
	p.life.Lock()
	defer p.life.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	p.rx, p.tx = 0, 0
	ports.Lock()
	if ports.byID[p.id] == p {
		delete(ports.byID, p.id)
	}
	ports.Unlock()
	disown(p.own)
	if alive() != nil {
		return nil
	}
	if p.standIn != nil && p.standInOn {
		C.pmd_standin_closing(p.standIn)
	}
	p.unwatch()
	if p.running {
		if rc := C.pmd_port_stop(C.uint16_t(p.id)); rc < 0 {
			log().Warn("stopping a port to close it", "port", p.device, "error", Errno(-rc))
		}
		p.started, p.running = false, false
	}
	err := failed(int(C.pmd_port_close(C.uint16_t(p.id))), "closing port %s", p.device)
	if p.vdev {
		err = errors.Join(err, removeVdev(p.device))
	}
	if p.release != nil {
		p.release()
	}
	C.free(unsafe.Pointer(p.secCtx))
	p.secCtx = nil
	return errors.Join(security, err)
}
