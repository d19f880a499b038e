package bus_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"espgw/pmd/silicon/bus"
)

// programVariable names the registers that the test's executable maps, as a program.
const programVariable = "BUS_TEST_REGISTERS"

const hugePage = 2 << 20

// program maps registers and a huge page, and has what is written to the page's beginning
// in its second half.
func program(registers string) {
	fail := func(err error) {
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
	}
	f, err := os.OpenFile(registers, os.O_RDWR, 0)
	fail(err)
	_, err = unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	fail(err)
	fd, err := unix.MemfdCreate("page", unix.MFD_HUGETLB|unix.MFD_HUGE_2MB)
	fail(err)
	fail(unix.Ftruncate(fd, hugePage))
	page, err := unix.Mmap(fd, 0, hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	fail(err)
	copy(page, "from the program")
	frame, err := physical(page)
	fail(err)
	fmt.Println(frame)
	in := bufio.NewReader(os.Stdin)
	_, err = in.ReadString('\n')
	fail(err)
	fmt.Printf("%s\n", page[hugePage/2:hugePage/2+14])
	_, err = in.ReadString('\n')
	fail(err)
}

// hugePages has two free ones.
func hugePages(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("physical addresses need root")
	}
	const pages = "/sys/kernel/mm/hugepages/hugepages-2048kB/"
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimSpace(read(t, pages+name)))
		require.NoError(t, err)
		return n
	}
	if have := number("nr_hugepages"); number("free_hugepages") < 2 {
		require.NoError(t, os.WriteFile(pages+"nr_hugepages", []byte(strconv.Itoa(have+2)), 0o644))
		t.Cleanup(func() { _ = os.WriteFile(pages+"nr_hugepages", []byte(strconv.Itoa(have)), 0o644) })
	}
	require.GreaterOrEqual(t, number("free_hugepages"), 2, "free huge pages")
}

func TestMemoryOfTheProgram(t *testing.T) {
	hugePages(t)
	b := newBus(t, 1)
	memory, err := bus.NewMemory()
	require.NoError(t, err)
	require.Nil(t, memory.Slice(0x1000000, 16), "nobody is there")
	device, inode, err := b.Devices[0].Inode()
	require.NoError(t, err)
	memory.Follow(device, inode, slog.New(slog.DiscardHandler))
	t.Cleanup(memory.Stop)

	self, err := os.Executable()
	require.NoError(t, err)
	command := exec.Command(self)
	command.Env = append(os.Environ(), programVariable+"="+folder(t, b)+"/0000:01:00.0/resource0")
	in, err := command.StdinPipe()
	require.NoError(t, err)
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() })
	out := bufio.NewReader(stdout)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	address, err := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
	require.NoError(t, err, line)

	look := memory.Look()
	require.Eventually(t, func() bool { return memory.Looked(look) }, 5*time.Second, time.Millisecond)
	pages, pid := memory.Pages()
	require.Equal(t, []int{1, command.Process.Pid}, []int{pages, pid})
	require.Equal(t, "from the program", string(memory.Slice(address, 16)))
	require.Len(t, memory.Slice(address, hugePage), hugePage)
	require.Nil(t, memory.Slice(address+hugePage-8, 16), "over the page's end")
	require.Nil(t, memory.Slice(address, 0))
	require.Nil(t, memory.Slice(1<<42-8, 16), "beyond all memory")
	require.Nil(t, memory.Slice(^uint64(0), 16))
	copy(memory.Slice(address+hugePage/2, 14), "from the model")
	_, err = in.Write([]byte("\n"))
	require.NoError(t, err)
	line, err = out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "from the model\n", line)

	require.NoError(t, in.Close())
	_ = command.Wait()
	require.Eventually(t, func() bool {
		memory.Look()
		pages, pid := memory.Pages()
		return pages == 0 && pid == 0
	}, 5*time.Second, 5*time.Millisecond, "its pages are given up")
	require.Nil(t, memory.Slice(address, 16))
}
