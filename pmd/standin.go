package pmd

// #include "shim.h"
// #include "standin.h"
// #include "security.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// AttachStandIn gives a port that was not configured yet a stand-in (struct
// pmd_standin, standin.h) for what its driver has not: inline IPsec. It is for
// package emu; the memory must outlive the port.
func (p *Port) AttachStandIn(standIn unsafe.Pointer) error {
	p.life.RLock()
	defer p.life.RUnlock()
	if err := p.usable(); err != nil {
		return fmt.Errorf("attaching a stand-in to port %s: %w", p, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.standIn != nil || p.rx != 0 || p.events != nil {
		return fmt.Errorf("attaching a stand-in to port %s: %w: it has one, or was configured before", p, ErrConfig)
	}
	p.standIn = (*C.struct_pmd_standin)(standIn)
	p.standIn.port = C.uint16_t(p.id)
	return nil
}

// standInInfo changes what is told about a port to what its stand-in imitates.
func (p *Port) standInInfo(info *PortInfo) {
	s := p.standIn
	if s == nil {
		return
	}
	info.Emulates = C.GoString(s.driver)
	info.PCIDevice = uint32(s.pci_device)
	info.RxOffloads |= Offload(s.rx_offloads)
	info.TxOffloads |= Offload(s.tx_offloads)
}

// standInConfigured tells a stand-in what was asked of the port as a whole.
func (p *Port) standInConfigured(cfg PortConfig, applied Applied) error {
	if p.standIn == nil {
		return nil
	}
	p.standInOn = true
	return failed(int(C.pmd_standin_configured(p.standIn, C.uint64_t(applied.RxOffloads), C.uint64_t(applied.TxOffloads),
		C.uint16_t(cfg.RxQueues), C.uint16_t(cfg.TxQueues))), "configuring the stand-in")
}

// The moments at which a stand-in does what a driver would.
const (
	standInStarted  = C.PMD_STANDIN_STARTED
	standInStopping = C.PMD_STANDIN_STOPPING
	standInReset    = C.PMD_STANDIN_RESET
)

func (p *Port) tellStandIn(moment int) error {
	if p.standIn == nil || !p.standInOn {
		return nil
	}
	return failed(int(C.pmd_standin_tell(p.standIn, C.int(moment))), "the stand-in of port %s", p)
}
