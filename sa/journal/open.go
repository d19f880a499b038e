package journal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"
)

// Open locks a folder, which it makes if need be, and reads the journal in it or
// makes one. Errors: ErrLocked, which names the PID; ErrUnsafe; a DamagedError, with
// which alone a Journal comes that can be read and must be closed; others of the file
// system.
func Open(dir string, o Options) (*Journal, error) {
	j := &Journal{log: o.Log, now: o.Now, fileSystem: o.fileSystem, limits: o.limits}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	if j.now == nil {
		j.now = time.Now
	}
	if j.limits == (limits{}) {
		j.limits = usualLimits
	}
	if j.fileSystem == nil {
		folder, err := openFolder(dir)
		if err != nil {
			return nil, err
		}
		j.fileSystem = folder
	}
	err := j.fileSystem.lock()
	if err == nil {
		err = j.load(filepath.Join(dir, fileName))
	}
	if err != nil && j.damaged == nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, err
}

func (j *Journal) load(path string) error {
	f, err := j.fileSystem.open(fileName)
	if errors.Is(err, fs.ErrNotExist) {
		return j.begin(path)
	}
	if err != nil {
		return err
	}
	j.file = f
	text, err := readAll(f)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	c, damage := read(text)
	j.table, j.secret = c.table, c.secret
	if damage != nil {
		if damage.offset == 0 {
			_, _ = rand.Read(j.secret[:]) // never fails (crypto/rand)
		}
		j.damaged = &DamagedError{Path: path, Offset: int64(damage.offset), What: damage.what}
		return j.damaged
	}
	if rest := len(text) - c.size; rest > 0 {
		j.log.Warn("journal: leaving out an unfinished write, which was never acknowledged",
			"path", path, "offset", c.size, "octets", rest)
	}
	// Some of it may be in the kernel's memory only, where a failed sync that was
	// reported to the last process can have left it for good.
	j.unknown = true
	return j.fileSystem.remove(newName)
}

// begin makes a journal where there is none.
func (j *Journal) begin(path string) error {
	_, _ = rand.Read(j.secret[:]) // never fails (crypto/rand)
	j.table = newTable(0)
	// First the folder: once there is a journal, nobody asks for its ancestors again.
	if err := j.fileSystem.ancestors(); err != nil {
		return err
	}
	if err := j.rewrite(); err != nil {
		return fmt.Errorf("making %s: %w", path, err)
	}
	j.log.Info("journal: there was none, made a new one", "path", path)
	return nil
}

// readAll is io.ReadAll without growing by and by.
func readAll(f file) ([]byte, error) {
	size, err := f.size()
	if err != nil {
		return nil, err
	}
	text := make([]byte, size)
	n, err := io.ReadFull(f, text)
	if err != nil {
		return nil, fmt.Errorf("read %d of %d octets: %w", n, size, err)
	}
	return text, nil
}
