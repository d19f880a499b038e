package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// folder is the real file system. It works below an open folder, and so stays with
// it when it is renamed, rather than writing to another that has taken its place.
type folder struct {
	path   string
	dir    *os.File
	locked *os.File
}

// openFolder opens a folder, which it makes if need be (0700, as those above it),
// if nobody but the user and root may change what is in it.
func openFolder(path string) (*folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("finding the journal's folder: %w", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("making the journal's folder: %w", err)
	}
	dir, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the journal's folder: %w", err)
	}
	if err := trusted(dir); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return &folder{path: path, dir: dir}, nil
}

// trusted refuses what others may write to.
func trusted(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("asking who may write: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s: others may write to it (mode %04o): %w", f.Name(), mode, ErrUnsafe)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if own := os.Geteuid(); !ok || stat.Uid != 0 && int64(stat.Uid) != int64(own) {
		return fmt.Errorf("%s: it is neither root's nor of user %d: %w", f.Name(), own, ErrUnsafe)
	}
	if mode := info.Mode(); !mode.IsRegular() && !mode.IsDir() {
		return fmt.Errorf("%s: not a regular file: %w", f.Name(), ErrUnsafe)
	}
	return nil
}

func (d *folder) open(name string) (file, error) {
	f, err := d.openAt(name, syscall.O_RDWR|syscall.O_APPEND)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d *folder) create(name string) (file, error) {
	f, err := d.openAt(name, syscall.O_RDWR|syscall.O_APPEND|syscall.O_CREAT|syscall.O_EXCL)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// openAt opens a file that it trusts. (For reading and writing, so a FIFO does not block.)
func (d *folder) openAt(name string, flags int) (*os.File, error) {
	path := filepath.Join(d.path, name)
	fd, err := retry(func() (int, error) {
		return syscall.Openat(int(d.dir.Fd()), name,
			flags|syscall.O_NOFOLLOW|syscall.O_CLOEXEC, 0o600)
	})
	switch {
	case errors.Is(err, syscall.ELOOP):
		return nil, fmt.Errorf("%s: a symbolic link: %w", path, ErrUnsafe)
	case err != nil:
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	f := os.NewFile(uintptr(fd), path)
	if err := trusted(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (d *folder) rename(from, to string) error {
	at := int(d.dir.Fd())
	if err := syscall.Renameat(at, from, at, to); err != nil {
		return fmt.Errorf("renaming %s to %s in %s: %w", from, to, d.path, err)
	}
	return nil
}

func (d *folder) remove(name string) error {
	err := syscall.Unlinkat(int(d.dir.Fd()), name)
	if err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("removing %s from %s: %w", name, d.path, err)
	}
	return nil
}

func (d *folder) sync() error {
	if err := d.dir.Sync(); err != nil {
		return fmt.Errorf("syncing the journal's folder: %w", err)
	}
	return nil
}

// ancestors goes up as far as folders may be opened: above those it made nothing.
func (d *folder) ancestors() error {
	for path := d.path; path != filepath.Dir(path); {
		path = filepath.Dir(path)
		dir, err := os.Open(path)
		if errors.Is(err, os.ErrPermission) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("opening a folder above the journal's: %w", err)
		}
		err = dir.Sync()
		if errors.Is(err, syscall.EINVAL) { // a file system that keeps nothing
			err = nil
		}
		if err := errors.Join(err, dir.Close()); err != nil {
			return fmt.Errorf("syncing a folder above the journal's: %w", err)
		}
	}
	return nil
}

func (d *folder) close() error {
	err := d.dir.Close()
	if d.locked != nil {
		err = errors.Join(err, d.locked.Close())
	}
	return err
}

// osFile is a file of a folder.
type osFile struct{ *os.File }

func (f osFile) sync() error {
	if _, err := retry(func() (int, error) { return 0, syscall.Fdatasync(int(f.Fd())) }); err != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return nil
}

func (f osFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
