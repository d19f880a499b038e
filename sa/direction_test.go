package sa_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

const hostA, hostB = "14.0.0.52", "14.0.0.70"

// TestDirections decides by settings, then by policies.
func TestDirections(t *testing.T) {
	out := func(change func(*sa.Policy)) func() *sa.Policy {
		return func() *sa.Policy {
			p := policy(sa.DirOut, hostA+"/24", hostB+"/24", 7)
			if change != nil {
				change(p)
			}
			return p
		}
	}
	in := func() *sa.Policy { return policy(sa.DirIn, hostA+"/24", hostB+"/24", 7) }
	tests := []struct {
		name     string
		state    func(*sa.Params)
		policies []func() *sa.Policy
		want     sa.Direction
	}{
		{"nothing decides", nil, nil, sa.DirNone},
		{"dir in", func(p *sa.Params) { p.Dir = sa.DirIn }, []func() *sa.Policy{out(nil)}, sa.DirIn},
		{"offload dir out", func(p *sa.Params) { p.Offload = &sa.Offload{Dev: "x", Dir: sa.DirOut} }, []func() *sa.Policy{in}, sa.DirOut},
		{"out policy", nil, []func() *sa.Policy{out(nil)}, sa.DirOut},
		{"in policy", nil, []func() *sa.Policy{in}, sa.DirIn},
		{"fwd policy", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Dir = sa.DirForward })}, sa.DirIn},
		{"both", nil, []func() *sa.Policy{out(nil), in}, sa.DirAmbiguous},
		{"both, but settings say", func(p *sa.Params) { p.Dir = sa.DirOut }, []func() *sa.Policy{out(nil), in}, sa.DirOut},
		{"another reqid", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Templates[0].ReqID = 8 })}, sa.DirNone},
		{"reqid 0 is strict for out", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Templates[0].ReqID = 0 })}, sa.DirNone},
		{"reqid 0 is any for in", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Dir, p.Templates[0].ReqID = sa.DirIn, 0 })}, sa.DirIn},
		{"SPI", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Templates[0].SPI = 0x1007 })}, sa.DirOut},
		{"another SPI", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Templates[0].SPI = 0x1008 })}, sa.DirNone},
		{"template addresses", nil, []func() *sa.Policy{out(func(p *sa.Policy) {
			p.Templates[0].Src, p.Templates[0].Dst = netip.MustParseAddr(hostA), netip.MustParseAddr(hostB)
		})}, sa.DirOut},
		{"template with wildcard addresses", nil, []func() *sa.Policy{out(func(p *sa.Policy) {
			p.Templates[0].Src, p.Templates[0].Dst = netip.IPv4Unspecified(), netip.IPv4Unspecified()
		})}, sa.DirOut},
		{"another template source", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Templates[0].Src = netip.MustParseAddr(hostB) })}, sa.DirNone},
		{"outside the selector", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Sel.Dst = netip.MustParsePrefix("14.0.1.0/24") })}, sa.DirNone},
		{"behind a policy that does not fit", nil, []func() *sa.Policy{
			out(func(p *sa.Policy) { p.Sel.Proto, p.Templates = 50, nil }), out(nil),
		}, sa.DirOut},
		{"block with a template", nil, []func() *sa.Policy{out(func(p *sa.Policy) { p.Action = sa.ActionBlock })}, sa.DirNone},
	}
	for _, tt := range tests {
		p := state(hostA, hostB, 0x1007, 7)
		if tt.state != nil {
			tt.state(p)
		}
		t.Run(tt.name, func(t *testing.T) {
			db := sa.NewDB(sa.Options{})
			c := apply(t, db, func(tx *sa.Tx) {
				require.NoError(t, tx.AddState(p))
				for _, make := range tt.policies {
					require.NoError(t, tx.AddPolicy(make()))
				}
			})
			require.Equal(t, tt.want, inbound(db, p).Dir())
			ambiguous := strings.Contains(strings.Join(c.Warnings, "\n"), "dir in")
			require.Equal(t, tt.want == sa.DirAmbiguous, ambiguous, "%q", c.Warnings)
		})
		t.Run(tt.name+", policies later", func(t *testing.T) {
			db := sa.NewDB(sa.Options{})
			s := addState(t, db, p)
			for _, make := range tt.policies {
				apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddPolicy(make())) })
			}
			require.Equal(t, tt.want, s.Dir())
			apply(t, db, func(tx *sa.Tx) { tx.FlushPolicies() })
			explicit := tt.state != nil
			require.Equal(t, explicit, s.Dir() != sa.DirNone, "%v", s.Dir())
		})
	}
}

// TestReflected: ESP that we sent comes back. The SA that the lookup finds is
// outbound, with a window or without, and says so.
func TestReflected(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1007, 7)
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddState(p))
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 7)))
	})
	require.Equal(t, sa.DirOut, inbound(db, p).Dir())
	require.Zero(t, inbound(db, p).Window())
}

// TestDirectionRemembersSending: without policies an SA that was sent under
// stays outbound when it is added again.
func TestDirectionRemembersSending(t *testing.T) {
	db := sa.NewDB(sa.Options{})
	p := state(hostA, hostB, 0x1007, 7)
	apply(t, db, func(tx *sa.Tx) {
		require.NoError(t, tx.AddState(p))
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 7)))
	})
	inbound(db, p).ReserveOut(1, 1, 1)
	apply(t, db, func(tx *sa.Tx) { tx.FlushPolicies(); tx.FlushStates() })
	require.Equal(t, sa.DirOut, addState(t, db, p).Dir())
}

// TestWindowByDirection: an SA gets its window when it turns to open.
func TestWindowByDirection(t *testing.T) {
	db := sa.NewDB(sa.Options{DefaultWindow: 128})
	p, q, off := state(hostA, hostB, 0x1007, 7), state(hostA, hostB, 0x1008, 7), state(hostA, hostB, 0x1009, 7)
	q.ReplayWindow, q.ReplayWindowSet = 32, true
	off.ReplayWindowSet = true
	apply(t, db, func(tx *sa.Tx) {
		for _, p := range []*sa.Params{p, q, off} {
			require.NoError(t, tx.AddState(p))
		}
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 7)))
	})
	require.Zero(t, inbound(db, p).Window())
	apply(t, db, func(tx *sa.Tx) { tx.FlushPolicies() })
	require.EqualValues(t, 128, inbound(db, p).Window())
	require.EqualValues(t, 32, inbound(db, q).Window())
	require.Zero(t, inbound(db, off).Window())
}

func TestESNNeedsWindow(t *testing.T) {
	p := state(hostA, hostB, 0x1007, 7)
	p.Flags, p.ReplayWindowSet = sa.FlagESN, true
	in := *p
	in.Dir = sa.DirIn
	out := *p
	out.Dir = sa.DirOut
	db := sa.NewDB(sa.Options{})
	tx := db.Begin()
	require.ErrorContains(t, tx.AddState(&in), "needs a window")
	require.NoError(t, tx.AddState(p))
	_, err := tx.Prepare()
	require.ErrorIs(t, err, sa.ErrInvalid, "DirNone opens")
	require.ErrorIs(t, tx.Commit(), sa.ErrInvalid)
	tx.Rollback()
	apply(t, db, func(tx *sa.Tx) { require.NoError(t, tx.AddState(&out)) })
	// Policies that would turn it are refused too.
	apply(t, db, func(tx *sa.Tx) {
		tx.FlushStates()
		require.NoError(t, tx.AddPolicy(policy(sa.DirOut, hostA+"/32", hostB+"/32", 7)))
		require.NoError(t, tx.AddState(p))
	})
	tx = db.Begin()
	defer tx.Rollback()
	tx.FlushPolicies()
	_, err = tx.Prepare()
	require.ErrorIs(t, err, sa.ErrInvalid)
}
