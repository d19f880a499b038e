//go:build linux && amd64

package trap

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"
)

// operation is an instruction that accesses a register of 32 bits.
type operation struct {
	known     bool
	write     bool
	length    uint64 // of the instruction in octets
	register  int    // of the processor, RAX 0 to R15 15; -1: the value is immediate
	immediate uint32
}

// maxInstruction is the length of the longest instruction.
const maxInstruction = 15

// access serves a thread's fault; false: it has nothing to do with us.
func (t *Tracer) access(tid int) bool {
	address, ok := faultAddress(tid)
	if !ok {
		return false
	}
	for i := range t.regions {
		r := &t.regions[i]
		if address-r.start < PageSize {
			return t.serve(tid, r, address)
		}
	}
	return false
}

func (t *Tracer) serve(tid int, r *region, address uint64) bool {
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &regs) != nil {
		return false
	}
	op, seen := t.code[regs.Rip]
	if !seen {
		op = t.read(regs.Rip)
		t.code[regs.Rip] = op
	}
	if !op.known || address%4 != 0 {
		return t.stepOver(tid, r, address)
	}
	offset := r.offset + uint32(address-r.start)
	switch {
	case !op.write:
		t.counts.Reads++
		*general(&regs, op.register) = uint64(r.file.Registers.Read(offset))
	case op.register < 0:
		t.counts.Writes++
		r.file.Registers.Write(offset, op.immediate)
	default:
		t.counts.Writes++
		r.file.Registers.Write(offset, uint32(*general(&regs, op.register)))
	}
	regs.Rip += op.length
	return unix.PtraceSetRegs(tid, &regs) == nil
}

// read decodes the instruction at an address.
func (t *Tracer) read(at uint64) operation {
	code := make([]byte, maxInstruction)
	if readMemory(t.pid, at, code) != nil {
		// It may be the last of a page that has no neighbour.
		code = code[:min(maxInstruction, PageSize-at%PageSize)]
		if readMemory(t.pid, at, code) != nil {
			return operation{}
		}
	}
	return decode(code)
}

// decode understands moves of 32 bits between memory and a register, and of a constant to
// memory: what compilers make of accesses to registers of hardware.
func decode(code []byte) operation {
	inst, err := x86asm.Decode(code, 64)
	if err != nil || inst.MemBytes != 4 || inst.Op != x86asm.MOV && inst.Op != x86asm.MOVNTI {
		return operation{}
	}
	op := operation{known: true, length: uint64(inst.Len), register: -1}
	var other x86asm.Arg
	if _, op.write = inst.Args[0].(x86asm.Mem); op.write {
		other = inst.Args[1]
	} else {
		other = inst.Args[0]
	}
	switch v := other.(type) {
	case x86asm.Reg:
		if v < x86asm.EAX || v > x86asm.R15L {
			return operation{}
		}
		op.register = int(v - x86asm.EAX)
	case x86asm.Imm:
		op.immediate = uint32(v)
	default:
		return operation{}
	}
	return op
}

// general is a general-purpose register by its number in instructions.
func general(r *unix.PtraceRegs, i int) *uint64 {
	return [...]*uint64{
		&r.Rax, &r.Rcx, &r.Rdx, &r.Rbx, &r.Rsp, &r.Rbp, &r.Rsi, &r.Rdi,
		&r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15,
	}[i]
}

// accessError is si_code of a fault by missing rights (SEGV_ACCERR).
const accessError = 2

// faultAddress is where a thread that stopped by SIGSEGV wanted to access what it may not.
func faultAddress(tid int) (uint64, bool) {
	// siginfo_t: signal, errno, code, padding, address (sigaction(2), asm-generic/siginfo.h).
	var info [128]byte
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(tid), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(info[16:]), binary.LittleEndian.Uint32(info[8:]) == accessError
}
