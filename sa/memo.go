package sa

// Memo is what a worker remembers of its last lookup, so that neighbours of one
// flow, or of one pair of hosts where neither protocol nor ports decide, are
// looked up once. It belongs to one worker and one direction, and to one burst:
// Reset it before each, or a state that changed in the meantime is not seen.
type Memo struct {
	table    *Table
	flow     Flow
	sa       *SA  // what InboundESP was asked about
	wide     bool // protocol and ports did not matter
	decision Decision
}

// Reset forgets.
func (m *Memo) Reset() { m.table = nil }

func (m *Memo) holds(t *Table, f *Flow, s *SA) bool {
	return m.table == t && m.sa == s && m.flow.Src == f.Src && m.flow.Dst == f.Dst &&
		m.flow.V6 == f.V6 && f.Frag == FragNone &&
		(m.wide || m.flow.Proto == f.Proto && m.flow.SrcPort == f.SrcPort && m.flow.DstPort == f.DstPort)
}

func (m *Memo) keep(t *Table, f *Flow, s *SA, wide bool, d Decision) {
	m.table, m.flow, m.sa, m.wide, m.decision = t, *f, s, wide, d
}

// OutboundMemo is Outbound with a memory.
func (t *Table) OutboundMemo(f *Flow, m *Memo) Decision {
	if m.holds(t, f, nil) {
		return m.decision
	}
	d, wide := t.outbound(f)
	if f.Frag == FragNone && (d.Verdict == Protect || d.Verdict == Pass) {
		m.keep(t, f, nil, wide && t.out.of(f).byAddrs(), d)
	}
	return d
}

// InboundESPMemo is InboundESP with a memory.
func (t *Table) InboundESPMemo(f *Flow, s *SA, m *Memo) Decision {
	if m.holds(t, f, s) {
		return m.decision
	}
	d := t.InboundESP(f, s)
	if f.Frag == FragNone && d.Verdict == Pass {
		m.keep(t, f, s, s.byAddrs() && t.in.of(f).byAddrs(), d)
	}
	return d
}

// byAddrs says that addresses alone decide which policies match.
func (s *policySet) byAddrs() bool { return !s.base.fine && (s.recent == nil || !s.recent.fine) }

// byAddrs says that addresses alone decide what the SA carries.
func (s *SA) byAddrs() bool { return s.sel == nil || s.sel.proto == 0 && !s.sel.hasPorts() }
