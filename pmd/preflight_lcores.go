package pmd

// #include "shim.h"
import "C"

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

const lcoreMax = C.RTE_MAX_LCORE

// checkLcores finds lcores that no CPU is there for. A list that cannot be parsed
// is left to EAL.
func (h host) checkLcores(o ealOptions) []string {
	online, ok := parseList(h.read("/sys/devices/system/cpu/online"))
	if !ok {
		return nil
	}
	lcores, cpus, option := o.lcores()
	var findings []string
	for _, lcore := range lcores {
		if lcore >= h.lcoreMax {
			findings = append(findings, fmt.Sprintf("%s: lcore %d is too high, this DPDK knows 0 to %d (--lcores LCORE@CPU puts a low number on a high CPU)",
				option, lcore, h.lcoreMax-1))
		}
	}
	var missing []string
	for _, cpu := range cpus {
		if !slices.Contains(online, cpu) {
			missing = append(missing, strconv.Itoa(cpu))
		}
	}
	if len(missing) > 0 {
		findings = append(findings, fmt.Sprintf("%s asks for CPU %s, which is not there or not online: this host has %s",
			option, strings.Join(missing, ", "), h.read("/sys/devices/system/cpu/online")))
	}
	main, err := strconv.Atoi(o.last("main-lcore"))
	if err == nil && len(lcores) > 0 && !slices.Contains(lcores, main) {
		findings = append(findings, fmt.Sprintf("--main-lcore %d is not among the lcores of %s", main, option))
	}
	return findings
}

// lcores are the lcores that the arguments name, the CPUs they need, and the
// option that says so. Nothing when no option does, or when it is malformed.
func (o ealOptions) lcores() (lcores, cpus []int, option string) {
	ok := false
	switch {
	case o.has("lcores"):
		option = "--lcores " + o.last("lcores")
		lcores, cpus, ok = parseLcoreMap(o.last("lcores"))
	case o.has("l"):
		option = "-l " + o.last("l")
		lcores, ok = parseList(o.last("l"))
		cpus = lcores
	case o.has("c"):
		option = "-c " + o.last("c")
		lcores, ok = parseMask(o.last("c"))
		cpus = lcores
	}
	if !ok {
		return nil, nil, option
	}
	slices.Sort(lcores)
	slices.Sort(cpus)
	return slices.Compact(lcores), slices.Compact(cpus), option
}

// parseList reads "0-3,5".
func parseList(text string) ([]int, bool) {
	var list []int
	for _, item := range strings.Split(text, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(item), "-")
		first, err := strconv.ParseUint(low, 10, 16)
		last := first
		if err == nil && ranged {
			last, err = strconv.ParseUint(high, 10, 16)
		}
		if err != nil || last < first {
			return nil, false
		}
		for n := first; n <= last; n++ {
			list = append(list, int(n))
		}
	}
	return list, true
}

// parseMask reads a hexadecimal mask.
func parseMask(text string) ([]int, bool) {
	mask, ok := new(big.Int).SetString(strings.TrimPrefix(strings.ToLower(text), "0x"), 16)
	if !ok || mask.Sign() <= 0 || mask.BitLen() > 1<<16 {
		return nil, false
	}
	var list []int
	for bit := range mask.BitLen() {
		if mask.Bit(bit) == 1 {
			list = append(list, bit)
		}
	}
	return list, true
}

// parseLcoreMap reads --lcores: sets of lcores, each with an optional set of CPUs
// behind "@"; a set is a number, a range, or a list of these in parentheses.
func parseLcoreMap(text string) (lcores, cpus []int, ok bool) {
	for _, item := range splitOutside(text) {
		set, on, mapped := strings.Cut(item, "@")
		ids, ok := parseSet(set)
		if !ok {
			return nil, nil, false
		}
		where := ids
		if mapped {
			if where, ok = parseSet(on); !ok {
				return nil, nil, false
			}
		}
		lcores = append(lcores, ids...)
		cpus = append(cpus, where...)
	}
	return lcores, cpus, len(lcores) > 0
}

func parseSet(text string) ([]int, bool) {
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); ok {
			return parseList(inner)
		}
		return nil, false
	}
	return parseList(text)
}

// splitOutside splits at the commas that are not in parentheses.
func splitOutside(text string) []string {
	var items []string
	depth, start := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			items = append(items, text[start:i])
			start = i + 1
		}
	}
	return append(items, text[start:])
}
