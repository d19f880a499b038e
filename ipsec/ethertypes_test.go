package ipsec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

func TestPassList(t *testing.T) {
	byDefault, err := ParsePassList(DefaultPassEthertypes)
	require.NoError(t, err)
	tests := []struct {
		name string
		meta packet.Meta
		want bool
	}{
		{"ARP", packet.Meta{EtherType: 0x0806}, true},
		{"LLDP", packet.Meta{EtherType: 0x88cc}, true},
		{"LACP", packet.Meta{EtherType: 0x8809}, true},
		{"EAPOL", packet.Meta{EtherType: 0x888e}, true},
		{"PTP", packet.Meta{EtherType: 0x88f7}, true},
		{"spanning tree", packet.Meta{EtherType: 38, LLC: 0x42}, true},
		{"SNAP, which can carry IP", packet.Meta{EtherType: 38, LLC: 0xaa}, false},
		{"an EtherType that looks like spanning tree's place", packet.Meta{EtherType: 0x42, LLC: 0}, false},
		{"PPPoE session", packet.Meta{EtherType: 0x8864}, false},
		{"MPLS", packet.Meta{EtherType: 0x8847}, false},
		{"PROFINET, not listed", packet.Meta{EtherType: 0x8892}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, byDefault.passes(&tt.meta)) })
	}
}

func TestParsePassList(t *testing.T) {
	list, err := ParsePassList("ARP, 0x8892")
	require.NoError(t, err)
	require.True(t, list.passes(&packet.Meta{EtherType: 0x8892}))
	require.False(t, list.passes(&packet.Meta{EtherType: 0x88cc}))
	none, err := ParsePassList("none")
	require.NoError(t, err)
	require.False(t, none.passes(&packet.Meta{EtherType: 0x0806}))
	for _, bad := range []string{"", "arpp", "0x0800", "0x86dd", "0x8100", "0x8864", "0x05ff", "0x10000", "2054", "arp,,lldp"} {
		_, err := ParsePassList(bad)
		require.Error(t, err, "%q", bad)
	}
}
