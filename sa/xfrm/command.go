package xfrm

import (
	"net/netip"

	"espgw/sa"
)

// Object is what a command is about.
type Object uint8

// The objects.
const (
	ObjectState Object = iota
	ObjectPolicy
	ObjectMonitor
)

// String is iproute2's word for the object.
func (o Object) String() string { return [...]string{"state", "policy", "monitor"}[o] }

// Verb is what a command does.
type Verb uint8

// The verbs. VerbNone is that of ObjectMonitor.
const (
	VerbNone Verb = iota
	VerbAdd
	VerbUpdate
	VerbDelete
	VerbDeleteAll
	VerbGet
	VerbList
	VerbFlush
	VerbCount
	VerbSetDefault // policies only
	VerbGetDefault // policies only
)

// String is iproute2's word for the verb.
func (v Verb) String() string {
	return [...]string{
		"", "add", "update", "delete", "deleteall", "get", "list", "flush", "count", "setdefault", "getdefault",
	}[v]
}

// Family is an address family that a command is restricted to by -4 or -6.
type Family uint8

// The families.
const (
	FamilyAny Family = iota
	FamilyIPv4
	FamilyIPv6
)

// Has reports whether an address is of the family; an invalid one is of any.
func (f Family) Has(a netip.Addr) bool {
	return f == FamilyAny || !a.IsValid() || a.Is4() == (f == FamilyIPv4)
}

// Command is one parsed line. Which fields mean something depends on Object and
// Verb; the others are zero.
type Command struct {
	File string // where it stands; empty for Parse
	Line int    // from 1

	Object  Object
	Verb    Verb
	Family  Family        // from -4, -6 and -family
	Options FormatOptions // from -s, -o and a trailing `keys`

	// State is what `state add` and `state update` describe. The command owns
	// its key.
	State *sa.Params
	// StateFilter says which states `state get|delete|deleteall|list` mean. For
	// get and delete it holds an ID (and perhaps a source).
	StateFilter StateFilter

	// Policy is what `policy add` and `policy update` describe.
	Policy *sa.Policy
	// PolicyFilter says which policies `policy get|delete|deleteall|list` mean.
	// For get and delete it holds a direction and a selector or an index.
	PolicyFilter PolicyFilter

	// Defaults are the directions and actions of `policy setdefault`, as given.
	Defaults []Default

	// Errors, if a caller sets it, tells `-s state list` what an SA refused.
	Errors func(*sa.SA) StateErrors

	// Events are the words of `monitor`, in iproute2's spelling: acquire,
	// expire, SA, policy, aevent, report; none means all.
	Events []string
}

// Default is one pair of `policy setdefault`.
type Default struct {
	Dir    sa.Direction
	Action sa.Action
}

// Mutates reports whether the command can change the DB.
func (c *Command) Mutates() bool {
	switch c.Verb {
	case VerbNone, VerbGet, VerbList, VerbCount, VerbGetDefault:
		return false
	}
	return true
}

// StateFilter selects states. Zero fields select all.
type StateFilter struct {
	Family   Family
	Src, Dst netip.Prefix // invalid: any
	SPI      *uint32
	Mode     *sa.Mode
	ReqID    *uint32
	Flags    sa.Flags // any of them
}

// Match reports whether the filter selects a state with these settings.
func (f *StateFilter) Match(p *sa.Params) bool {
	switch {
	case !f.Family.Has(p.Dst),
		!covers(f.Src, p.Src),
		!covers(f.Dst, p.Dst),
		f.SPI != nil && *f.SPI != p.SPI,
		f.Mode != nil && *f.Mode != p.Mode,
		f.ReqID != nil && *f.ReqID != p.ReqID,
		f.Flags != 0 && f.Flags&p.Flags == 0:
		return false
	}
	return true
}

// covers reports whether a lies in p; an invalid p covers everything.
func covers(p netip.Prefix, a netip.Addr) bool {
	return !p.IsValid() || p.Addr().Is4() == a.Is4() && p.Masked().Contains(a)
}

// PolicyFilter selects policies. Zero fields select all.
type PolicyFilter struct {
	Family Family
	Dir    sa.Direction // DirNone: any
	// HasSel says that a selector was written: for get and delete it is Sel
	// exactly; for list and deleteall the parts that were written must fit.
	HasSel           bool
	Sel              sa.Selector
	Src, Dst         bool // written
	Proto            bool
	SrcPort, DstPort bool
	Index            *uint32
	Action           *sa.Action
	Priority         *uint32
	Flags            sa.PolicyFlags // any of them
}

// Match reports whether the filter of a list or deleteall selects a policy.
func (f *PolicyFilter) Match(p *sa.Policy) bool {
	switch {
	case !f.Family.Has(p.Sel.Src.Addr()),
		f.Dir != sa.DirNone && f.Dir != p.Dir,
		f.Src && !covers(f.Sel.Src, p.Sel.Src.Addr()),
		f.Dst && !covers(f.Sel.Dst, p.Sel.Dst.Addr()),
		f.Proto && f.Sel.Proto != p.Sel.Proto,
		f.SrcPort && f.Sel.SrcPort != p.Sel.SrcPort,
		f.DstPort && f.Sel.DstPort != p.Sel.DstPort,
		f.Index != nil && *f.Index != p.Index,
		f.Action != nil && *f.Action != p.Action,
		f.Priority != nil && *f.Priority != p.Priority,
		f.Flags != 0 && f.Flags&p.Flags == 0:
		return false
	}
	return true
}

// Wipe overwrites the key of a `state add` or `state update`. The DB has its own
// copy, so a command that was executed and is not needed any more is wiped.
func (c *Command) Wipe() {
	if c.State != nil {
		c.State.Key.Wipe()
	}
}
