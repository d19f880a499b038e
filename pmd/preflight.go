package pmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Preflight says what EAL, started with these arguments, would fail for on this
// host: huge pages, permissions, the runtime folder, CPUs, devices. It reports
// only what is certain and returns nil otherwise. The error is ErrPreflight with
// one sentence per finding; Findings lists them.
func Preflight(args []string) error {
	return preflight(args, thisHost())
}

func preflight(args []string, h host) error {
	options := parseEALOptions(args)
	if options.has("h") || options.has("help") || options.has("v") {
		return nil
	}
	var findings []string
	findings = append(findings, h.checkModes(options)...)
	findings = append(findings, h.checkLcores(options)...)
	findings = append(findings, h.checkRuntime(options)...)
	findings = append(findings, h.checkMemory(options)...)
	findings = append(findings, h.checkPCI(options)...)
	findings = append(findings, h.checkVdevs(options)...)
	if len(findings) == 0 {
		return nil
	}
	return &preflightError{findings: findings}
}

// Findings are the sentences of an error of Preflight or StartEAL, one per thing
// that is missing; nil for other errors.
func Findings(err error) []string {
	if p, ok := errors.AsType[*preflightError](err); ok {
		return p.findings
	}
	return nil
}

type preflightError struct{ findings []string }

func (e *preflightError) Error() string {
	return ErrPreflight.Error() + ": " + strings.Join(e.findings, "; ")
}

func (e *preflightError) Unwrap() error { return ErrPreflight }

// host is what Preflight looks at; tests give it another root folder.
type host struct {
	root     string // in front of /sys, /proc, /dev
	uid      int
	caps     uint64 // effective capabilities
	memlock  uint64 // RLIMIT_MEMLOCK, octets
	lcoreMax int
	env      func(string) string
}

func thisHost() host {
	h := host{root: "/", uid: os.Getuid(), lcoreMax: lcoreMax, env: os.Getenv}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) == nil {
		h.memlock = limit.Cur
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if unix.Capget(&header, &data[0]) == nil {
		h.caps = uint64(data[0].Effective) | uint64(data[1].Effective)<<32
	}
	return h
}

func (h host) path(name string) string { return filepath.Join(h.root, name) }

// read is the trimmed content of a file, "" when it cannot be read.
func (h host) read(name string) string {
	b, err := os.ReadFile(h.path(name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func (h host) capable(capability int) bool { return h.caps&(1<<capability) != 0 }

// checkModes finds options that exclude each other.
func (h host) checkModes(o ealOptions) []string {
	if !o.has("no-huge") {
		return nil
	}
	var findings []string
	if o.has("in-memory") {
		findings = append(findings, "DPDK takes --no-huge or --in-memory, not both: without huge pages use --no-huge --no-shconf")
	}
	if o.has("socket-mem") {
		findings = append(findings, "--socket-mem is about huge pages and cannot go with --no-huge: say -m MEGABYTES")
	}
	return findings
}

// checkRuntime looks at the folder where EAL keeps its files, and for another
// process that uses it (eal_create_runtime_dir and rte_eal_config_create).
func (h host) checkRuntime(o ealOptions) []string {
	if o.has("no-shconf") || o.has("in-memory") || o.secondary() {
		return nil
	}
	dir := filepath.Join(h.runtimeParent(), "dpdk", o.filePrefix())
	if pid := h.lockHolder(filepath.Join(dir, "config")); pid != 0 {
		return []string{fmt.Sprintf("process %d runs with --file-prefix %s already: stop it, or choose another --file-prefix",
			pid, o.filePrefix())}
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(h.path(at)); err != nil && at != "/" && at != "." {
			continue // EAL makes it
		}
		if err := unix.Access(h.path(at), unix.W_OK|unix.X_OK); err != nil {
			return []string{fmt.Sprintf("the runtime folder %s cannot be written (%s: %v): run as the user it belongs to, set XDG_RUNTIME_DIR to a folder of your own, or use --no-shconf",
				dir, at, err)}
		}
		return nil
	}
}

func (h host) runtimeParent() string {
	if dir := h.env("RUNTIME_DIRECTORY"); dir != "" {
		return dir
	}
	if h.uid == 0 {
		return "/var/run"
	}
	if dir := h.env("XDG_RUNTIME_DIR"); dir != "" {
		return dir
	}
	return "/tmp"
}

// lockHolder is the other process that holds the lock of a primary process; 0:
// none. With EAL running here it does not look: closing the file would give up
// EAL's own lock on it.
func (h host) lockHolder(name string) int {
	if ealRunning.Load() {
		return 0
	}
	f, err := os.OpenFile(h.path(name), os.O_RDWR, 0)
	if err != nil {
		return 0
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock) != nil || lock.Type == unix.F_UNLCK {
		return 0
	}
	return int(lock.Pid)
}
