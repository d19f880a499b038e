package probe

// #cgo CFLAGS: -I${SRCDIR}/../.. -std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -DALLOW_EXPERIMENTAL_API
// #cgo pkg-config: libdpdk
// #include <stdlib.h>
// #include "probe.h"
import "C"

import (
	"fmt"
	"net/netip"
	"syscall"
	"unsafe"

	"espgw/pmd"
	"espgw/pmd/emu"
)

// Transforms, items, actions and arguments of actions.
const (
	AESGCM      = C.PROBE_AES_GCM
	ChaCha20    = C.PROBE_CHACHA20
	Cipher      = C.PROBE_CIPHER
	NoTransform = C.PROBE_NO_TRANSFORM

	ETH  = C.PROBE_ETH
	IPv4 = C.PROBE_IPV4
	IPv6 = C.PROBE_IPV6
	ESP  = C.PROBE_ESP

	Security = C.PROBE_SECURITY
	Void     = C.PROBE_VOID
	Drop     = C.PROBE_DROP

	ArgSession   = C.PROBE_SESSION
	ArgStructure = C.PROBE_STRUCTURE
	ArgNothing   = C.PROBE_NOTHING
)

// Device is a port on which raw sessions and rules are made.
type Device struct {
	c    C.struct_probe_device
	pool unsafe.Pointer
}

// Conf is a session as rte_security is asked for it. Key is what the key's pointer
// points to; the first KeyLen octets are the key.
type Conf struct {
	Protocol, Tunnel, AH, Egress, ESN, UDP bool

	Transform, KeyLen, ICVLen int
	SPI, Window               uint32
	Sequence, UserData        uint64
	Salt, Key                 []byte
}

// Item is an item of a rule's pattern; its spec is missing without a Dst.
type Item struct {
	Type int
	Dst  netip.Addr
}

// Rule is a rule; END follows Items and Actions.
type Rule struct {
	Items    []Item
	Actions  []int
	Argument int
}

// Session is a session made by a probe.
type Session struct {
	device *Device
	c      *C.struct_probe_session
}

// Flow is a rule made by a probe.
type Flow struct {
	device *Device
	c      unsafe.Pointer
}

// New is for a configured port, whose driver has a security context or which nic is in
// front of (nil: none). Up to sessions sessions can be made; those that a driver does
// not give back count for ever. name is that of their pool, unique in the process.
func New(port *pmd.Port, nic *emu.NIC, name string, sessions int) (*Device, error) {
	d := &Device{c: C.struct_probe_device{port: C.uint16_t(port.ID())}}
	if nic != nil {
		d.c.standin, d.c.validate = nic.Raw()
	}
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	if d.pool = C.probe_pool(&d.c, c, C.uint(sessions)); d.pool == nil {
		return nil, fmt.Errorf("making a pool of %d raw sessions of port %s: %w", sessions, port, syscall.ENOMEM)
	}
	return d, nil
}

// Close frees the pool; the port must have been closed.
func (d *Device) Close() { C.probe_pool_free(d.pool) }

// Open is rte_security_session_create; nil where it is refused.
func (d *Device) Open(conf Conf) *Session {
	c := C.struct_probe_conf{
		protocol: C.bool(conf.Protocol), tunnel: C.bool(conf.Tunnel), ah: C.bool(conf.AH),
		egress: C.bool(conf.Egress), esn: C.bool(conf.ESN), udp: C.bool(conf.UDP),
		transform: C.uint8_t(conf.Transform), key_len: C.uint16_t(conf.KeyLen), icv_len: C.uint16_t(conf.ICVLen),
		spi: C.uint32_t(conf.SPI), window: C.uint32_t(conf.Window),
		sequence: C.uint64_t(conf.Sequence), user_data: C.uint64_t(conf.UserData),
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&c.salt)), len(c.salt)), conf.Salt)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&c.key)), len(c.key)), conf.Key)
	s := C.probe_open(&d.c, d.pool, &c)
	if s == nil {
		return nil
	}
	return &Session{d, s}
}

// Key is the memory that the session's key is in.
func (s *Session) Key() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(C.probe_key(s.c))), C.PROBE_KEY)
}

// Close is rte_security_session_destroy; it may be called again, to see what happens.
func (s *Session) Close() error { return probeError(C.probe_close(s.c)) }

// Forget frees what Close leaves; the port must have been closed.
func (s *Session) Forget() { C.probe_forget(s.c) }

// Metadata is rte_security_set_pkt_metadata.
func (s *Session) Metadata(m *pmd.Mbuf, sequence uint64) error {
	return probeError(C.probe_metadata(s.c, unsafe.Pointer(m), C.uint64_t(sequence)))
}

// Flow is rte_flow_create.
func (s *Session) Flow(rule Rule) (*Flow, error) {
	var rc C.int
	c := rule.c()
	flow := C.probe_flow(&s.device.c, s.c, &c, &rc)
	if flow == nil {
		return nil, probeError(rc)
	}
	return &Flow{s.device, flow}, nil
}

// Validate is rte_flow_validate.
func (s *Session) Validate(rule Rule) error {
	c := rule.c()
	return probeError(C.probe_validate(&s.device.c, s.c, &c))
}

// Destroy is rte_flow_destroy.
func (f *Flow) Destroy() error { return probeError(C.probe_flow_destroy(&f.device.c, f.c)) }

func (rule *Rule) c() C.struct_probe_rule {
	c := C.struct_probe_rule{
		item_count: C.int(len(rule.Items)), action_count: C.int(len(rule.Actions)), argument: C.int(rule.Argument),
	}
	for i, item := range rule.Items {
		c.items[i]._type, c.items[i].spec = C.uint8_t(item.Type), C.bool(item.Dst.IsValid())
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&c.items[i].dst)), len(c.items[i].dst)), item.Dst.AsSlice())
	}
	for i, action := range rule.Actions {
		c.actions[i] = C.uint8_t(action)
	}
	return c
}

// Mark sets offload flags and header lengths of a packet.
func Mark(m *pmd.Mbuf, flags uint64, l2, l3 int) {
	C.probe_mark(unsafe.Pointer(m), C.uint64_t(flags), C.uint32_t(l2), C.uint32_t(l3))
}

// Word is a packet's metadata word, SetWord sets it.
func Word(m *pmd.Mbuf) uint64 { return uint64(C.probe_word(unsafe.Pointer(m))) }

func SetWord(m *pmd.Mbuf, word uint64) {
	C.probe_set_word(unsafe.Pointer(m), C.uint64_t(word))
}

// Hold makes the caller another user of a packet, who frees it, too.
func Hold(m *pmd.Mbuf) { C.probe_hold(unsafe.Pointer(m)) }

// Chain puts tail behind head, as one packet.
func Chain(head, tail *pmd.Mbuf) error {
	return probeError(C.probe_chain(unsafe.Pointer(head), unsafe.Pointer(tail)))
}

func probeError(rc C.int) error {
	if rc < 0 {
		return syscall.Errno(-rc)
	}
	return nil
}
