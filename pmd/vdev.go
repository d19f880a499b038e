package pmd

// #include <stdlib.h>
// #include "pmd.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// maxRings is how many queues a port made of rings can have
// (RTE_PMD_RING_MAX_RX_RINGS).
const maxRings = 16

// CreateVdev creates a virtual device, as EAL's --vdev does: name is the driver's
// name and a suffix ("net_null0"), args the driver's own arguments. Its Close
// removes the device.
func CreateVdev(name, args string) (*Port, error) {
	if err := alive(); err != nil {
		return nil, fmt.Errorf("creating device %s: %w", name, err)
	}
	cname, cargs := C.CString(name), C.CString(args)
	defer C.free(unsafe.Pointer(cname))
	defer C.free(unsafe.Pointer(cargs))
	if rc := C.pmd_vdev_add(cname, cargs); rc < 0 {
		return nil, failed(int(rc), "creating device %s,%s", name, args)
	}
	p, err := FindPort(name)
	if err != nil {
		return nil, errors.Join(err, removeVdev(name))
	}
	p.adopt(nil)
	return p, nil
}

// RemoveVdev closes the port of a virtual device and removes the device.
func RemoveVdev(name string) error {
	p, err := FindPort(name)
	if err != nil {
		return fmt.Errorf("removing device %s: %w", name, err)
	}
	p.mu.Lock()
	p.vdev = true
	p.mu.Unlock()
	return p.Close()
}

func removeVdev(name string) error {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	return failed(int(C.pmd_vdev_remove(cname)), "removing device %s", name)
}

// adopt makes this package responsible for the device.
func (p *Port) adopt(release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.vdev, p.release = true, release
	p.own = own(p, "port "+p.device)
}

// NewRingPair makes two ports that are joined back to back by rings: what one
// sends the other receives. size is how many packets fit into each direction. The
// devices are called net_ring_NAME_a and net_ring_NAME_b. The rings live until
// both ports are closed; packets that are still in them then go back to their
// pools.
func NewRingPair(name string, size int) (a, b *Port, err error) {
	return NewRingPairQueues(name, 1, size)
}

// NewRingPairQueues is NewRingPair with 1 to 16 queues a port: queue n of one
// receives what queue n of the other sends.
func NewRingPairQueues(name string, queues, size int) (a, b *Port, err error) {
	if err := alive(); err != nil {
		return nil, nil, fmt.Errorf("creating ring pair %s: %w", name, err)
	}
	if queues < 1 || queues > maxRings || size < 1 || size > 1<<20 {
		return nil, nil, fmt.Errorf("creating ring pair %s: %w: %d queues of %d packets, 1 to %d and 1 to %d are possible",
			name, ErrConfig, queues, size, maxRings, 1<<20)
	}
	pair := &ringPair{open: 2}
	if err := pair.create(name, queues, size); err != nil {
		pair.free()
		return nil, nil, fmt.Errorf("creating ring pair %s: %w", name, err)
	}
	if a, err = pair.port(name+"_a", pair.rings[:queues], pair.rings[queues:]); err != nil {
		pair.free()
		return nil, nil, err
	}
	if b, err = pair.port(name+"_b", pair.rings[queues:], pair.rings[:queues]); err != nil {
		err = errors.Join(err, a.Close())
		pair.free()
		return nil, nil, err
	}
	return a, b, nil
}

// ringPair is what two ports stand on.
type ringPair struct {
	rings []*C.struct_rte_ring // first those that a receives from

	mu   sync.Mutex
	open int // ports that use the rings
}

func (r *ringPair) create(name string, queues, size int) error {
	for i := range 2 * queues {
		cname := C.CString(fmt.Sprintf("%s_%d", name, i))
		var ring *C.struct_rte_ring
		rc := C.pmd_ring_new(cname, C.uint(size), &ring)
		C.free(unsafe.Pointer(cname))
		if rc < 0 {
			return failed(int(rc), "creating ring %d", i)
		}
		r.rings = append(r.rings, ring)
	}
	return nil
}

func (r *ringPair) port(name string, rx, tx []*C.struct_rte_ring) (*Port, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	rc := C.pmd_port_from_rings(cname, &rx[0], &tx[0], C.uint(len(rx)))
	if rc < 0 {
		return nil, failed(int(rc), "creating ring port %s", name)
	}
	p, err := FindPort(fmt.Sprint(int(rc)))
	if err != nil {
		return nil, err
	}
	p.adopt(r.closed)
	return p, nil
}

// closed is called by each of the two ports.
func (r *ringPair) closed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
	if r.open == 0 {
		r.free()
	}
}

func (r *ringPair) free() {
	for _, ring := range r.rings {
		C.pmd_ring_free(ring)
	}
	r.rings = nil
}
