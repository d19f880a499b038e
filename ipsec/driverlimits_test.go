package ipsec

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

func TestLimitsByDeviceAndRelease(t *testing.T) {
	for _, test := range []struct {
		driver  string
		pci     uint32
		dpdk    [2]int
		family  string
		unfit   bool
		ingress bool
		egress  int
	}{
		{"net_ixgbe", 0x10b6, [2]int{22, 11}, "82598", true, false, 0},
		{"net_ixgbe", 0x10fb, [2]int{22, 11}, "82599", false, true, 256},
		{"net_ixgbe", 0x10f7, [2]int{26, 11}, "82599", false, true, 256},
		{"net_ixgbe", 0x1528, [2]int{24, 11}, "X540", false, true, 256},
		{"net_ixgbe", 0x1563, [2]int{22, 11}, "X550", false, false, 256},
		{"net_ixgbe", 0x15ad, [2]int{25, 11}, "X550", false, false, 256},
		{"net_ixgbe", 0x1563, [2]int{26, 3}, "X550", false, true, 256},
		{"net_ixgbe", 0x9999, [2]int{26, 3}, "another MAC", false, false, 256},
		{"net_ixgbe_vf", 0x10ed, [2]int{24, 11}, "virtual function", true, false, 0},
		{"net_txgbe", 0x1001, [2]int{24, 11}, "Wangxun 10G", false, false, 256},
		{"net_iavf", 0x1889, [2]int{24, 11}, "Intel adaptive VF", false, true, 4096},
		{"net_nfp", 0x3800, [2]int{22, 11}, "not known", false, true, 4096},
		{"net_nfp", 0x3800, [2]int{23, 11}, "Corigine NFP", false, true, 8192},
		{"net_sxe2", 1, [2]int{26, 7}, "Stars Micro", true, false, 0},
		{"net_other", 0, [2]int{22, 11}, "not known", false, true, 4096},
	} {
		t.Run(fmt.Sprintf("%s %04x %d", test.driver, test.pci, test.dpdk), func(t *testing.T) {
			l, family := limitsOf(pmd.PortInfo{Driver: test.driver, PCIDevice: test.pci}, test.dpdk)
			require.Equal(t, test.family, family)
			require.Equal(t, test.unfit, l.Unusable != "")
			require.NotEmpty(t, l.Sources, "where it is known from")
			if test.unfit {
				return
			}
			require.Equal(t, test.ingress, !l.EgressOnly)
			require.Equal(t, test.egress, l.EgressSAs)
			require.NotZero(t, l.TxDrain)
			require.True(t, l.NoIPv4Options && l.NoExtensionHeaders)
		})
	}
	l, _ := limitsOf(pmd.PortInfo{Driver: "net_af_packet", Emulates: "net_ixgbe", PCIDevice: 0x10fb}, [2]int{22, 11})
	require.True(t, l.RemovalStopsLookups && l.RemovesBySPI && l.NoTagged && l.NoESN)
	require.Equal(t, []int{128}, l.KeyBits)
	require.Equal(t, 1024, l.IngressSAs)
	require.Equal(t, 128, l.Addresses)
}

// Every row of the table is in the operator's.
func TestDocumentedDrivers(t *testing.T) {
	text, err := os.ReadFile("../docs/offload.md")
	require.NoError(t, err)
	for _, row := range limitsTable {
		found := false
		for line := range strings.SplitSeq(string(text), "\n") {
			if strings.HasPrefix(line, "|") && strings.Contains(line, "`"+row.Driver+"`") &&
				(strings.HasPrefix(row.Driver, "net_emu") || strings.HasPrefix(row.Driver, "net_cn") || strings.Contains(line, row.Family)) {
				if n := row.Limits.EgressSAs; n > 0 {
					require.Contains(t, line, fmt.Sprint(n), row.Driver)
				}
				found = true
			}
		}
		require.True(t, found, "%s, %s is not in docs/offload.md", row.Driver, row.Family)
	}
}
