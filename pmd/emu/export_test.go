package emu

// For the external tests.
type (
	Probe      = probe
	ProbeConf  = probeConf
	ProbeItem  = probeItem
	ProbeRule  = probeRule
	RawSession = rawSession
)

var (
	NewProbe     = newProbe
	ProbeMark    = probeMark
	ProbeWord    = probeWord
	ProbeSetWord = probeSetWord
	ProbeHold    = probeHold
	ProbeChain   = probeChain
)

const (
	ProbeAESGCM, ProbeChaCha20, ProbeCipher, ProbeNoTransform = probeAESGCM, probeChaCha20, probeCipher, probeNoTransform
	ProbeETH, ProbeIPv4, ProbeIPv6, ProbeESP                  = probeETH, probeIPv4, probeIPv6, probeESP
	ProbeSecurity, ProbeVoid, ProbeDrop                       = probeSecurity, probeVoid, probeDrop
	ProbeSession, ProbeStructure, ProbeNothing                = probeSession, probeStructure, probeNothing
)
