package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lock takes the folder with flock, which ends with the process however that ends.
// The file stays: removing it would let two hold locks of two files of that name.
func (d *folder) lock() error {
	f, err := d.openAt(lockName, syscall.O_RDWR|syscall.O_CREAT)
	if err != nil {
		return err
	}
	_, err = retry(func() (int, error) { return 0, syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) })
	if err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = fmt.Errorf("the journal in %s is %w by %s", d.path, ErrLocked, holder(f))
		} else {
			err = fmt.Errorf("locking %s: %w", f.Name(), err)
		}
		return errors.Join(err, f.Close())
	}
	d.locked = f
	pid := strconv.Itoa(os.Getpid()) + "\n"
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("writing the PID: %w", err)
	}
	if _, err := f.WriteAt([]byte(pid), 0); err != nil {
		return fmt.Errorf("writing the PID: %w", err)
	}
	return nil
}

// holder names the process that has the lock, which may not have written its PID yet.
func holder(f *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return "another process"
	}
	return fmt.Sprintf("process %d", pid)
}
