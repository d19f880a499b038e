package xfrm

import (
	"slices"

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
