package ipsec

import (
	"fmt"

	"espgw/ipsec/esp"
	"espgw/sa"
)

// EngineGo is the name of the engine that works with Go's AES-GCM and
// ChaCha20-Poly1305.
const EngineGo = "go"

// maxPacket is the largest IP packet, which bounds an engine's scratch memory.
const maxPacket = 1 << 16

// goEngine seals and opens at once, on the worker's own CPU.
type goEngine struct{ scratch *esp.Scratch }

func newGoEngine() *goEngine { return &goEngine{esp.NewScratch(maxPacket)} }

func (e *goEngine) seal(jobs []job) {
	for i := range jobs {
		j := &jobs[i]
		j.err = j.session.aead.Seal(e.scratch, j.buf, j.offsets, j.seq, j.session.transform.ESN)
	}
}

func (e *goEngine) open(jobs []job) {
	for i := range jobs {
		j := &jobs[i]
		j.err = j.session.aead.Open(e.scratch, j.buf, j.offsets, j.seq, j.session.transform.ESN)
	}
}

// openSession makes the session of an SA on the Go engine.
func openSession(state *sa.SA) (*session, error) {
	p := state.Params()
	s := &session{
		sa: state,
		transform: esp.Transform{
			SPI:    p.SPI,
			ICVLen: p.ICVBits / 8,
			ESN:    p.Flags&sa.FlagESN != 0,
			IVMask: state.IVMask(),
		},
		errors: new(reasonCounts),
		place:  newPlace("no hardware asked for"),
	}
	turned := *p
	turned.Src, turned.Dst = p.Dst, p.Src
	s.ownMask = sa.IVMask(&turned)
	if p.Encap != nil {
		s.transform.Encap = true
		s.transform.EncapSrc, s.transform.EncapDst = p.Encap.SrcPort, p.Encap.DstPort
	}
	s.pathMTU = newPathMTU(state, &s.transform)
	var err error
	switch p.Algorithm {
	case sa.AlgAESGCM:
		s.aead, err = esp.NewAESGCM(p.Key.Cipher(), p.Key.Salt(), s.transform.ICVLen)
	case sa.AlgChaCha20Poly1305:
		s.aead, err = esp.NewChaCha20Poly1305(p.Key.Cipher(), p.Key.Salt())
	default:
		err = fmt.Errorf("algorithm %d is not known", p.Algorithm)
	}
	if err != nil {
		return nil, fmt.Errorf("open a session of SPI 0x%08x on the Go engine: %w", p.SPI, err)
	}
	return s, nil
}
