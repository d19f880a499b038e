package xfrm

import (
	"net/netip"

	"espgw/sa"
)

// template reads TMPL. Several templates would mean ESP in ESP.
func (s *policyParser) template(w word) error {
	if len(s.p.Templates) > 0 {
		return s.fail(w, "a policy has one template here: packets are sealed once", "one tmpl")
	}
	s.tmpl = w
	var t sa.Template
	hasID := false
loop:
	for s.more() {
		w := s.peek()
		var err error
		switch {
		case w.text == "mode":
			t.Mode, err = parseMode(s.words, s.take())
		case w.text == "reqid":
			var n uint64
			n, _, err = s.uint(s.take(), 32, "a request ID")
			t.ReqID = uint32(n)
		case w.text == "level":
			t.Level, err = parseLevel(s.words, s.take())
		case isIDWord(w.text) && !hasID:
			hasID = true
			err = s.templateID(&t)
		default:
			break loop
		}
		if err != nil {
			return err
		}
	}
	if t.Proto == 0 {
		return s.fail(s.last(), "the template has no protocol", "tmpl proto esp …")
	}
	s.p.Templates = append(s.p.Templates, t)
	return nil
}

func (s *policyParser) templateID(t *sa.Template) error {
	id, err := parseID(s.words, FamilyAny)
	if err != nil {
		return err
	}
	if err := id.single(s.words); err != nil {
		return err
	}
	t.Proto, t.SPI = id.proto, id.spi
	t.Src, t.Dst = specified(id.src.Addr()), specified(id.dst.Addr())
	for _, p := range []netip.Prefix{id.src, id.dst} {
		if p.IsValid() {
			s.tfam = familyOf(p.Addr())
		}
	}
	return nil
}

// specified turns 0.0.0.0 and ::, which match everything, into no address.
func specified(a netip.Addr) netip.Addr {
	if a.IsValid() && a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

func parseLevel(in *words, keyword word) (sa.Level, error) {
	v, err := in.value(keyword, "a level", "required", "use")
	if err != nil {
		return 0, err
	}
	switch v.text {
	case "required":
		return sa.LevelRequired, nil
	case "use":
		return sa.LevelUse, nil
	}
	return 0, in.fail(v, "is not a level", "required", "use")
}
