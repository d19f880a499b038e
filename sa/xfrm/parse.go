package xfrm

import (
	"fmt"
	"io"
	"path"
	"strings"
)

// Parse reads one command, `[ip [OPTIONS]] xfrm …`. A text that holds only
// blanks and comments gives neither a command nor an error; one with several
// commands, or a wrong one, gives an *Error.
func Parse(line string) (*Command, error) {
	commands, err := parseText(line, "")
	switch {
	case err != nil:
		return nil, err
	case len(commands) == 0:
		return nil, nil
	case len(commands) > 1:
		return nil, &Error{Line: commands[1].Line, Column: 1, Word: commands[1].Object.String(), Reason: "one command is expected here, and this is a second one"}
	}
	return commands[0], nil
}

// ParseFile reads a file of commands to its end; name is what errors call it.
// It gives all commands or, as an *Error, the first mistake. What r fails with
// is wrapped.
func ParseFile(r io.Reader, name string) ([]*Command, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return parseText(string(text), name)
}

func parseText(text, name string) (commands []*Command, err error) {
	defer func() {
		if err == nil {
			return
		}
		for _, c := range commands {
			c.Wipe()
		}
		commands = nil
	}()
	text = strings.TrimPrefix(text, "\ufeff") // some editors begin files so
	for lex := newLexer(name, text); ; {
		list, err := lex.command()
		if err != nil {
			return commands, err
		}
		if len(list) == 0 {
			return commands, nil
		}
		markSecrets(list)
		c, err := parseCommand(&words{file: name, list: list})
		if err != nil {
			return commands, err
		}
		commands = append(commands, c)
	}
}

// parseCommand reads all words of one command; there is at least one.
func parseCommand(in *words) (*Command, error) {
	c := &Command{File: in.file, Line: in.peek().line}
	first := in.take()
	if path.Base(first.text) == "ip" {
		if err := parseOptions(in, c); err != nil {
			return nil, err
		}
		if !in.more() {
			return nil, in.fail(first, "needs `xfrm` behind it", "xfrm")
		}
		first = in.take()
	}
	if !matches(first.text, "xfrm") {
		return nil, in.fail(first, "is not an `ip xfrm` command", "[ip] xfrm state …", "[ip] xfrm policy …", "[ip] xfrm monitor")
	}
	object, err := in.value(first, "an object", "state", "policy", "monitor")
	if err != nil {
		return nil, err
	}
	// The order is iproute2's: `s` is state, `p` is policy.
	switch t := object.text; {
	case matches(t, "state"), matches(t, "sa"):
		c.Object = ObjectState
		err = parseState(in, c)
	case matches(t, "policy"):
		c.Object = ObjectPolicy
		err = parsePolicy(in, c)
	case matches(t, "monitor"):
		c.Object = ObjectMonitor
		err = parseMonitor(in, c)
	default:
		err = in.fail(object, "is not an object of xfrm", "state", "policy", "monitor")
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// option is a global option of `ip`.
type option struct {
	name    string
	exact   bool                          // no abbreviation
	apply   func(c *Command)              // nil: nothing to do here
	value   func(c *Command, v word) bool // has an argument: reads it
	refused string                        // why it is not accepted
}

// options is in iproute2's order, for that decides what an abbreviation means.
var options = []option{
	{name: "-loops", refused: "has no meaning here"},
	{name: "-family", value: func(c *Command, v word) bool {
		c.Family = map[string]Family{"inet": FamilyIPv4, "inet6": FamilyIPv6}[v.text]
		return c.Family != FamilyAny
	}},
	{name: "-4", exact: true, apply: func(c *Command) { c.Family = FamilyIPv4 }},
	{name: "-6", exact: true, apply: func(c *Command) { c.Family = FamilyIPv6 }},
	{name: "-human"},
	{name: "-human-readable"},
	{name: "-iec"},
	{name: "-statistics", apply: func(c *Command) { c.Options.Stats = true }},
	{name: "-stats", apply: func(c *Command) { c.Options.Stats = true }},
	{name: "-details"},
	{name: "-resolve", refused: "names are not resolved here"},
	{name: "-oneline", apply: func(c *Command) { c.Options.OneLine = true }},
	{name: "-timestamp"},
	{name: "-tshort"},
	{name: "-Version", refused: "has no meaning here"},
	{name: "-force", refused: "a batch is applied whole or not at all"},
	{name: "-batch", refused: "has no meaning here: this is a batch already"},
	{name: "-brief"},
	{name: "-json", refused: "listings are plain text, as iproute2's of xfrm are"},
	{name: "-pretty"},
	{name: "-rcvbuf", refused: "has no meaning here"},
	{name: "-color"},
	{name: "-netns", refused: "there are no network namespaces here"},
	{name: "-Numeric"},
}

var acceptedOptions = []string{"-4", "-6", "-family inet|inet6", "-stats", "-oneline", "-details"}

func parseOptions(in *words, c *Command) error {
next:
	for in.more() && len(in.peek().text) > 1 && in.peek().text[0] == '-' {
		w := in.take()
		if w.text == "--" {
			return nil
		}
		name := w.text
		if name[1] == '-' {
			name = name[1:]
		}
		for _, o := range options {
			if name != o.name && (o.exact || !matches(name, o.name)) {
				continue
			}
			switch {
			case o.refused != "":
				return in.fail(w, o.refused, acceptedOptions...)
			case o.value != nil:
				v, err := in.value(w, "a value")
				if err != nil {
					return err
				}
				if !o.value(c, v) {
					return in.fail(v, "is not a family of ESP", "inet", "inet6")
				}
			case o.apply != nil:
				o.apply(c)
			}
			continue next
		}
		return in.fail(w, "is not an option that has a meaning here", acceptedOptions...)
	}
	return nil
}

// verbs lists, in iproute2's order, the words that matches tries.
type verbName struct {
	name    string
	verb    Verb
	refused string
}

func parseVerb(in *words, table []verbName, accepted ...string) (Verb, error) {
	if !in.more() {
		return VerbList, nil
	}
	w := in.take()
	for _, v := range table {
		if matches(w.text, v.name) {
			if v.refused != "" {
				return 0, in.fail(w, v.refused, accepted...)
			}
			return v.verb, nil
		}
	}
	return 0, in.fail(w, "is not a command of this object", accepted...)
}

// parseMonitor reads the words behind `monitor`.
func parseMonitor(in *words, c *Command) error {
	for in.more() {
		w := in.take()
		switch t := w.text; {
		case t == "nokeys", t == "all", matches(t, "all-nsid"):
		case t == "keys":
			c.Options.Keys = true
		case matches(t, "acquire"):
			c.Events = append(c.Events, "acquire")
		case matches(t, "expire"):
			c.Events = append(c.Events, "expire")
		case matches(t, "SA"):
			c.Events = append(c.Events, "SA")
		case matches(t, "aevent"):
			c.Events = append(c.Events, "aevent")
		case matches(t, "policy"):
			c.Events = append(c.Events, "policy")
		case matches(t, "report"):
			c.Events = append(c.Events, "report")
		default:
			return in.fail(w, "is not an event to monitor", "all", "acquire", "expire", "SA", "aevent", "policy", "report", "nokeys")
		}
	}
	return nil
}

// end fails if a word is left.
func (c *words) end(accepted ...string) error {
	if !c.more() {
		return nil
	}
	return c.fail(c.peek(), "is not expected here", accepted...)
}
