package pmd

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hugePages is what the host has of one size, in pages.
type hugePages struct {
	size     uint64         // octets
	nodes    map[int]uint64 // free ones by NUMA node
	free     uint64         // free and overcommitted ones of the whole host
	reusable uint64         // in files that EAL will remove or reuse
	mount    string         // hugetlbfs of that size, "": not mounted
}

// checkMemory looks for huge pages as EAL does (eal_hugepage_info.c) and compares
// them with what the arguments ask for.
func (h host) checkMemory(o ealOptions) []string {
	if o.has("no-huge") || o.secondary() {
		return nil
	}
	all := h.hugePages(o)
	var usable []hugePages
	var total uint64
	for _, p := range all {
		if p.mount == "" && !o.has("in-memory") {
			continue
		}
		usable = append(usable, p)
		total += (p.free + p.reusable) * p.size
	}
	switch {
	case len(all) == 0:
		return []string{"the kernel has no huge pages (no /sys/kernel/mm/hugepages): use --no-huge -m MEGABYTES"}
	case len(usable) == 0:
		return []string{"no hugetlbfs is mounted" + h.hugeDir(o) +
			": mount -t hugetlbfs hugetlbfs /dev/hugepages, or use --in-memory, or --no-huge -m MEGABYTES"}
	case total == 0:
		return []string{"no huge pages are free (" + h.reservation(usable) +
			"): reserve some, for example 1 GiB with: echo 512 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages; or use --no-huge -m MEGABYTES"}
	}
	findings := h.checkMounts(usable, o)
	return append(findings, h.checkAmount(usable, total, o)...)
}

// checkMounts finds hugetlbfs folders that this user may not write.
func (h host) checkMounts(usable []hugePages, o ealOptions) []string {
	if o.has("in-memory") {
		return nil
	}
	var findings []string
	for _, p := range usable {
		if p.free == 0 {
			continue
		}
		if err := unix.Access(h.path(p.mount), unix.W_OK|unix.X_OK); err != nil {
			findings = append(findings, fmt.Sprintf("%s, where the huge pages of %d kB are, cannot be written (%v): chown it to your user, use --huge-dir with a folder of your own in it, or --in-memory",
				p.mount, p.size>>10, err))
		}
	}
	return findings
}

// checkAmount compares -m and --socket-mem (in MiB) with what is free.
func (h host) checkAmount(usable []hugePages, total uint64, o ealOptions) []string {
	if want, err := strconv.ParseUint(o.last("m"), 10, 40); err == nil && want<<20 > total {
		return []string{fmt.Sprintf("-m %d asks for more than the %d MiB of huge pages that are free", want, total>>20)}
	}
	var findings []string
	if !o.has("socket-mem") {
		return nil
	}
	for node, text := range strings.Split(o.last("socket-mem"), ",") {
		want, err := strconv.ParseUint(text, 10, 40)
		if err != nil || want == 0 {
			continue
		}
		var free uint64
		for _, p := range usable {
			free += (p.nodes[node] + p.reusable + overcommit(p)) * p.size
		}
		if want<<20 > free {
			findings = append(findings, fmt.Sprintf("--socket-mem asks for %d MiB on NUMA node %d, where %d MiB of huge pages are free", want, node, free>>20))
		}
	}
	return findings
}

// overcommit is how many pages the kernel would make on demand, on any node.
func overcommit(p hugePages) uint64 {
	var onNodes uint64
	for _, n := range p.nodes {
		onNodes += n
	}
	return p.free - min(p.free, onNodes)
}

// hugePages reads what there is, of each size.
func (h host) hugePages(o ealOptions) []hugePages {
	const sysfs = "/sys/kernel/mm/hugepages"
	entries, err := os.ReadDir(h.path(sysfs))
	if err != nil {
		return nil
	}
	var list []hugePages
	for _, entry := range entries {
		kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(entry.Name(), "hugepages-"), "kB"), 10, 50)
		if err != nil {
			continue
		}
		dir := filepath.Join(sysfs, entry.Name())
		p := hugePages{size: kb << 10, nodes: map[int]uint64{}, mount: h.hugeMount(kb<<10, o)}
		free := h.number(filepath.Join(dir, "free_hugepages"))
		p.free = free - min(free, h.number(filepath.Join(dir, "resv_hugepages")))
		more := h.number(filepath.Join(dir, "nr_overcommit_hugepages"))
		p.free += more - min(more, h.number(filepath.Join(dir, "surplus_hugepages")))
		for _, node := range h.nodes() {
			p.nodes[node] = h.number(fmt.Sprintf("/sys/devices/system/node/node%d/hugepages/%s/free_hugepages", node, entry.Name()))
		}
		if p.mount != "" {
			p.reusable = h.leftovers(p.mount) / p.size
		}
		list = append(list, p)
	}
	return list
}

// leftovers are octets in files of earlier DPDK processes, which EAL removes.
func (h host) leftovers(mount string) uint64 {
	files, _ := filepath.Glob(h.path(filepath.Join(mount, "*map_*")))
	var sum uint64
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			sum += uint64(info.Size())
		}
	}
	return sum
}

func (h host) number(name string) uint64 {
	n, _ := strconv.ParseUint(h.read(name), 10, 64)
	return n
}

// nodes are the NUMA nodes; node 0 when the kernel does not tell.
func (h host) nodes() []int {
	if nodes, ok := parseList(h.read("/sys/devices/system/node/online")); ok {
		return nodes
	}
	return []int{0}
}

// hugeMount finds the hugetlbfs that EAL takes for pages of a size: the first, or
// the one that --huge-dir lies in.
func (h host) hugeMount(size uint64, o ealOptions) string {
	want := o.last("huge-dir")
	for _, line := range strings.Split(h.read("/proc/mounts"), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 4 || fields[2] != "hugetlbfs" || h.mountSize(fields[3]) != size {
			continue
		}
		if want == "" {
			return fields[1]
		}
		if strings.HasPrefix(want, fields[1]) {
			return want
		}
	}
	return ""
}

// mountSize is the page size of a hugetlbfs: as its options say, or the default.
func (h host) mountSize(options string) uint64 {
	for _, option := range strings.Split(options, ",") {
		if text, ok := strings.CutPrefix(option, "pagesize="); ok {
			return parseSize(text)
		}
	}
	for _, line := range strings.Split(h.read("/proc/meminfo"), "\n") {
		if rest, ok := strings.CutPrefix(line, "Hugepagesize:"); ok {
			return parseSize(strings.ReplaceAll(strings.TrimSuffix(rest, "B"), " ", ""))
		}
	}
	return 2 << 20
}

// parseSize reads "2M", "1G", "2048k".
func parseSize(text string) uint64 {
	text = strings.ToUpper(text)
	shift := 0
	if at := strings.IndexAny(text, "KMG"); at >= 0 {
		shift = 10 * (1 + slices.Index([]byte("KMG"), text[at]))
		text = text[:at]
	}
	n, _ := strconv.ParseUint(text, 10, 40)
	return n << shift
}

func (h host) hugeDir(o ealOptions) string {
	if dir := o.last("huge-dir"); dir != "" {
		return " at " + dir
	}
	return ""
}

// reservation tells for each NUMA node what it has.
func (h host) reservation(list []hugePages) string {
	var parts []string
	for _, p := range list {
		for _, node := range h.nodes() {
			name := fmt.Sprintf("/sys/devices/system/node/node%d/hugepages/hugepages-%dkB/nr_hugepages", node, p.size>>10)
			parts = append(parts, fmt.Sprintf("NUMA node %d: %d of %d kB reserved, none free", node, h.number(name), p.size>>10))
		}
	}
	return strings.Join(parts, ", ")
}
