//go:build linux && amd64

package trap

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"espgw/pmd/silicon/bus"
)

// Tracer watches one program.
type Tracer struct {
	files   []File
	pages   []Page
	pid     int
	threads map[int]bool // by thread number: it is ours
	regions []region
	gate    uint64 // address of a system call instruction in the program
	code    map[uint64]operation
	late    []lateSignal
	counts  Counts
}

// region is a watched page as the program maps it.
type region struct {
	start  uint64
	file   *File
	offset uint32 // of start in the file
	rights int    // that the program has left: PROT_NONE or PROT_READ
}

// New makes a tracer of programs that map the files.
func New(files []File, pages []Page) *Tracer {
	return &Tracer{files: files, pages: pages, threads: map[int]bool{}, code: map[uint64]operation{}}
}

// Counts is what was seen so far.
func (t *Tracer) Counts() Counts {
	c := t.counts
	c.Threads = len(t.threads)
	return c
}

// Attached says whether a program is being watched.
func (t *Tracer) Attached() bool { return len(t.threads) > 0 }

// Attach watches a program, with all its threads, present and future, from now on. It
// can be called again for pages that the program has mapped since.
func (t *Tracer) Attach(pid int) error {
	if pid != t.pid {
		if t.Attached() {
			return fmt.Errorf("process %d: process %d is being watched", pid, t.pid)
		}
		t.pid, t.gate = pid, 0
		clear(t.code)
	}
	if err := t.seizeAll(pid); err != nil {
		return fmt.Errorf("attaching to process %d: %w", pid, err)
	}
	if err := t.protect(pid); err != nil {
		return fmt.Errorf("watching the registers of process %d: %w", pid, err)
	}
	return nil
}

// seizeAll attaches to all threads. New ones may appear meanwhile; those of threads that
// were attached to already are so from birth.
func (t *Tracer) seizeAll(pid int) error {
	for {
		found := 0
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return err
		}
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || t.threads[tid] {
				continue
			}
			switch err := seize(tid); {
			case err == nil:
				t.threads[tid] = true
				t.counts.Attached++
				found++
			case errors.Is(err, unix.ESRCH): // it has ended
			case errors.Is(err, unix.EPERM) && tracedBy(tid) == unix.Gettid(): // ours from birth
				t.threads[tid] = true
			default:
				return fmt.Errorf("thread %d: %w", tid, err)
			}
		}
		if found == 0 {
			return nil
		}
	}
}

// protect takes the rights on the pages that the program has mapped.
func (t *Tracer) protect(pid int) error {
	var wanted []region
	err := bus.EachMapping(pid, func(m bus.Mapping) error {
		for i := range t.files {
			f := &t.files[i]
			if m.Device != f.Device || m.Inode != f.Inode {
				continue
			}
			for _, p := range t.pages {
				if uint64(p.Offset) < m.Offset || uint64(p.Offset)+PageSize > m.Offset+m.End-m.Start {
					continue
				}
				r := region{start: m.Start + uint64(p.Offset) - m.Offset, file: f, offset: p.Offset, rights: unix.PROT_READ}
				if p.Reads {
					r.rights = unix.PROT_NONE
				}
				wanted = append(wanted, r)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	tid, err := t.stopOne()
	if err != nil {
		return err
	}
	defer t.resume(tid, 0)
	if t.gate == 0 {
		if t.gate, err = findGate(pid); err != nil {
			return err
		}
	}
	for _, r := range wanted {
		if err := t.mprotect(tid, r.start, r.rights); err != nil {
			return err
		}
	}
	t.regions = wanted
	return nil
}

// stopOne stops a thread, the first one if it can.
func (t *Tracer) stopOne() (int, error) {
	tids := []int{t.pid}
	for tid := range t.threads {
		if tid != t.pid {
			tids = append(tids, tid)
		}
	}
	for _, tid := range tids {
		if unix.PtraceInterrupt(tid) != nil {
			continue // it has ended
		}
		for {
			ws, err := waitFor(tid)
			if err != nil {
				break
			}
			if !ws.Stopped() {
				t.handle(tid, ws)
				break
			}
			if event(ws) == unix.PTRACE_EVENT_STOP && ws.StopSignal() == unix.SIGTRAP {
				return tid, nil
			}
			t.handle(tid, ws)
		}
	}
	return 0, errors.New("no thread of it can be stopped")
}

// pollMost bounds the stops that Poll serves at once: the card has other work.
const pollMost = 16

// Poll serves what the program's threads have stopped for, and says whether there was
// anything. It does not wait.
func (t *Tracer) Poll() (worked bool) {
	if !t.Attached() {
		return false
	}
	for range pollMost {
		var ws unix.WaitStatus
		tid, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD|unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD): // all have ended
			clear(t.threads)
			t.regions = nil
			return worked
		case err != nil || tid <= 0:
			return worked
		}
		worked = true
		t.handle(tid, ws)
	}
	return worked
}

// handle serves one stop, or end, of a thread.
func (t *Tracer) handle(tid int, ws unix.WaitStatus) {
	if !ws.Stopped() {
		delete(t.threads, tid)
		if len(t.threads) == 0 {
			t.regions = nil
		}
		return
	}
	if !t.threads[tid] {
		t.threads[tid] = true // born to a thread of ours
		t.counts.Attached++
	}
	signal := ws.StopSignal()
	switch {
	case event(ws) == unix.PTRACE_EVENT_STOP && signal != unix.SIGTRAP:
		_ = ptrace(unix.PTRACE_LISTEN, tid, 0, 0) // all of the program was stopped by a signal, and stays so
	case event(ws) != 0:
		t.resume(tid, 0)
	case signal == unix.SIGSEGV && t.access(tid):
		t.resume(tid, 0)
	default:
		t.counts.Signals++
		t.resume(tid, int(signal))
	}
}

// resume lets a stopped thread go on, with a signal, or none (0). It may have been killed
// meanwhile.
func (t *Tracer) resume(tid, signal int) { _ = unix.PtraceCont(tid, signal) }

// event is a stop's event (ptrace(2), PTRACE_EVENT_...); 0: a signal came.
func event(ws unix.WaitStatus) int { return int(ws) >> 16 }

func waitFor(tid int) (ws unix.WaitStatus, err error) {
	for {
		_, err = unix.Wait4(tid, &ws, unix.WALL|unix.WNOTHREAD, nil)
		if !errors.Is(err, unix.EINTR) {
			return ws, err
		}
	}
}

// seize attaches to a thread without stopping it. The program does not outlive the
// tracer: without it, it could not use its card.
func seize(tid int) error {
	return ptrace(unix.PTRACE_SEIZE, tid, 0, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL)
}

func ptrace(request, tid int, address, data uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), address, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// tracedBy is the thread that traces a thread; 0: none.
func tracedBy(tid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return 0
	}
	var tracer int
	if _, after, found := strings.Cut(string(status), "TracerPid:"); found {
		_, _ = fmt.Sscan(after, &tracer)
	}
	return tracer
}
