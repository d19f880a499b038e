package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOwnModule holds the module itself to its layers.
func TestOwnModule(t *testing.T) {
	faults, err := check("../..")
	require.NoError(t, err)
	require.Empty(t, faults)
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		folder, path string
		test         bool
		allowed      bool
	}{
		{folder: "sa", path: "net/netip", allowed: true},
		{folder: "sa", path: "github.com/gaissmai/bart"},
		{folder: "sa", path: "espgw/pmd"},
		{folder: "sa", path: "espgw/sa/xfrm"},
		{folder: "sa", path: "unsafe"},
		{folder: "sa", path: "C"},
		{folder: "sa", path: "golang.org/x/sys/unix"},
		{folder: "sa", path: "github.com/stretchr/testify/require"},
		{folder: "sa", path: "github.com/stretchr/testify/require", test: true, allowed: true},
		{folder: "sa", path: "espgw/sa/xfrm", test: true, allowed: true},
		{folder: "sa", path: "espgw/pmd/pmdtest", test: true},
		{folder: "sa/xfrm", path: "espgw/sa", allowed: true},
		{folder: "sa/xfrm", path: "espgw/ipsec"},
		{folder: "ipsec/packet", path: "espgw/sa", allowed: true},
		{folder: "ipsec/packet", path: "espgw/sa/xfrm"},
		{folder: "ipsec/packet", path: "espgw/ipsec/esp"},
		{folder: "ipsec/esp", path: "espgw/ipsec/packet", allowed: true},
		{folder: "ipsec/esp", path: "golang.org/x/crypto/chacha20poly1305", allowed: true},
		{folder: "ipsec/esp", path: "espgw/sa"},
		{folder: "ipsec/esp", path: "espgw/ipsec"},
		{folder: "pmd", path: "C", allowed: true},
		{folder: "pmd", path: "unsafe", allowed: true},
		{folder: "pmd", path: "golang.org/x/sys/unix", allowed: true},
		{folder: "pmd", path: "espgw/sa"},
		{folder: "pmd", path: "espgw/pmd/pmdtest"},
		{folder: "pmd", path: "espgw/pmd/pmdtest", test: true, allowed: true},
		{folder: "pmd/pmdtest", path: "espgw/pmd", allowed: true},
		{folder: "pmd/pmdtest", path: "espgw/ipsec"},
		{folder: "ipsec", path: "espgw/sa", allowed: true},
		{folder: "ipsec", path: "espgw/pmd", allowed: true},
		{folder: "ipsec", path: "espgw/ipsec/esp", allowed: true},
		{folder: "ipsec", path: "espgw/cmd/espgw"},
		{folder: "ipsec", path: "espgw/sa/xfrm"},
		{folder: "ipsec", path: "espgw/sa/xfrm", test: true, allowed: true},
		{folder: "ipsec", path: "espgw/pmd/pmdtest"},
		{folder: "ipsec", path: "espgw/pmd/pmdtest", test: true, allowed: true},
		{folder: "ipsec", path: "unsafe", test: true},
		{folder: "cmd/espgw", path: "espgw/sa/xfrm", allowed: true},
		{folder: "cmd/espgw", path: "espgw/ipsec", allowed: true},
		{folder: "cmd/espgw", path: "github.com/spf13/pflag", allowed: true},
		{folder: "cmd/espgw", path: "unsafe"},
		{folder: "cmd/espgw", path: "espgw/pmd/pmdtest"},
		{folder: "misc", path: "fmt"},
	} {
		why := verdict(c.folder, c.path, c.test)
		require.Equal(t, c.allowed, why == "", "%+v: %q", c, why)
	}
}

// TestPlantedViolations: a module with faults in it is not let through, even
// where build tags hide the file from the go command.
func TestPlantedViolations(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"sa/good.go":               "package sa\n\nimport \"errors\"\n\nvar _ = errors.New\n",
		"sa/c.go":                  "package sa\n\nimport \"C\"\n",
		"ipsec/esp/hidden.go":      "//go:build never\n\npackage esp\n\nimport (\n\t\"fmt\"\n\t_ \"unsafe\"\n)\n",
		"pmd/up.go":                "package pmd\n\nimport _ \"espgw/ipsec\"\n",
		"sa/testdata/ignored.go":   "package ignored\n\nimport \"C\"\n",
		"cmd/espgw/main_test.go":   "package main\n\nimport _ \"espgw/pmd/pmdtest\"\n",
		"ipsec/packet/sub/deep.go": "package sub\n\nimport _ \"espgw/pmd\"\n",
	} {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	faults, err := check(root)
	require.NoError(t, err)
	require.Equal(t, []string{
		`ipsec/esp/hidden.go:7: imports "unsafe": "C" and "unsafe" stay below pmd`,
		`ipsec/packet/sub/deep.go:3: imports "espgw/pmd": layer ipsec/packet may not know it`,
		`pmd/up.go:3: imports "espgw/ipsec": layer pmd may not know it`,
		`sa/c.go:3: imports "C": "C" and "unsafe" stay below pmd`,
	}, faults)
}

func TestNothingToCheck(t *testing.T) {
	_, err := check(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestUnreadableFile(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "broken.go"), []byte("no Go"), 0o600))
	_, err := check(root)
	require.ErrorContains(t, err, "broken.go")
}
