//go:build linux && amd64

package trap_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"espgw/pmd/silicon/trap"
)

// device is what the registers belong to. It looks at them only when it is told to.
type device struct{ words []uint32 }

func (d *device) Read(offset uint32) uint32 {
	v := atomic.LoadUint32(&d.words[offset/4])
	if offset%blockSize == regCount {
		atomic.StoreUint32(&d.words[offset/4], 0)
	}
	return v
}

func (d *device) Write(offset, value uint32) {
	if offset%blockSize == regRequest {
		d.words[offset/4+1] = value + 1
		value = 0
	}
	atomic.StoreUint32(&d.words[offset/4], value)
}

// watched is a program that runs under a tracer.
type watched struct {
	command *exec.Cmd
	out     *bufio.Reader
	proceed func()
	tracer  *trap.Tracer
	device  *device
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	name := filepath.Join(t.TempDir(), "registers")
	f, err := os.Create(name)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	require.NoError(t, f.Truncate(fileSize))
	words, err := mapRegisters(f)
	require.NoError(t, err)
	var st unix.Stat_t
	require.NoError(t, unix.Fstat(int(f.Fd()), &st))
	w := &watched{device: &device{words}}
	w.tracer = trap.New(
		[]trap.File{{Device: st.Dev, Inode: st.Ino, Words: words, Registers: w.device}},
		[]trap.Page{{Offset: watchedAll, Reads: true}, {Offset: watchedWrites}})
	self, err := os.Executable()
	require.NoError(t, err)
	w.command = exec.Command(self)
	w.command.Env = append(os.Environ(), programVariable+"="+name)
	w.command.Stderr = os.Stderr
	in, err := w.command.StdinPipe()
	require.NoError(t, err)
	out, err := w.command.StdoutPipe()
	require.NoError(t, err)
	w.out = bufio.NewReader(out)
	require.NoError(t, w.command.Start())
	t.Cleanup(func() { _ = w.command.Process.Kill() })
	line, err := w.out.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	w.proceed = func() {
		_, err := in.Write([]byte("\n"))
		require.NoError(t, err)
	}
	return w
}

// run polls until the program's end, and returns what it said.
func (w *watched) run(t *testing.T) string {
	t.Helper()
	end := time.Now().Add(30 * time.Second)
	for w.tracer.Attached() {
		if !w.tracer.Poll() {
			time.Sleep(10 * time.Microsecond)
		}
		require.True(t, time.Now().Before(end), "the program has not ended")
	}
	var said strings.Builder
	_, _ = w.out.WriteTo(&said)
	return said.String()
}

func attach(t *testing.T, w *watched) {
	t.Helper()
	err := w.tracer.Attach(w.command.Process.Pid)
	if os.Getuid() != 0 && err != nil {
		t.Skipf("attaching to a process needs root: %v", err)
	}
	require.NoError(t, err)
}

func TestAccessesHaveTheirEffectBeforeTheNextInstruction(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := newWatched(t)
	attach(t, w)
	require.True(t, w.tracer.Attached())
	attach(t, w) // again: nothing is done twice
	w.proceed()
	said := w.run(t)
	c := w.tracer.Counts()
	require.Equal(t, "done\n", said, "%+v", c)
	const each = threads * rounds
	// Of each round: a request and a constant; oddly, a request, a constant and a sum. The
	// race detector adds accesses of its own.
	require.GreaterOrEqual(t, c.Writes, uint64(2*each*2+2*rounds*3))
	require.GreaterOrEqual(t, c.Stepped, uint64(2*rounds*2), "an exchange and a sum")
	// On one page: answer, request and constant; oddly the answer, the sum, and what the
	// two that are stepped over may have read.
	require.GreaterOrEqual(t, c.Reads, uint64(each*3+rounds*4))
	require.Zero(t, c.Threads)
	require.Greater(t, c.Attached, uint64(threads))
	require.GreaterOrEqual(t, c.Signals, uint64(21), "20 signals and a fault of its own")
}

func TestAttachFails(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tracer := trap.New(nil, nil)
	require.ErrorContains(t, tracer.Attach(1<<22+1), "process 4194305")
	require.False(t, tracer.Attached())
	require.False(t, tracer.Poll())
}

func TestOneProgramAtATime(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := newWatched(t)
	attach(t, w)
	require.ErrorContains(t, w.tracer.Attach(os.Getppid()), "is being watched")
	w.proceed()
	require.Equal(t, "done\n", w.run(t))
}
