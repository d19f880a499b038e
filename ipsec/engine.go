package ipsec

import (
	"espgw/ipsec/esp"
	"espgw/sa"
)

// job is one packet on its way through an engine. Its buffer is borrowed from
// the mbuf until the turn ends.
type job struct {
	session *session
	buf     []byte // whole room of the mbuf
	offsets esp.Offsets
	seq     uint64 // 64 bits, also without ESN
	err     error  // set by the engine; nil: sealed, or opened with a good ICV
}

// engine is one way to encrypt. An engine does cryptography only: framing,
// sequence numbers and windows are the same for all of them. An engine has
// state of one worker and is used by that worker alone.
type engine interface {
	// seal encrypts each job in place and writes its ICV; a job that could not
	// be sealed has err set and its buffer is undefined.
	seal(jobs []job)
	// open verifies each job's ICV and decrypts it in place; err is
	// esp.ErrAuth where the ICV is wrong.
	open(jobs []job)
}

// session is an SA on an engine, made before the SA is in a table and closed
// after every worker has passed a quiet point.
type session struct {
	sa        *sa.SA
	transform esp.Transform
	aead      *esp.AEAD // nil once the SA has expired
	// ownMask is the IV constant that this gateway would use in the other
	// direction with the same key and SPI.
	ownMask uint64
	errors  *reasonCounts
	pathMTU *pathMTU
	place   *place
}

// reflected says whether an inbound packet is one that this gateway itself sent
// under the same key and SPI the other way, now or before a restart, and that an
// attacker has turned round by exchanging its addresses, which no ICV covers. Its
// IV gives it away: sequence number XOR our own constant. A peer's IV differs
// from that in the high bits; two SAs of one key with like constants are refused.
func (s *session) reflected(iv uint64, seqLow uint32) bool {
	seq := iv ^ s.ownMask
	if s.transform.ESN {
		return seq>>48 == 0 && uint32(seq) == seqLow
	}
	return seq == uint64(seqLow)
}

// withoutKey is the session of an SA that carries no more packets.
func (s *session) withoutKey() *session {
	stripped := *s
	stripped.aead = nil
	return &stripped
}
