package sa

import "slices"

// Equal reports whether p and o are the same settings, keys compared in
// constant time. A reload leaves SAs alone whose settings are equal.
func (p *Params) Equal(o *Params) bool {
	return p.equalButLimits(o) && p.Limits == o.Limits
}

func (p *Params) equalButLimits(o *Params) bool {
	return p.sameState(o) &&
		p.Src == o.Src && p.Mode == o.Mode && p.ReqID == o.ReqID && p.Flags == o.Flags &&
		p.ICVBits == o.ICVBits && p.ReplayWindow == o.ReplayWindow &&
		p.ReplayWindowSet == o.ReplayWindowSet &&
		p.ReplaySeq == o.ReplaySeq && p.ReplayOSeq == o.ReplayOSeq && p.Dir == o.Dir &&
		equalPtr(p.Encap, o.Encap) && equalPtr(p.Sel, o.Sel) && equalPtr(p.Offload, o.Offload)
}

// sameState says whether sequence numbers and window of p go on meaning
// something under o: the same cipher, key, identity and width of sequence
// numbers.
func (p *Params) sameState(o *Params) bool {
	return p.ID == o.ID && p.Src == o.Src && p.Algorithm == o.Algorithm && p.Key.Equal(o.Key) &&
		(p.Flags^o.Flags)&FlagESN == 0
}

// Equal reports whether p and o are the same settings.
func (p *Policy) Equal(o *Policy) bool {
	return p.Dir == o.Dir && p.Sel == o.Sel && p.Priority == o.Priority && p.Action == o.Action &&
		p.Index == o.Index && p.Limits == o.Limits && p.Flags == o.Flags &&
		slices.Equal(p.Templates, o.Templates)
}

func equalPtr[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
