package ipsec

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The operator's table of reasons is the code's.
func TestReasonsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/operation.md")
	require.NoError(t, err)
	for r := ReasonNone + 1; r < NumReasons; r++ {
		require.Contains(t, string(text), reasonRow(r))
	}
}

func reasonRow(r Reason) string {
	kernel := r.Info().Kernel
	if kernel == "" {
		kernel = "—"
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", r, kernel, r.Info().Help)
}
