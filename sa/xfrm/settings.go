package xfrm

import (
	"strings"
	"time"

	"espgw/sa"
)

func (s *stateParser) mode(w word) error {
	mode, err := parseMode(s.words, w)
	s.p.Mode = mode
	return err
}

// modes are iproute2's words for modes, in its order, with the kernel's numbers.
var modes = []struct {
	name string
	mode sa.Mode
}{{"transport", sa.ModeTransport}, {"tunnel", sa.ModeTunnel}, {"ro", 2}, {"in_trigger", 3}, {"beet", 4}}

// parseMode reads a mode, abbreviated as iproute2 allows: `t` is transport.
func parseMode(in *words, keyword word) (sa.Mode, error) {
	mode, v, err := parseAnyMode(in, keyword)
	if err == nil && mode != sa.ModeTransport {
		return 0, in.fail(v, modes[mode].name+" mode is not spoken here", "transport")
	}
	return mode, err
}

// parseAnyMode is parseMode for the condition of a listing, where a mode that no
// state has finds none.
func parseAnyMode(in *words, keyword word) (sa.Mode, word, error) {
	v, err := in.value(keyword, "a mode", "transport")
	if err != nil {
		return 0, v, err
	}
	for _, m := range modes {
		if matches(v.text, m.name) {
			return m.mode, v, nil
		}
	}
	return 0, v, in.fail(v, "is not a mode", "transport")
}

func (s *stateParser) reqID(w word) error {
	n, _, err := s.uint(w, 32, "a request ID")
	s.p.ReqID = uint32(n)
	return err
}

func (s *stateParser) acquireSeq(w word) error {
	n, v, err := s.uint(w, 32, "a number")
	if err == nil && n != 0 {
		return s.fail(v, "answers an acquire message, and none are sent here; initial sequence numbers are replay-seq and replay-oseq", "0")
	}
	return err
}

func (s *stateParser) tfcPad(w word) error {
	n, v, err := s.uint(w, 32, "a length")
	if err == nil && n != 0 {
		return s.fail(v, "padding for traffic flow confidentiality belongs to tunnel mode, which is not spoken here", "0")
	}
	return err
}

func (s *stateParser) replayWindow(w word) error {
	n, _, err := s.uint(w, 32, "a number of packets")
	s.p.ReplayWindow, s.p.ReplayWindowSet = uint32(n), true
	return err
}

// replaySeq reads replay-seq, replay-oseq and their -hi halves.
func (s *stateParser) replaySeq(w word) error {
	n, _, err := s.uint(w, 32, "a sequence number")
	if strings.HasSuffix(w.text, "-hi") {
		n <<= 32
	}
	if strings.HasPrefix(w.text, "replay-oseq") {
		s.p.ReplayOSeq |= n
	} else {
		s.p.ReplaySeq |= n
	}
	return err
}

// stateFlag is a flag of `flag LIST`, in the order that listings have.
type stateFlag struct {
	name string
	flag sa.Flags
}

var stateFlags = []stateFlag{
	{"noecn", sa.FlagNoECN},
	{"decap-dscp", sa.FlagDecapDSCP},
	{"nopmtudisc", sa.FlagNoPMTUDisc},
	{"icmp", sa.FlagICMP},
	{"af-unspec", sa.FlagAFUnspec},
	{"align4", sa.FlagAlign4},
	{"esn", sa.FlagESN},
}

func (s *stateParser) flags(w word) error { return parseStateFlags(s.words, w, &s.p.Flags) }

// parseStateFlags reads one or more flags by name, or all as one hex number.
func parseStateFlags(in *words, keyword word, flags *sa.Flags) error {
	names, known := make([]string, 0, len(stateFlags)), sa.Flags(0)
	for _, f := range stateFlags {
		names = append(names, f.name)
		known |= f.flag
	}
	v, err := in.value(keyword, "a flag", names...)
	if err != nil {
		return err
	}
	if strings.HasPrefix(v.text, "0x") {
		n, ok := parseUint(v.text, 8)
		if !ok || sa.Flags(n)&^known != 0 {
			return in.fail(v, "has bits that have no meaning here", names...)
		}
		*flags = sa.Flags(n)
		return nil
	}
	for first := true; ; first = false {
		found := false
		for _, f := range stateFlags {
			if f.name == v.text {
				*flags |= f.flag
				found = true
			}
		}
		switch {
		case v.text == "wildrecv":
			return in.fail(v, "wildcard reception belongs to mobile IPv6, which is not spoken here", names...)
		case !found && first:
			return in.fail(v, "is not a flag", names...)
		case !found:
			in.next-- // another setting begins
			return nil
		case !in.more():
			return nil
		}
		v = in.take()
	}
}

func (s *stateParser) selector(word) (err error) {
	s.sel, err = parseSelector(s.words, FamilyAny)
	return err
}

func (s *stateParser) limit(w word) error { return parseLimit(s.words, w, &s.p.Limits) }

var limitWords = []string{
	"time-soft", "time-hard", "time-use-soft", "time-use-hard", "byte-soft", "byte-hard", "packet-soft", "packet-hard",
}

// parseLimit reads one limit.
func parseLimit(in *words, keyword word, l *sa.Limits) error {
	w, err := in.value(keyword, "a limit", limitWords...)
	if err != nil {
		return err
	}
	count := map[string]*uint64{
		"byte-soft": &l.SoftBytes, "byte-hard": &l.HardBytes,
		"packet-soft": &l.SoftPackets, "packet-hard": &l.HardPackets,
	}[w.text]
	span := map[string]*time.Duration{
		"time-soft": &l.SoftAdd, "time-hard": &l.HardAdd,
		"time-use-soft": &l.SoftUse, "time-use-hard": &l.HardUse,
	}[w.text]
	if count == nil && span == nil {
		return in.fail(w, "is not a limit", limitWords...)
	}
	n, v, err := in.uint(w, 64, "a number")
	if err != nil {
		return err
	}
	if count != nil {
		*count = n
		return nil
	}
	const longest = uint64(1<<63-1) / uint64(time.Second)
	if n > longest {
		return in.fail(v, "is too many seconds", "0 to 9223372036")
	}
	*span = time.Duration(n) * time.Second
	return nil
}

func (s *stateParser) encap(w word) error {
	const usage = "espinudp SPORT DPORT ADDRESS"
	v, err := s.value(w, "a type, two ports and an address", usage)
	if err != nil {
		return err
	}
	switch v.text {
	case "espinudp":
	case "espinudp-nonike", "espintcp":
		return s.fail(v, "is not spoken here; RFC 3948 is", usage)
	default:
		return s.fail(v, "is not an encapsulation", usage)
	}
	src, v, err := s.uint(v, 16, "the source port")
	if err != nil {
		return err
	}
	dst, v, err := s.uint(v, 16, "the destination port")
	if err != nil {
		return err
	}
	v, err = s.value(v, "the original address", "0.0.0.0", "::", "ADDRESS")
	if err != nil {
		return err
	}
	a, ok := parseAddr(v.text)
	if v.text == "any" || v.text == "all" || v.text == "default" {
		a, ok = unspecified(FamilyIPv4), true
	}
	if !ok {
		return s.fail(v, "is not an address", "0.0.0.0", "::", "ADDRESS")
	}
	s.encapOA = v
	s.p.Encap = &sa.Encap{SrcPort: uint16(src), DstPort: uint16(dst), OriginalAddr: a}
	return nil
}

func (s *stateParser) offload(w word) error {
	const usage = "[crypto|packet] dev NAME dir in|out"
	o := &sa.Offload{}
	v, err := s.value(w, "a device and a direction", usage)
	if err != nil {
		return err
	}
	if v.text == "crypto" || v.text == "packet" {
		if v.text == "packet" {
			o.Depth = sa.OffloadPacket
		}
		if v, err = s.value(v, "`dev NAME`", usage); err != nil {
			return err
		}
	}
	if v.text != "dev" {
		return s.fail(v, "is not expected here", usage)
	}
	if v, err = s.value(v, "a port's name, as --pair gives it"); err != nil {
		return err
	}
	if v.text == "" || strings.ContainsFunc(v.text, func(r rune) bool { return r <= ' ' || r == '\\' || r == '\'' || r == '"' }) {
		return s.fail(v, "is not a port's name", "a name as --pair gives it")
	}
	o.Dev = v.text
	if v, err = s.value(v, "a direction", "dir in", "dir out"); err != nil {
		return err
	}
	if v.text != "dir" {
		return s.fail(v, "is not expected here", "dir in", "dir out")
	}
	if o.Dir, err = s.parseDirection(v); err != nil {
		return err
	}
	s.p.Offload = o
	return nil
}

func (s *stateParser) direction(w word) (err error) {
	s.p.Dir, err = s.parseDirection(w)
	return err
}

// parseDirection reads in or out; `offload … dir` and `dir` must agree.
func (s *stateParser) parseDirection(w word) (sa.Direction, error) {
	v, err := s.value(w, "a direction", "in", "out")
	if err != nil {
		return 0, err
	}
	dir := map[string]sa.Direction{"in": sa.DirIn, "out": sa.DirOut}[v.text]
	if dir == sa.DirNone {
		return 0, s.fail(v, "is not the direction of an SA", "in", "out")
	}
	if s.dir.text != "" && s.dir.text != v.text {
		return 0, s.fail(v, "contradicts the direction that was given before")
	}
	s.dir = v
	return dir, nil
}
