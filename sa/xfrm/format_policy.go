package xfrm

import (
	"io"
	"net/netip"
	"time"

	"espgw/sa"
)

// PolicyView is a policy as listings show it.
type PolicyView struct {
	Policy *sa.Policy
	// Packets and Bytes are what the policy decided about.
	Packets, Bytes uint64
	// Added and LastUse are zero where unknown.
	Added, LastUse time.Time
}

// ViewPolicy looks at a live policy. Times are local ones.
func ViewPolicy(s *sa.PolicyState) *PolicyView {
	return &PolicyView{Policy: s.Policy(), Packets: s.Packets(), Added: s.Added(), LastUse: s.LastUse()}
}

// WritePolicy lists one policy as `ip xfrm policy list` does.
func WritePolicy(w io.Writer, v *PolicyView, o FormatOptions) error {
	p := &printer{FormatOptions: o}
	p.policy(v)
	p.record()
	return p.writeTo(w)
}

func (p *printer) policy(v *PolicyView) {
	s := v.Policy
	p.selector(&s.Sel)
	p.printf("\tdir %s ", directionName(s.Dir))
	switch {
	case s.Action == sa.ActionBlock:
		p.print("action block ")
	case p.Stats:
		p.print("action allow ")
	}
	if p.Stats {
		p.printf("index %d ", s.Index)
	}
	p.printf("priority %d ptype main ", s.Priority)
	if p.Stats {
		p.print("share any ")
	}
	p.policyFlags(s.Flags)
	p.end()
	if p.Stats {
		p.lifetimes(&s.Limits, v.Bytes, v.Packets, v.Added, v.LastUse)
	}
	for i := range s.Templates {
		p.template(&s.Templates[i], familyOf(s.Sel.Src.Addr()))
	}
}

func (p *printer) policyFlags(flags sa.PolicyFlags) {
	if p.Stats || flags != 0 {
		p.print("flag ")
		separator := ""
		for _, f := range policyFlags {
			if flags&f.flag != 0 {
				p.print(separator + f.name)
				separator = " "
			}
		}
	}
	if p.Stats {
		p.printf(" (0x%08b)", flags)
	}
}

func (p *printer) template(t *sa.Template, family Family) {
	addr := func(a netip.Addr) string {
		if !a.IsValid() {
			a = unspecified(family)
		}
		return formatAddr(a)
	}
	p.printf("\ttmpl src %s dst %s", addr(t.Src), addr(t.Dst))
	p.end()
	p.print("\t\tproto esp")
	if p.Stats || t.SPI != 0 {
		p.printf(" spi 0x%08x", t.SPI)
	}
	if p.Stats {
		p.printf("(%d)", t.SPI)
	}
	p.identity(t.ReqID, t.Mode)
	level := map[sa.Level]string{sa.LevelRequired: "required", sa.LevelUse: "use"}[t.Level]
	if p.Stats || t.Level != sa.LevelRequired {
		p.printf("\t\tlevel %s ", level)
		if p.Stats {
			p.print("share any ")
		}
		p.end()
	}
	if p.Stats {
		p.print("\t\tenc-mask ffffffff auth-mask ffffffff comp-mask ffffffff")
		p.end()
	}
}
