package bus_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
	"espgw/pmd/silicon/bus"
)

// TestMain: the executable is also what prepares programs, and the program of memory_test.go.
func TestMain(m *testing.M) {
	bus.Inside()
	if name := os.Getenv(programVariable); name != "" {
		program(name)
		return
	}
	os.Exit(m.Run())
}

func newBus(t *testing.T, n int) *bus.Bus {
	t.Helper()
	b, err := bus.New(n, 0x8086, 0x10f7)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// folder is what stands for /sys/bus/pci/devices.
func folder(t *testing.T, b *bus.Bus) string {
	t.Helper()
	name, value, _ := strings.Cut(b.Environment()[0], "=")
	require.Equal(t, "SYSFS_PCI_DEVICES", name)
	return value
}

func read(t *testing.T, names ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(names...))
	require.NoError(t, err)
	return string(content)
}

func TestDevices(t *testing.T) {
	b := newBus(t, 2)
	at := folder(t, b)
	require.Len(t, b.Devices, 2)
	for i, d := range b.Devices {
		require.Equal(t, []string{"0000:01:00.0", "0000:01:00.1"}[i], d.Address)
		for name, want := range map[string]string{
			"vendor": "0x8086\n", "device": "0x10f7\n", "class": "0x020000\n", "max_vfs": "0\n", "numa_node": "-1\n",
		} {
			require.Equal(t, want, read(t, at, d.Address, name))
		}
		lines := strings.Split(read(t, at, d.Address, "resource"), "\n")
		require.Len(t, lines, 14, "13 resources")
		require.True(t, strings.HasSuffix(lines[0], " 0x0000000000040200"), lines[0])
		driver, err := os.Readlink(filepath.Join(at, d.Address, "driver"))
		require.NoError(t, err)
		require.Equal(t, "igb_uio", filepath.Base(driver))
		require.Equal(t, []byte{0x86, 0x80, 0xf7, 0x10}, []byte(read(t, at, d.Address, "config"))[:4])
		bar, err := os.Stat(filepath.Join(at, d.Address, "resource0"))
		require.NoError(t, err)
		require.EqualValues(t, silicon.BARSize, bar.Size())
	}
	b.Devices[1].Registers[0x4000/4] = 0x12345678
	require.Equal(t, "\x78\x56\x34\x12", read(t, at, "0000:01:00.1", "resource0")[0x4000:0x4004], "the registers are the file")
	require.Equal(t, "\x00\x00\x00\x00", read(t, at, "0000:01:00.0", "resource0")[0x4000:0x4004])
	device, inode, err := b.Devices[0].Inode()
	require.NoError(t, err)
	_, other, err := b.Devices[1].Inode()
	require.NoError(t, err)
	require.NotZero(t, device)
	require.NotEqual(t, inode, other)
}

func TestNumberOfDevices(t *testing.T) {
	for _, n := range []int{-1, 0, 9} {
		_, err := bus.New(n, 0x8086, 0x10f7)
		require.ErrorContains(t, err, "there can be 1 to 8")
	}
	require.Len(t, newBus(t, 8).Devices, 8)
}

func TestNothingIsLeft(t *testing.T) {
	b, err := bus.New(1, 0x8086, 0x10f7)
	require.NoError(t, err)
	at := folder(t, b)
	require.DirExists(t, at)
	require.NoError(t, b.Close())
	require.NoDirExists(t, filepath.Dir(at))
}

// run runs a command of the shell on a bus.
func run(t *testing.T, b *bus.Bus, script string) (out string, status int) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a mount namespace needs root")
	}
	command, err := b.Command("sh", "-c", script)
	require.NoError(t, err)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	err = command.Run()
	return said.String(), bus.Status(command, err)
}

func TestProgramSeesTheBus(t *testing.T) {
	b := newBus(t, 2)
	out, status := run(t, b, `cat /sys/class/uio/uio1/device/vendor && head -c 2 /sys/class/uio/uio0/device/config | od -An -tx1 &&
		readlink -f /sys/class/net/lo && test -c /dev/uio0/ -o -c /dev/uio0 && test -c /dev/null && ls $SYSFS_PCI_DEVICES && exit 7`)
	require.Equal(t, 7, status, out)
	require.Contains(t, out, "0x8086")
	require.Contains(t, out, "86 80")
	require.Contains(t, out, "0000:01:00.1")
	require.NoDirExists(t, "/sys/class/uio/uio1", "only the program sees it")
	require.NoFileExists(t, "/dev/uio0")
}

func TestStatusOfTheProgram(t *testing.T) {
	b := newBus(t, 1)
	for script, want := range map[string]int{"true": 0, "exit 3": 3, "kill -TERM $$": 128 + 15} {
		out, status := run(t, b, script)
		require.Equal(t, want, status, "%s: %s", script, out)
	}
	_, err := b.Command("/not/there")
	require.ErrorContains(t, err, "the program")
}

func TestInterruptsArrive(t *testing.T) {
	b := newBus(t, 1)
	go func() {
		for range 5 {
			time.Sleep(100 * time.Millisecond)
			b.Devices[0].Interrupt()
		}
	}()
	// What the program writes ("enable") must not come back to it, nor block after 4 KB.
	out, status := run(t, b, `head -c 20000 /dev/zero >/dev/uio0 && head -c 4 /dev/uio0 | od -An -tx1`)
	require.Zero(t, status, out)
	require.Contains(t, out, "01 00 00 00")
}
