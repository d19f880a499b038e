package pmd_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd"
)

// TestClocksAgree: the TSC and Go's clock measure the same sleep, which lasts at
// least as long as it should, also with the signals of Go's scheduler.
func TestClocksAgree(t *testing.T) {
	start, cycles := time.Now(), pmd.TSC()
	for range 20 {
		pmd.IdleSleep(2 * time.Millisecond)
	}
	pmd.IdleSleep(-time.Second)
	byTSC := time.Duration(float64(pmd.TSC()-cycles) / float64(pmd.TSCHz()) * 1e9)
	byGo := time.Since(start)
	require.GreaterOrEqual(t, byGo, 40*time.Millisecond)
	require.GreaterOrEqual(t, byTSC, 39*time.Millisecond)
	require.LessOrEqual(t, byTSC, byGo+byGo/20)
}
