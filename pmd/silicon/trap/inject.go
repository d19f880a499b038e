//go:build linux && amd64

package trap

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"espgw/pmd/silicon/bus"
)

// lateSignal is one that came for a thread while it executed something for us.
type lateSignal struct{ tid, signal int }

// mprotect has a stopped thread change the rights on one page.
func (t *Tracer) mprotect(tid int, page uint64, rights int) error {
	got, err := t.call(tid, unix.SYS_MPROTECT, page, PageSize, uint64(rights))
	if err != nil {
		return err
	}
	if got != 0 {
		return fmt.Errorf("changing rights on a page: %w", unix.Errno(-got))
	}
	return nil
}

// call has a stopped thread execute a system call, and leaves it as it was.
func (t *Tracer) call(tid, number int, arguments ...uint64) (int64, error) {
	var before unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &before); err != nil {
		return 0, fmt.Errorf("reading a thread's registers: %w", err)
	}
	r := before
	r.Rip, r.Rax = t.gate, uint64(number)
	r.Orig_rax = ^uint64(0) // what it was interrupted in is not to be restarted now
	for i, to := range []*uint64{&r.Rdi, &r.Rsi, &r.Rdx} {
		*to = 0
		if i < len(arguments) {
			*to = arguments[i]
		}
	}
	if err := unix.PtraceSetRegs(tid, &r); err != nil {
		return 0, fmt.Errorf("setting a thread's registers: %w", err)
	}
	if err := t.step(tid); err != nil {
		return 0, err
	}
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return 0, fmt.Errorf("reading a thread's registers: %w", err)
	}
	if err := unix.PtraceSetRegs(tid, &before); err != nil {
		return 0, fmt.Errorf("setting a thread's registers: %w", err)
	}
	t.sendLate()
	return int64(r.Rax), nil
}

// step has a stopped thread execute one instruction. Signals that come instead are kept.
func (t *Tracer) step(tid int) error {
	for {
		if err := unix.PtraceSingleStep(tid); err != nil {
			return fmt.Errorf("stepping a thread: %w", err)
		}
		ws, err := waitFor(tid)
		if err != nil {
			return fmt.Errorf("stepping a thread: %w", err)
		}
		if !ws.Stopped() {
			t.handle(tid, ws)
			return errors.New("stepping a thread: it has ended")
		}
		switch {
		case event(ws) != 0:
		case ws.StopSignal() == unix.SIGTRAP:
			return nil
		default:
			t.late = append(t.late, lateSignal{tid, int(ws.StopSignal())})
		}
	}
}

// sendLate sends the kept signals again.
func (t *Tracer) sendLate() {
	for _, s := range t.late {
		_ = unix.Tgkill(t.pid, s.tid, unix.Signal(s.signal))
	}
	t.late = t.late[:0]
}

// findGate finds a system call instruction (0f 05) in the code that the kernel gives
// each program, [vdso].
func findGate(pid int) (uint64, error) {
	var start, end uint64
	err := bus.EachMapping(pid, func(m bus.Mapping) error {
		if m.Path == "[vdso]" {
			start, end = m.Start, m.End
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	code := make([]byte, end-start)
	if err := readMemory(pid, start, code); err != nil {
		return 0, fmt.Errorf("reading the program's vdso: %w", err)
	}
	i := bytes.Index(code, []byte{0x0f, 0x05})
	if i < 0 {
		return 0, errors.New("no system call instruction in the program's vdso")
	}
	return start + uint64(i), nil
}

// readMemory reads a process's memory.
func readMemory(pid int, address uint64, to []byte) error {
	if len(to) == 0 {
		return unix.EFAULT
	}
	local := []unix.Iovec{{Base: &to[0], Len: uint64(len(to))}}
	n, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(address), Len: len(to)}}, 0)
	if err != nil {
		return err
	}
	if n != len(to) {
		return unix.EFAULT
	}
	return nil
}
