package main

import "errors"

// errPortCommand is what `port` understands, in testpmd's words.
var errPortCommand = errors.New("port: accepted: port stop PORT, port start PORT, port reset PORT (PORT: number or name)")

// executePort runs a `port` command; words are those behind the first.
func (s *server) executePort(words []string) error {
	if len(words) != 2 {
		return errPortCommand
	}
	switch words[0] {
	case "stop":
		return s.gateway.StopPort(words[1])
	case "start":
		return s.gateway.StartPort(words[1])
	case "reset":
		return s.gateway.ResetPort(words[1])
	}
	return errPortCommand
}
