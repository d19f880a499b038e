package pmd_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// childArgs is the environment variable that makes the test binary a program that
// starts EAL with the arguments in it.
const childArgs = "PMD_TEST_EAL_ARGS"

// childPort names a port that this program looks for.
const childPort = "PMD_TEST_PORT"

// childLeaks makes it end EAL with a pool, ports and a lane open.
const childLeaks = "PMD_TEST_LEAKS"

func TestMain(m *testing.M) {
	if args, ok := os.LookupEnv(childArgs); ok {
		os.Exit(child(strings.Fields(args)))
	}
	os.Exit(pmdtest.Main(m))
}

// child starts EAL, says so, and ends it when its standard input ends.
func child(args []string) int {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug}))
	eal, err := pmd.StartEAL(pmd.EALConfig{Program: "child", Args: args, Log: log})
	if err != nil {
		fmt.Println("error:", err)
		_, again := pmd.StartEAL(pmd.EALConfig{Args: args})
		fmt.Println("again:", again)
		return 1
	}
	fmt.Println("started", eal.FilePrefix(), eal.HugePages(), eal.Lcores())
	fmt.Println("lines lost:", pmd.LogLost())
	if name := os.Getenv(childPort); name != "" {
		_, err := pmd.FindPort(name)
		fmt.Println("port:", err)
	}
	later := func() error { return nil }
	if _, ok := os.LookupEnv(childLeaks); ok {
		later = leak()
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := eal.Close(); err != nil {
		fmt.Println("closing:", err)
		return 1
	}
	fmt.Println("closed", eal.Close() == nil)
	fmt.Println("later:", later())
	return 0
}

// leak opens one of each and returns what closes them.
func leak() func() error {
	pool, err := pmd.NewPool(pmd.PoolConfig{Name: "leak", Mbufs: 255})
	if err != nil {
		return func() error { return err }
	}
	a, b, err := pmd.NewRingPair("leak", 64)
	if err != nil {
		return func() error { return err }
	}
	_, err = a.Configure(pmd.PortConfig{Pool: pool})
	lane, err2 := pmd.NewLane(pmd.LaneConfig{TxPort: a})
	if err := errors.Join(err, err2); err != nil {
		return func() error { return err }
	}
	lane.Send(pool.Alloc())
	lane.Drop(pool.Alloc())
	return func() error {
		_, err := pmd.NewPool(pmd.PoolConfig{Name: "more", Mbufs: 255})
		if !errors.Is(err, pmd.ErrEALClosed) || pool.Alloc() != nil || pool.InUse() != 0 {
			return fmt.Errorf("EAL is closed, but %w", err)
		}
		return errors.Join(lane.Close(), a.Close(), b.Close(), pool.Close())
	}
}

// startChild runs the test binary as such a program and waits until EAL has
// started or failed. end lets it end and returns what it printed.
func startChild(t *testing.T, args string) (end func() (string, int)) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childArgs+"="+args)
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var out strings.Builder
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		fmt.Fprintln(&out, lines.Text())
		if strings.HasPrefix(lines.Text(), "started ") {
			break
		}
	}
	return func() (string, int) {
		stdin.Close()
		for lines.Scan() {
			fmt.Fprintln(&out, lines.Text())
		}
		_ = cmd.Wait()
		return out.String(), cmd.ProcessState.ExitCode()
	}
}

// runChild is a child that ends as soon as it has started.
func runChild(t *testing.T, args string) (string, int) {
	t.Helper()
	return startChild(t, args)()
}
