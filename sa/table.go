package sa

import "sync/atomic"

// Table is a snapshot of SAD and SPD for the packet path. It never changes, but
// for the counters and states of the SAs and policies in it; the DB publishes
// the next one. All methods are lock-free and do not allocate.
type Table struct {
	spis   spiIndex
	pairs  pairIndex
	status []atomic.Uint32 // by slot

	out, in           spd
	blockOut, blockIn bool // default policies
}

// spd is one direction's policies, by family.
type spd struct{ v4, v6 *policySet }

func (d *spd) of(f *Flow) *policySet {
	if f.V6 {
		return d.v6
	}
	return d.v4
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
	d, _ := t.outbound(f)
	return d
}

// outbound also says whether any packet between the same addresses would find
// the same SA, if it found the same policy.
func (t *Table) outbound(f *Flow) (d Decision, wide bool) {
	if f.Frag != FragNone {
		return t.outboundFragment(f), false
	}
	p := t.out.of(f).first(f)
	if p == nil {
		return byDefault(t.blockOut), true
	}
	switch p.rule {
	case ruleBlock:
		return Decision{Verdict: Block, Policy: p.state}, true
	case rulePass:
		return Decision{Verdict: Pass, Policy: p.state}, true
	}
	sa, expired, wide := t.resolve(f, p)
	switch {
	case sa != nil:
		return Decision{Verdict: Protect, SA: sa, Policy: p.state}, wide
	case p.rule == ruleUse:
		return Decision{Verdict: Pass, Policy: p.state}, false
	case expired != nil:
		return Decision{Verdict: Expired, SA: expired, Policy: p.state}, false
	}
	p.state.wantSA(f)
	return Decision{Verdict: NoState, Policy: p.state}, false
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
// none, expired is one that would have fitted. wide says that it is the only SA
// of these addresses and reqid, and carries all that goes between them; the SA
// itself, which may be far away in memory, is not looked at for that.
func (t *Table) resolve(f *Flow, p *policyEntry) (usable, expired *SA, wide bool) {
	v := t.pairs.find(f, p.reqID)
	if v == nil {
		return nil, nil, false
	}
	if v.chain != 0 {
		usable, expired = t.resolveChain(f, p, t.pairs.chains[v.chain])
		return usable, expired, false
	}
	status := t.status[v.slot].Load()
	switch {
	case !v.sa.sends(status, f, p.spi):
		return nil, nil, false
	case status&statusExpired != 0:
		return nil, v.sa, false
	}
	return v.sa, nil, status&statusMatch == 0 && uint8(status>>statusProto) == 0
}

func (t *Table) resolveChain(f *Flow, p *policyEntry, chain []*SA) (usable, expired *SA) {
	var dying *SA
	for i := len(chain) - 1; i >= 0; i-- {
		s := chain[i]
		status := t.status[s.slot].Load()
		switch {
		case !s.sends(status, f, p.spi):
		case status&statusExpired != 0:
			if expired == nil {
				expired = s
			}
		case status&statusDying == 0:
			return s, nil
		case dying == nil:
			dying = s
		}
	}
	return dying, expired
}

// InboundClear decides about a packet that came in without ESP: Pass, Block,
// Mismatch (it should have been protected) or Fragmented.
func (t *Table) InboundClear(f *Flow) Decision {
	if f.Frag != FragNone {
		return t.inboundFragment(f)
	}
	p := t.in.of(f).first(f)
	if p == nil {
		return byDefault(t.blockIn)
	}
	switch p.rule {
	case ruleBlock:
		return Decision{Verdict: Block, Policy: p.state}
	case ruleRequire:
		return Decision{Verdict: Mismatch, Policy: p.state}
	}
	return Decision{Verdict: Pass, Policy: p.state}
}

// InboundESP decides about a packet that s opened, f being what was inside
// (RFC 4301, 5.2 step 4; the kernel's __xfrm_policy_check): Pass, Block,
// Mismatch or StateMismatch.
func (t *Table) InboundESP(f *Flow, s *SA) Decision {
	if !s.carries(f) {
		return Decision{Verdict: StateMismatch, SA: s}
	}
	p := t.in.of(f).first(f)
	switch {
	case p == nil:
		d := byDefault(t.blockIn)
		d.SA = s
		return d
	case p.rule == ruleBlock:
		return Decision{Verdict: Block, SA: s, Policy: p.state}
	case p.rule == ruleRequire && !p.accepts(s):
		return Decision{Verdict: Mismatch, SA: s, Policy: p.state}
	}
	return Decision{Verdict: Pass, SA: s, Policy: p.state}
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
func (p *policyEntry) accepts(s *SA) bool {
	return (p.reqID == 0 || p.reqID == s.reqID) && (p.spi == 0 || p.spi == s.spi)
}

// natTPort is the UDP port of encapsulated ESP (RFC 3948).
const natTPort = 4500

// AllowsClearESP reports whether ESP that is the hosts' own (no SA knows its
// SPI) may come in: the first policy that decides about f is an allow policy
// whose selector names proto esp, or UDP with port 4500.
func (t *Table) AllowsClearESP(f *Flow) bool {
	var w search
	w.start(t.in.of(f), f, portsKnown(f))
	for p := w.next(); p != nil; p = w.next() {
		switch {
		case p.rule == ruleBlock || p.rule == ruleRequire:
			return false
		case p.rule == rulePass && p.state.namesESP():
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
