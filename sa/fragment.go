package sa

// outboundFragment decides about a fragment, whose ports may be unknown: Pass
// only if whatever it may belong to passes.
func (t *Table) outboundFragment(f *Flow) Decision {
	return t.out.fragment(f, t.blockOut, func(p *policyEntry) bool {
		if p.rule == ruleUse {
			sa, _, _ := t.resolve(f, p)
			return sa != nil
		}
		return p.rule == ruleRequire
	})
}

// inboundFragment is outboundFragment for what came in without ESP.
func (t *Table) inboundFragment(f *Flow) Decision {
	return t.in.fragment(f, t.blockIn, func(p *policyEntry) bool { return p.rule == ruleRequire })
}

// fragment walks the policies that f may belong to, in order, up to the first
// that it surely belongs to: one without ports, or whose ports a first fragment
// has. An uncertain match on the way that is not a plain allow settles the
// matter: such a fragment cannot be protected and must not pass.
func (d *spd) fragment(f *Flow, block bool, protects func(*policyEntry) bool) Decision {
	var w search
	w.start(d.of(f), f, portsKnown(f))
	var unsure *PolicyState // the first uncertain block
	for p := w.next(); p != nil; p = w.next() {
		sure := f.Frag == FragFirst || !p.state.match.hasPorts()
		switch {
		case p.rule == ruleBlock:
			if sure {
				return Decision{Verdict: Block, Policy: p.state}
			}
			if unsure == nil {
				unsure = p.state
			}
		case protects(p):
			return Decision{Verdict: Fragmented, Policy: p.state}
		case !sure:
		case unsure != nil:
			return Decision{Verdict: Fragmented, Policy: unsure}
		default:
			return Decision{Verdict: Pass, Policy: p.state}
		}
	}
	if unsure != nil && !block {
		return Decision{Verdict: Fragmented, Policy: unsure}
	}
	return byDefault(block)
}

func portsKnown(f *Flow) searchBy {
	if f.Frag == FragLater {
		return byProto
	}
	return byPorts
}
