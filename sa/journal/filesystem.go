package journal

import "io"

// fileSystem is what a journal does to its folder, so that tests can let any of it
// fail. Names are those of files in the folder.
type fileSystem interface {
	// lock takes the folder for this journal alone, or fails with ErrLocked.
	lock() error
	// open opens a file for reading and appending; it fails with fs.ErrNotExist or,
	// where others might have made or write it, ErrUnsafe.
	open(name string) (file, error)
	// create makes a file that was not there.
	create(name string) (file, error)
	rename(from, to string) error
	// remove removes a file; it is no error if there is none.
	remove(name string) error
	// sync puts the folder's names on stable storage; ancestors its own name too,
	// and those of the folders above it.
	sync() error
	ancestors() error
	// close gives the lock up.
	close() error
}

// file is open for reading from its start and for writing at its end.
type file interface {
	io.ReadWriteCloser
	// sync puts what was written on stable storage (fdatasync).
	sync() error
	// size is its length in octets.
	size() (int64, error)
}
