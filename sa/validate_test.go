package sa_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

func TestValidateState(t *testing.T) {
	tests := []struct {
		name   string
		change func(*sa.Params)
		is     error
		text   string
	}{
		{"as it is", func(*sa.Params) {}, nil, ""},
		{"SPI 0", func(p *sa.Params) { p.SPI = 0 }, sa.ErrInvalid, "SPI 0"},
		{"AH", func(p *sa.Params) { p.Proto = 51 }, sa.ErrUnsupported, "protocol 51"},
		{"tunnel", func(p *sa.Params) { p.Mode = sa.ModeTunnel }, sa.ErrUnsupported, "mode tunnel"},
		{"no source", func(p *sa.Params) { p.Src = netip.Addr{} }, sa.ErrInvalid, "address"},
		{"any destination", func(p *sa.Params) { p.Dst = netip.IPv4Unspecified() }, sa.ErrInvalid, "0.0.0.0"},
		{"zone", func(p *sa.Params) { p.Src, p.Dst = netip.MustParseAddr("fe80::1%x"), netip.MustParseAddr("fe80::2") }, sa.ErrInvalid, "fe80::1"},
		{"two families", func(p *sa.Params) { p.Src = netip.MustParseAddr("2001:db8::1") }, sa.ErrInvalid, "two families"},
		{"no algorithm", func(p *sa.Params) { p.Algorithm = 0 }, sa.ErrUnsupported, "algorithm none"},
		{"AES-128 without salt", func(p *sa.Params) { p.Key = key(16, 1) }, sa.ErrKeyLength, "the salt is missing"},
		{"AES-192 without salt", func(p *sa.Params) { p.Key = key(24, 1) }, sa.ErrKeyLength, "the salt is missing"},
		{"AES-256 without salt", func(p *sa.Params) { p.Key = key(32, 1) }, sa.ErrKeyLength, "16, 24 or 32 octets and 4 octets of salt"},
		{"AES-192", func(p *sa.Params) { p.Key = key(28, 1) }, nil, ""},
		{"AES-256", func(p *sa.Params) { p.Key = key(36, 1) }, nil, ""},
		{"no key", func(p *sa.Params) { p.Key = sa.Key{} }, sa.ErrKeyLength, "0 octets"},
		{"21 octets", func(p *sa.Params) { p.Key = key(21, 1) }, sa.ErrKeyLength, "21 octets"},
		{"ICV 64", func(p *sa.Params) { p.ICVBits = 64 }, nil, ""},
		{"ICV 32", func(p *sa.Params) { p.ICVBits = 32 }, sa.ErrICVLength, "64, 96 or 128"},
		{"ChaCha20", func(p *sa.Params) { p.Algorithm, p.Key = sa.AlgChaCha20Poly1305, key(36, 1) }, nil, ""},
		{"ChaCha20 without salt", func(p *sa.Params) { p.Algorithm, p.Key = sa.AlgChaCha20Poly1305, key(32, 1) }, sa.ErrKeyLength, "the salt is missing"},
		{"ChaCha20, 96 bits", func(p *sa.Params) { p.Algorithm, p.Key, p.ICVBits = sa.AlgChaCha20Poly1305, key(36, 1), 96 }, sa.ErrICVLength, "has 128"},
		{"window", func(p *sa.Params) { p.ReplayWindow = 1 << 17 }, sa.ErrInvalid, "65536 is the largest"},
		{"two directions", func(p *sa.Params) { p.Dir, p.Offload = sa.DirIn, &sa.Offload{Dir: sa.DirOut} }, sa.ErrInvalid, "contradict"},
		{"offload without direction", func(p *sa.Params) { p.Offload = &sa.Offload{} }, sa.ErrInvalid, "in or out"},
		{"dir fwd", func(p *sa.Params) { p.Dir = sa.DirForward }, sa.ErrInvalid, "direction fwd"},
		{"33-bit replay-seq", func(p *sa.Params) { p.ReplaySeq = 1 << 32 }, sa.ErrInvalid, "32 bits without flag esn"},
		{"33-bit replay-seq, ESN", func(p *sa.Params) { p.ReplaySeq, p.Flags = 1<<32, sa.FlagESN }, nil, ""},
		{"replay-oseq, ESN", func(p *sa.Params) { p.ReplayOSeq, p.Flags = 1<<49, sa.FlagESN }, sa.ErrInvalid, "replay-oseq"},
		{"encap port 0", func(p *sa.Params) { p.Encap = &sa.Encap{SrcPort: 4500} }, sa.ErrInvalid, "0 is no port"},
		{"selector of another family", func(p *sa.Params) { p.Sel = &sa.Selector{Src: prefix("::1"), Dst: prefix("::1")} }, sa.ErrInvalid, "selector"},
		{"selector of two families", func(p *sa.Params) { p.Sel = &sa.Selector{Src: prefix("::1"), Dst: prefix(hostA)} }, sa.ErrInvalid, "two families"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := state(hostA, hostB, 0x1000, 1)
			tt.change(p)
			tx := sa.NewDB(sa.Options{}).Begin()
			defer tx.Rollback()
			err := tx.AddState(p)
			if tt.is == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.is)
			require.ErrorContains(t, err, tt.text)
			require.ErrorContains(t, err, "add SA SPI 0x")
			require.Zero(t, tx.CountStates())
		})
	}
}

func TestValidatePolicy(t *testing.T) {
	tests := []struct {
		name   string
		change func(*sa.Policy)
		is     error
		text   string
	}{
		{"as it is", func(*sa.Policy) {}, nil, ""},
		{"no direction", func(p *sa.Policy) { p.Dir = 0 }, sa.ErrInvalid, "direction none"},
		{"no selector", func(p *sa.Policy) { p.Sel = sa.Selector{} }, sa.ErrInvalid, "selector"},
		{"two families", func(p *sa.Policy) { p.Sel.Dst = prefix("::1") }, sa.ErrInvalid, "two families"},
		{"tunnel", func(p *sa.Policy) { p.Templates[0].Mode = sa.ModeTunnel }, sa.ErrUnsupported, "mode tunnel"},
		{"AH", func(p *sa.Policy) { p.Templates[0].Proto = 51 }, sa.ErrUnsupported, "protocol 51"},
		{"two templates", func(p *sa.Policy) { p.Templates = append(p.Templates, p.Templates[0]) }, sa.ErrUnsupported, "2 templates"},
		{"template of another family", func(p *sa.Policy) { p.Templates[0].Src = netip.MustParseAddr("2001:db8::1") }, sa.ErrInvalid, "2001:db8::1"},
		{"template with ::", func(p *sa.Policy) { p.Templates[0].Src = netip.IPv6Unspecified() }, nil, ""},
		{"action", func(p *sa.Policy) { p.Action = 9 }, sa.ErrInvalid, "action 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := policy(sa.DirOut, hostA+"/24", hostB+"/24", 1)
			tt.change(p)
			tx := sa.NewDB(sa.Options{}).Begin()
			defer tx.Rollback()
			err := tx.AddPolicy(p)
			if tt.is == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.is)
			require.ErrorContains(t, err, tt.text)
			require.ErrorContains(t, err, "add policy dir")
		})
	}
}

// TestPolicyWarnings: what also catches neighbour discovery or DHCP says so.
func TestPolicyWarnings(t *testing.T) {
	tests := []struct {
		name     string
		src, dst string
		change   func(*sa.Policy)
		warning  string
	}{
		{"IPv6, all protocols", "2001:db8::/64", "2001:db8::/64", func(*sa.Policy) {}, "neighbour discovery"},
		{"ICMPv6", "2001:db8::/64", "2001:db8::/64", func(p *sa.Policy) { p.Sel.Proto = 58 }, "neighbour discovery"},
		{"ICMPv6 echo", "2001:db8::/64", "2001:db8::/64", func(p *sa.Policy) { p.Sel.Proto, p.Sel.SrcPort, p.Sel.SrcMask = 58, 128, 0xffff }, ""},
		{"IPv6 TCP", "2001:db8::/64", "2001:db8::/64", func(p *sa.Policy) { p.Sel.Proto = 6 }, ""},
		{"IPv4, all", "0.0.0.0/0", "0.0.0.0/0", func(*sa.Policy) {}, "DHCP"},
		{"IPv4 hosts", hostA + "/32", hostB + "/32", func(*sa.Policy) {}, ""},
		{"level use", "2001:db8::/64", "2001:db8::/64", func(p *sa.Policy) { p.Templates[0].Level = sa.LevelUse }, ""},
		{"bypass", "::/0", "::/0", func(p *sa.Policy) { p.Templates = nil }, ""},
		{"block", "::/0", "::/0", func(p *sa.Policy) { p.Action = sa.ActionBlock }, ""},
	}
	for _, tt := range tests {
		p := policy(sa.DirOut, tt.src, tt.dst, 1)
		tt.change(p)
		tx := sa.NewDB(sa.Options{}).Begin()
		require.NoError(t, tx.AddPolicy(p))
		_, err := tx.Prepare()
		require.NoError(t, err)
		all := strings.Join(tx.Warnings(), "\n")
		if tt.warning == "" {
			require.Empty(t, all, tt.name)
		} else {
			require.Contains(t, all, tt.warning, tt.name)
		}
		tx.Rollback()
	}
}

// TestBypassedPolicyWarnings: where another policy in front lets neighbour
// discovery through there is nothing to warn of, whichever was added first.
func TestBypassedPolicyWarnings(t *testing.T) {
	protecting := policy(sa.DirOut, "::/0", "::/0", 1)
	protecting.Priority = 10
	bypass := policy(sa.DirOut, "::/0", "::/0", 1)
	bypass.Templates, bypass.Priority = nil, 1
	bypass.Sel.Proto, bypass.Sel.SrcPort, bypass.Sel.SrcMask = 58, 135, 0xffff
	for _, order := range [][]*sa.Policy{{protecting, bypass}, {bypass, protecting}} {
		tx := sa.NewDB(sa.Options{}).Begin()
		for _, p := range order {
			require.NoError(t, tx.AddPolicy(p))
		}
		_, err := tx.Prepare()
		require.NoError(t, err)
		require.Empty(t, tx.Warnings())
		tx.Rollback()
	}
}

func TestWarningsAreFew(t *testing.T) {
	tx := sa.NewDB(sa.Options{}).Begin()
	defer tx.Rollback()
	for i := range uint32(30) {
		p := state(hostA, hostB, 1+i, 1)
		p.Key = key(20, 1)
		require.NoError(t, tx.AddState(p))
	}
	all := tx.Warnings()
	require.Len(t, all, 22)
	require.Contains(t, all, "20 more SAs have reserved SPIs")
	require.Contains(t, all, "19 more SAs share a key")
}
