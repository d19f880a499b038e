package ipsec_test

import (
	"io"

	"espgw/sa"
	"espgw/sa/xfrm"
)

func execute(c *xfrm.Command, tx *sa.Tx, _ io.Writer) error {
	if c.Object == xfrm.ObjectState {
		switch c.Verb {
		case xfrm.VerbAdd:
			return tx.AddState(c.State)
		case xfrm.VerbUpdate:
			return tx.UpdateState(c.State)
		default:
			tx.DeleteAll(c.StateFilter.Match)
		}
		return nil
	}
	switch c.Verb {
	case xfrm.VerbAdd:
		return tx.AddPolicy(c.Policy)
	case xfrm.VerbUpdate:
		return tx.UpdatePolicy(c.Policy)
	case xfrm.VerbSetDefault:
		for _, d := range c.Defaults {
			tx.SetDefault(d.Dir, d.Action)
		}
	default:
		tx.DeletePolicies(c.PolicyFilter.Match)
	}
	return nil
}
