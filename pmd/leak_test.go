package pmd

import (
	"bytes"
	"log/slog"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLostOwnersAreReported: the garbage collector closes nothing, it tells.
func TestLostOwnersAreReported(t *testing.T) {
	before := logger.Load()
	defer logger.Store(before)
	lines := make(chan string, 10)
	logger.Store(slog.New(slog.NewTextHandler(lineWriter(lines), nil)))

	id := own(new([64]byte), "thing one")
	kept := new([64]byte)
	keptID := own(kept, "thing two")
	closed := own(new([64]byte), "thing three")
	disown(closed)
	defer disown(id)
	defer disown(keptID)
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		runtime.GC()
		select {
		case line := <-lines:
			require.Contains(t, line, `level=WARN msg="never closed" what="thing one"`)
			require.Empty(t, lines, "and nothing else")
			runtime.KeepAlive(kept)
			return
		case <-time.After(time.Millisecond):
		}
	}
	require.Fail(t, "not reported")
}

type lineWriter chan string

func (w lineWriter) Write(b []byte) (int, error) {
	w <- string(bytes.Clone(b))
	return len(b), nil
}
