package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"espgw/pmd"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 a clean stop, 1 something failed, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	var eal []string
	if i := slices.Index(args, "--"); i >= 0 {
		eal, args = args[:i], args[i+1:]
	}
	o, err := parseOptions(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, usage())
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "espwire: %v\n", err)
		return 2
	}
	if err := boot(eal, o, stdout, slog.New(slog.NewTextHandler(stderr, nil))); err != nil {
		fmt.Fprintf(stderr, "espwire: %v\n", err)
		return 1
	}
	return 0
}

// boot starts EAL and the ports, forwards until a signal comes, and undoes it all.
func boot(args []string, o *options, stdout io.Writer, log *slog.Logger) (err error) {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	closing := func(c func() error) { err = errors.Join(err, c()) }

	eal, err := pmd.StartEAL(pmd.EALConfig{Program: "espwire", Args: args, Log: log})
	if err != nil {
		return err
	}
	defer closing(eal.Close)
	w, err := openWire(o)
	if err != nil {
		return err
	}
	defer closing(w.close)
	fmt.Fprintf(stdout, "espwire: %s = %s\n", w.ports[0].Info().Device, w.ports[1].Info().Device)
	if !w.waitLinks(ctx, o.linkWait) {
		return fmt.Errorf("the links did not come up within %s", o.linkWait)
	}
	thread, err := eal.Launch(eal.Lcores()[len(eal.Lcores())-1], func() { w.forward(ctx) })
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "espwire: started")
	if err := thread.Wait(); err != nil {
		return err
	}
	for i, lane := range w.lanes {
		c := lane.Counters()
		fmt.Fprintf(stdout, "espwire: from %s: received %d frames, sent %d, given up %d\n",
			w.ports[i].Info().Device, c.RxPackets, c.TxPackets, c.TxGivenUp)
	}
	return w.finish()
}

// options are espwire's own.
type options struct {
	pair        []string
	record      string
	flip        flip
	drop        uint64
	mtu         int
	idleBackoff time.Duration
	linkWait    time.Duration
}

func newFlags(o *options, flipText *string) *pflag.FlagSet {
	f := pflag.NewFlagSet("espwire", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	f.Usage = func() {}
	f.StringSliceVar(&o.pair, "pair", nil, "the two `PORTS`, as DPDK port numbers or device names")
	f.StringVar(&o.record, "record", "", "pcap `FILE` of all frames of both directions, as they leave")
	f.StringVar(flipText, "flip", "", "flip one bit of one frame: `N:BIT`, frames counted from 1 as in the recording, bits from 0 at the frame's start")
	f.Uint64Var(&o.drop, "drop", 0, "lose frame `N`, counted as for --flip")
	f.IntVar(&o.mtu, "mtu", 2000, "largest IP packet in octets")
	f.DurationVar(&o.idleBackoff, "idle-backoff", 100*time.Microsecond, "sleep so long between polls when there is nothing to do")
	f.DurationVar(&o.linkWait, "link-wait", 20*time.Second, "forward nothing until both links are up, and fail when they are not up after this time")
	return f
}

func usage() string {
	return "Usage: espwire [EAL options] -- --pair PORT,PORT [options]\n\n" +
		"A wire between two DPDK ports, for labs and tests only. Stops at SIGINT or SIGTERM.\n\n" +
		newFlags(&options{}, new(string)).FlagUsages()
}

func parseOptions(args []string) (*options, error) {
	var o options
	var flipText string
	f := newFlags(&o, &flipText)
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q is no option", f.Arg(0))
	}
	if len(o.pair) != 2 {
		return nil, errors.New("--pair: two ports are needed, such as 0,1")
	}
	if o.mtu < 68 || o.mtu > 16000 {
		return nil, fmt.Errorf("--mtu %d: accepted: 68 to 16000", o.mtu)
	}
	if flipText != "" {
		var err error
		if o.flip, err = parseFlip(flipText); err != nil {
			return nil, fmt.Errorf("--flip %s: %w", flipText, err)
		}
	}
	return &o, nil
}
