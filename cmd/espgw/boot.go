package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"espgw/ipsec"
	"espgw/pmd"
	"espgw/sa"
	"espgw/sa/durable"
)

// boot runs the gateway: check the configuration, start EAL, open the ports,
// load the tables, start the workers, serve until told to stop, and undo all of
// it in reverse.
func boot(ealArgs []string, o *options, stdout, stderr io.Writer) (err error) {
	log := newLogger(o, stderr)
	config, err := readConfig(o)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	// Before EAL, so that a signal during the start is not lost.
	requests := make(chan os.Signal, 4)
	signal.Notify(requests, syscall.SIGHUP, syscall.SIGUSR1)
	defer signal.Stop(requests)

	keeper, err := openState(o, ealArgs, log)
	if err != nil {
		return usageError{err}
	}
	if keeper != nil {
		defer closing(&err, "close the state folder", keeper.Close)
	}
	eal, err := pmd.StartEAL(pmd.EALConfig{Program: "espgw", Args: ealArgs, Log: slog.New(quieter{log.Handler()})})
	if err != nil {
		return usageError{err} // nothing has run: it is the options, or what the host lacks for them
	}
	defer closing(&err, "close EAL", eal.Close)
	ports, err := openPorts(eal, o, log)
	if err != nil {
		return err
	}
	defer closing(&err, "close the ports", ports.close)

	db := sa.NewDB(tableOptions(o, keeper))
	if keeper != nil {
		keeper.Attach(db)
	}
	gateway, err := ipsec.New(ipsec.Config{
		EAL: eal, Pairs: ports.pairs, Plan: ports.plan, DB: db, Keeper: keeper, Burst: o.burst,
		IdleBackoff: o.idleBackoff, Pass: o.pass, MSSClamp: o.mssClamp, LearnPathMTU: o.learnPathMTU, Log: log,
		Offload: o.offload, InlineOnly: o.inlineOnly, Emulation: ports.emulation.counters,
	})
	if err != nil {
		return err
	}
	defer closing(&err, "stop the gateway", gateway.Stop)
	s := &server{gateway: gateway, options: o, log: log, loaded: config, stdout: stdout, stderr: stderr}
	if err := s.load(config); err != nil {
		return usageError{err}
	}
	printMap(stdout, eal, o, ports, gateway)
	if err := s.listen(); err != nil {
		return err
	}
	defer s.closeControl()
	ports.waitLinks(ctx, o.linkWait, log)
	if err := gateway.Start(); err != nil {
		return err
	}
	log.Info("started", "lcores", ports.plan.Lcores())
	err = s.serve(ctx, requests)
	s.closeControl()
	err = errors.Join(err, gateway.Stop())
	return errors.Join(err, s.finish())
}

// closing joins the error of an undo step into err.
func closing(err *error, what string, undo func() error) {
	if e := undo(); e != nil {
		*err = errors.Join(*err, fmt.Errorf("%s: %w", what, e))
	}
}

// tableOptions are the settings of SAD and SPD; keeper may be nil.
func tableOptions(o *options, keeper *durable.Keeper) sa.Options {
	options := sa.Options{DefaultWindow: o.replayWindow, Now: time.Now}
	if keeper != nil {
		options.Durable = keeper.Durable()
	}
	return options
}

// quieter is the handler for DPDK's own lines: what DPDK calls information is
// debugging to an operator.
type quieter struct{ slog.Handler }

func quieterLevel(l slog.Level) slog.Level {
	if l == slog.LevelInfo {
		return slog.LevelDebug
	}
	return l
}

func (q quieter) Enabled(ctx context.Context, l slog.Level) bool {
	return q.Handler.Enabled(ctx, quieterLevel(l))
}

func (q quieter) Handle(ctx context.Context, r slog.Record) error {
	r.Level = quieterLevel(r.Level)
	return q.Handler.Handle(ctx, r)
}

func newLogger(o *options, w io.Writer) *slog.Logger {
	handler := &slog.HandlerOptions{Level: o.logLevel}
	if o.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, handler))
	}
	return slog.New(slog.NewTextHandler(w, handler))
}
