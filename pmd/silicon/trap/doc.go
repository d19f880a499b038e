// Package trap gives a modelled card every access that a program makes to some pages of
// its registers, in the moment that it makes it, as a hypervisor would. Linux on amd64,
// root; elsewhere [Attach] says ErrUnsupported, and the card's registers can only be looked at.
//
// A [Tracer] attaches to the program as a debugger does (ptrace(2)), takes from it the
// rights on those pages (an mprotect(2) that it has one of the program's threads
// execute), and is told of each access by the fault that it causes: the instruction is
// decoded, executed on the card instead (emulate.go), and stepped over. What the program
// sees is a register of hardware: a write has its effect before the next instruction, a
// read may have one, too, and how long the model was busy elsewhere does not matter.
// Instructions that are not understood are executed on the memory itself, alone (step.go).
//
// One goroutine, locked to its thread, calls all methods: the kernel knows a tracer by
// its thread, and so nothing needs a lock against the card.
package trap
