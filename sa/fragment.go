package sa

// outboundFragment decides about a fragment, whose ports may be unknown: Pass
// only if whatever it may belong to passes.
func (t *Table) outboundFragment(f *Flow) Decision {
	return t.out.fragment(f, t.blockOut, func(p *PolicyState) bool {
		if p.tmpl.Level == LevelRequired {
			return true
		}
		sa, _ := t.resolve(f, p.tmpl)
		return sa != nil
	})
}

// inboundFragment is outboundFragment for what came in without ESP.
func (t *Table) inboundFragment(f *Flow) Decision {
	return t.in.fragment(f, t.blockIn, (*PolicyState).protects)
}

// fragment walks the policies that f may belong to, in order, up to the first
// that it surely belongs to: one without ports, or whose ports a first fragment
// has. An uncertain match on the way that is not a plain allow settles the
// matter: such a fragment cannot be protected and must not pass.
func (d *spd) fragment(f *Flow, block bool, protects func(*PolicyState) bool) Decision {
	w := d.search(f, f.Frag == FragFirst)
	var unsure *PolicyState // the first uncertain block
	for p := w.next(); p != nil; p = w.next() {
		sure := f.Frag == FragFirst || !p.match.hasPorts()
		switch {
		case p.policy.Action == ActionBlock:
			if sure {
				return Decision{Verdict: Block, Policy: p}
			}
			if unsure == nil {
				unsure = p
			}
		case p.tmpl != nil && protects(p):
			return Decision{Verdict: Fragmented, Policy: p}
		case !sure:
		case unsure != nil:
			return Decision{Verdict: Fragmented, Policy: unsure}
		default:
			return Decision{Verdict: Pass, Policy: p}
		}
	}
	if unsure != nil && !block {
		return Decision{Verdict: Fragmented, Policy: unsure}
	}
	return byDefault(block)
}
