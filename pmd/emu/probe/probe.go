package emu

// #include <stdlib.h>
// #include "probe.h"
import "C"

import (
	"net/netip"
	"syscall"
	"unsafe"

	"espgw/pmd"
)

// What follows helps this package's tests, which cannot use cgo: probe.h says what.
// export_test.go gives it to them; nothing else uses it.

// Transforms, items, actions and arguments of actions.
const (
	probeAESGCM      = C.EMU_PROBE_AES_GCM
	probeChaCha20    = C.EMU_PROBE_CHACHA20
	probeCipher      = C.EMU_PROBE_CIPHER
	probeNoTransform = C.EMU_PROBE_NO_TRANSFORM

	probeETH  = C.EMU_PROBE_ETH
	probeIPv4 = C.EMU_PROBE_IPV4
	probeIPv6 = C.EMU_PROBE_IPV6
	probeESP  = C.EMU_PROBE_ESP

	probeSecurity = C.EMU_PROBE_SECURITY
	probeVoid     = C.EMU_PROBE_VOID
	probeDrop     = C.EMU_PROBE_DROP

	probeSession   = C.EMU_PROBE_SESSION
	probeStructure = C.EMU_PROBE_STRUCTURE
	probeNothing   = C.EMU_PROBE_NOTHING
)

// probe makes raw sessions and rules on a NIC.
type probe struct {
	nic  *NIC
	pool unsafe.Pointer
}

// probeConf is a session as rte_security is asked for it. Key is what the key's pointer
// points to; the first KeyLen octets are the key.
type probeConf struct {
	Protocol, Tunnel, AH, Egress, ESN, UDP bool

	Transform, KeyLen, ICVLen int
	SPI, Window               uint32
	Sequence, UserData        uint64
	Salt, Key                 []byte
}

// probeItem is an item of a rule's pattern; its spec is missing without a Dst.
type probeItem struct {
	Type int
	Dst  netip.Addr
}

// probeRule is a rule; END follows Items and Actions.
type probeRule struct {
	Items    []probeItem
	Actions  []int
	Argument int
}

// rawSession is a session made by a probe.
type rawSession struct {
	nic *NIC
	c   *C.struct_emu_probe_session
}

// rawFlow is a rule made by a probe.
type rawFlow struct {
	nic *NIC
	c   unsafe.Pointer
}

// newProbe makes a probe; name is that of its pool of sessions, unique in the process.
func newProbe(n *NIC, name string) *probe {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return &probe{nic: n, pool: C.emu_probe_pool(n.c, c)}
}

// Close frees the pool; the NIC must have been closed.
func (p *probe) Close() { C.emu_probe_pool_free(p.pool) }

// Open is rte_security_session_create; nil where it is refused.
func (p *probe) Open(conf probeConf) *rawSession {
	c := C.struct_emu_probe_conf{
		protocol: C.bool(conf.Protocol), tunnel: C.bool(conf.Tunnel), ah: C.bool(conf.AH),
		egress: C.bool(conf.Egress), esn: C.bool(conf.ESN), udp: C.bool(conf.UDP),
		transform: C.uint8_t(conf.Transform), key_len: C.uint16_t(conf.KeyLen), icv_len: C.uint16_t(conf.ICVLen),
		spi: C.uint32_t(conf.SPI), window: C.uint32_t(conf.Window),
		sequence: C.uint64_t(conf.Sequence), user_data: C.uint64_t(conf.UserData),
	}
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&c.salt)), len(c.salt)), conf.Salt)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&c.key)), len(c.key)), conf.Key)
	s := C.emu_probe_open(p.nic.c, p.pool, &c)
	if s == nil {
		return nil
	}
	return &rawSession{p.nic, s}
}

// Key is the memory that the session's key is in.
func (s *rawSession) Key() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(C.emu_probe_key(s.c))), C.EMU_PROBE_KEY)
}

// Close is rte_security_session_destroy; it may be called again, to see what happens.
func (s *rawSession) Close() error { return probeError(C.emu_probe_close(s.c)) }

// Forget frees what Close leaves; the NIC must have been closed.
func (s *rawSession) Forget() { C.emu_probe_forget(s.c) }

// Metadata is rte_security_set_pkt_metadata.
func (s *rawSession) Metadata(m *pmd.Mbuf, sequence uint64) error {
	return probeError(C.emu_probe_metadata(s.c, unsafe.Pointer(m), C.uint64_t(sequence)))
}

// Flow is rte_flow_create.
func (s *rawSession) Flow(rule probeRule) (*rawFlow, error) {
	var rc C.int
	c := rule.c()
	flow := C.emu_probe_flow(s.nic.c, s.c, &c, &rc)
	if flow == nil {
		return nil, probeError(rc)
	}
	return &rawFlow{s.nic, flow}, nil
}

// Validate is rte_flow_validate.
func (s *rawSession) Validate(rule probeRule) error {
	c := rule.c()
	return probeError(C.emu_probe_validate(s.nic.c, s.c, &c))
}

// Destroy is rte_flow_destroy.
func (f *rawFlow) Destroy() error { return probeError(C.emu_probe_flow_destroy(f.nic.c, f.c)) }

func (rule *probeRule) c() C.struct_emu_probe_rule {
	c := C.struct_emu_probe_rule{
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

// probeMark sets offload flags and header lengths of a packet.
func probeMark(m *pmd.Mbuf, flags uint64, l2, l3 int) {
	C.emu_probe_mark(unsafe.Pointer(m), C.uint64_t(flags), C.uint32_t(l2), C.uint32_t(l3))
}

// probeWord is a packet's metadata word, probeSetWord sets it.
func probeWord(m *pmd.Mbuf) uint64 { return uint64(C.emu_probe_word(unsafe.Pointer(m))) }

func probeSetWord(m *pmd.Mbuf, word uint64) {
	C.emu_probe_set_word(unsafe.Pointer(m), C.uint64_t(word))
}

// probeHold makes the caller another user of a packet, who frees it, too.
func probeHold(m *pmd.Mbuf) { C.emu_probe_hold(unsafe.Pointer(m)) }

// probeChain puts tail behind head, as one packet.
func probeChain(head, tail *pmd.Mbuf) error {
	return probeError(C.emu_probe_chain(unsafe.Pointer(head), unsafe.Pointer(tail)))
}

func probeError(rc C.int) error {
	if rc < 0 {
		return syscall.Errno(-rc)
	}
	return nil
}
