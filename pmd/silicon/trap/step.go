//go:build linux && amd64

package trap

import (
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// stepOver has a thread execute an instruction that is not emulated on the memory itself:
// the page is opened for one instruction. Other threads' accesses in that moment are not
// seen here; the card finds them when it looks at its registers.
func (t *Tracer) stepOver(tid int, r *region, address uint64) bool {
	t.counts.Stepped++
	offset := r.offset + uint32(address-r.start)&^3
	reads := r.rights == unix.PROT_NONE
	if reads {
		t.counts.Reads++
		r.file.Registers.Read(offset)
	}
	word := &r.file.Words[offset/4]
	before := atomic.LoadUint32(word)
	if t.mprotect(tid, r.start, unix.PROT_READ|unix.PROT_WRITE) != nil {
		return false
	}
	stepped := t.step(tid) == nil
	t.sendLate()
	if t.mprotect(tid, r.start, r.rights) != nil || !stepped {
		return false
	}
	if after := atomic.LoadUint32(word); !reads || after != before {
		t.counts.Writes++
		r.file.Registers.Write(offset, after)
	}
	return true
}
