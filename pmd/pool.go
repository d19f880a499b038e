package pmd

// #include <stdlib.h>
// #include "pmd.h"
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// SocketAny is the NUMA node number that means any node.
const SocketAny = -1

// Headroom is the free space in front of a received packet in octets
// (RTE_PKTMBUF_HEADROOM in Debian's build).
const Headroom = 128

// Limits and defaults of a pool.
const (
	DefaultMbufs    = 8191
	DefaultCache    = 256
	DefaultDataRoom = 2048
	maxCache        = 512 // RTE_MEMPOOL_CACHE_MAX_SIZE
	maxDataRoom     = 65535 - Headroom
)

// PoolConfig is how a pool of packet buffers is made; zeros are defaults.
type PoolConfig struct {
	// Name is unique in the process, 1 to 25 characters.
	Name string
	// Mbufs is the number of buffers; 2^n-1 wastes no memory. Default 8191.
	Mbufs int
	// Cache is the number of buffers that an lcore keeps for itself, at most 512
	// and Mbufs/1.5; 0 takes 256 or what Mbufs allows, negative means none.
	Cache int
	// DataRoom is the space for a frame in octets, behind the headroom: the largest
	// frame and what is to be appended to it. Default 2048, at most 65407.
	DataRoom int
	// Socket is the NUMA node of the memory, or SocketAny.
	Socket int
}

// Pool is a mempool of packet buffers (rte_pktmbuf_pool).
type Pool struct {
	cfg PoolConfig
	id  uint64

	mu sync.Mutex
	c  *C.struct_rte_mempool // nil: closed
}

// NewPool makes a pool. Errors: ErrConfig for settings out of range, Errno
// ENOMEM when the NUMA node has not enough memory, EEXIST when the name is taken.
func NewPool(cfg PoolConfig) (*Pool, error) {
	if err := alive(); err != nil {
		return nil, fmt.Errorf("creating a pool: %w", err)
	}
	cfg.defaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("creating pool %q: %w", cfg.Name, err)
	}
	name := C.CString(cfg.Name)
	defer C.free(unsafe.Pointer(name))
	var c *C.struct_rte_mempool
	rc := C.pmd_pool_new(name, C.uint(cfg.Mbufs), C.uint(cfg.Cache),
		C.uint16_t(cfg.DataRoom+Headroom), C.int(cfg.Socket), &c)
	if rc < 0 {
		return nil, failed(int(rc), "creating pool %q of %d buffers with %d octets each (%d MiB) on %s",
			cfg.Name, cfg.Mbufs, cfg.DataRoom, cfg.bytes()>>20, socketName(cfg.Socket))
	}
	p := &Pool{cfg: cfg, c: c}
	p.id = own(p, "pool "+cfg.Name)
	return p, nil
}

func (cfg *PoolConfig) defaults() {
	if cfg.Mbufs == 0 {
		cfg.Mbufs = DefaultMbufs
	}
	if cfg.Cache == 0 {
		cfg.Cache = min(DefaultCache, cfg.Mbufs*2/3)
	}
	cfg.Cache = max(cfg.Cache, 0)
	if cfg.DataRoom == 0 {
		cfg.DataRoom = DefaultDataRoom
	}
}

func (cfg *PoolConfig) check() error {
	switch {
	case cfg.Name == "" || len(cfg.Name) > 25:
		return fmt.Errorf("%w: a name has 1 to 25 characters", ErrConfig)
	case cfg.Mbufs < 1 || cfg.Mbufs > 1<<30:
		return fmt.Errorf("%w: %d buffers, 1 to %d are possible", ErrConfig, cfg.Mbufs, 1<<30)
	case cfg.Cache > min(maxCache, cfg.Mbufs*2/3):
		return fmt.Errorf("%w: cache of %d, at most %d are possible", ErrConfig, cfg.Cache, min(maxCache, cfg.Mbufs*2/3))
	case cfg.DataRoom < 64 || cfg.DataRoom > maxDataRoom:
		return fmt.Errorf("%w: data room of %d octets, 64 to %d are possible", ErrConfig, cfg.DataRoom, maxDataRoom)
	}
	return nil
}

// bytes is about what the pool takes.
func (cfg *PoolConfig) bytes() int { return cfg.Mbufs * (cfg.DataRoom + Headroom + 128 + 64) }

func socketName(socket int) string {
	if socket < 0 {
		return "any NUMA node"
	}
	return fmt.Sprintf("NUMA node %d", socket)
}

// Name is the pool's name.
func (p *Pool) Name() string { return p.cfg.Name }

// Mbufs is the number of buffers in it.
func (p *Pool) Mbufs() int { return p.cfg.Mbufs }

// DataRoom is the space for a frame in octets.
func (p *Pool) DataRoom() int { return p.cfg.DataRoom }

// InUse is how many buffers are out: with drivers, in lanes, in rings. It is
// exact only while no lcore moves packets. 0 after Close.
func (p *Pool) InUse() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.c == nil || alive() != nil {
		return 0
	}
	return int(C.pmd_pool_in_use(p.c))
}

// Alloc takes one buffer as an empty packet that begins behind the headroom; nil
// when there is none. One crossing into C: not for the packet path of many.
func (p *Pool) Alloc() *Mbuf {
	if p.c == nil || !ealRunning.Load() {
		return nil
	}
	return (*Mbuf)(unsafe.Pointer(C.pmd_mbuf_alloc(p.c)))
}

// Close frees the pool. While buffers are out it fails with ErrPoolInUse and may
// be called again: close lanes and ports first.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.c == nil {
		return nil
	}
	if alive() == nil {
		if n := int(C.pmd_pool_in_use(p.c)); n > 0 {
			return fmt.Errorf("closing pool %q: %w: %d of %d", p.cfg.Name, ErrPoolInUse, n, p.cfg.Mbufs)
		}
		C.pmd_pool_free(p.c)
	}
	p.c = nil
	disown(p.id)
	return nil
}
