package bus

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// uio is a /dev/uioN: a pseudo-terminal in raw mode, of which the program opens the
// slave. Unlike a FIFO it does not give the program back what it has written.
type uio struct {
	master, slave *os.File
	path          string // of the slave
}

func newUIO() (*uio, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("making /dev/uio: %w", err)
	}
	u := &uio{master: master}
	if err := u.open(); err != nil {
		master.Close()
		return nil, fmt.Errorf("making /dev/uio: %w", err)
	}
	go u.drain()
	return u, nil
}

func (u *uio) open() error {
	fd := int(u.master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return fmt.Errorf("unlocking a terminal: %w", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return fmt.Errorf("numbering a terminal: %w", err)
	}
	u.path = fmt.Sprintf("/dev/pts/%d", n)
	// Held open, so that the master does not fail when the program closes it.
	if u.slave, err = os.OpenFile(u.path, os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return err
	}
	raw, err := unix.IoctlGetTermios(int(u.slave.Fd()), unix.TCGETS)
	if err != nil {
		return fmt.Errorf("reading a terminal's mode: %w", err)
	}
	raw.Iflag, raw.Oflag, raw.Lflag = 0, 0, 0
	raw.Cflag = raw.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(int(u.slave.Fd()), unix.TCSETS, raw); err != nil {
		return fmt.Errorf("setting a terminal's mode: %w", err)
	}
	return nil
}

// drain takes what the program writes, "enable" and "disable": after 4 KB it would
// block.
func (u *uio) drain() {
	b := make([]byte, 256)
	for {
		if _, err := u.master.Read(b); err != nil {
			return
		}
	}
}

// interrupt is a counter of 32 bits that can be read.
func (u *uio) interrupt() { _, _ = u.master.Write([]byte{1, 0, 0, 0}) }

func (u *uio) close() error {
	u.slave.Close()
	return u.master.Close()
}
