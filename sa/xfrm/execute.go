package xfrm

import (
	"errors"
	"fmt"
	"io"
	"net/netip"

	"espgw/sa"
)

// Execute applies the command to tx, or writes its listing to w. Its errors name
// file and line, carry the kernel's words where there are any, and wrap those of
// package sa; ErrMonitor is the answer to `monitor`. After an error the caller
// rolls tx back.
func (c *Command) Execute(tx *sa.Tx, w io.Writer) error {
	var err error
	switch c.Object {
	case ObjectState:
		err = c.executeState(tx, w)
	case ObjectPolicy:
		err = c.executePolicy(tx, w)
	default:
		err = ErrMonitor
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", c.position(), c.withKernelWords(err))
}

// position is `FILE:LINE: `, or nothing for a command from nowhere.
func (c *Command) position() string {
	if c.File == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", c.File, c.Line)
}

// withKernelWords adds what the kernel would say, for those who search for it.
func (c *Command) withKernelWords(err error) error {
	words := ""
	switch {
	case errors.Is(err, sa.ErrExists):
		words = "File exists"
	case errors.Is(err, sa.ErrNotFound) && c.Object == ObjectState:
		words = "No such process"
	case errors.Is(err, sa.ErrNotFound):
		words = "No such file or directory"
	case errors.Is(err, sa.ErrInvalid):
		words = "Invalid argument"
	default:
		return err
	}
	return fmt.Errorf("%w (%s)", err, words)
}

func (c *Command) executeState(tx *sa.Tx, w io.Writer) error {
	f := &c.StateFilter
	switch c.Verb {
	case VerbAdd:
		return tx.AddState(c.State)
	case VerbUpdate:
		return tx.UpdateState(c.State)
	case VerbGet:
		s := tx.GetState(c.stateID())
		if s == nil {
			return fmt.Errorf("get SA SPI 0x%08x to %v: %w", *f.SPI, f.Dst.Addr(), sa.ErrNotFound)
		}
		return c.list(w, s)
	case VerbDelete:
		// The kernel does not compare the source of an ESP SA either.
		return tx.DeleteState(c.stateID(), netip.Addr{})
	case VerbDeleteAll:
		tx.DeleteAll(f.Match)
	case VerbFlush:
		tx.FlushStates()
	case VerbList:
		for s := range tx.States(f.Match) {
			if err := c.list(w, s); err != nil {
				return err
			}
		}
	case VerbCount:
		_, err := fmt.Fprintf(w, "\t SAD count %d\n", tx.CountStates())
		return err
	}
	return nil
}

func (c *Command) stateID() sa.ID {
	return sa.ID{Dst: c.StateFilter.Dst.Addr(), Proto: sa.ProtoESP, SPI: *c.StateFilter.SPI}
}

func (c *Command) list(w io.Writer, s *sa.SA) error {
	v := ViewState(s)
	if c.Errors != nil {
		v.Errors = c.Errors(s)
	}
	return WriteState(w, v, c.Options)
}

func (c *Command) executePolicy(tx *sa.Tx, w io.Writer) error {
	f := &c.PolicyFilter
	switch c.Verb {
	case VerbAdd:
		return tx.AddPolicy(c.Policy)
	case VerbUpdate:
		return tx.UpdatePolicy(c.Policy)
	case VerbGet:
		return c.getPolicy(tx, w)
	case VerbDelete:
		if f.Index != nil {
			return tx.DeletePolicyIndex(f.Dir, *f.Index)
		}
		return tx.DeletePolicy(f.Dir, f.Sel)
	case VerbDeleteAll:
		tx.DeletePolicies(f.Match)
	case VerbFlush:
		tx.FlushPolicies()
	case VerbList:
		for s := range tx.Policies(f.Match) {
			if err := WritePolicy(w, ViewPolicy(s), c.Options); err != nil {
				return err
			}
		}
	case VerbCount:
		return c.countPolicies(tx, w)
	case VerbSetDefault:
		for _, d := range c.Defaults {
			if err := tx.SetDefault(d.Dir, d.Action); err != nil {
				return err
			}
		}
	case VerbGetDefault:
		return writeDefaults(w, tx.Default)
	}
	return nil
}

func (c *Command) getPolicy(tx *sa.Tx, w io.Writer) error {
	f := &c.PolicyFilter
	s, what := (*sa.PolicyState)(nil), ""
	if f.Index != nil {
		s, what = tx.GetPolicyIndex(f.Dir, *f.Index), fmt.Sprintf("index %d", *f.Index)
	} else {
		s, what = tx.GetPolicy(f.Dir, f.Sel), fmt.Sprintf("src %v dst %v", f.Sel.Src, f.Sel.Dst)
	}
	if s == nil {
		return fmt.Errorf("get policy dir %s %s: %w", directionName(f.Dir), what, sa.ErrNotFound)
	}
	return WritePolicy(w, ViewPolicy(s), c.Options)
}

func (c *Command) countPolicies(tx *sa.Tx, w io.Writer) error {
	p := &printer{FormatOptions: c.Options}
	p.printf("\t SPD IN  %d OUT %d FWD %d",
		tx.CountPolicies(sa.DirIn), tx.CountPolicies(sa.DirOut), tx.CountPolicies(sa.DirForward))
	if p.Stats {
		p.print(" (Sock: IN 0 OUT 0 FWD 0)")
	}
	p.end()
	p.record()
	return p.writeTo(w)
}

func writeDefaults(w io.Writer, of func(sa.Direction) sa.Action) error {
	text := func(d sa.Direction) string {
		if of(d) == sa.ActionBlock {
			return "block"
		}
		return "accept"
	}
	_, err := fmt.Fprintf(w, "Default policies:\n in:  %s\n fwd: %s\n out: %s\n",
		text(sa.DirIn), text(sa.DirForward), text(sa.DirOut))
	return err
}
