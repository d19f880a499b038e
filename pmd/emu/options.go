package emu

// #include "emu.h"
import "C"

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Options say what a NIC imitates.
type Options struct {
	// Profile is ixgbe, ixgbe-x550, crypto or packet.
	Profile string
	// CryptoOff makes an idle model that really encrypts each 1,000th packet only:
	// for measuring what the host's CPU has to do beside it, and for nothing else.
	CryptoOff bool

	sizes   [3]int // egress SAs, ingress SAs, addresses; 0: the profile's
	modern  bool   // as DPDK 26.03's driver behaves; else as 22.11's
	scalar  bool
	noAlias bool
	lax     bool // breaches of the contract are not counted
	abort   bool
	faults  faults
}

// faults are the values of faults on demand, by C.EMU_FAULT_.
type faults [C.EMU_FAULTS]uint32

var faultNames = map[string]int{
	"session": C.EMU_FAULT_SESSION, "flow": C.EMU_FAULT_FLOW, "destroy": C.EMU_FAULT_DESTROY,
	"metadata": C.EMU_FAULT_METADATA, "full": C.EMU_FAULT_FULL, "icv": C.EMU_FAULT_ICV,
	"noflag": C.EMU_FAULT_NOFLAG, "txicv": C.EMU_FAULT_TXICV, "reset": C.EMU_FAULT_RESET,
	"slow": C.EMU_FAULT_SLOW, "lookupsoff": C.EMU_FAULT_LOOKUPSOFF,
	"gone": C.EMU_FAULT_GONE,
}

// Profiles are the profiles that there are.
var Profiles = []string{"ixgbe", "ixgbe-x550", "crypto", "packet"}

// Sizes of the tables of ixgbe (ixgbe_ipsec.h) and of the others.
const (
	ixgbeSAs, ixgbeAddresses = 1024, 128
	otherSAs                 = 8192
)

// How long a packet may be in the transmit ring, in microseconds: 4096 full frames at
// 10 Gbit/s take 5 ms, with pauses longer.
const (
	ixgbeRing = 10000
	otherRing = 500
)

// ParseOptions parses PROFILE[,KEY=VALUE]..., what follows NAME= in --emulate-inline.
// Keys: tx, rx and addresses (sizes of the tables), dpdk=22.11|26.03 and
// rx-path=vector|scalar (which of ixgbe's behaviours), alias=on|off, crypto=on|off,
// strict=on|off (count breaches of the contract), abort=on|off (end the process at
// one), and fault=WORD[:N][+WORD[:N]]...
func ParseOptions(text string) (Options, error) {
	words := strings.Split(text, ",")
	o := Options{Profile: words[0]}
	if !slices.Contains(Profiles, o.Profile) {
		return o, fmt.Errorf("%q: accepted: %s", o.Profile, strings.Join(Profiles, ", "))
	}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return o, fmt.Errorf("%q: accepted: KEY=VALUE", word)
		}
		if err := o.set(key, value); err != nil {
			return o, fmt.Errorf("%s: %w", word, err)
		}
	}
	return o, nil
}

func (o *Options) set(key, value string) (err error) {
	switch key {
	case "tx":
		o.sizes[0], err = parseSize(value)
	case "rx":
		if value == "vector" || value == "scalar" {
			o.scalar = value == "scalar"
			return nil
		}
		o.sizes[1], err = parseSize(value)
	case "addresses":
		o.sizes[2], err = parseSize(value)
	case "dpdk":
		o.modern, err = oneOf(value, "22.11", "26.03")
	case "rx-path":
		o.scalar, err = oneOf(value, "vector", "scalar")
	case "alias":
		o.noAlias, err = oneOf(value, "on", "off")
	case "crypto":
		o.CryptoOff, err = oneOf(value, "on", "off")
	case "strict":
		o.lax, err = oneOf(value, "on", "off")
	case "abort":
		o.abort, err = oneOf(value, "off", "on")
	case "fault":
		o.faults, err = parseFaults(value)
	default:
		err = fmt.Errorf("accepted: tx, rx, addresses, dpdk, rx-path, alias, crypto, abort, fault, strict")
	}
	return err
}

// oneOf says whether value is the second of two words.
func oneOf(value, first, second string) (bool, error) {
	if value != first && value != second {
		return false, fmt.Errorf("accepted: %s, %s", first, second)
	}
	return value == second, nil
}

// maxSize bounds a table: the metadata word has 16 bits for an index.
const maxSize = 1 << 16

func parseSize(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxSize || n&(n-1) != 0 {
		return 0, fmt.Errorf("accepted: a power of two up to %d", maxSize)
	}
	return n, nil
}

// unnumbered is what a fault is without a number, where that is not 1: calls fail
// each, lookups stay off until something is added.
var unnumbered = map[string]uint32{
	"session": C.EMU_FAULT_ALWAYS, "flow": C.EMU_FAULT_ALWAYS, "destroy": C.EMU_FAULT_ALWAYS,
	"metadata": C.EMU_FAULT_ALWAYS, "lookupsoff": C.EMU_FAULT_ALWAYS,
}

func parseFaults(text string) (faults, error) {
	var f faults
	if text == "none" {
		return f, nil
	}
	for word := range strings.SplitSeq(text, "+") {
		name, number, counted := strings.Cut(word, ":")
		at, ok := faultNames[name]
		if !ok {
			return f, fmt.Errorf("fault %q: accepted: none, %s", name, strings.Join(slices.Sorted(maps.Keys(faultNames)), ", "))
		}
		f[at] = 1
		if all := unnumbered[name]; all != 0 {
			f[at] = all
		}
		if counted {
			n, err := strconv.ParseUint(number, 10, 31)
			if err != nil || n == 0 {
				return f, fmt.Errorf("fault %q: a number above 0 behind the colon", word)
			}
			f[at] = uint32(n)
		}
	}
	return f, nil
}

// c are the options in C's terms.
func (o *Options) c() C.struct_emu_options {
	c := C.struct_emu_options{
		tx_size: otherSAs, rx_size: otherSAs, address_size: otherSAs, ingress: true,
		conf_is_action: C.bool(o.modern), full_is_told: C.bool(o.modern), scalar: C.bool(o.scalar),
		alias: C.bool(!o.noAlias), crypto_off: C.bool(o.CryptoOff), strict: C.bool(!o.lax), abort: C.bool(o.abort),
	}
	switch o.Profile {
	case "ixgbe", "ixgbe-x550":
		c.ring_us = ixgbeRing
		c.profile, c.pci_device = C.EMU_OPT_IXGBE, 0x10fb
		c.tx_size, c.rx_size, c.address_size = ixgbeSAs, ixgbeSAs, ixgbeAddresses
		if o.Profile == "ixgbe-x550" {
			c.pci_device = 0x1563
			c.ingress = C.bool(o.modern)
		}
	case "crypto":
		c.profile, c.ring_us = C.EMU_OPT_CRYPTO, otherRing
		c.full_is_told = true
	case "packet":
		c.profile, c.ring_us = C.EMU_OPT_PACKET, otherRing
		c.full_is_told = true
	}
	for i, size := range []*C.uint32_t{&c.tx_size, &c.rx_size, &c.address_size} {
		if o.sizes[i] != 0 {
			*size = C.uint32_t(o.sizes[i])
		}
	}
	return c
}
