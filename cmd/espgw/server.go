package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"espgw/ipsec"
)

// server serves a running gateway: signals, timers, the control socket.
type server struct {
	gateway *ipsec.Gateway
	options *options
	log     *slog.Logger
	loaded  *configFile // what --xfrm last said
	control *control
	stdout  io.Writer
	stderr  io.Writer
}

// servePeriod is how often the timers and the workers' health are looked at.
const servePeriod = 20 * time.Millisecond

// serve returns when the gateway is to stop: nil for a signal, --run-for or
// --idle-exit, an error when a worker ended by itself.
func (s *server) serve(ctx context.Context, requests <-chan os.Signal) error {
	tick := time.NewTicker(servePeriod)
	defer tick.Stop()
	start := time.Now()
	idle := idleWatch{since: start}
	report := newReport(s.stderr)
	nextReport := start.Add(s.options.statsPeriod)
	for {
		select {
		case <-ctx.Done():
			s.log.Info("stopping on a signal")
			return nil
		case request := <-requests:
			s.handle(request)
		case now := <-tick.C:
			if err := s.gateway.Failed(); err != nil {
				return err
			}
			if s.options.runFor > 0 && now.Sub(start) >= s.options.runFor {
				s.log.Info("stopping: --run-for is over")
				return nil
			}
			if s.options.idleExit > 0 && idle.over(now, s.gateway.Received(), s.options.idleExit) {
				s.log.Info("stopping: nothing arrived", "for", s.options.idleExit)
				return nil
			}
			if s.options.statsPeriod > 0 && !now.Before(nextReport) {
				report.print(s.gateway.Stats())
				nextReport = now.Add(s.options.statsPeriod)
			}
		}
	}
}

// idleWatch tells when no packet has arrived for a time.
type idleWatch struct {
	since    time.Time
	received uint64
}

func (w *idleWatch) over(now time.Time, received uint64, limit time.Duration) bool {
	if received != w.received {
		w.received, w.since = received, now
	}
	return now.Sub(w.since) >= limit
}

func (s *server) handle(request os.Signal) {
	switch request {
	case syscall.SIGHUP:
		if err := s.reload(); err != nil {
			s.log.Error("reload failed, nothing was changed", "error", err)
		}
	case syscall.SIGUSR1:
		if err := s.writeJSON(); err != nil {
			s.log.Error("write the counters", "error", err)
		}
	}
}

// finish prints and writes the final counters.
func (s *server) finish() error {
	stats := s.gateway.Stats()
	printSummary(s.stdout, stats)
	if err := s.writeJSON(); err != nil {
		return fmt.Errorf("write the counters: %w", err)
	}
	if stats.Totals.InFlight != 0 {
		return errors.New("the counters do not balance: please report this as a bug")
	}
	return nil
}
