//go:build linux && amd64

package trap_test

import (
	"bufio"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The test's executable is the watched program, too, when this variable names the file of
// registers.
const programVariable = "TRAP_TEST_REGISTERS"

func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		if err := program(name); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("done")
		return
	}
	os.Exit(m.Run())
}

// Registers of the device under test, per block of 16 octets: what is written to the first
// is taken at once, and the second shows the next number; reading the third empties it.
const (
	blockSize  = 16
	regRequest = 0
	regAnswer  = 4
	regCount   = 8
	regPlain   = 12

	watchedAll    = 0x1000 // page: reads and writes
	watchedWrites = 0x2000 // page: writes
	fileSize      = 0x4000
	threads       = 8
	rounds        = 300
)

func mapRegisters(f *os.File) ([]uint32, error) {
	memory, err := unix.Mmap(int(f.Fd()), 0, fileSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*uint32)(unsafe.Pointer(&memory[0])), fileSize/4), nil
}

// program maps the registers, waits until it is told to go on, and uses them.
func program(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	words, err := mapRegisters(f)
	if err != nil {
		return err
	}
	early := make(chan error) // from a thread that is there before the tracer
	begin := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		<-begin
		early <- use(words, 0)
	}()
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	close(begin)
	errs := make([]error, threads)
	var all sync.WaitGroup
	for i := 1; i < threads; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread() // and ends with its thread
			errs[i] = use(words, i)
		}()
	}
	all.Wait()
	for _, err := range append(errs, <-early, useOddly(words), signals(), fault(words)) {
		if err != nil {
			return err
		}
	}
	return nil
}

// use exercises block i of both pages.
func use(words []uint32, i int) error {
	for _, page := range []int{watchedAll, watchedWrites} {
		base := (page + i*blockSize) / 4
		for n := uint32(1); n <= rounds; n++ {
			if err := useOnce(words[base:base+4:base+4], n); err != nil {
				return fmt.Errorf("thread %d, page %#x, round %d: %w", i, page, n, err)
			}
		}
	}
	return nil
}

// The race detector would put accesses of its own before these, of other kinds.
//
//go:noinline
//go:norace
func store(p *uint32, v uint32) { *p = v }

//go:noinline
//go:norace
func load(p *uint32) uint32 { return *p }

//go:noinline
//go:norace
func storeSeven(p *uint32) { *p = 7 }

func useOnce(block []uint32, n uint32) error {
	request, answer, plain := &block[regRequest/4], &block[regAnswer/4], &block[regPlain/4]
	store(request, n)
	if got := load(answer); got != n+1 {
		return fmt.Errorf("answer %d", got)
	}
	if got := load(request); got != 0 {
		return fmt.Errorf("the request is still there: %d", got)
	}
	storeSeven(plain)
	if got := load(plain); got != 7 {
		return fmt.Errorf("plain %d", got)
	}
	return nil
}

// useOddly uses instructions that are not emulated. No other thread does anything then:
// the page is open for a moment.
func useOddly(words []uint32) error {
	for _, page := range []int{watchedAll, watchedWrites} {
		request, answer, plain := &words[page/4], &words[(page+regAnswer)/4], &words[(page+regPlain)/4]
		for n := uint32(1); n <= rounds; n++ {
			atomic.StoreUint32(request, n) // XCHG
			if got := atomic.LoadUint32(answer); got != n+1 {
				return fmt.Errorf("page %#x: answer %d to an exchange", page, got)
			}
			storeSeven(plain)
			if got := atomic.AddUint32(plain, n); got != n+7 { // LOCK XADD
				return fmt.Errorf("page %#x: sum %d", page, got)
			}
			if got := load(plain); got != n+7 {
				return fmt.Errorf("page %#x: sum %d when read again", page, got)
			}
		}
	}
	return nil
}

// signals sees that its own signals still reach the program.
func signals() error {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGUSR1)
	for range 20 {
		if err := unix.Kill(os.Getpid(), unix.SIGUSR1); err != nil {
			return err
		}
		<-c
	}
	return nil
}

// fault sees that a fault of the program's own stays one.
func fault(words []uint32) (err error) {
	defer func() {
		if recover() == nil {
			err = fmt.Errorf("no panic")
		}
	}()
	var p *uint32
	store(p, words[0])
	return nil
}
