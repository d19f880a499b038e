package xfrm

import (
	"math"
	"strings"
	"time"

	"espgw/sa"
)

func (p *listingParser) policy(first *words) (*PolicyView, error) {
	s := &sa.Policy{Limits: sa.Unlimited()}
	v := &PolicyView{Policy: s}
	var err error
	if s.Sel, err = first.listedSelector(); err != nil {
		return nil, err
	}
	for p.inRecord() {
		w := p.line()
		switch w.peek().text {
		case "dir":
			err = parsePolicyLine(w, s)
		case "lifetime":
			err = p.lifetimes(w, &s.Limits, &v.Bytes, &v.Packets, &v.Added, &v.LastUse)
		case "tmpl":
			err = p.template(w, s)
		default:
			err = w.fail(w.peek(), "is not a line of a policy that has a meaning here")
		}
		if err == nil {
			err = w.end("the end of the line")
		}
		if err != nil {
			return nil, err
		}
	}
	if s.Dir == sa.DirNone {
		return nil, first.fail(first.list[0], "begins a policy that lacks a line", "dir in|out|fwd priority …")
	}
	return v, nil
}

// parsePolicyLine reads `dir D [action A] [index N] priority N ptype main [share
// any] [flag LIST] [(0x…)]`.
func parsePolicyLine(w *words, s *sa.Policy) (err error) {
	if s.Dir, err = parsePolicyDir(w, w.take()); err != nil {
		return err
	}
	for w.more() {
		k := w.take()
		switch k.text {
		case "action":
			s.Action, err = parseAction(w, k, "allow", "block")
		case "index":
			s.Index, err = parseIndex(w, k)
		case "priority":
			s.Priority, err = parsePriority(w, k)
		case "ptype":
			err = parsePolicyType(w, k)
		case "share":
			err = w.expect("any")
		case "flag":
			if hasFlag(w, policyFlags, func(f policyFlag) string { return f.name }) {
				err = parsePolicyFlags(w, k, &s.Flags)
			}
			w.skipFlagBits()
		default:
			err = w.fail(k, "is not expected here", "action", "index", "priority", "ptype", "share", "flag")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// template reads `tmpl src A dst B` and the line or lines behind it.
func (p *listingParser) template(w *words, s *sa.Policy) error {
	w.take()
	id, err := w.listedID()
	if err != nil {
		return err
	}
	if err := w.end("the end of the line"); err != nil {
		return err
	}
	t := sa.Template{Src: specified(id.src.Addr()), Dst: specified(id.dst.Addr())}
	if !p.inRecord() {
		return w.fail(w.last(), "is not followed by the template's second line", "proto esp …")
	}
	*w = *p.line()
	if t.Proto, t.SPI, t.ReqID, t.Mode, err = w.listedIdentity(); err != nil {
		return err
	}
	for p.inRecord() {
		next := p.lines[p.next][0].text
		if next != "level" && next != "enc-mask" {
			break
		}
		if err := w.end("the end of the line"); err != nil {
			return err
		}
		*w = *p.line()
		if next == "enc-mask" { // algorithms are not restricted by templates
			w.next = len(w.list)
			break
		}
		if t.Level, err = parseLevel(w, w.take()); err != nil {
			return err
		}
		if w.peek().text == "share" {
			w.take()
			if err := w.expect("any"); err != nil {
				return err
			}
		}
	}
	s.Templates = append(s.Templates, t)
	return nil
}

// lifetimes reads the lines from `lifetime config:` to the times of use, or the
// part that begins with w.
func (p *listingParser) lifetimes(w *words, l *sa.Limits, bytes, packets *uint64, added, used *time.Time) error {
	w.take()
	what, err := w.value(w.last(), "what is listed", "config:", "current:")
	if err != nil {
		return err
	}
	if err := w.end("the end of the line"); err != nil {
		return err
	}
	switch what.text {
	case "config:":
		return p.limits(w, l)
	case "current:":
		return p.use(w, bytes, packets, added, used)
	}
	return w.fail(what, "is not expected here", "config:", "current:")
}

// follow makes w the next line of the record, which must begin with the words.
func (p *listingParser) follow(w *words, begin ...string) error {
	if err := w.end("the end of the line"); err != nil {
		return err
	}
	if !p.inRecord() {
		return w.fail(w.last(), "is not followed by the line that belongs there", strings.Join(begin, " "))
	}
	*w = *p.line()
	for _, text := range begin {
		if err := w.expect(text); err != nil {
			return err
		}
	}
	return nil
}

func (p *listingParser) limits(w *words, l *sa.Limits) error {
	for _, line := range []struct {
		begin      string
		unit       string
		soft, hard *uint64
	}{{"limit:", "(bytes)", &l.SoftBytes, &l.HardBytes}, {"limit:", "(packets)", &l.SoftPackets, &l.HardPackets}} {
		if err := p.follow(w, line.begin, "soft"); err != nil {
			return err
		}
		if err := listedLimit(w, line.unit, line.soft); err != nil {
			return err
		}
		if err := w.expect("hard"); err != nil {
			return err
		}
		if err := listedLimit(w, line.unit, line.hard); err != nil {
			return err
		}
	}
	for _, line := range []struct {
		since      string
		soft, hard *time.Duration
	}{{"add:", &l.SoftAdd, &l.HardAdd}, {"use:", &l.SoftUse, &l.HardUse}} {
		if err := p.follow(w, "expire", line.since); err != nil {
			return err
		}
		if err := listedSpan(w, "soft", line.soft); err != nil {
			return err
		}
		if err := listedSpan(w, "hard", line.hard); err != nil {
			return err
		}
	}
	return nil
}

// listedLimit reads `(INF)(bytes),` or `N(bytes),`.
func listedLimit(w *words, unit string, to *uint64) error {
	v, err := w.value(w.last(), "a limit")
	if err != nil {
		return err
	}
	text := strings.TrimSuffix(strings.TrimSuffix(v.text, ","), unit)
	if text == "(INF)" {
		*to = sa.NoLimit
		return nil
	}
	n, ok := parseUint(text, 64)
	if !ok {
		return w.fail(v, "is not a limit", "(INF)"+unit, "N"+unit)
	}
	*to = n
	return nil
}

func listedSpan(w *words, name string, to *time.Duration) error {
	n, err := w.listed(name, 64)
	if err == nil && n > math.MaxInt64/uint64(time.Second) {
		err = w.fail(w.last(), "is too many seconds")
	}
	*to = time.Duration(n) * time.Second
	return err
}

// use reads `N(bytes), N(packets)` and `add TIME use TIME`.
func (p *listingParser) use(w *words, bytes, packets *uint64, added, used *time.Time) (err error) {
	if err = p.follow(w); err != nil {
		return err
	}
	if *bytes, err = w.listedNumber(64); err != nil {
		return err
	}
	if *packets, err = w.listedNumber(64); err != nil {
		return err
	}
	if err = p.follow(w, "add"); err != nil {
		return err
	}
	if *added, err = w.listedTime(); err != nil {
		return err
	}
	if err = w.expect("use"); err != nil {
		return err
	}
	*used, err = w.listedTime()
	return err
}
