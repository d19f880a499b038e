package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"espgw/ipsec"
	"espgw/sa"
	"espgw/sa/xfrm"
)

// The control socket: one command a line, of ip xfrm or for a port; each is answered
// with any number of listing lines and then exactly one line, "ok" or "error: …".

// maxLine bounds a command line, so that a client cannot fill the memory.
const maxLine = 64 << 10

// maxClients bounds the clients served at once.
const maxClients = 64

// clientPatience is how long a client may take to read an answer.
const clientPatience = 10 * time.Second

type control struct {
	listener *net.UnixListener
	mu       sync.Mutex
	clients  map[net.Conn]struct{}
	done     sync.WaitGroup
	closed   bool
}

// listen opens the control socket, if one is asked for.
func (s *server) listen() error {
	path := s.options.control
	if path == "" {
		return nil
	}
	if err := removeStale(path); err != nil {
		return usagef("--control %s: %w", path, err)
	}
	// The mask makes the socket 0600 from its first moment on.
	mask := syscall.Umask(0o177)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	syscall.Umask(mask)
	if err != nil {
		return usagef("--control: %w", err)
	}
	s.control = &control{listener: l, clients: map[net.Conn]struct{}{}}
	s.control.done.Go(func() { s.accept(s.control) })
	return nil
}

// removeStale removes a socket that nobody listens on any more. Anything else
// at that path is left alone.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return errors.New("exists and is no socket")
	}
	if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
		c.Close()
		return errors.New("another process listens there")
	}
	return os.Remove(path)
}

func (s *server) accept(c *control) {
	for {
		conn, err := c.listener.AcceptUnix()
		if err != nil {
			return
		}
		c.mu.Lock()
		full := c.closed || len(c.clients) >= maxClients
		if !full {
			c.clients[conn] = struct{}{}
		}
		c.mu.Unlock()
		if full {
			conn.SetWriteDeadline(time.Now().Add(time.Second))
			fmt.Fprintln(conn, "error: too many clients")
			conn.Close()
			continue
		}
		c.done.Go(func() {
			s.serveClient(conn)
			c.mu.Lock()
			delete(c.clients, conn)
			c.mu.Unlock()
		})
	}
}

// serveClient answers one client until it leaves.
func (s *server) serveClient(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	lines.Buffer(make([]byte, 4096), maxLine)
	for lines.Scan() {
		answer := s.command(lines.Text())
		conn.SetWriteDeadline(time.Now().Add(clientPatience))
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		conn.SetWriteDeadline(time.Now().Add(time.Second))
		fmt.Fprintf(conn, "error: a line is longer than %d octets\n", maxLine)
	}
}

// command runs one line and returns the whole answer.
func (s *server) command(line string) []byte {
	var out bytes.Buffer
	if err := s.execute(line, &out); err != nil {
		// One line, whatever the error's text is.
		text := strings.Join(strings.Fields(err.Error()), " ")
		return fmt.Appendf(nil, "error: %s\n", text)
	}
	if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
		out.WriteByte('\n')
	}
	out.WriteString("ok\n")
	return out.Bytes()
}

func (s *server) execute(line string, out *bytes.Buffer) error {
	if words := strings.Fields(line); len(words) > 0 && words[0] == "port" {
		return s.executePort(words[1:])
	}
	command, err := xfrm.Parse(line)
	if err != nil {
		return err
	}
	if command == nil { // an empty line or a comment
		return nil
	}
	defer command.Wipe()
	command.Errors = s.stateErrors
	if !command.Mutates() {
		return s.gateway.View(func(tx *sa.Tx) error { return command.Execute(tx, out) })
	}
	return s.gateway.Update(func(tx *sa.Tx) error { return command.Execute(tx, out) })
}

// stateErrors are the counters of `-s state list`.
func (s *server) stateErrors(state *sa.SA) xfrm.StateErrors {
	count := func(r ipsec.Reason) uint32 { return uint32(s.gateway.Errors(state, r)) }
	return xfrm.StateErrors{
		Outside:     count(ipsec.InReplayOld),
		Replayed:    count(ipsec.InReplayDuplicate),
		Unauthentic: count(ipsec.InAuthFailed),
	}
}

// closeControl closes the socket and every client, and removes the path.
func (s *server) closeControl() {
	c := s.control
	if c == nil {
		return
	}
	c.listener.Close()
	c.mu.Lock()
	c.closed = true
	for conn := range c.clients {
		conn.Close()
	}
	c.mu.Unlock()
	c.done.Wait()
	s.control = nil
}
