package xfrm

import (
	"slices"

	"espgw/sa"
)

// parsePolicyID reads what `policy get` and `policy delete` name: a direction,
// and a selector or an index.
func parsePolicyID(in *words, c *Command) error {
	f := &c.PolicyFilter
	f.Family = c.Family
	for in.more() {
		w := in.peek()
		var err error
		switch {
		case refusedPolicyWords[w.text] != "" && w.text != "offload":
			return in.fail(w, refusedPolicyWords[w.text], "src", "dst", "proto", "index", "dir", "ptype")
		case w.text == "dir" && f.Dir == sa.DirNone:
			f.Dir, err = parsePolicyDir(in, in.take())
		case w.text == "index" && f.Index == nil:
			var n uint32
			n, err = parseIndex(in, in.take())
			f.Index = &n
		case w.text == "ptype":
			err = parsePolicyType(in, in.take())
		case w.text == "dir", w.text == "index":
			return in.fail(w, "is given twice")
		case slices.Contains(selectorStarts, w.text) && !f.HasSel:
			err = f.parseSelector(in, c.Family)
		default:
			return in.fail(w, "is not expected here", "src", "dst", "proto", "index", "dir", "ptype")
		}
		if err != nil {
			return err
		}
	}
	last := in.last()
	switch {
	case f.Dir == sa.DirNone:
		return in.fail(last, "the direction is missing", "dir in", "dir out", "dir fwd")
	case !f.HasSel && f.Index == nil:
		return in.fail(last, "the policy is not named", "src … dst … proto …", "index N")
	case f.HasSel && f.Index != nil:
		return in.fail(last, "a selector and an index together name no policy", "one of the two")
	}
	return nil
}

func (f *PolicyFilter) parseSelector(in *words, family Family) error {
	s, err := parseSelector(in, family)
	if err != nil {
		return err
	}
	f.Sel, f.HasSel = s.resolve(family), true
	f.Src, f.Dst, f.Proto, f.SrcPort, f.DstPort = s.src, s.dst, s.proto, s.srcPort, s.dstPort
	if f.Family == FamilyAny && (s.src || s.dst) {
		f.Family = familyOf(f.Sel.Src.Addr())
	}
	return nil
}

// parsePolicyFilter reads the conditions of `policy list` and `policy deleteall`.
func parsePolicyFilter(in *words, c *Command) error {
	f := &c.PolicyFilter
	f.Family = c.Family
	for in.more() {
		w := in.peek()
		var err error
		switch w.text {
		case "dir":
			f.Dir, err = parsePolicyDir(in, in.take())
		case "index":
			var n uint32
			n, err = parseIndex(in, in.take())
			f.Index = &n
		case "ptype":
			err = parsePolicyType(in, in.take())
		case "action":
			var a sa.Action
			a, err = parseAction(in, in.take(), "allow", "block")
			f.Action = &a
		case "priority":
			var n uint32
			n, err = parsePriority(in, in.take())
			f.Priority = &n
		case "flag":
			err = parsePolicyFlags(in, in.take(), &f.Flags)
		case "nosock", "keys", "nokeys": // there are no socket policies, and no keys in a policy
			in.take()
		default:
			if f.HasSel || !slices.Contains(selectorStarts, w.text) {
				return in.fail(w, "is not a condition of a listing",
					"src", "dst", "proto", "sport", "dport", "dir", "index", "ptype", "action", "priority", "flag", "nosock")
			}
			err = f.parseSelector(in, c.Family)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
