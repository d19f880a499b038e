package bus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	hugePage  = 2 << 20
	smallPage = 4096
	// arenaSize is the highest physical address that can be reached, 4 TiB: address
	// space costs nothing.
	arenaSize = 1 << 42
	// hugetlbfsMagic is the file system's (statfs(2)).
	hugetlbfsMagic = 0x958458f6
)

// Memory is the huge pages of the program that drives the cards, at the addresses
// that its driver gives them: the physical ones. It implements silicon.Memory.
type Memory struct {
	base  unsafe.Pointer
	pages []atomic.Uint64 // bits: page of 2 MiB is mapped
	miss  chan struct{}

	// Looks for the program, by Follow: how many have begun, and how many have ended.
	begun, ended atomic.Uint64

	mu     sync.Mutex
	mapped map[uint64]pageSource // by physical address
	pid    int
	stop   chan struct{}
	done   sync.WaitGroup
}

// pageSource is what a huge page was found as.
type pageSource struct{ device, inode, offset uint64 }

// NewMemory reserves the address space. No page is there before Follow.
func NewMemory() (*Memory, error) {
	// Aligned for pages of 1 GiB.
	p, err := unix.MmapPtr(-1, 0, nil, arenaSize+1<<30, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("reserving %d GiB of address space: %w", arenaSize>>30, err)
	}
	aligned := (uintptr(p) + 1<<30 - 1) &^ (1<<30 - 1)
	return &Memory{
		base: unsafe.Add(p, aligned-uintptr(p)), pages: make([]atomic.Uint64, arenaSize/hugePage/64),
		miss: make(chan struct{}, 1), mapped: map[uint64]pageSource{}, stop: make(chan struct{}),
	}, nil
}

// Slice is the n octets at a physical address; nil if they are not all mapped. Then
// they are looked for, in the background.
func (m *Memory) Slice(address uint64, n int) []byte {
	if n <= 0 || address >= arenaSize || uint64(n) > arenaSize-address {
		return nil
	}
	for page := address / hugePage; page <= (address+uint64(n)-1)/hugePage; page++ {
		if m.pages[page/64].Load()>>(page%64)&1 == 0 {
			select {
			case m.miss <- struct{}{}:
			default:
			}
			return nil
		}
	}
	return unsafe.Slice((*byte)(unsafe.Add(m.base, address)), n)
}

// Pages is how many pages of 2 MiB are mapped, and PID whose they are; 0: nobody's.
func (m *Memory) Pages() (pages, pid int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.mapped), m.pid
}

// Look has Follow look again, and returns the number of the look that will have seen all
// that is so now.
func (m *Memory) Look() uint64 {
	look := m.begun.Load() + 1
	select {
	case m.miss <- struct{}{}:
	default:
	}
	return look
}

// Looked says whether a look has ended.
func (m *Memory) Looked(look uint64) bool { return m.ended.Load() >= look }

// forgetAll gives up all pages: nobody uses the cards.
func (m *Memory) forgetAll() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid = 0
	var errs []error
	for physical := range m.mapped {
		errs = append(errs, m.forget(physical))
	}
	return errors.Join(errs...)
}

// scan maps the huge pages of a process, and forgets those that it has no more.
func (m *Memory) scan(pid int) error {
	found, err := hugePagesOf(pid)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid = pid
	var errs []error
	for physical, p := range found {
		if old, there := m.mapped[physical]; there && old == p.pageSource {
			continue
		}
		if err := m.mapPage(physical, p); err != nil {
			errs = append(errs, err)
		}
	}
	for physical := range m.mapped {
		if _, there := found[physical]; !there {
			errs = append(errs, m.forget(physical))
		}
	}
	return errors.Join(errs...)
}

func (m *Memory) mapPage(physical uint64, p foundPage) error {
	if physical >= arenaSize {
		return fmt.Errorf("a huge page at 0x%x lies beyond %d GiB", physical, arenaSize>>30)
	}
	f, err := os.OpenFile(p.path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("opening a huge page of the program: %w", err)
	}
	defer f.Close()
	_, err = unix.MmapPtr(int(f.Fd()), int64(p.offset), unsafe.Add(m.base, physical), hugePage,
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("mapping a huge page of the program: %w", err)
	}
	m.mapped[physical] = p.pageSource
	page := physical / hugePage
	m.pages[page/64].Or(1 << (page % 64))
	return nil
}

// forget replaces a page: the card may be writing to it right now.
func (m *Memory) forget(physical uint64) error {
	page := physical / hugePage
	m.pages[page/64].And(^uint64(1 << (page % 64)))
	delete(m.mapped, physical)
	_, err := unix.MmapPtr(-1, 0, unsafe.Add(m.base, physical), hugePage,
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED|unix.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("giving up a huge page: %w", err)
	}
	return nil
}

// foundPage is a huge page of a process: the path by which it can be opened.
type foundPage struct {
	pageSource
	path string
}

// hugePagesOf lists a process's shared huge pages by their physical addresses.
func hugePagesOf(pid int) (map[uint64]foundPage, error) {
	pagemap, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", pid))
	if err != nil {
		return nil, fmt.Errorf("the program's memory: %w", err)
	}
	defer pagemap.Close()
	found := map[uint64]foundPage{}
	err = EachMapping(pid, func(m Mapping) error {
		if !m.Shared || m.Inode == 0 || (m.End-m.Start)%hugePage != 0 {
			return nil
		}
		path := fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Start, m.End)
		var fs unix.Statfs_t
		if unix.Statfs(path, &fs) != nil || fs.Type != hugetlbfsMagic {
			return nil
		}
		for at := m.Start; at < m.End; at += hugePage {
			var entry [8]byte
			if _, err := pagemap.ReadAt(entry[:], int64(at/smallPage*8)); err != nil {
				return fmt.Errorf("the program's page table: %w", err)
			}
			v := binary.LittleEndian.Uint64(entry[:])
			frame := v & (1<<55 - 1)
			if v>>63 == 0 {
				continue // not there yet
			}
			if frame == 0 {
				return errNoFrames
			}
			found[frame*smallPage] = foundPage{pageSource{m.Device, m.Inode, m.Offset + at - m.Start}, path}
		}
		return nil
	})
	return found, err
}

var errNoFrames = errors.New("the kernel hides physical addresses: CAP_SYS_ADMIN is needed to see them")
