package pmd

// #include <stdlib.h>
// #include "security.h"
import "C"

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Security is the inline IPsec of a port: its security context (rte_security.h).
// Its methods may be called from any goroutine; calls are made one at a time,
// because drivers do not lock their tables.
//
// Sessions are made after the port was started and are closed before it is
// stopped: a start empties the tables of some devices, and a reset or close frees
// the context. Until then the packets that were marked for a session must have
// been sent.
type Security struct {
	port     *Port
	caps     []SecurityCapability
	capacity int

	mu       sync.Mutex
	ctx      unsafe.Pointer
	pool     *C.struct_rte_mempool
	sessions map[*SecuritySession]struct{}
	lost     int // session objects that the driver did not give back
}

// Security opens the port's security context for up to sessions sessions at a
// time. The error is ErrNotSupported when the port has none. Opened again, it is
// the same.
func (p *Port) Security(sessions int) (*Security, error) {
	p.life.RLock()
	defer p.life.RUnlock()
	if err := p.usable(); err != nil {
		return nil, fmt.Errorf("opening the security context of port %s: %w", p, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.security != nil {
		return p.security, nil
	}
	if p.secCtx == nil {
		return nil, fmt.Errorf("opening the security context of port %s: %w: it is not configured", p, ErrConfig)
	}
	ctx := C.pmd_sec_ctx(C.uint16_t(p.id), p.standIn)
	if ctx == nil {
		return nil, fmt.Errorf("opening the security context of port %s: %w: its driver has none", p, ErrNotSupported)
	}
	s := &Security{
		port: p, ctx: ctx, capacity: sessions, caps: readCapabilities(ctx),
		sessions: map[*SecuritySession]struct{}{},
	}
	if err := s.newPool(); err != nil {
		return nil, fmt.Errorf("opening the security context of port %s: %w", p, err)
	}
	p.security = s
	*p.secCtx = ctx
	return s, nil
}

// poolSpare is how many session objects there are beside those that callers may
// have: some drivers keep the memory of a session whose removal failed.
const poolSpare = 64

// contexts numbers security contexts, for the names of their pools.
var contexts atomic.Int64

func (s *Security) newPool() error {
	name := C.CString(fmt.Sprintf("sec-%d-%d", s.port.id, contexts.Add(1)))
	defer C.free(unsafe.Pointer(name))
	return failed(int(C.pmd_sec_pool_new(name, C.uint(s.capacity+poolSpare), &s.pool, s.ctx)),
		"making a pool of %d sessions", s.capacity+poolSpare)
}

// Capabilities are what the device says that it can do.
func (s *Security) Capabilities() []SecurityCapability { return s.caps }

// ContextFlags are the context's flags (RTE_SEC_CTX_F_, rte_security.h).
func (s *Security) ContextFlags() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil {
		return 0
	}
	return uint64(C.pmd_sec_ctx_flags(s.ctx))
}

// Sessions is how many are open, and Lost how many session objects the driver did
// not give back when they were closed.
func (s *Security) Sessions() (open, lost int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions), s.lost
}

// renew takes the context anew after a reset, which frees it.
func (s *Security) renew() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = C.pmd_sec_ctx(C.uint16_t(s.port.id), s.port.standIn)
	*s.port.secCtx = s.ctx
	if s.ctx == nil {
		return fmt.Errorf("%w: no security context after the reset", ErrNotSupported)
	}
	return nil
}

// close closes what is open; the port is about to be closed.
func (s *Security) close() error {
	s.mu.Lock()
	open := slices.Collect(maps.Keys(s.sessions))
	s.mu.Unlock()
	var errs []error
	for _, session := range open {
		errs = append(errs, session.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pool != nil && alive() == nil {
		C.pmd_sec_pool_free(s.pool)
	}
	s.pool, s.ctx = nil, nil
	return errors.Join(errs...)
}

func (p *Port) openSecurity() *Security {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.security
}

// closeSecurity is the first step of Close.
func (p *Port) closeSecurity() error {
	s := p.openSecurity()
	if s == nil {
		return nil
	}
	return s.close()
}
