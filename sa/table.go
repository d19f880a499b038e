package sa

// Table is a snapshot of SAD and SPD for the packet path. It never changes, but
// for the counters and states of the SAs and policies in it; the DB publishes
// the next one. All methods are lock-free and do not allocate, and take a nil
// Table for an empty one.
type Table struct {
	spis  spiIndex
	pairs pairIndex

	out, in           spd
	blockOut, blockIn bool // default policies
	states, policies  int
}

// spd is one direction's policies, by family.
type spd struct{ v4, v6 *classifier }

func (d *spd) search(f *Flow, ports bool) search {
	if f.V6 {
		return d.v6.search(f, ports)
	}
	return d.v4.search(f, ports)
}

// Inbound finds the SA of an ESP packet by its destination and SPI (RFC 4301,
// 4.1, unicast); nil if there is none. What it finds may be outbound or expired:
// see SA.Dir and SA.CheckIn.
func (t *Table) Inbound(dst Addr, v6 bool, spi uint32) *SA {
	return t.spis.find(dst, v6, spi)
}

// Outbound decides about a packet that leaves by the unprotected side:
// Pass, Protect, Block, NoState, Expired or Fragmented.
func (t *Table) Outbound(f *Flow) Decision {
	if f.Frag != FragNone {
		return t.outboundFragment(f)
	}
	s := t.out.search(f, true)
	p := s.next()
	if p == nil {
		return byDefault(t.blockOut)
	}
	switch {
	case p.policy.Action == ActionBlock:
		return Decision{Verdict: Block, Policy: p}
	case p.tmpl == nil:
		return Decision{Verdict: Pass, Policy: p}
	}
	sa, expired := t.resolve(f, p.tmpl)
	switch {
	case sa != nil:
		return Decision{Verdict: Protect, SA: sa, Policy: p}
	case p.tmpl.Level == LevelUse:
		return Decision{Verdict: Pass, Policy: p}
	case expired != nil:
		return Decision{Verdict: Expired, SA: expired, Policy: p}
	}
	p.wantSA(f)
	return Decision{Verdict: NoState, Policy: p}
}

func byDefault(block bool) Decision {
	if block {
		return Decision{Verdict: Block}
	}
	return Decision{Verdict: Pass}
}

// resolve finds the SA that sends f under a transport-mode template, as the
// kernel's xfrm_state_find: between the packet's own addresses, reqid equal,
// the newest usable one, a dying one only if there is no other. If there is
// none, expired is one that would have fitted.
func (t *Table) resolve(f *Flow, tmpl *Template) (usable, expired *SA) {
	e := t.pairs.find(f.Src, f.Dst, f.V6, tmpl.ReqID)
	if e == nil {
		return nil, nil
	}
	var dying *SA
	for i, s := 0, e.first; ; i++ {
		if s.sends(f, tmpl) {
			switch s.live.state.Load() {
			case stateUsable:
				return s, nil
			case stateDying:
				if dying == nil {
					dying = s
				}
			default:
				if expired == nil {
					expired = s
				}
			}
		}
		if i >= len(e.more) {
			return dying, expired
		}
		s = e.more[i]
	}
}

func (s *SA) sends(f *Flow, tmpl *Template) bool {
	return Direction(s.dir.Load()) == DirOut && (tmpl.SPI == 0 || tmpl.SPI == s.spi) &&
		(s.sel == nil || s.sel.matches(f))
}

// InboundClear decides about a packet that came in without ESP: Pass, Block,
// Mismatch (it should have been protected) or Fragmented.
func (t *Table) InboundClear(f *Flow) Decision {
	if f.Frag != FragNone {
		return t.inboundFragment(f)
	}
	s := t.in.search(f, true)
	p := s.next()
	switch {
	case p == nil:
		return byDefault(t.blockIn)
	case p.policy.Action == ActionBlock:
		return Decision{Verdict: Block, Policy: p}
	case p.protects():
		return Decision{Verdict: Mismatch, Policy: p}
	}
	return Decision{Verdict: Pass, Policy: p}
}

// protects says that the policy demands ESP.
func (p *PolicyState) protects() bool { return p.tmpl != nil && p.tmpl.Level == LevelRequired }

// InboundESP decides about a packet that s opened, f being what was inside
// (RFC 4301, 5.2 step 4; the kernel's __xfrm_policy_check): Pass, Block,
// Mismatch or StateMismatch.
func (t *Table) InboundESP(f *Flow, s *SA) Decision {
	if !s.carries(f) {
		return Decision{Verdict: StateMismatch, SA: s}
	}
	w := t.in.search(f, true)
	p := w.next()
	switch {
	case p == nil:
		d := byDefault(t.blockIn)
		d.SA = s
		return d
	case p.policy.Action == ActionBlock:
		return Decision{Verdict: Block, SA: s, Policy: p}
	case p.protects() && !p.tmpl.accepts(s):
		return Decision{Verdict: Mismatch, SA: s, Policy: p}
	}
	return Decision{Verdict: Pass, SA: s, Policy: p}
}

// carries says whether the SA's own selector covers f. Without one that is the
// SA's addresses, except with encap, where a NAT may have changed them.
func (s *SA) carries(f *Flow) bool {
	if s.sel != nil {
		return s.sel.matches(f)
	}
	if s.Encap() {
		return s.V6() == f.V6
	}
	return s.V6() == f.V6 && s.src == f.Src && s.dst == f.Dst
}

// accepts is the kernel's xfrm_state_ok for transport mode.
func (t *Template) accepts(s *SA) bool {
	return (t.ReqID == 0 || t.ReqID == s.reqID) && (t.SPI == 0 || t.SPI == s.spi)
}

// natTPort is the UDP port of encapsulated ESP (RFC 3948).
const natTPort = 4500

// AllowsClearESP reports whether ESP that is the hosts' own (no SA knows its
// SPI) may come in: the first policy that decides about f is an allow policy
// whose selector names proto esp, or UDP with port 4500.
func (t *Table) AllowsClearESP(f *Flow) bool {
	w := t.in.search(f, f.Frag != FragLater)
	for p := w.next(); p != nil; p = w.next() {
		switch {
		case p.policy.Action == ActionBlock || p.protects():
			return false
		case p.tmpl == nil && p.namesESP():
			return f.Frag == FragNone
		}
	}
	return false
}

func (p *PolicyState) namesESP() bool {
	s := &p.policy.Sel
	switch s.Proto {
	case ProtoESP:
		return true
	case 17:
		return s.SrcMask == 0xffff && s.SrcPort == natTPort ||
			s.DstMask == 0xffff && s.DstPort == natTPort
	}
	return false
}
