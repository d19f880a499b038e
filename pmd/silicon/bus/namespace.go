package bus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideVariable has the executable run Inside instead of its own work.
const insideVariable = "NICMODEL_INSIDE"

// Command prepares a program that will see the bus: the own executable, started in a
// mount namespace of its own, puts the devices' files in place and then runs the program.
// Its main function must call Inside first.
func (b *Bus) Command(name string, args ...string) (*exec.Cmd, error) {
	program, err := exec.LookPath(name)
	if err != nil {
		return nil, fmt.Errorf("the program: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding the own executable: %w", err)
	}
	var paths []string
	for _, d := range b.Devices {
		paths = append(paths, d.uio.path)
	}
	command := exec.Command(self, append([]string{program}, args...)...)
	command.Env = append(os.Environ(), b.Environment()...)
	command.Env = append(command.Env, insideVariable+"="+b.folder+":"+strings.Join(paths, ":"))
	command.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	return command, nil
}

// Inside does its work where it is due, and then does not return: it runs the program and
// exits as that does. It stays the program's parent, since a debugger (package trap) should
// not be. Elsewhere it returns at once.
func Inside() {
	value := os.Getenv(insideVariable)
	if value == "" {
		return
	}
	os.Unsetenv(insideVariable)
	parts := strings.Split(value, ":")
	if err := prepare(parts[0], parts[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "nicmodel: preparing for %s: %v\n", os.Args[1], err)
		os.Exit(notStarted)
	}
	os.Exit(runInside(os.Args[1], os.Args[2:]))
}

// notStarted is a shell's exit status for a program that could not be started.
const notStarted = 127

func runInside(name string, args []string) int {
	runtime.LockOSThread() // the program ends when the thread does that started it
	command := exec.Command(name, args...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, Forwarded...)
	if err := command.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "nicmodel: starting %s: %v\n", name, err)
		return notStarted
	}
	go func() {
		for s := range signals {
			_ = command.Process.Signal(s)
		}
	}()
	return Status(command, command.Wait())
}

// Forwarded are the signals that go on to the program.
var Forwarded = []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2}

// Status is the exit status of a command that Wait has waited for, as a shell tells it:
// 128 and the signal's number for one that a signal ended.
func Status(command *exec.Cmd, waited error) int {
	if waited == nil {
		return 0
	}
	if ws, ok := command.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	if code := command.ProcessState.ExitCode(); code > 0 {
		return code
	}
	return 1
}

// prepare adds /sys/class/uio/uioN/device/config and /dev/uioN.
func prepare(folder string, terminals []string) error {
	// Links in /sys/class lead to ../../devices.
	kept := filepath.Join(folder, "sys")
	if err := cover("/sys/class", filepath.Join(kept, "class")); err != nil {
		return err
	}
	if err := os.Symlink("/sys/devices", filepath.Join(kept, "devices")); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := cover("/dev", filepath.Join(folder, "dev")); err != nil {
		return err
	}
	if err := os.Remove("/sys/class/uio"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for i, terminal := range terminals {
		device := fmt.Sprintf("/sys/class/uio/uio%d", i)
		if err := os.MkdirAll(device, 0o755); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(folder, "devices", fmt.Sprintf("0000:01:00.%d", i)), device+"/device"); err != nil {
			return err
		}
		node := fmt.Sprintf("/dev/uio%d", i)
		if err := os.Remove(node); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Symlink(terminal, node); err != nil {
			return err
		}
	}
	return nil
}

// cover puts a tmpfs over a folder, with links to what was in it, which is moved to
// kept.
func cover(folder, kept string) error {
	if err := os.MkdirAll(kept, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(folder, kept, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("binding %s: %w", folder, err)
	}
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("covering %s: %w", folder, err)
	}
	entries, err := os.ReadDir(kept)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(kept, e.Name()), filepath.Join(folder, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
