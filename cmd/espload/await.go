package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// awaitCommand returns when the first ESP packet is seen on an interface, in
// whichever direction.
func awaitCommand(f *pflag.FlagSet) action {
	patience := f.Duration("timeout", 20*time.Second, "fail when none was seen in that `TIME`")
	return func(ctx context.Context, words []string, _ io.Writer) error {
		iface, err := oneWord(words, "an interface")
		if err != nil {
			return err
		}
		s, err := openSocket(iface, true)
		if err != nil {
			return err
		}
		defer s.close()
		ctx, cancel := context.WithTimeout(ctx, *patience)
		defer cancel()
		return s.awaitESP(ctx)
	}
}

func (s *socket) awaitESP(ctx context.Context) error {
	// So that ctx is looked at now and then.
	wait := unix.Timeval{Usec: 100000}
	if err := unix.SetsockoptTimeval(s.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		return fmt.Errorf("SO_RCVTIMEO: %w", err)
	}
	b := make([]byte, 1<<16)
	for ctx.Err() == nil {
		n, err := unix.Read(s.fd, b)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if _, ok := parseESP(b[:n]); ok {
			return nil
		}
	}
	return fmt.Errorf("no ESP packet was seen: %w", ctx.Err())
}
