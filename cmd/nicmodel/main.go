package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"espgw/pmd/silicon/bus"
)

// Exit statuses besides the program's own.
const (
	statusFailed = 1
	statusUsage  = 2
	statusBreach = 3
)

func main() {
	bus.Inside()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, usage())
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "nicmodel: %v\n", err)
		return statusUsage
	}
	status, err := model(o, stderr, slog.New(slog.NewTextHandler(stderr, nil)))
	if err != nil {
		fmt.Fprintf(stderr, "nicmodel: %v\n", err)
		return statusFailed
	}
	return status
}

// model runs the program on the cards, until it ends.
func model(o *options, stderr io.Writer, log *slog.Logger) (status int, err error) {
	closing := func(what string, c func() error) {
		if e := c(); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", what, e))
		}
	}
	m, err := newModel(o, log)
	if m != nil {
		defer closing("ending", m.close)
	}
	if err != nil {
		return statusFailed, err
	}
	command, err := m.bus.Command(o.command[0], o.command[1:]...)
	if err != nil {
		return statusFailed, err
	}
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	m.start()
	if err := command.Start(); err != nil {
		return statusFailed, fmt.Errorf("starting %s: %w (mount namespaces need root)", o.command[0], err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, bus.Forwarded...)
	defer signal.Stop(signals)
	for running := true; running; {
		select {
		case s := <-signals:
			if s != unix.SIGINT || !terminal(os.Stdin) { // a terminal sends it to all
				_ = command.Process.Signal(s)
			}
		case err := <-ended:
			status, running = bus.Status(command, err), false
		}
	}
	m.stop()
	report := m.report(status)
	if err := report.write(o, stderr); err != nil {
		return statusFailed, err
	}
	if o.strict && status == 0 && report.Breaches > 0 {
		status = statusBreach
	}
	return status, nil
}

func terminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
