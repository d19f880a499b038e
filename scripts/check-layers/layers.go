package main

import "strings"

const module = "espgw"

// layer says what the packages below one folder may import besides the standard
// library and packages of the same layer.
type layer struct {
	folder string   // relative to the root; the longest match counts
	may    []string // import paths or prefixes of them; those of this module relative to its root
	native bool     // may import "C" and "unsafe"
}

// layers is who may import whom. Arrows point one way:
// cmd → ipsec → {esp, packet, sa, pmd}, and sa and pmd do not know each other.
var layers = []layer{
	{folder: "sa"},
	{folder: "sa/xfrm", may: []string{"sa"}},
	{folder: "sa/journal"},
	{folder: "sa/durable", may: []string{"sa", "sa/journal"}},
	{folder: "ipsec/packet", may: []string{"sa"}},
	{folder: "ipsec/esp", may: []string{"ipsec/packet", "golang.org/x/crypto"}},
	{folder: "pmd", may: []string{"golang.org/x/sys"}, native: true},
	{folder: "pmd/emu", may: []string{"pmd"}, native: true},
	{folder: "pmd/emu/probe", may: []string{"pmd", "pmd/emu"}, native: true},
	{folder: "pmd/contract", may: []string{"pmd", "golang.org/x/sys"}},
	{folder: "pmd/silicon", may: []string{"golang.org/x/sys"}, native: true},
	{folder: "pmd/silicon/wire", may: []string{"pmd/silicon", "golang.org/x/sys", "github.com/gopacket/gopacket"}, native: true},
	{folder: "pmd/silicon/trap", may: []string{"pmd/silicon", "golang.org/x/sys", "golang.org/x/arch"}, native: true},
	{folder: "pmd/pmdtest", may: []string{"pmd", "golang.org/x/sys", "github.com/stretchr/testify"}, native: true},
	{folder: "ipsec", may: []string{"ipsec/packet", "ipsec/esp", "sa", "sa/durable", "pmd", "golang.org/x/sys"}},
	{folder: "cmd", may: []string{"ipsec", "ipsec/esp", "sa", "sa/xfrm", "sa/durable", "pmd", "pmd/emu", "pmd/silicon", "pmd/silicon/trap", "pmd/silicon/wire", "golang.org/x/sys", "github.com/spf13/pflag"}},
	{folder: "scripts"},
}

// testsMay is what tests of every layer may import too. Tests of pure packages
// stay pure, or they would not run without cgo.
var testsMay = []string{"github.com/stretchr/testify", "sa", "ipsec/packet", "ipsec/esp"}

// emulation is the emulated inline NIC: cmd attaches it, and tests of packages over
// DPDK run on it.
const emulation = "pmd/emu"

// testsOnly are packages that only tests may import: fixtures.
var testsOnly = []string{"pmd/pmdtest", "pmd/emu/probe"}

// layerOf finds the layer of a folder, given relative to the root with slashes.
func layerOf(folder string) (layer, bool) {
	var best layer
	found := false
	for _, l := range layers {
		if within(folder, l.folder) && len(l.folder) >= len(best.folder) {
			best, found = l, true
		}
	}
	return best, found
}

// verdict is why a file in folder must not import path, or "" if it may.
func verdict(folder, path string, test bool) string {
	own, ok := layerOf(folder)
	if !ok {
		return "this folder has no layer: name it in scripts/check-layers/layers.go"
	}
	if path == "C" || path == "unsafe" {
		if own.native {
			return ""
		}
		return `"C" and "unsafe" stay below pmd`
	}
	if standard(path) {
		return ""
	}
	inside := strings.TrimPrefix(path, module+"/")
	if withinAny(inside, testsOnly) && !withinAny(folder, testsOnly) {
		if test && own.mayUseFixtures() {
			return ""
		}
		return "only tests of packages over DPDK may import it"
	}
	if theirs, ok := layerOf(inside); ok && inside != path && theirs.folder == own.folder {
		return ""
	}
	if test && inside == emulation && own.mayUseFixtures() {
		return ""
	}
	if own.lists(inside) || test && withinAny(inside, testsMay) {
		return ""
	}
	return "layer " + own.folder + " may not know it"
}

// lists says whether path is in the layer's list. A path of this module counts
// for its own layer only: a layer that may import sa may not import sa/xfrm,
// except for cmd, which may import all.
func (l layer) lists(path string) bool {
	for _, prefix := range l.may {
		if !within(path, prefix) {
			continue
		}
		theirs, ours := layerOf(path)
		if !ours || theirs.folder == prefix || l.folder == "cmd" {
			return true
		}
	}
	return false
}

func (l layer) mayUseFixtures() bool {
	return l.folder == "ipsec" || l.folder == "cmd" || within(l.folder, "pmd")
}

// standard reports whether path is of the standard library: its first element
// has no dot and is not this module.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != module && !strings.Contains(first, ".")
}

// within reports whether path is folder or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func withinAny(path string, folders []string) bool {
	for _, f := range folders {
		if within(path, f) {
			return true
		}
	}
	return false
}
