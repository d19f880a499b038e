package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// arrival is a datagram that comes out at so many milliseconds.
type arrival struct {
	ms     int
	number uint64
}

func writeArrivals(t *testing.T, name string, arrivals []arrival) {
	t.Helper()
	d := newDatagram(mustFlow(t, "14.0.0.52,14.0.0.70"), macA, macB)
	data := appendFrame(pcapHeader(pcapNano, pcapEthernet), 0, []byte("something else"))
	for _, a := range arrivals {
		d.number(a.number)
		data = appendFrame(data, time.Duration(a.ms)*time.Millisecond, d.frame)
	}
	require.NoError(t, os.WriteFile(name, data, 0o600))
}

func TestAgain(t *testing.T) {
	before := []arrival{{100, 1}, {200, 2}, {900, 3}, {990, 4}} // it is killed at 1000 ms
	for name, c := range map[string]struct {
		before, after []arrival
		within        string
		want          string
		status        int
	}{
		"nothing":           {before, nil, "0ms", "again=0 oldest_ms=0.0 fresh=0 twice=0", 0},
		"nothing was sent":  {nil, nil, "0ms", "nothing was accepted before the stop", 1},
		"new ones":          {before, []arrival{{2000, 5}, {2001, 6}}, "0ms", "again=0 oldest_ms=0.0 fresh=2 twice=0", 0},
		"the last ones":     {before, []arrival{{2000, 3}, {2001, 4}}, "150ms", "again=2 oldest_ms=100.0 fresh=0 twice=0", 0},
		"one too old":       {before, []arrival{{2000, 2}, {2001, 4}}, "150ms", "1 packets were accepted again that had", 1},
		"one after a stop":  {before, []arrival{{2000, 4}}, "0ms", "1 packets were accepted again after a clean stop", 1},
		"one twice":         {before, []arrival{{2000, 4}, {2001, 4}}, "150ms", "1 packets were accepted twice", 1},
		"a new one twice":   {before, []arrival{{2000, 9}, {2001, 9}}, "150ms", "1 packets were accepted twice", 1},
		"twice in the past": {append(before, arrival{995, 1}), nil, "150ms", "1 packets were accepted twice", 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeArrivals(t, filepath.Join(dir, "before"), c.before)
			writeArrivals(t, filepath.Join(dir, "after"), c.after)
			var stdout, stderr bytes.Buffer
			status := run([]string{
				"again", "--before", dir + "/before", "--after", dir + "/after", "--stopped", "1.000", "--within", c.within,
			}, &stdout, &stderr)
			require.Equal(t, c.status, status, stdout.String()+stderr.String())
			require.Contains(t, stdout.String(), c.want)
		})
	}
}
