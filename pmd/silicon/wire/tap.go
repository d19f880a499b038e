package wire

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// tap is an interface of the kernel whose other end is the card.
type tap struct {
	fd   int
	lost uint64
}

// tapQueue is how many frames may wait for the card.
const tapQueue = 8192

func openTap(name string) (Wire, error) {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return nil, fmt.Errorf("the name is not an interface's: %w", err)
	}
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening /dev/net/tun: %w", err)
	}
	request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("making a TAP interface: %w", err)
	}
	if err := bringUp(name); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return &tap{fd: fd}, nil
}

// bringUp sets an interface up, with a long queue.
func bringUp(name string) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("a socket to set the interface up: %w", err)
	}
	defer unix.Close(s)
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	request.SetUint32(tapQueue)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFTXQLEN, request); err != nil {
		return fmt.Errorf("setting the queue's length: %w", err)
	}
	if err := unix.IoctlIfreq(s, unix.SIOCGIFFLAGS, request); err != nil {
		return fmt.Errorf("reading the interface's flags: %w", err)
	}
	request.SetUint16(request.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("setting the interface up: %w", err)
	}
	return nil
}

func (t *tap) Send(frame []byte) {
	if n, err := unix.Write(t.fd, frame); err != nil || n != len(frame) {
		t.lost++
	}
}

func (t *tap) Receive(buf []byte) int {
	n, err := unix.Read(t.fd, buf)
	if err != nil || n <= 0 {
		return 0
	}
	return pad(buf, n)
}

// pad fills a short frame with zeros.
func pad(buf []byte, n int) int {
	if n >= minFrame || len(buf) < minFrame {
		return n
	}
	clear(buf[n:minFrame])
	return minFrame
}

func (t *tap) Lost() uint64 { return t.lost }

func (t *tap) Close() error { return unix.Close(t.fd) }
