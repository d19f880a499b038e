package wire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// unixWire is a socket whose peer is the other end of the wire, a frame a message.
type unixWire struct {
	path     string
	listener int
	peer     atomic.Int64 // file descriptor; -1: none
	left     chan struct{}
	accepted sync.WaitGroup
	lost     uint64
}

const (
	peerRoom = 4 << 20 // octets of frames on their way, each way
	noPeer   = -1
)

func openUnix(path string) (Wire, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("binding the socket: %w", err)
	}
	if err := unix.Listen(fd, 1); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("listening: %w", err)
	}
	u := &unixWire{path: path, listener: fd, left: make(chan struct{}, 1)}
	u.peer.Store(noPeer)
	u.accepted.Add(1)
	go u.accept()
	return u, nil
}

// removeStale removes a socket that nobody listens on any more.
func removeStale(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s is there, and no socket", path)
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("making a socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: path}); !errors.Is(err, unix.ECONNREFUSED) {
		return errors.New("somebody listens there")
	}
	return os.Remove(path)
}

// accept takes one peer after the other.
func (u *unixWire) accept() {
	defer u.accepted.Done()
	for {
		fd, _, err := unix.Accept4(u.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED) {
			continue
		}
		if err != nil {
			return // closed
		}
		for _, option := range []int{unix.SO_RCVBUFFORCE, unix.SO_SNDBUFFORCE} {
			_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, peerRoom) // less room loses more
		}
		u.peer.Store(int64(fd))
		if _, open := <-u.left; !open {
			return
		}
	}
}

// gone notes that the peer has left.
func (u *unixWire) gone(fd int) {
	u.peer.Store(noPeer)
	unix.Close(fd)
	u.left <- struct{}{}
}

func (u *unixWire) Send(frame []byte) {
	fd := int(u.peer.Load())
	if fd == noPeer {
		u.lost++
		return
	}
	_, err := unix.SendmsgN(fd, frame, nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	if err == nil {
		return
	}
	u.lost++
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		u.gone(fd)
	}
}

func (u *unixWire) Receive(buf []byte) int {
	fd := int(u.peer.Load())
	if fd == noPeer {
		return 0
	}
	n, err := unix.Read(fd, buf)
	switch {
	case errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR):
		return 0
	case err != nil || n <= 0:
		u.gone(fd)
		return 0
	}
	return pad(buf, n)
}

func (u *unixWire) Lost() uint64 { return u.lost }

// Close ends the socket. Nobody sends or receives any more.
func (u *unixWire) Close() error {
	close(u.left)
	_ = unix.Shutdown(u.listener, unix.SHUT_RDWR) // wakes accept
	u.accepted.Wait()
	if fd := int(u.peer.Load()); fd != noPeer {
		unix.Close(fd)
	}
	return errors.Join(unix.Close(u.listener), os.Remove(u.path))
}
