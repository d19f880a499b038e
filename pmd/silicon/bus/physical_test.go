package bus_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"
)

// physical is the physical address of a page of one's own (Documentation/admin-guide/mm/
// pagemap.rst of Linux).
func physical(page []byte) (uint64, error) {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var entry [8]byte
	if _, err := f.ReadAt(entry[:], int64(uintptr(unsafe.Pointer(&page[0])))/4096*8); err != nil {
		return 0, err
	}
	v := binary.LittleEndian.Uint64(entry[:])
	if v>>63 == 0 || v&(1<<55-1) == 0 {
		return 0, fmt.Errorf("the page's frame is hidden: %#x", v)
	}
	return v & (1<<55 - 1) * 4096, nil
}
