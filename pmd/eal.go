package pmd

// #include <stdlib.h>
// #include "pmd.h"
import "C"

import (
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// maxLcores is more than any DPDK build's RTE_MAX_LCORE.
const maxLcores = 1024

// EALConfig is how EAL starts.
type EALConfig struct {
	// Program is argv[0]; DPDK shows it in its usage text. Default "espgw".
	Program string
	// Args are the EAL options as typed, without the program and without "--".
	Args []string
	// Log receives DPDK's log and this package's own; default slog.Default().
	Log *slog.Logger
}

// EAL is the running Environment Abstraction Layer of this process.
type EAL struct {
	options ealOptions
	lcores  []int
	tasks   chan func() // run one by one on the main lcore's thread
	argv    *cArgs
	reader  *logReader

	mu      sync.Mutex
	threads map[int]*Thread // by lcore, while they run
	closed  bool
}

var (
	ealStarted atomic.Bool // rte_eal_init was called
	ealRunning atomic.Bool
)

// StartEAL starts EAL (rte_eal_init) on a thread of its own, which is the main
// lcore's from then on. When the host lacks something it is refused with
// ErrPreflight and may be called again; when EAL itself fails, its last log lines
// are in the error. After that, and while EAL runs, it returns ErrEALStarted.
func StartEAL(cfg EALConfig) (*EAL, error) {
	if cfg.Program == "" {
		cfg.Program = "espgw"
	}
	if ealStarted.Load() {
		return nil, ErrEALStarted
	}
	if cfg.Log != nil {
		logger.Store(cfg.Log)
	}
	if err := Preflight(cfg.Args); err != nil {
		return nil, err
	}
	if !ealStarted.CompareAndSwap(false, true) {
		return nil, ErrEALStarted
	}
	reader, err := startLog(log())
	if err != nil {
		return nil, err
	}
	e := &EAL{
		options: parseEALOptions(cfg.Args),
		tasks:   make(chan func()),
		argv:    newCArgs(append([]string{cfg.Program}, cfg.Args...)),
		reader:  reader,
		threads: map[int]*Thread{},
	}
	started := make(chan int)
	go e.main(started)
	if rc := <-started; rc < 0 {
		e.argv.free()
		return nil, e.explain(rc)
	}
	startLines = reader.lastLines()
	ealRunning.Store(true)
	return e, nil
}

// startLines is what EAL complained about while it started. It goes on without a
// virtual device whose driver refuses it; FindPort then says why.
var startLines []string

// main is the main lcore's goroutine. It never returns: rte_eal_init pins the
// thread, and Go must not run anything else on it. Locking before that call makes
// Go start its template thread, which has all CPUs of the process; new threads
// are cloned from it whenever the thread that asks for one is locked.
func (e *EAL) main(started chan<- int) {
	runtime.LockOSThread()
	rc := int(C.pmd_eal_init(C.int(e.argv.n), e.argv.table))
	if rc >= 0 {
		var ids [maxLcores]C.uint
		n := C.pmd_eal_lcores(&ids[0], maxLcores)
		for _, id := range ids[:n] {
			e.lcores = append(e.lcores, int(id))
		}
	}
	started <- rc
	for task := range e.tasks {
		task()
	}
	select {}
}

// explain makes one error of EAL's result and the lines it logged on its way down.
func (e *EAL) explain(rc int) error {
	err := failed(rc, "starting EAL")
	if lines := e.reader.lastLines(); len(lines) > 0 {
		return fmt.Errorf("%w; its last words: %s", err, strings.Join(lines, " | "))
	}
	return err
}

// MainLcore is the number of the main lcore.
func (e *EAL) MainLcore() int { return e.lcores[0] }

// Lcores are the enabled lcores, the main one first, then the workers by number.
func (e *EAL) Lcores() []int { return slices.Clone(e.lcores) }

// LcoreSocket is the NUMA node of an lcore's CPUs.
func (e *EAL) LcoreSocket(lcore int) int { return int(C.pmd_lcore_socket(C.uint(lcore))) }

// FilePrefix is what --file-prefix says, "rte" by default.
func (e *EAL) FilePrefix() string { return e.options.filePrefix() }

// HugePages says whether memory comes from huge pages (no --no-huge).
func (e *EAL) HugePages() bool { return C.pmd_has_hugepages() != 0 }

// Version is DPDK's, as it names itself: "DPDK 22.11.11".
func (e *EAL) Version() string { return Version() }

// Version is the release of DPDK that the program runs with, "DPDK 22.11.11".
func Version() string { return C.GoString(C.pmd_version()) }

// Close ends EAL (rte_eal_cleanup) and may be called twice. It is refused with
// ErrLcoreBusy while a function runs on an lcore. Nothing of this package may be
// used afterwards but Close methods, which then do nothing.
func (e *EAL) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil
	}
	if len(e.threads) > 0 {
		return fmt.Errorf("closing EAL: %w", ErrLcoreBusy)
	}
	e.closed = true
	for _, what := range Leaks() {
		log().Warn("still open when EAL ends", "what", what)
	}
	ealRunning.Store(false)
	done := make(chan int)
	e.tasks <- func() { done <- int(C.pmd_eal_cleanup()) }
	rc := <-done
	e.reader.sync()
	e.argv.free()
	return failed(rc, "closing EAL")
}

// alive refuses calls that would enter DPDK while EAL is not running.
func alive() error {
	if !ealRunning.Load() {
		return ErrEALClosed
	}
	return nil
}

// cArgs is an argument vector in C memory: EAL permutes it and overwrites
// entries, so the strings are remembered apart.
type cArgs struct {
	n       int
	table   **C.char
	strings []*C.char
}

func newCArgs(args []string) *cArgs {
	size := C.size_t(unsafe.Sizeof((*C.char)(nil)))
	a := &cArgs{n: len(args), table: (**C.char)(C.calloc(C.size_t(len(args)+1), size))}
	table := unsafe.Slice(a.table, len(args)+1)
	for i, arg := range args {
		table[i] = C.CString(arg)
		a.strings = append(a.strings, table[i])
	}
	return a
}

func (a *cArgs) free() {
	for _, s := range a.strings {
		C.free(unsafe.Pointer(s))
	}
	C.free(unsafe.Pointer(a.table))
	*a = cArgs{}
}
