package trap

import "errors"

// PageSize is the size of a page in octets.
const PageSize = 4096

// Registers is a card as the program's instructions reach it. Offsets are in octets, a
// multiple of 4, from the file's beginning.
type Registers interface {
	Read(offset uint32) uint32
	Write(offset, value uint32)
}

// File is a file of registers that a program maps, by its numbers in stat(2).
type File struct {
	Device, Inode uint64
	Words         []uint32 // what is in it, shared with the program
	Registers     Registers
}

// Page is a page of each file that is watched: writes always, reads where asked.
type Page struct {
	Offset uint32 // a multiple of PageSize
	Reads  bool
}

// ErrUnsupported says that accesses cannot be trapped on this system.
var ErrUnsupported = errors.New("register accesses cannot be trapped on this system")

// Counts is what a tracer has seen.
type Counts struct {
	Reads    uint64 `json:"reads"`
	Writes   uint64 `json:"writes"`
	Stepped  uint64 `json:"stepped"`  // of them by instructions that are not emulated
	Signals  uint64 `json:"signals"`  // passed on to the program
	Threads  int    `json:"threads"`  // of the program, now
	Attached uint64 `json:"attached"` // threads ever attached to
}
