package contract_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"espgw/pmd"
	"espgw/pmd/pmdtest"
)

// TestMain starts EAL without huge pages, or, where there is a card, with it.
func TestMain(m *testing.M) {
	if os.Getenv(cardVariable) == "" {
		os.Exit(pmdtest.Main(m))
	}
	os.Exit(cardMain(m))
}

func cardMain(m *testing.M) int {
	lcores := os.Getenv("ESPGW_CARD_LCORES")
	if lcores == "" {
		lcores = "0@1" // the model runs on the other core
	}
	eal, err := pmd.StartEAL(pmd.EALConfig{
		Program: "contract",
		Args: []string{
			"-a", os.Getenv(cardVariable), "--lcores", lcores, "-m", "256", "--no-telemetry",
			"--file-prefix", fmt.Sprintf("espgw-contract-%d", os.Getpid()), "--huge-unlink=always",
		},
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		return 1
	}
	code := m.Run()
	if err := theCard.close(); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		code = max(code, 1)
	}
	for _, what := range pmd.Leaks() {
		fmt.Fprintln(os.Stderr, "contract: left open:", what)
		code = max(code, 1)
	}
	if err := eal.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		code = max(code, 1)
	}
	return code
}
