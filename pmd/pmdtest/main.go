package pmdtest

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"espgw/pmd"
)

// eal is the one of this test binary.
var eal *pmd.EAL

// Lcores is how many lcores Main starts; lcore 0 is the main one.
const Lcores = 4

// Main is for TestMain: os.Exit(pmdtest.Main(m)). It starts EAL with four lcores
// on whatever CPUs there are, runs the tests and fails the binary when something
// of DPDK was left open.
func Main(m *testing.M) int {
	var err error
	eal, err = pmd.StartEAL(pmd.EALConfig{
		Program: "test",
		Args:    Args(),
		Log:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "pmdtest:", err)
		return 1
	}
	code := m.Run()
	for _, what := range pmd.Leaks() {
		fmt.Fprintln(os.Stderr, "pmdtest: left open:", what)
		code = max(code, 1)
	}
	if err := eal.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "pmdtest:", err)
		code = max(code, 1)
	}
	return code
}

// EAL is what Main started.
func EAL() *pmd.EAL { return eal }

// Args are the EAL arguments that Main uses: no huge pages, no PCI, nothing
// shared, so that any user can run several test binaries at once.
func Args() []string {
	return []string{
		"--no-huge", "-m", "256", "--no-shconf", "--no-pci", "--no-telemetry",
		"--file-prefix", fmt.Sprintf("espgw-test-%d", os.Getpid()),
		"--lcores", lcoreMap(Lcores),
	}
}

// lcoreMap puts n lcores on the CPUs this process may use, in turn: "0@0,1@1,2@0,3@1".
func lcoreMap(n int) string {
	var set unix.CPUSet
	var cpus []int
	if err := unix.SchedGetaffinity(0, &set); err == nil {
		for cpu := 0; len(cpus) < set.Count(); cpu++ {
			if set.IsSet(cpu) {
				cpus = append(cpus, cpu)
			}
		}
	}
	if len(cpus) == 0 {
		cpus = []int{0}
	}
	lcores := make([]string, n)
	for i := range lcores {
		lcores[i] = fmt.Sprintf("%d@%d", i, cpus[i%len(cpus)])
	}
	return strings.Join(lcores, ",")
}
