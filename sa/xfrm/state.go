package xfrm

import (
	"net/netip"

	"espgw/sa"
)

const noSPI = "allocating SPIs is for key exchange daemons, which are not served here"

// stateVerbs is in iproute2's order: `d` is delete, `s` is show, `a` is add.
var stateVerbs = []verbName{
	{name: "add", verb: VerbAdd},
	{name: "update", verb: VerbUpdate},
	{name: "allocspi", refused: noSPI},
	{name: "delete", verb: VerbDelete},
	{name: "deleteall", verb: VerbDeleteAll},
	{name: "delall", verb: VerbDeleteAll},
	{name: "list", verb: VerbList},
	{name: "show", verb: VerbList},
	{name: "lst", verb: VerbList},
	{name: "get", verb: VerbGet},
	{name: "flush", verb: VerbFlush},
	{name: "count", verb: VerbCount},
}

func parseState(in *words, c *Command) (err error) {
	c.Verb, err = parseVerb(in, stateVerbs, "add", "update", "delete", "deleteall", "get", "list", "flush", "count")
	if err != nil {
		return err
	}
	switch c.Verb {
	case VerbAdd, VerbUpdate:
		c.State, err = parseStateSettings(in, c.Family)
	case VerbDelete, VerbGet:
		err = parseStateID(in, c)
	case VerbDeleteAll, VerbList:
		err = parseStateFilter(in, c)
	case VerbFlush:
		err = parseStateFlush(in)
	default:
		err = in.end("nothing")
	}
	return err
}

// stateParser gathers the settings of one SA.
type stateParser struct {
	*words
	family  Family
	p       *sa.Params
	id      *stateID
	seen    map[string]word // settings that may be given once
	sel     *selector
	dir     word // the word that last gave a direction
	key     word
	alg     word
	icv     word
	encapOA word
}

// stateSetting reads one setting, its keyword already taken.
type stateSetting struct {
	parse  func(s *stateParser, keyword word) error
	repeat bool // may be given again
}

var stateSettings map[string]stateSetting

func init() { // not a literal: the functions refer to the table
	stateSettings = map[string]stateSetting{
		"mode":           {parse: (*stateParser).mode},
		"reqid":          {parse: (*stateParser).reqID},
		"seq":            {parse: (*stateParser).acquireSeq},
		"replay-window":  {parse: (*stateParser).replayWindow},
		"replay-seq":     {parse: (*stateParser).replaySeq},
		"replay-seq-hi":  {parse: (*stateParser).replaySeq},
		"replay-oseq":    {parse: (*stateParser).replaySeq},
		"replay-oseq-hi": {parse: (*stateParser).replaySeq},
		"flag":           {parse: (*stateParser).flags, repeat: true},
		"sel":            {parse: (*stateParser).selector},
		"limit":          {parse: (*stateParser).limit, repeat: true},
		"encap":          {parse: (*stateParser).encap},
		"offload":        {parse: (*stateParser).offload},
		"dir":            {parse: (*stateParser).direction},
		"aead":           {parse: (*stateParser).aead},
		"tfcpad":         {parse: (*stateParser).tfcPad},
	}
}

var stateWords = []string{
	"src", "dst", "proto", "spi", "mode", "reqid", "replay-window", "replay-seq", "replay-oseq", "replay-seq-hi",
	"replay-oseq-hi", "flag", "sel", "limit", "encap", "offload", "dir", "aead",
}

// refusedStateWords are words that iproute2 knows and that have no meaning here.
var refusedStateWords = map[string]string{
	"mark":        "packets carry no mark here",
	"output-mark": "packets carry no mark here",
	"if_id":       "there are no xfrm interfaces here",
	"ctx":         "there are no security contexts here",
	"coa":         "care-of addresses belong to mobile IPv6, which is not spoken here",
	"pcpu-num":    "SAs are not bound to a processor here",
	"extra-flag":  "none of the extra flags has a meaning here: sequence numbers never wrap and tunnel mode is not spoken",
	"enc":         "only combined mode algorithms are spoken here (RFC 4106, RFC 7634)",
	"auth":        "only combined mode algorithms are spoken here (RFC 4106, RFC 7634)",
	"auth-trunc":  "only combined mode algorithms are spoken here (RFC 4106, RFC 7634)",
	"comp":        "IPComp is not spoken here",
}

// parseStateSettings reads what stands behind `state add`.
func parseStateSettings(in *words, family Family) (_ *sa.Params, err error) {
	s := &stateParser{
		words: in, family: family, seen: map[string]word{},
		p: &sa.Params{Limits: sa.Unlimited()},
	}
	defer func() {
		if err != nil {
			s.p.Key.Wipe()
		}
	}()
	for in.more() {
		w := in.take()
		setting, ok := stateSettings[w.text]
		switch {
		case ok:
			if _, again := s.seen[w.text]; again && !setting.repeat {
				return nil, in.fail(w, "is given twice")
			}
			s.seen[w.text] = w
			if err := setting.parse(s, w); err != nil {
				return nil, err
			}
		case refusedStateWords[w.text] != "":
			accepted := stateWords
			if reason := refusedStateWords[w.text]; reason == refusedStateWords["enc"] {
				accepted = algorithmUsage
			}
			return nil, in.fail(w, refusedStateWords[w.text], accepted...)
		case isIDWord(w.text) && s.id == nil:
			in.next--
			if s.id, err = parseID(in, family); err != nil {
				return nil, err
			}
		case isIDWord(w.text):
			return nil, in.fail(w, "belongs to the ID, which has ended: src, dst, proto and spi stand together")
		default:
			return nil, in.fail(w, "is not a setting of a state", stateWords...)
		}
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return s.p, nil
}

// finish checks what needs more than one setting.
func (s *stateParser) finish() error {
	last := s.last()
	if s.id == nil {
		return s.fail(last, "the ID is missing", "src ADDRESS dst ADDRESS proto esp spi SPI")
	}
	if err := s.finishID(last); err != nil {
		return err
	}
	if s.alg.text == "" {
		return s.fail(last, "the algorithm is missing", algorithmUsage...)
	}
	if err := s.finishKey(); err != nil {
		return err
	}
	if s.sel != nil {
		sel := s.sel.resolve(familyOf(s.p.Dst))
		if sel.Src.Addr().Is4() != s.p.Dst.Is4() && s.p.Flags&sa.FlagAFUnspec == 0 {
			return s.fail(s.sel.start, "the selector is not of the addresses' family")
		}
		s.p.Sel = &sel
	}
	for _, hi := range []string{"replay-seq-hi", "replay-oseq-hi"} {
		if w, ok := s.seen[hi]; ok && s.p.Flags&sa.FlagESN == 0 && (s.p.ReplaySeq|s.p.ReplayOSeq)>>32 != 0 {
			return s.fail(w, "needs extended sequence numbers", "flag esn")
		}
	}
	return s.finishEncap()
}

func (s *stateParser) finishID(last word) error {
	id := s.id
	s.p.Src, s.p.Dst, s.p.Proto, s.p.SPI = id.src.Addr(), id.dst.Addr(), id.proto, id.spi
	switch {
	case !id.src.IsValid():
		return s.fail(last, "the SA has no source address", "src ADDRESS")
	case !id.dst.IsValid():
		return s.fail(last, "the SA has no destination address", "dst ADDRESS")
	case id.proto == 0:
		return s.fail(last, "the SA has no protocol", "proto esp")
	case !id.hasSPI:
		return s.fail(last, "the SA has no SPI", "spi 1 to 0xffffffff")
	case id.spi == 0:
		return s.fail(id.spiWord, "SPI 0 never stands for an SA (RFC 4303, 2.1)", "1 to 0xffffffff")
	}
	return id.single(s.words)
}

func (s *stateParser) finishEncap() error {
	if s.p.Encap == nil {
		return nil
	}
	a := s.p.Encap.OriginalAddr
	if a.Is4() != s.p.Dst.Is4() {
		if !a.IsUnspecified() {
			return s.fail(s.encapOA, "is not of the addresses' family")
		}
		s.p.Encap.OriginalAddr = unspecified(familyOf(s.p.Dst))
	}
	return nil
}

func familyOf(a netip.Addr) Family {
	if a.Is6() {
		return FamilyIPv6
	}
	return FamilyIPv4
}

func unspecified(f Family) netip.Addr {
	if f == FamilyIPv6 {
		return netip.IPv6Unspecified()
	}
	return netip.IPv4Unspecified()
}
