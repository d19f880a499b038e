package xfrm

import (
	"net/netip"
	"slices"
	"strings"

	"espgw/sa"
)

// policyVerbs is in iproute2's order: `s` is show, `se` is set.
var policyVerbs = []verbName{
	{name: "add", verb: VerbAdd},
	{name: "update", verb: VerbUpdate},
	{name: "delete", verb: VerbDelete},
	{name: "deleteall", verb: VerbDeleteAll},
	{name: "delall", verb: VerbDeleteAll},
	{name: "list", verb: VerbList},
	{name: "show", verb: VerbList},
	{name: "lst", verb: VerbList},
	{name: "get", verb: VerbGet},
	{name: "flush", verb: VerbFlush},
	{name: "count", verb: VerbCount},
	{name: "set", refused: "hash thresholds are the kernel's; lookups here need none"},
	{name: "setdefault", verb: VerbSetDefault},
	{name: "getdefault", verb: VerbGetDefault},
}

func parsePolicy(in *words, c *Command) (err error) {
	c.Verb, err = parseVerb(in, policyVerbs,
		"add", "update", "delete", "deleteall", "get", "list", "flush", "count", "setdefault", "getdefault")
	if err != nil {
		return err
	}
	switch c.Verb {
	case VerbAdd, VerbUpdate:
		c.Policy, err = parsePolicySettings(in, c.Family)
	case VerbDelete, VerbGet:
		err = parsePolicyID(in, c)
	case VerbDeleteAll, VerbList:
		err = parsePolicyFilter(in, c)
	case VerbFlush:
		if in.more() && in.peek().text == "ptype" {
			err = parsePolicyType(in, in.take())
		}
		if err == nil {
			err = in.end("ptype main")
		}
	case VerbSetDefault:
		err = parseDefaults(in, c)
	default:
		err = in.end("nothing")
	}
	return err
}

// policyParser gathers the settings of one policy.
type policyParser struct {
	*words
	family Family
	p      *sa.Policy
	seen   map[string]word
	sel    *selector
	tmpl   word
	index  word
	tfam   Family // the template's, if it has addresses
}

var policyWords = []string{
	"src", "dst", "proto", "sport", "dport", "type", "code", "dir", "index", "ptype", "action", "priority", "flag",
	"limit", "tmpl",
}

var refusedPolicyWords = map[string]string{
	"mark":    "packets carry no mark here",
	"if_id":   "there are no xfrm interfaces here",
	"ctx":     "there are no security contexts here",
	"offload": "policies are looked up in software here; `offload` is a word of states",
}

// parsePolicySettings reads what stands behind `policy add`.
func parsePolicySettings(in *words, family Family) (*sa.Policy, error) {
	s := &policyParser{words: in, family: family, seen: map[string]word{}, p: &sa.Policy{Limits: sa.Unlimited()}}
	for in.more() {
		w := in.peek()
		if reason := refusedPolicyWords[w.text]; reason != "" {
			return nil, in.fail(w, reason, policyWords...)
		}
		if slices.Contains([]string{"dir", "index", "ptype", "action", "priority"}, w.text) {
			if _, again := s.seen[w.text]; again {
				return nil, in.fail(w, "is given twice")
			}
			s.seen[w.text] = w
		}
		if err := s.setting(w); err != nil {
			return nil, err
		}
	}
	if err := s.finish(); err != nil {
		return nil, err
	}
	return s.p, nil
}

// setting reads one setting, whose first word is w and not taken yet.
func (s *policyParser) setting(w word) (err error) {
	switch w.text {
	case "dir":
		s.p.Dir, err = parsePolicyDir(s.words, s.take())
	case "index":
		s.p.Index, err = parseIndex(s.words, s.take())
		s.index = s.last()
	case "ptype":
		err = parsePolicyType(s.words, s.take())
	case "action":
		s.p.Action, err = parseAction(s.words, s.take(), "allow", "block")
	case "priority":
		s.p.Priority, err = parsePriority(s.words, s.take())
	case "flag":
		err = parsePolicyFlags(s.words, s.take(), &s.p.Flags)
	case "limit":
		err = parseLimit(s.words, s.take(), &s.p.Limits)
	case "tmpl":
		err = s.template(s.take())
	default:
		if s.sel != nil || !slices.Contains(selectorStarts, w.text) {
			return s.fail(w, "is not expected here; src, dst and proto of a policy stand together, and a template's behind `tmpl`", policyWords...)
		}
		s.sel, err = parseSelector(s.words, s.family)
	}
	return err
}

var selectorStarts = []string{"src", "dst", "dev", "proto", "sport", "dport", "type", "code", "key"}

// finish checks what needs more than one setting.
func (s *policyParser) finish() error {
	last := s.last()
	if s.p.Dir == sa.DirNone {
		return s.fail(last, "the policy has no direction", "dir in", "dir out", "dir fwd")
	}
	sel := s.sel
	if sel == nil {
		sel = &selector{}
	}
	fallback := s.family
	if fallback == FamilyAny {
		fallback = s.tfam
	}
	s.p.Sel = sel.resolve(fallback)
	if s.p.Index != 0 && s.p.Index&7 != indexDirection(s.p.Dir) {
		return s.fail(s.index, "is not an index of this direction: its last three bits are 0 for in, 1 for out, 2 for fwd")
	}
	if s.tfam != FamilyAny && s.tfam != familyOf(s.p.Sel.Src.Addr()) {
		return s.fail(s.tmpl, "the template's addresses are not of the selector's family")
	}
	return nil
}

// indexDirection is what the kernel keeps in the last three bits of an index.
func indexDirection(d sa.Direction) uint32 {
	return map[sa.Direction]uint32{sa.DirIn: 0, sa.DirOut: 1, sa.DirForward: 2}[d]
}

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

func parsePolicyDir(in *words, keyword word) (sa.Direction, error) {
	v, err := in.value(keyword, "a direction", "in", "out", "fwd")
	if err != nil {
		return 0, err
	}
	switch v.text {
	case "in":
		return sa.DirIn, nil
	case "out":
		return sa.DirOut, nil
	case "fwd":
		return sa.DirForward, nil
	}
	return 0, in.fail(v, "is not the direction of a policy", "in", "out", "fwd")
}

func parseIndex(in *words, keyword word) (uint32, error) {
	n, _, err := in.uint(keyword, 32, "an index")
	return uint32(n), err
}

func parsePriority(in *words, keyword word) (uint32, error) {
	n, _, err := in.uint(keyword, 32, "a priority; the smallest wins")
	return uint32(n), err
}

func parsePolicyType(in *words, keyword word) error {
	v, err := in.value(keyword, "a type", "main")
	if err != nil {
		return err
	}
	switch v.text {
	case "main":
		return nil
	case "sub":
		return in.fail(v, "there is one policy table here", "main")
	}
	return in.fail(v, "is not a policy type", "main")
}

// parseAction reads an action; accepted are the words that this place allows.
func parseAction(in *words, keyword word, accepted ...string) (sa.Action, error) {
	v, err := in.value(keyword, "an action", accepted...)
	if err != nil {
		return 0, err
	}
	if !slices.Contains(accepted, v.text) {
		return 0, in.fail(v, "is not an action", accepted...)
	}
	if v.text == "block" {
		return sa.ActionBlock, nil
	}
	return sa.ActionAllow, nil
}

// policyFlag is a flag of `flag LIST`, in the order that listings have.
type policyFlag struct {
	name string
	flag sa.PolicyFlags
}

var policyFlags = []policyFlag{{"localok", sa.PolicyLocalOK}, {"icmp", sa.PolicyICMP}}

// parsePolicyFlags reads one or more flags by name, or all as one hex number.
func parsePolicyFlags(in *words, keyword word, flags *sa.PolicyFlags) error {
	v, err := in.value(keyword, "a flag", "localok", "icmp")
	if err != nil {
		return err
	}
	if strings.HasPrefix(v.text, "0x") {
		n, ok := parseUint(v.text, 8)
		if !ok || sa.PolicyFlags(n)&^(sa.PolicyLocalOK|sa.PolicyICMP) != 0 {
			return in.fail(v, "has bits that have no meaning here", "localok", "icmp")
		}
		*flags = sa.PolicyFlags(n)
		return nil
	}
	for first := true; ; first = false {
		found := false
		for _, f := range policyFlags {
			if f.name == v.text {
				*flags |= f.flag
				found = true
			}
		}
		switch {
		case !found && first:
			return in.fail(v, "is not a flag", "localok", "icmp")
		case !found:
			in.next-- // another setting begins
			return nil
		case !in.more():
			return nil
		}
		v = in.take()
	}
}

// parseDefaults reads `setdefault DIR ACTION [DIR ACTION] [DIR ACTION]`.
func parseDefaults(in *words, c *Command) error {
	if !in.more() {
		return in.fail(in.last(), "needs a direction and an action", "in|out|fwd allow|accept|block")
	}
	for in.more() {
		w := in.take()
		dir := map[string]sa.Direction{"in": sa.DirIn, "out": sa.DirOut, "fwd": sa.DirForward}[w.text]
		if dir == sa.DirNone {
			return in.fail(w, "is not the direction of a policy", "in", "out", "fwd")
		}
		if slices.ContainsFunc(c.Defaults, func(d Default) bool { return d.Dir == dir }) {
			return in.fail(w, "is given twice")
		}
		action, err := parseAction(in, w, "allow", "accept", "block")
		if err != nil {
			return err
		}
		c.Defaults = append(c.Defaults, Default{dir, action})
	}
	return nil
}
