package emu

// #cgo CFLAGS: -I${SRCDIR}/.. -std=gnu11 -O3 -Wall -Wextra -Wno-unused-parameter -DALLOW_EXPERIMENTAL_API
// #cgo pkg-config: libdpdk libcrypto
// #include "emu.h"
import "C"

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"espgw/pmd"
)

// NIC is an emulated inline NIC in front of a port.
type NIC struct {
	port    int
	options Options

	mu sync.Mutex
	c  *C.struct_emu_nic
	// What the counters and texts were when it was closed.
	last  map[string]uint64
	texts []string
}

// Attach puts an emulated inline NIC in front of a port that was not configured yet.
func Attach(port *pmd.Port, o Options) (*NIC, error) {
	if !slices.Contains(Profiles, o.Profile) {
		return nil, fmt.Errorf("emulating an inline NIC on port %s: %w: profile %q", port, pmd.ErrConfig, o.Profile)
	}
	n := &NIC{port: port.ID(), options: o}
	c := o.c()
	if rc := C.emu_new(&c, &n.c); rc < 0 {
		if syscall.Errno(-rc) == syscall.ENOTSUP {
			return nil, fmt.Errorf("emulating an inline NIC on port %s: %w: this DPDK does not install rte_security_driver.h", port, pmd.ErrNotSupported)
		}
		return nil, fmt.Errorf("emulating an inline NIC on port %s: %w", port, syscall.Errno(-rc))
	}
	if err := port.AttachStandIn(C.emu_standin(n.c)); err != nil {
		C.emu_free(n.c)
		return nil, err
	}
	n.setFaults(o.faults)
	return n, nil
}

// Port is the number of the port.
func (n *NIC) Port() int { return n.port }

// Profile is what it imitates, as ParseOptions names it.
func (n *NIC) Profile() string { return n.options.Profile }

// Raw is what calls behind package pmd's back go to, for package probe: the stand-in
// (struct pmd_standin *) and, as a pointer to a function, what would be its
// rte_flow_validate. They are valid until Close.
func (n *NIC) Raw() (standIn, validate unsafe.Pointer) {
	return C.emu_standin(n.c), C.emu_validate()
}

// Counters are what it has counted, zeros too; counters.h lists them. They stay
// readable after Close.
func (n *NIC) Counters() map[string]uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counters()
}

func (n *NIC) counters() map[string]uint64 {
	if n.c == nil {
		return maps.Clone(n.last)
	}
	counters := map[string]uint64{}
	for i := range C.emu_counter_count() {
		counters[C.GoString(C.emu_counter_name(i))] = uint64(C.emu_counter(n.c, i))
	}
	return counters
}

// maxTexts bounds what Breaches returns.
const maxTexts = 16

// Breaches are the first texts about breaches of the device's contract; what a card
// would have punished. All of them are counted. They stay readable after Close.
func (n *NIC) Breaches() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.breaches()
}

func (n *NIC) breaches() []string {
	if n.c == nil {
		return slices.Clone(n.texts)
	}
	var texts [maxTexts][C.EMU_TEXT_LEN]C.char
	var list []string
	for i := range int(C.emu_texts(n.c, &texts[0], maxTexts)) {
		list = append(list, C.GoString(&texts[i][0]))
	}
	return list
}

// SetFault replaces the faults on demand; the words are those of the option fault,
// and "none" ends them all.
func (n *NIC) SetFault(text string) error {
	faults, err := parseFaults(text)
	if err != nil {
		return err
	}
	n.setFaults(faults)
	return nil
}

func (n *NIC) setFaults(f faults) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c == nil {
		return
	}
	var values [C.EMU_FAULTS]C.uint32_t
	for i, v := range f {
		values[i] = C.uint32_t(v)
	}
	C.emu_set_faults(n.c, &values[0])
}

// Close frees the device; its port must have been closed. It may be called twice.
func (n *NIC) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c != nil {
		n.last, n.texts = n.counters(), n.breaches()
		C.emu_free(n.c)
		n.c = nil
	}
	return nil
}
