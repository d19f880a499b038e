package xfrm

import (
	"slices"
	"strings"

	"espgw/sa"
)

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
