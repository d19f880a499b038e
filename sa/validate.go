package sa

import (
	"fmt"
	"math/bits"
	"net/netip"
)

// Validate reports what is wrong with the settings of one SA by themselves. The
// error wraps ErrInvalid, ErrUnsupported, ErrKeyLength or ErrICVLength, and
// never holds the key.
func (p *Params) Validate() error {
	switch {
	case p.Proto != ProtoESP:
		return fmt.Errorf("protocol %d: %w: ESP (50) is the only IPsec protocol", p.Proto, ErrUnsupported)
	case p.SPI == 0:
		return fmt.Errorf("SPI 0: %w: it is reserved for local use (RFC 4303, 2.1)", ErrInvalid)
	case p.Mode != ModeTransport:
		return fmt.Errorf("mode %v: %w: transport is the only mode", p.Mode, ErrUnsupported)
	}
	if err := p.validateAddrs(); err != nil {
		return err
	}
	if err := p.validateCipher(); err != nil {
		return err
	}
	return p.validateReplay()
}

func (p *Params) validateAddrs() error {
	for _, a := range []netip.Addr{p.Src, p.Dst} {
		if !a.IsValid() || a.IsUnspecified() || a.Zone() != "" {
			return fmt.Errorf("address %v: %w: an SA has a source and a destination", a, ErrInvalid)
		}
	}
	if p.Src.Is4() != p.Dst.Is4() {
		return fmt.Errorf("source %v and destination %v: %w: of two families", p.Src, p.Dst, ErrInvalid)
	}
	if p.Sel != nil {
		if err := p.Sel.Validate(); err != nil {
			return fmt.Errorf("selector: %w", err)
		}
		if p.Sel.Src.Addr().Is4() != p.Src.Is4() {
			return fmt.Errorf("selector: %w: not of the SA's family", ErrInvalid)
		}
	}
	if e := p.Encap; e != nil && (e.SrcPort == 0 || e.DstPort == 0) {
		return fmt.Errorf("encap ports %d and %d: %w: 0 is no port", e.SrcPort, e.DstPort, ErrInvalid)
	}
	return nil
}

// Validate reports whether the selector has two prefixes of one family.
func (s *Selector) Validate() error {
	if !s.Src.IsValid() || !s.Dst.IsValid() {
		return fmt.Errorf("prefixes %v and %v: %w", s.Src, s.Dst, ErrInvalid)
	}
	if s.Src.Addr().Is4() != s.Dst.Addr().Is4() {
		return fmt.Errorf("prefixes %v and %v: %w: of two families", s.Src, s.Dst, ErrInvalid)
	}
	return nil
}

func (p *Params) validateCipher() error {
	n := p.Key.Len()
	switch p.Algorithm {
	case AlgAESGCM:
		switch n - SaltLen {
		case 16, 24, 32:
		default:
			return keyLengthError(p.Algorithm, n, "16, 24 or 32", n == 16 || n == 24 || n == 32)
		}
		if p.ICVBits != 64 && p.ICVBits != 96 && p.ICVBits != 128 {
			return fmt.Errorf("ICV of %d bits: %w: %v has 64, 96 or 128", p.ICVBits, ErrICVLength, p.Algorithm)
		}
	case AlgChaCha20Poly1305:
		if n != 32+SaltLen {
			return keyLengthError(p.Algorithm, n, "32", n == 32)
		}
		if p.ICVBits != 128 {
			return fmt.Errorf("ICV of %d bits: %w: %v has 128", p.ICVBits, ErrICVLength, p.Algorithm)
		}
	default:
		return fmt.Errorf("algorithm %v: %w", p.Algorithm, ErrUnsupported)
	}
	return nil
}

func keyLengthError(a Algorithm, n int, want string, noSalt bool) error {
	if noSalt {
		return fmt.Errorf("key of %d octets: %w: the salt is missing: %v takes a key of %s octets and 4 octets of salt behind it",
			n, ErrKeyLength, a, want)
	}
	return fmt.Errorf("key of %d octets: %w: %v takes a key of %s octets and 4 octets of salt behind it",
		n, ErrKeyLength, a, want)
}

func (p *Params) validateReplay() error {
	dir, err := p.explicitDir()
	if err != nil {
		return err
	}
	esn := p.Flags&FlagESN != 0
	width, last := uint64(maxSequence), uint64(maxSequence)
	if esn {
		width, last = ^uint64(0), maxSequenceESN
	}
	switch {
	case p.ReplayWindow > MaxWindow:
		return fmt.Errorf("replay window %d: %w: %d is the largest", p.ReplayWindow, ErrInvalid, MaxWindow)
	case esn && dir == DirIn && p.ReplayWindowSet && p.ReplayWindow == 0:
		return errESNWindow
	case p.ReplaySeq > width:
		return fmt.Errorf("replay-seq %d: %w: sequence numbers have %d bits without flag esn", p.ReplaySeq, ErrInvalid, bits.Len64(width))
	case p.ReplayOSeq > last:
		return fmt.Errorf("replay-oseq %d: %w: the last sequence number is %d", p.ReplayOSeq, ErrInvalid, last)
	}
	return nil
}

// errESNWindow: without a window the high half of a sequence number cannot be
// inferred (RFC 4303, appendix A2).
var errESNWindow = fmt.Errorf("flag esn with replay-window 0: %w: an inbound SA with ESN needs a window", ErrInvalid)

// explicitDir is the direction that the settings name, DirNone if they do not.
func (p *Params) explicitDir() (Direction, error) {
	dir := p.Dir
	if dir > DirOut {
		return DirNone, fmt.Errorf("direction %v: %w: an SA is in or out", dir, ErrInvalid)
	}
	if p.Offload == nil {
		return dir, nil
	}
	o := p.Offload.Dir
	if o != DirIn && o != DirOut {
		return DirNone, fmt.Errorf("offload direction %v: %w: it is in or out", o, ErrInvalid)
	}
	if dir != DirNone && dir != o {
		return DirNone, fmt.Errorf("dir %v and offload dir %v: %w: they contradict each other", dir, o, ErrInvalid)
	}
	return o, nil
}

// Validate reports what is wrong with the settings of one policy by themselves.
// The error wraps ErrInvalid or ErrUnsupported.
func (p *Policy) Validate() error {
	if p.Dir != DirIn && p.Dir != DirOut && p.Dir != DirForward {
		return fmt.Errorf("direction %v: %w: a policy is in, out or fwd", p.Dir, ErrInvalid)
	}
	if err := p.Sel.Validate(); err != nil {
		return fmt.Errorf("selector: %w", err)
	}
	if p.Action > ActionBlock {
		return fmt.Errorf("action %d: %w", p.Action, ErrInvalid)
	}
	if p.Index != 0 && p.Index&7 != indexBits(p.Dir) {
		return fmt.Errorf("index %d: %w: it is not one of direction %v", p.Index, ErrInvalid, p.Dir)
	}
	if len(p.Templates) > 1 {
		return fmt.Errorf("%d templates: %w: ESP in ESP", len(p.Templates), ErrUnsupported)
	}
	for i := range p.Templates {
		if err := p.Templates[i].validate(p.Sel.Src.Addr().Is4()); err != nil {
			return fmt.Errorf("template: %w", err)
		}
	}
	return nil
}

func (t *Template) validate(v4 bool) error {
	switch {
	case t.Proto != ProtoESP:
		return fmt.Errorf("protocol %d: %w: ESP (50) is the only IPsec protocol", t.Proto, ErrUnsupported)
	case t.Mode != ModeTransport:
		return fmt.Errorf("mode %v: %w: transport is the only mode", t.Mode, ErrUnsupported)
	case t.Level > LevelUse:
		return fmt.Errorf("level %d: %w", t.Level, ErrInvalid)
	}
	for _, a := range []netip.Addr{t.Src, t.Dst} {
		if a.IsValid() && !a.IsUnspecified() && a.Is4() != v4 {
			return fmt.Errorf("address %v: %w: not of the selector's family", a, ErrInvalid)
		}
	}
	return nil
}

// indexBits is the direction in the low 3 bits of a policy index (linux/xfrm.h).
func indexBits(d Direction) uint32 {
	switch d {
	case DirOut:
		return 1
	case DirForward:
		return 2
	}
	return 0
}
