package journal

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// helper is what this test binary does instead when it is started by a test.
const helper = "ESPGW_JOURNAL_HELPER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(helper); dir != "" {
		commitForever(dir)
	}
	os.Exit(m.Run())
}

// commitForever reserves more and more, and prints what was acknowledged.
func commitForever(dir string) {
	j, err := Open(dir, Options{limits: limits{length: 3000, entries: 10}})
	if err != nil {
		fmt.Println("refused:", err)
		os.Exit(1)
	}
	b := &Batch{}
	for n := range 3 {
		if _, ok := j.Lookup(identity(n)); !ok {
			b.Add(Entry{Identity: identity(n)})
		}
	}
	for n := uint64(0); ; n++ {
		for i, e := range j.Entries() {
			b.Reserve(i, e.Reserved+1)
			b.Accept(i, e.Reserved+1)
		}
		if err := j.Commit(b, n%4 == 0); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		i, _ := j.Lookup(identity(0))
		e, _ := j.Entry(i)
		fmt.Println(e.Reserved)
	}
}

// process starts this test binary as a process that has the journal in dir.
func process(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helper+"="+dir)
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd, bufio.NewScanner(pipe)
}

// TestKilledProcess kills a writer with SIGKILL at random moments, rewrites included.
func TestKilledProcess(t *testing.T) {
	dir := folderFor(t)
	acknowledged := uint64(0)
	for round := range 20 {
		cmd, lines := process(t, dir)
		if round%4 != 0 { // the others are killed while they start
			require.True(t, lines.Scan())
		}
		kill := time.AfterFunc(rand.N(40*time.Millisecond), func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		for lines.Scan() {
			n, err := strconv.ParseUint(lines.Text(), 10, 64)
			require.NoError(t, err, lines.Text())
			acknowledged = n
		}
		require.ErrorContains(t, cmd.Wait(), "signal: killed")

		j, err := Open(dir, Options{})
		require.NoError(t, err)
		for _, e := range j.Entries() {
			require.GreaterOrEqual(t, e.Reserved, acknowledged)
			require.LessOrEqual(t, e.Reserved, acknowledged+1)
			require.Equal(t, e.Reserved, e.Highest, "a batch is there as a whole or not at all")
		}
		if i, ok := j.Lookup(identity(0)); ok {
			e, _ := j.Entry(i)
			acknowledged = e.Reserved // perhaps one more than was printed
		}
		require.NoError(t, j.Close())
	}
	require.NotZero(t, acknowledged)
}

func TestLock(t *testing.T) {
	dir := folderFor(t)
	j := open(t, dir)
	own := "in use by process " + strconv.Itoa(os.Getpid())
	_, err := Open(dir, Options{})
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, own)
	_, lines := process(t, dir)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), "refused: the journal in "+dir+" is "+own)
	require.NoError(t, j.Close())

	cmd, lines := process(t, dir)
	require.True(t, lines.Scan())
	_, err = Open(dir, Options{})
	require.ErrorContains(t, err, "in use by process "+strconv.Itoa(cmd.Process.Pid))
	require.NoError(t, cmd.Process.Kill())
	require.ErrorContains(t, cmd.Wait(), "killed")
	require.NoError(t, open(t, dir).Close())
}

func TestModes(t *testing.T) {
	dir := folderFor(t)
	open(t, dir)
	for path, mode := range map[string]os.FileMode{
		filepath.Dir(dir): 0o700, dir: 0o700,
		filepath.Join(dir, fileName): 0o600, filepath.Join(dir, lockName): 0o600,
	} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}

// TestUnsafe: a folder or file that others could have made or changed is refused, and
// left as it is.
func TestUnsafe(t *testing.T) {
	const other = 54321
	for _, c := range []struct {
		name string
		do   func(dir string) error
		says string
		root bool
	}{
		{"folder of group", func(d string) error { return os.Chmod(d, 0o770) }, "others may write to it (mode 0770)", false},
		{"folder of all", func(d string) error { return os.Chmod(d, 0o1777) }, "others may write to it (mode 0777)", false},
		{"journal", func(d string) error {
			return os.Chmod(d+"/journal", 0o620)
		}, "journal: others may write to it (mode 0620)", false},
		{"lock", func(d string) error {
			return os.Chmod(d+"/lock", 0o602)
		}, "lock: others may write to it (mode 0602)", false},
		{"symlink", func(d string) error {
			return errors.Join(os.Rename(d+"/journal", d+"/real"), os.Symlink("real", d+"/journal"))
		}, "journal: a symbolic link", false},
		{"symlink to nothing", func(d string) error {
			return errors.Join(os.Remove(d+"/journal"), os.Symlink("nothing", d+"/journal"))
		}, "journal: a symbolic link", false},
		{"symlink of lock", func(d string) error {
			return errors.Join(os.Rename(d+"/lock", d+"/real"), os.Symlink("real", d+"/lock"))
		}, "lock: a symbolic link", false},
		{"FIFO", func(d string) error {
			return errors.Join(os.Remove(d+"/journal"), syscall.Mkfifo(d+"/journal", 0o600))
		}, "journal: not a regular file", false},
		{"owner of folder", func(d string) error { return os.Chown(d, other, 0) }, "neither root's nor of user 0", true},
		{"owner of journal", func(d string) error {
			return os.Chown(d+"/journal", other, 0)
		}, "journal: it is neither root's", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.root && os.Geteuid() != 0 {
				t.Skip("giving a file to somebody else needs root")
			}
			dir := folderFor(t)
			require.NoError(t, open(t, dir).Close())
			require.NoError(t, c.do(dir))
			j, err := Open(dir, Options{})
			require.Nil(t, j)
			require.ErrorIs(t, err, ErrUnsafe)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// TestFoldersNotMade: errors of the file system come as they are.
func TestFoldersNotMade(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/file", nil, 0o600))
	_, err := Open(dir+"/file/state", Options{})
	require.ErrorIs(t, err, syscall.ENOTDIR)
	require.NoError(t, os.MkdirAll(dir+"/state/journal", 0o700))
	_, err = Open(dir+"/state", Options{})
	require.ErrorIs(t, err, syscall.EISDIR)
}

// TestLeftover: what a rewrite left that was killed goes at the next Open.
func TestLeftover(t *testing.T) {
	dir := folderFor(t)
	require.NoError(t, open(t, dir).Close())
	require.NoError(t, os.WriteFile(dir+"/journal.new", []byte("half"), 0o600))
	open(t, dir)
	require.NoFileExists(t, dir+"/journal.new")
}

// TestMovedFolder: a journal stays with its folder, and leaves alone what is in its
// place.
func TestMovedFolder(t *testing.T) {
	dir := folderFor(t)
	j := open(t, dir)
	require.NoError(t, os.Rename(dir, dir+".old"))
	second := open(t, dir)
	secret := second.Secret()
	require.NoError(t, second.Close())
	b := &Batch{}
	b.Add(Entry{Identity: identity(1)})
	j.unknown = true // a rewrite
	require.NoError(t, j.Commit(b, true))
	require.NoError(t, j.Close())
	second = open(t, dir)
	require.Equal(t, secret, second.Secret())
	require.Zero(t, second.Len())
	require.Equal(t, 1, open(t, dir+".old").Len())
}

// TestDiskFull fills a real file system.
func TestDiskFull(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small tmpfs needs root")
	}
	mount := t.TempDir()
	// In a mount namespace of this goroutine's thread, which ends with it: nothing is
	// left behind, however the test ends.
	runtime.LockOSThread()
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		t.Skipf("no mount namespace can be made here: %v", err)
	}
	require.NoError(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
		t.Skipf("a tmpfs cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(mount, 0)) })
	ballast := filepath.Join(mount, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 160<<10), 0o600))
	dir := filepath.Join(mount, "state")
	j := open(t, dir)
	b, acknowledged, n := &Batch{}, state{}, 0
	add := func() error {
		for range 7 {
			b.Add(Entry{Identity: identity(n), Reserved: uint64(n)})
			n++
		}
		return j.Commit(b, true)
	}
	for add() == nil {
		acknowledged = entries(j)
	}
	for range 3 {
		require.ErrorIs(t, j.Commit(b, true), syscall.ENOSPC, "it stays full")
		require.Equal(t, acknowledged, entries(j))
	}
	require.NoError(t, j.Close())

	j = open(t, dir)
	require.Equal(t, acknowledged, entries(j))
	require.ErrorIs(t, j.Commit(b, true), syscall.ENOSPC)
	require.NoError(t, os.Remove(ballast))
	require.NoError(t, j.Commit(b, true), "the same batch, when there is room")
	require.Len(t, entries(j), n)
	require.NoError(t, j.Close())
	require.Len(t, entries(open(t, dir)), n)
}
