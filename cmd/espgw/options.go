package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"espgw/ipsec"
)

// options are espgw's own options, parsed and checked as far as that can be
// done without DPDK.
type options struct {
	version      bool
	pairs        []pairOption
	xfrm         string
	engine       string
	offload      ipsec.OffloadMode
	inlineOnly   bool // --engine inline
	emulate      []emulateOption
	probe        bool
	pass         ipsec.PassList
	queueMap     []ipsec.QueueAssignment
	control      string
	runFor       time.Duration
	idleExit     time.Duration
	statsPeriod  time.Duration
	statsJSON    string
	stateDir     string // "": the default; "none": nothing is kept
	mssClamp     int    // octets, or ipsec.ClampAuto or ClampOff
	learnPathMTU bool
	replayWindow uint32
	mtus         mtuOption
	mbufs        int
	mbufSize     int
	burst        int
	rxDesc       int
	txDesc       int
	idleBackoff  time.Duration
	linkWait     time.Duration
	logLevel     slog.Level
	logFormat    string
}

// sideOption is `[NAME=]PORT`.
type sideOption struct{ name, port string }

// pairOption is `PROTECTED,UNPROTECTED`.
type pairOption struct{ protected, unprotected sideOption }

// mtuOption is --mtu: one value for all ports, and values by port name.
type mtuOption struct {
	all    int
	byName map[string]int
}

// notBuilt are options of the contract that this version does not have. They
// are refused by name, so that nobody believes they work.
var notBuilt = []struct{ name, short, what string }{
	{"check", "", "the host check"},
	{"link-propagation", "", "link propagation"},
	{"interactive", "i", "the prompt"},
	{"cmdline-file", "", "the prompt's command file"},
	{"metrics", "", "Prometheus metrics"},
}

// rawOptions are the texts of options that need parsing of their own.
type rawOptions struct {
	pairs, mtus, emulate     []string
	offload                  string
	pass, queueMap, logLevel string
	mssClamp, pathMTU        string
	replayWindow             uint32
}

func newFlags(o *options, raw *rawOptions) *pflag.FlagSet {
	f := pflag.NewFlagSet("espgw", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	f.Usage = func() {}
	f.StringArrayVar(&raw.pairs, "pair", nil, "join two ports: `PROTECTED,UNPROTECTED`, each [NAME=]PORT, where PORT is a DPDK port number or device name (repeatable)")
	f.StringVar(&o.xfrm, "xfrm", "", "`FILE` of ip xfrm commands, all or nothing; SIGHUP reads it again and applies the difference")
	f.StringVar(&o.control, "control", "", "`SOCKET` (mode 0600) that takes one ip xfrm command a line and answers with listing lines, then ok or error: …")
	f.StringVar(&o.engine, "engine", "auto", "`ENGINE` that encrypts: auto, go (software only) or inline (a device only; an SA that cannot be there is refused); cryptodev is not in this version")
	f.StringVar(&raw.offload, "offload", "auto", "which SAs go to a device with inline IPsec: `auto` (those that say offload, else software), all (every one that can), require (one that says offload and cannot is refused) or off")
	f.StringArrayVar(&raw.emulate, "emulate-inline", nil, "emulated inline NIC in front of an unprotected port: `NAME=PROFILE`[,KEY=VALUE]..., PROFILE ixgbe, ixgbe-x550, crypto or packet; for labs and tests (repeatable)")
	f.BoolVar(&o.probe, "probe", false, "print what all ports can do and what espgw would do with them, and exit")
	f.StringVar(&raw.queueMap, "queue-map", "", "`MAP` \"(port,queue,lcore),...\": which lcore polls which receive queue (default: every worker lcore a queue of every port that has enough)")
	f.StringVar(&raw.pass, "pass-ethertypes", ipsec.DefaultPassEthertypes, "`LIST` of non-IP frames that pass unchanged, by name or as 0x88cc; none for none")
	f.Uint32Var(&raw.replayWindow, "replay-window", 1024, "anti-replay window in `PACKETS` for inbound SAs that do not say")
	f.StringArrayVar(&raw.mtus, "mtu", nil, "largest IP packet in octets: `N` for all ports, or NAME=N for one (repeatable, or separated by commas; default: what the port has)")
	f.StringVar(&raw.mssClamp, "mss-clamp", "auto", "segment size that protected TCP connections announce at most: `OCTETS`, auto (what fits the MTU with ESP) or off")
	f.StringVar(&raw.pathMTU, "path-mtu", "learn", "what becomes of ICMP errors that our ESP was too big for a link: `learn` (hosts are told for 10 minutes) or ignore")
	f.IntVar(&o.mbufs, "mbufs", 0, "`NUMBER` of packet buffers in all (default: enough for the rings, at least 8191)")
	f.IntVar(&o.mbufSize, "mbuf-size", 0, "`OCTETS` of a packet buffer (default: from the largest MTU)")
	f.IntVar(&o.burst, "burst", 32, "`PACKETS` a burst, 1 to 512")
	f.IntVar(&o.rxDesc, "rx-desc", 1024, "`NUMBER` of descriptors of a receive queue")
	f.IntVar(&o.txDesc, "tx-desc", 1024, "`NUMBER` of descriptors of a transmit queue")
	f.DurationVar(&o.idleBackoff, "idle-backoff", 0, "let idle workers sleep for this `TIME` between polls, such as 100us (default 0: poll on)")
	f.DurationVar(&o.linkWait, "link-wait", 9*time.Second, "at start, wait at most this `TIME` for all links to come up")
	f.DurationVar(&o.runFor, "run-for", 0, "stop after this `TIME`, such as 30s")
	f.DurationVar(&o.idleExit, "idle-exit", 0, "stop when nothing arrived for this `TIME`")
	f.DurationVar(&o.statsPeriod, "stats-period", 0, "print a table of counters on stderr at this `TIME` interval")
	f.StringVar(&o.statsJSON, "stats-json", "", "write the final counters as JSON to `FILE` (- for stdout), also on SIGUSR1")
	f.StringVar(&o.stateDir, "state-dir", "", "`FOLDER` that keeps sequence numbers over a restart, one for each gateway (default: "+rootState+"/PREFIX for root, else the XDG state folder; PREFIX is EAL's --file-prefix); none accepts that nonces may repeat")
	f.StringVar(&raw.logLevel, "log-level", "info", "`LEVEL`: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", "text", "`FORMAT`: text or json")
	f.BoolVar(&o.version, "version", false, "print versions and exit")
	f.BoolP("help", "h", false, "print this help and exit")
	for _, n := range notBuilt {
		f.StringP(n.name, n.short, "", "")
		f.Lookup(n.name).NoOptDefVal = "yes"
		f.Lookup(n.name).Hidden = true
	}
	return f
}

func parseOptions(args []string) (*options, error) {
	var o options
	var raw rawOptions
	f := newFlags(&o, &raw)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil, err
		}
		return nil, usagef("%w (espgw --help lists the options)", err)
	}
	if help, _ := f.GetBool("help"); help {
		return nil, pflag.ErrHelp
	}
	for _, n := range notBuilt {
		if f.Changed(n.name) {
			return nil, usagef("--%s: %s is not in this version", n.name, n.what)
		}
	}
	if o.version {
		return &o, nil
	}
	if f.NArg() > 0 {
		return nil, usagef("%q is no option; EAL options go in front of a --: espgw [EAL options] -- [options]", f.Arg(0))
	}
	if err := o.check(&raw); err != nil {
		return nil, err
	}
	if f.Changed("state-dir") && o.stateDir == "" {
		return nil, usagef("--state-dir: accepted: a folder, or none")
	}
	return &o, nil
}

// check parses what pflag left as text, and checks ranges.
func (o *options) check(raw *rawOptions) error {
	if len(raw.pairs) == 0 && !o.probe {
		return usagef("no --pair: name at least one pair of ports, such as --pair lan=0,wan=1")
	}
	var err error
	for _, text := range raw.pairs {
		pair, err := parsePair(text)
		if err != nil {
			return usagef("--pair %s: %w", text, err)
		}
		o.pairs = append(o.pairs, pair)
	}
	for _, text := range raw.emulate {
		e, err := parseEmulate(text)
		if err != nil {
			return usagef("--emulate-inline %s: %w", text, err)
		}
		o.emulate = append(o.emulate, e)
	}
	if err := o.checkOffload(raw.offload); err != nil {
		return err
	}
	if o.queueMap, err = parseQueueMap(raw.queueMap); err != nil {
		return usagef("--queue-map %s: %w", raw.queueMap, err)
	}
	if o.pass, err = ipsec.ParsePassList(raw.pass); err != nil {
		return usagef("--pass-ethertypes: %w", err)
	}
	if o.mtus, err = parseMTUs(raw.mtus); err != nil {
		return usagef("--mtu: %w", err)
	}
	if o.mssClamp, err = parseMSSClamp(raw.mssClamp); err != nil {
		return usagef("--mss-clamp %s: %w", raw.mssClamp, err)
	}
	if raw.pathMTU != "learn" && raw.pathMTU != "ignore" {
		return usagef("--path-mtu %s: accepted: learn, ignore", raw.pathMTU)
	}
	o.learnPathMTU = raw.pathMTU == "learn"
	if err := o.logLevel.UnmarshalText([]byte(raw.logLevel)); err != nil {
		return usagef("--log-level %s: accepted: debug, info, warn, error", raw.logLevel)
	}
	o.replayWindow = raw.replayWindow
	return o.checkRanges()
}

// offloadModes are the words of --offload.
var offloadModes = map[string]ipsec.OffloadMode{
	"auto": ipsec.OffloadAuto, "all": ipsec.OffloadAll, "require": ipsec.OffloadRequire, "off": ipsec.OffloadOff,
}

// checkOffload puts --offload and --engine together.
func (o *options) checkOffload(text string) error {
	mode, ok := offloadModes[text]
	if !ok {
		return usagef("--offload %s: accepted: auto, all, require, off", text)
	}
	o.offload = mode
	switch o.engine {
	case "auto":
	case "go":
		if mode == ipsec.OffloadRequire || mode == ipsec.OffloadAll {
			return usagef("--engine go and --offload %s exclude each other", text)
		}
		o.offload = ipsec.OffloadOff
	case "inline":
		if mode == ipsec.OffloadOff {
			return usagef("--engine inline and --offload off exclude each other")
		}
		o.inlineOnly = true
	case "cryptodev":
		return usagef("--engine cryptodev: not in this version; accepted: auto, inline, go")
	default:
		return usagef("--engine %s: accepted: auto, inline, go", o.engine)
	}
	return nil
}

// maxWindow bounds --replay-window; the kernel's own bound is far above what a
// network reorders.
const maxWindow = 65536

func (o *options) checkRanges() error {
	switch {
	case o.burst < 1 || o.burst > 512:
		return usagef("--burst %d: accepted: 1 to 512", o.burst)
	case o.rxDesc < 1 || o.rxDesc > 65535:
		return usagef("--rx-desc %d: accepted: 1 to 65535", o.rxDesc)
	case o.txDesc < 1 || o.txDesc > 65535:
		return usagef("--tx-desc %d: accepted: 1 to 65535", o.txDesc)
	case o.mbufs < 0:
		return usagef("--mbufs %d: accepted: a number above 0", o.mbufs)
	case o.mbufSize != 0 && (o.mbufSize < 512 || o.mbufSize > 65535):
		return usagef("--mbuf-size %d: accepted: 512 to 65535", o.mbufSize)
	case o.replayWindow < 1 || o.replayWindow > maxWindow:
		return usagef("--replay-window %d: accepted: 1 to %d (replay-window 0 in an SA switches the check off for that SA)", o.replayWindow, maxWindow)
	case o.logFormat != "text" && o.logFormat != "json":
		return usagef("--log-format %s: accepted: text, json", o.logFormat)
	case o.runFor < 0 || o.idleExit < 0 || o.statsPeriod < 0 || o.idleBackoff < 0 || o.linkWait < 0:
		return usagef("a time must not be negative")
	case o.idleBackoff > 100*time.Millisecond:
		return usagef("--idle-backoff %s: accepted: 0 to 100ms", o.idleBackoff)
	}
	return nil
}

func parsePair(text string) (pairOption, error) {
	var p pairOption
	sides := strings.Split(text, ",")
	if len(sides) != 2 {
		return p, fmt.Errorf("%d ports; accepted: PROTECTED,UNPROTECTED", len(sides))
	}
	for i, dst := range []*sideOption{&p.protected, &p.unprotected} {
		name, port, named := strings.Cut(strings.TrimSpace(sides[i]), "=")
		if !named {
			name, port = "", name
		}
		if port == "" || named && name == "" {
			return p, fmt.Errorf("%q: accepted: [NAME=]PORT", sides[i])
		}
		*dst = sideOption{name, port}
	}
	return p, nil
}

var queueMapPattern = regexp.MustCompile(`^\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)\s*(,|$)`)

func parseQueueMap(text string) ([]ipsec.QueueAssignment, error) {
	var queues []ipsec.QueueAssignment
	for rest := text; rest != ""; {
		m := queueMapPattern.FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("%q is no list of triples; accepted: (port,queue,lcore),(port,queue,lcore)", rest)
		}
		var n [3]int
		for i := range n {
			v, err := strconv.ParseUint(m[i+1], 10, 16)
			if err != nil {
				return nil, fmt.Errorf("%s is out of range", m[i+1])
			}
			n[i] = int(v)
		}
		queues = append(queues, ipsec.QueueAssignment{Port: n[0], Queue: n[1], Lcore: n[2]})
		rest = rest[len(m[0]):]
	}
	return queues, nil
}

// The MTU bounds: IPv4's smallest (RFC 791) and what a buffer can hold.
const minMTU, maxMTU = 68, 16000

func parseMTUs(texts []string) (mtuOption, error) {
	o := mtuOption{byName: map[string]int{}}
	for _, text := range texts {
		for word := range strings.SplitSeq(text, ",") {
			name, number, named := strings.Cut(word, "=")
			if !named {
				number = name
			}
			n, err := strconv.Atoi(strings.TrimSpace(number))
			if err != nil || n < minMTU || n > maxMTU {
				return o, fmt.Errorf("%q: accepted: %d to %d, or NAME=N", word, minMTU, maxMTU)
			}
			if named {
				o.byName[strings.TrimSpace(name)] = n
			} else {
				o.all = n
			}
		}
	}
	return o, nil
}

// The bounds of --mss-clamp: the least that Linux uses (TCP_MIN_MSS), and what the
// largest MTU leaves.
const minMSS, maxMSS = 88, maxMTU - 40

func parseMSSClamp(text string) (int, error) {
	switch text {
	case "auto":
		return ipsec.ClampAuto, nil
	case "off":
		return ipsec.ClampOff, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < minMSS || n > maxMSS {
		return 0, fmt.Errorf("accepted: auto, off, or %d to %d", minMSS, maxMSS)
	}
	return n, nil
}

// unknownNames returns the names of o that are no port's.
func (o mtuOption) unknownNames(ports []string) []string {
	var unknown []string
	for name := range o.byName {
		if !slices.Contains(ports, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
