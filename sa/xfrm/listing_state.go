package xfrm

import (
	"strings"

	"espgw/sa"
)

// listedState gathers one state of a listing.
type listedState struct {
	lines *listingParser
	v     *StateView
	p     *sa.Params
}

// stateLines reads the lines of a state by their first word. Those that are not
// here are refused.
var stateLines map[string]func(*listedState, *words) error

func init() { // not a literal: the functions refer to the table
	stateLines = map[string]func(*listedState, *words) error{
		"proto":         (*listedState).identity,
		"replay-window": (*listedState).flags,
		"aead":          (*listedState).aead,
		"encap":         (*listedState).encap,
		"lastused":      (*listedState).lastUsed,
		"anti-replay":   (*listedState).replay,
		"crypto":        (*listedState).offload,
		"dir":           (*listedState).direction,
		"sel":           (*listedState).selector,
		"lifetime":      (*listedState).lifetimes,
		"stats:":        (*listedState).stats,
	}
}

func (p *listingParser) state(first *words) (*StateView, error) {
	id, err := first.listedID()
	if err != nil {
		return nil, err
	}
	s := &listedState{lines: p, p: &sa.Params{Src: id.src.Addr(), Limits: sa.Unlimited()}}
	s.p.Dst = id.dst.Addr()
	s.v = &StateView{Params: s.p}
	if err := first.end("the end of the line"); err != nil {
		return nil, err
	}
	for p.inRecord() {
		w := p.line()
		parse := stateLines[w.peek().text]
		if parse == nil {
			return nil, w.fail(w.peek(), "is not a line of a state that has a meaning here")
		}
		if err := parse(s, w); err != nil {
			return nil, err
		}
		if err := w.end("the end of the line"); err != nil {
			return nil, err
		}
	}
	if s.p.Algorithm == sa.AlgNone || s.p.Proto == 0 {
		return nil, first.fail(first.list[0], "begins a state that lacks a line", "proto esp spi … reqid … mode …", "aead …")
	}
	s.p.ReplayWindow, s.p.ReplayWindowSet = s.v.Window, true
	s.p.ReplaySeq, s.p.ReplayOSeq = s.v.Seq, s.v.OSeq
	if s.p.Offload != nil && s.p.Dir == s.p.Offload.Dir {
		s.p.Dir = sa.DirNone // iproute2 6.15 lists that of `offload` again
	}
	return s.v, nil
}

func (s *listedState) identity(w *words) (err error) {
	s.p.Proto, s.p.SPI, s.p.ReqID, s.p.Mode, err = w.listedIdentity()
	return err
}

// flags reads `replay-window N [seq S] [flag LIST] [(0x…)]`.
func (s *listedState) flags(w *words) error {
	n, err := w.listed("replay-window", 32)
	if err != nil {
		return err
	}
	s.v.Window = uint32(n)
	if w.peek().text == "seq" { // 0x in front, but decimal: of an acquire
		w.take()
		if w.more() {
			w.take()
		}
	}
	if w.peek().text == "flag" {
		w.take()
		if hasFlag(w, stateFlags, func(f stateFlag) string { return f.name }) {
			if err := parseStateFlags(w, w.last(), &s.p.Flags); err != nil {
				return err
			}
		}
	}
	w.skipFlagBits()
	return nil
}

// aead reads `aead NAME KEY [(N bits)] ICV`; a hidden key is two words.
func (s *listedState) aead(w *words) error {
	if err := w.expect("aead"); err != nil {
		return err
	}
	name, err := w.value(w.last(), "an algorithm", algorithmNames...)
	if err != nil {
		return err
	}
	switch name.text {
	case nameAESGCM:
		s.p.Algorithm = sa.AlgAESGCM
	case nameChaCha20Poly1305:
		s.p.Algorithm = sa.AlgChaCha20Poly1305
	default:
		return w.fail(name, "is not an algorithm that is spoken here", algorithmNames...)
	}
	if err := s.key(w); err != nil {
		return err
	}
	icv, err := w.listedNumber(32)
	s.p.ICVBits = int(icv)
	return err
}

func (s *listedState) key(w *words) error {
	key, err := w.value(w.last(), "a key")
	if err != nil {
		return err
	}
	if key.text == "<<Keys" {
		return w.expect("hidden>>")
	}
	b, ok := parseKey(key.text)
	if !ok || !strings.HasPrefix(key.text, "0x") {
		return w.fail(key, "the key is not hex", "0x and hex digits", "<<Keys hidden>>")
	}
	if reason, accepted := keyProblem(s.p.Algorithm, len(b)); reason != "" {
		return w.fail(key, reason, accepted...)
	}
	s.p.Key = sa.NewKey(b)
	if strings.HasPrefix(w.peek().text, "(") { // (160 bits)
		w.take()
		return w.expect("bits)")
	}
	return nil
}

// encap reads `encap type espinudp sport N dport N addr A`.
func (s *listedState) encap(w *words) error {
	for _, text := range []string{"encap", "type", "espinudp"} {
		if err := w.expect(text); err != nil {
			return err
		}
	}
	src, err := w.listed("sport", 16)
	if err != nil {
		return err
	}
	dst, err := w.listed("dport", 16)
	if err != nil {
		return err
	}
	if err := w.expect("addr"); err != nil {
		return err
	}
	v, err := w.value(w.last(), "an address")
	if err != nil {
		return err
	}
	a, ok := parseAddr(v.text)
	if !ok || a.Is4() != s.p.Dst.Is4() {
		return w.fail(v, "is not an address of the state's family")
	}
	s.p.Encap = &sa.Encap{SrcPort: uint16(src), DstPort: uint16(dst), OriginalAddr: a}
	return nil
}

func (s *listedState) lastUsed(w *words) (err error) {
	w.take()
	s.v.LastUse, err = w.listedTime()
	return err
}

// offload reads `crypto offload parameters: dev D dir in|out [mode M]`; iproute2
// 6.1 has no mode.
func (s *listedState) offload(w *words) error {
	for _, text := range []string{"crypto", "offload", "parameters:", "dev"} {
		if err := w.expect(text); err != nil {
			return err
		}
	}
	dev, err := w.value(w.last(), "a device")
	if err != nil {
		return err
	}
	o := &sa.Offload{Dev: dev.text}
	if err := w.expect("dir"); err != nil {
		return err
	}
	if o.Dir, err = s.inOrOut(w); err != nil {
		return err
	}
	if w.more() {
		if err := w.expect("mode"); err != nil {
			return err
		}
		mode, err := w.value(w.last(), "a mode", "crypto", "packet")
		if err != nil {
			return err
		}
		switch mode.text {
		case "packet":
			o.Depth = sa.OffloadPacket
		case "crypto":
		default:
			return w.fail(mode, "is not a mode of offload", "crypto", "packet")
		}
	}
	s.p.Offload = o
	return nil
}

func (s *listedState) inOrOut(w *words) (sa.Direction, error) {
	v, err := w.value(w.last(), "a direction", "in", "out")
	if err != nil {
		return 0, err
	}
	switch v.text {
	case "in":
		return sa.DirIn, nil
	case "out":
		return sa.DirOut, nil
	}
	return 0, w.fail(v, "is not the direction of an SA", "in", "out")
}

func (s *listedState) direction(w *words) (err error) {
	w.take()
	s.p.Dir, err = s.inOrOut(w)
	return err
}

func (s *listedState) selector(w *words) error {
	w.take()
	sel, err := w.listedSelector()
	if err != nil {
		return err
	}
	if sel != (&selector{}).resolve(familyOf(sel.Src.Addr())) { // what the kernel gives to a state without one
		s.p.Sel = &sel
	}
	return nil
}

func (s *listedState) lifetimes(w *words) error {
	v := s.v
	return s.lines.lifetimes(w, &s.p.Limits, &v.Bytes, &v.Packets, &v.Added, &v.FirstUse)
}

// stats reads `stats:` and `replay-window N replay N failed N`.
func (s *listedState) stats(w *words) error {
	w.take()
	if err := w.end("the end of the line"); err != nil {
		return err
	}
	next, err := s.nextLine("replay-window")
	if err != nil {
		return err
	}
	*w = *next
	return takeNumbers(w, 32, []string{"replay-window", "replay", "failed"}, func(n []uint64) {
		s.v.Errors = StateErrors{Outside: uint32(n[0]), Replayed: uint32(n[1]), Unauthentic: uint32(n[2])}
	})
}
