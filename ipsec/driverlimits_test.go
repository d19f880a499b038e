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
		arch    string
		dpdk    [2]int
		family  string
		unfit   bool
		ingress bool
		egress  int
	}{
		{"net_ixgbe", 0x10b6, "amd64", [2]int{22, 11}, "82598", true, false, 0},
		{"net_ixgbe", 0x1508, "arm64", [2]int{26, 7}, "82598", true, false, 0},
		{"net_ixgbe", 0x10fb, "amd64", [2]int{22, 11}, "82599", false, true, 256},
		{"net_ixgbe", 0x10f7, "amd64", [2]int{26, 11}, "82599", false, true, 256},
		{"net_ixgbe", 0x10fb, "arm64", [2]int{26, 11}, "any MAC on Arm", false, false, 256},
		{"net_ixgbe", 0x1528, "amd64", [2]int{24, 11}, "X540", false, true, 256},
		{"net_ixgbe", 0x1563, "amd64", [2]int{22, 11}, "X550", false, false, 256},
		{"net_ixgbe", 0x15ad, "amd64", [2]int{25, 11}, "X550", false, false, 256},
		{"net_ixgbe", 0x1563, "amd64", [2]int{26, 3}, "X550", false, true, 256},
		{"net_ixgbe", 0x1563, "amd64", [2]int{}, "X550", false, false, 256},
		{"net_ixgbe", 0x57ae, "amd64", [2]int{26, 3}, "another MAC", true, false, 0},
		{"net_ixgbe", 0, "arm64", [2]int{26, 3}, "another MAC", true, false, 0},
		{"net_ixgbe_vf", 0x10ed, "amd64", [2]int{24, 11}, "virtual function", true, false, 0},
		{"net_txgbe", 0x1001, "amd64", [2]int{24, 11}, "Wangxun 10G", false, false, 256},
		{"net_iavf", 0x1889, "amd64", [2]int{24, 11}, "Intel adaptive VF", false, true, 4096},
		{"net_nfp_pf", 0x3800, "amd64", [2]int{23, 11}, "Corigine NFP", true, false, 0},
		{"net_nfp_vf", 0x3803, "amd64", [2]int{26, 7}, "Corigine NFP", true, false, 0},
		{"net_cn9k", 0xa063, "arm64", [2]int{22, 11}, "Marvell cn9k", false, true, 4096},
		{"net_cn10k", 0xa063, "arm64", [2]int{24, 11}, "Marvell cn10k", false, true, 4096},
		{"net_cn20k", 0xa063, "arm64", [2]int{25, 3}, "Marvell cn20k", false, true, 4096},
		{"net_cn20k", 0xa063, "arm64", [2]int{24, 11}, "not known", false, true, 4096}, // there is none
		{"mlx5_pci", 0x1021, "amd64", [2]int{26, 7}, "NVIDIA ConnectX, BlueField", true, false, 0},
		{"mlx5_auxiliary", 0x1021, "amd64", [2]int{22, 11}, "NVIDIA ConnectX, BlueField", true, false, 0},
		{"sxe2_pci", 1, "amd64", [2]int{26, 7}, "Stars Micro", true, false, 0},
		{"net_emu_crypto", 0, "", [2]int{22, 11}, "emulated, inline crypto", false, true, 4096},
		{"net_emu_packet", 0, "", [2]int{22, 11}, "emulated, inline protocol", false, true, 4096},
		{"net_other", 0, "amd64", [2]int{22, 11}, "not known", false, true, 4096},
	} {
		t.Run(fmt.Sprintf("%s %04x %s %d", test.driver, test.pci, test.arch, test.dpdk), func(t *testing.T) {
			l, family := findLimits(test.driver, test.pci, test.arch, test.dpdk)
			require.Equal(t, test.family, family)
			require.Equal(t, test.unfit, l.Unusable != "", l.Unusable)
			require.NotEmpty(t, l.Sources, "where it is known from")
			require.Equal(t, test.egress, l.EgressSAs)
			if test.unfit {
				return
			}
			require.Equal(t, test.ingress, !l.EgressOnly)
			require.NotZero(t, l.TxDrain)
			require.True(t, l.NoIPv4Options && l.NoExtensionHeaders && l.NoUDPEncap)
		})
	}
}

// Every row can be the first that fits.
func TestLimitsTableHasNoDeadRow(t *testing.T) {
	for i, row := range limitsTable {
		pci := uint32(0xffff)
		if len(row.PCI) > 0 {
			pci = row.PCI[0]
		}
		_, family := findLimits(row.Driver, pci, row.Arch, row.From)
		require.Equal(t, row.Family, family, "row %d, %s", i, row.Driver)
		require.NotEmpty(t, row.Limits.Sources, row.Driver)
	}
}

// What the driver's capability list does not tell about ixgbe: it is known of the
// card that an emulated device imitates, too, on any CPU.
func TestIxgbeLimits(t *testing.T) {
	for _, info := range []pmd.PortInfo{
		{Driver: "net_ixgbe", PCIDevice: 0x10fb},
		{Driver: "net_af_packet", Emulates: "net_ixgbe", PCIDevice: 0x10fb},
	} {
		l, _ := findLimits(driverName(info), info.PCIDevice, "", [2]int{22, 11})
		require.Equal(t, []int{128}, l.KeyBits)
		require.Equal(t, []int{128}, l.ICVBits)
		require.True(t, l.NoESN && l.NoUDPEncap)
		require.Equal(t, 256, l.EgressSAs, "of 1024, because the transmit path compares 8 bits of the index")
		require.Equal(t, 1024, l.IngressSAs)
		require.Equal(t, 128, l.Addresses)
		require.True(t, l.RemovalStopsLookups && l.RemovesBySPI && l.MixesFamilies && l.FlagsUnset)
		require.True(t, l.NoTagged && l.NoIPv4Options && l.NoExtensionHeaders)
		require.Equal(t, 9500, l.MaxFrame)
	}
	l, family := limitsOf(pmd.PortInfo{Driver: "net_ring", Emulates: "net_ixgbe", PCIDevice: 0x10fb}, [2]int{22, 11})
	require.Equal(t, "82599", family)
	require.False(t, l.EgressOnly)

	// A change for some devices must not be one for all.
	require.False(t, ixgbeLimits.EgressOnly)
	for _, s := range ixgbeLimits.Sources {
		require.NotContains(t, s, "txgbe")
	}
	egressOnly := ixgbeLimits.with(noIngress)
	note := func(text string) []string {
		return egressOnly.with(func(l *inlineLimits) { l.Sources = append(l.Sources, text) }).Sources
	}
	first, second := note("first"), note("second")
	require.Equal(t, "first", first[len(first)-1])
	require.Equal(t, "second", second[len(second)-1])
}

func driverName(info pmd.PortInfo) string {
	if info.Emulates != "" {
		return info.Emulates
	}
	return info.Driver
}

func TestVersion(t *testing.T) {
	require.Equal(t, [2]int{22, 11}, parseVersion("DPDK 22.11.11"))
	require.Equal(t, [2]int{26, 3}, parseVersion("DPDK 26.03.0-rc1"))
	require.Equal(t, [2]int{}, parseVersion("none"))
	require.GreaterOrEqual(t, dpdkVersion()[0], 22)
}

// The operator's table says what the code's does: each row of the code is a row
// there, and none there is of no row.
func TestDocumentedDrivers(t *testing.T) {
	text, err := os.ReadFile("../docs/offload.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| driver | devices |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")[2:]
	used := make([]bool, len(lines))
	for i := range limitsTable {
		row := &limitsTable[i]
		at := -1
		for n, line := range lines {
			if cells := cellsOf(line); describes(cells, row) {
				require.Equal(t, -1, at, "two rows for %s, %s", row.Driver, row.Family)
				at, used[n] = n, true
				requireCells(t, cells, row)
			}
		}
		require.NotEqual(t, -1, at, "%s, %s, from %v, below %v is not in docs/offload.md", row.Driver, row.Family, row.From, row.Below)
	}
	for n, line := range lines {
		require.True(t, used[n], "no row of the code: %s", line)
	}
}

// Cells of the operator's table.
const (
	cellDriver = iota
	cellDevices
	cellReleases
	cellDepth
	cellCiphers
	cellOut
	cellIn
	cellNot
	cellNote
	numCells
)

func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// describes says whether a row of the operator's table is about one of the code's:
// its driver, its devices and its releases.
func describes(cells []string, row *driverLimits) bool {
	return len(cells) == numCells && strings.Contains(cells[cellDriver], "`"+row.Driver+"`") &&
		familyIn(cells[cellDevices], row.Family) && strings.HasPrefix(cells[cellReleases], releases(row))
}

// familyIn says whether a family is one of those that a cell begins with.
func familyIn(cell, family string) bool {
	if cell == family {
		return true
	}
	for _, end := range []string{" (", ", if", ": "} {
		if strings.HasPrefix(cell, family+end) {
			return true
		}
	}
	return family == "82599" && cell == "82599, X540" || family == "X540" && cell == "82599, X540"
}

func releases(row *driverLimits) string {
	switch {
	case row.Below != [2]int{}:
		return fmt.Sprintf("before %d.%02d", row.Below[0], row.Below[1])
	case row.From != [2]int{}:
		return fmt.Sprintf("%d.%02d on", row.From[0], row.From[1])
	}
	return "all"
}

func requireCells(t *testing.T, cells []string, row *driverLimits) {
	t.Helper()
	l := &row.Limits
	name := row.Driver + ", " + row.Family
	require.NotEmpty(t, cells[cellNote], name)
	require.Equal(t, l.Unusable != "", cells[cellDepth] == "none", name)
	if l.Unusable != "" {
		return
	}
	require.Equal(t, l.NoESN, strings.Contains(cells[cellCiphers], "no ESN"), name)
	require.Equal(t, len(l.KeyBits) > 0, strings.Contains(cells[cellCiphers], "AES-128-GCM, ICV 128"), name)
	sas := func(n, addresses int) string {
		text := fmt.Sprint(n)
		if l.RemovalStopsLookups {
			text += ", of which one is espgw's"
		}
		if addresses > 0 {
			text += fmt.Sprintf("; %d addresses", addresses)
			if l.RemovalStopsLookups {
				text += ", of which one is espgw's"
			}
		}
		return text
	}
	require.Equal(t, sas(l.EgressSAs, 0), cells[cellOut], name)
	if l.EgressOnly {
		require.Equal(t, "none", cells[cellIn], name)
	} else {
		require.Equal(t, sas(l.IngressSAs, l.Addresses), cells[cellIn], name)
	}
	var not []string
	for _, n := range []struct {
		on   bool
		word string
	}{{l.NoTagged, "tags"}, {l.NoIPv4Options, "options"}, {l.NoExtensionHeaders, "extension headers"}} {
		if n.on {
			not = append(not, n.word)
		}
	}
	require.Equal(t, strings.Join(not, ", "), cells[cellNot], name)
	require.True(t, l.NoUDPEncap, "the text says so of all")
}
