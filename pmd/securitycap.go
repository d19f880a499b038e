package pmd

// #include "security.h"
import "C"

import "unsafe"

// SecurityAction is how much of IPsec a device does (enum
// rte_security_session_action_type, rte_security.h).
type SecurityAction uint8

// The actions of ports.
const (
	ActionOther SecurityAction = C.PMD_SEC_OTHER
	// InlineCrypto: the caller makes the whole ESP packet; the device encrypts and
	// authenticates it as it is sent, and verifies and decrypts in place what it
	// receives.
	InlineCrypto SecurityAction = C.PMD_SEC_INLINE_CRYPTO
	// InlineProtocol: the device does all of ESP; packets come and go without it.
	InlineProtocol SecurityAction = C.PMD_SEC_INLINE_PROTOCOL
)

// String names the action.
func (a SecurityAction) String() string {
	switch a {
	case InlineCrypto:
		return "inline crypto"
	case InlineProtocol:
		return "inline protocol"
	}
	return "other"
}

// AEAD is an algorithm of authenticated encryption (enum
// rte_crypto_aead_algorithm, rte_crypto_sym.h).
type AEAD uint8

// The algorithms.
const (
	AEADOther            AEAD = C.PMD_AEAD_OTHER
	AEADAESGCM           AEAD = C.PMD_AEAD_AES_GCM
	AEADChaCha20Poly1305 AEAD = C.PMD_AEAD_CHACHA20_POLY1305
)

// String names the algorithm.
func (a AEAD) String() string {
	switch a {
	case AEADAESGCM:
		return "AES-GCM"
	case AEADChaCha20Poly1305:
		return "ChaCha20-Poly1305"
	}
	return "other"
}

// SizeRange is a range of sizes in octets, Min to Max in steps of Step (struct
// rte_crypto_param_range). Step is 0 where there is one size.
type SizeRange struct{ Min, Max, Step int }

// Has says whether n is one of the sizes.
func (r SizeRange) Has(n int) bool {
	return n >= r.Min && n <= r.Max && (r.Step <= 0 || (n-r.Min)%r.Step == 0)
}

// AEADCapability is what a device can do with one algorithm; sizes in octets.
type AEADCapability struct {
	Algorithm         AEAD
	Key, ICV, AAD, IV SizeRange
}

// SecurityCapability is one entry of a device's list (struct
// rte_security_capability). The list does not tell everything: not how many SAs
// there may be, nor what a driver gets wrong.
type SecurityCapability struct {
	Action    SecurityAction
	ESP       bool // the protocol is IPsec with ESP
	Transport bool // else tunnel mode
	Egress    bool // else ingress
	ESN       bool
	UDPEncap  bool
	Stats     bool   // counters of each session
	Metadata  bool   // what is sent needs rte_security_set_pkt_metadata
	ReplayMax uint32 // largest anti-replay window of the device, in packets; 0: none
	AEADs     []AEADCapability
}

// maxCapabilities bounds the list; drivers have at most a few dozen.
const maxCapabilities = 128

func readCapabilities(ctx unsafe.Pointer) []SecurityCapability {
	list := make([]C.struct_pmd_sec_cap, maxCapabilities)
	n := min(int(C.pmd_sec_caps(ctx, &list[0], maxCapabilities)), maxCapabilities)
	caps := make([]SecurityCapability, 0, n)
	for _, c := range list[:n] {
		capability := SecurityCapability{
			Action: SecurityAction(c.action), ESP: c.esp != 0, Transport: c.transport != 0, Egress: c.egress != 0,
			ESN: c.esn != 0, UDPEncap: c.udp_encap != 0, Stats: c.stats != 0, Metadata: c.metadata != 0,
			ReplayMax: uint32(c.replay_max),
		}
		for _, a := range c.aeads[:c.aead_count] {
			capability.AEADs = append(capability.AEADs, AEADCapability{
				Algorithm: AEAD(a.algorithm),
				Key:       sizeRange(a.key), ICV: sizeRange(a.icv), AAD: sizeRange(a.aad), IV: sizeRange(a.iv),
			})
		}
		caps = append(caps, capability)
	}
	return caps
}

func sizeRange(r C.struct_pmd_sec_range) SizeRange {
	return SizeRange{int(r.min), int(r.max), int(r.step)}
}
