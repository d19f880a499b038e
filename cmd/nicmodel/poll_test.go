package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPaceRestsWhenIdle(t *testing.T) {
	now := time.Unix(0, 0)
	p := pace{rested: now}
	for range idleSteps {
		require.Zero(t, p.rest(false, now))
	}
	require.Equal(t, firstPause, p.rest(false, now))
	require.Zero(t, p.rest(true, now), "work ends the rest")
	for range 100 * pauseSteps {
		p.rest(false, now)
	}
	require.Equal(t, lastPause, p.rest(false, now), "and no longer")
}

func TestPaceIsPatientAfterAnAccess(t *testing.T) {
	now := time.Unix(0, 0)
	p := pace{rested: now, trapped: now, idle: 1000}
	require.Zero(t, p.rest(false, now.Add(trapPatience)))
	require.NotZero(t, p.rest(false, now.Add(trapPatience+1)))
}

func TestPaceRestsUnderLoad(t *testing.T) {
	start := time.Unix(0, 0)
	p := pace{rested: start}
	require.Zero(t, p.rest(true, start.Add(workSpan)))
	require.Equal(t, workPause, p.rest(true, start.Add(workSpan+1)))
	worst := float64(workSpan) / float64(workSpan+workPause)
	require.Less(t, worst, 0.95, "the share of a CPU that the kernel leaves to real-time threads")
}
