package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
)

// controlSocket takes commands while the cards run.
type controlSocket struct {
	listener net.Listener
	path     string
	model    *cards
}

func openControl(path string, m *cards) (*controlSocket, error) {
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("the control socket: %w", err)
	}
	s := &controlSocket{listener, path, m}
	go s.serve()
	return s, nil
}

func (s *controlSocket) serve() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			lines := bufio.NewScanner(c)
			for lines.Scan() {
				if err := s.execute(strings.Fields(lines.Text()), c); err != nil {
					fmt.Fprintf(c, "error: %v\n", err)
				} else {
					fmt.Fprintln(c, "ok")
				}
			}
		}()
	}
}

func (s *controlSocket) execute(words []string, out io.Writer) error {
	switch {
	case len(words) == 1 && words[0] == "report":
		text, err := json.Marshal(s.model.report(0))
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%s\n", text)
		return err
	case len(words) == 3 && words[0] == "link" && (words[2] == "up" || words[2] == "down"):
		return s.on(words[1], func(port int) error {
			c, err := s.model.card(port)
			if err == nil {
				c.SetLink(words[2] == "up")
			}
			return err
		})
	case len(words) == 3 && words[0] == "fault":
		return s.on(words[1], func(port int) error {
			c, err := s.model.card(port)
			if err != nil {
				return err
			}
			return c.SetFault(words[2])
		})
	}
	return fmt.Errorf("commands are: link PORT up|down, fault PORT NAME:N, report")
}

// on does something to a port between two steps of the cards.
func (s *controlSocket) on(port string, order func(int) error) error {
	n, err := strconv.Atoi(port)
	if err != nil {
		return fmt.Errorf("port %q is no number", port)
	}
	s.model.do(func() { err = order(n) })
	return err
}

func (s *controlSocket) close() error {
	return s.listener.Close()
}
