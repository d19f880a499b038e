package pmd

// #include "pmd.h"
import "C"

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Levels of rte_log.h.
const (
	rteLogErr     = 4
	rteLogWarning = 5
	rteLogInfo    = 7
	rteLogDebug   = 8
)

// logReader turns DPDK's log, which arrives through a pipe, into slog records,
// and remembers the last lines for the error of a failed start.
type logReader struct {
	to *slog.Logger

	mu      sync.Mutex
	partial map[uint32][]byte // by level: a line whose end has not come yet
	recent  []string          // last lines at level warning and worse
	tokens  map[uint32]chan struct{}
	token   uint32
}

const logRecent = 8

// startLog redirects DPDK's log for the rest of the process.
func startLog(to *slog.Logger) (*logReader, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("making a pipe for DPDK's log: %w", err)
	}
	if rc := C.pmd_log_open(C.int(ends[1])); rc < 0 {
		unix.Close(ends[0])
		unix.Close(ends[1])
		return nil, failed(int(rc), "redirecting DPDK's log")
	}
	r := &logReader{to: to, partial: map[uint32][]byte{}, tokens: map[uint32]chan struct{}{}}
	go r.run(os.NewFile(uintptr(ends[0]), "dpdk-log"))
	return r, nil
}

func (r *logReader) run(pipe io.Reader) {
	var head [8]byte
	for {
		if _, err := io.ReadFull(pipe, head[:]); err != nil {
			return
		}
		level := binary.NativeEndian.Uint32(head[:4])
		value := binary.NativeEndian.Uint32(head[4:])
		if level == 0 {
			r.passed(value)
			continue
		}
		text := make([]byte, value)
		if _, err := io.ReadFull(pipe, text); err != nil {
			return
		}
		r.add(level, text)
	}
}

// add takes a piece of text; DPDK prints lines in one piece or in several.
func (r *logReader) add(level uint32, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text = append(r.partial[level], text...)
	for {
		line, rest, ended := bytes.Cut(text, []byte{'\n'})
		if !ended {
			break
		}
		r.emit(level, string(bytes.TrimRight(line, " \r")))
		text = rest
	}
	r.partial[level] = append([]byte(nil), text...)
}

// noLegacySocket is what DPDK warns of whenever its telemetry works as it should.
const noLegacySocket = "No legacy callbacks, legacy socket not created"

func (r *logReader) emit(level uint32, line string) {
	if line == "" {
		return
	}
	if strings.Contains(line, noLegacySocket) {
		level = rteLogDebug
	}
	if level <= rteLogWarning {
		if len(r.recent) == logRecent {
			r.recent = r.recent[1:]
		}
		r.recent = append(r.recent, line)
	}
	r.to.Log(context.Background(), slogLevel(level), line)
}

// slogLevel maps DPDK's eight levels (rte_log.h) to slog's four.
func slogLevel(level uint32) slog.Level {
	switch {
	case level <= rteLogErr:
		return slog.LevelError
	case level == rteLogWarning:
		return slog.LevelWarn
	case level <= rteLogInfo:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// sync waits until all that was logged before has been read.
func (r *logReader) sync() {
	done := make(chan struct{})
	r.mu.Lock()
	r.token++
	token := r.token
	r.tokens[token] = done
	r.mu.Unlock()
	if C.pmd_log_sync(C.uint32_t(token)) < 0 {
		return
	}
	select {
	case <-done:
	case <-time.After(time.Second):
	}
}

func (r *logReader) passed(token uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if done, ok := r.tokens[token]; ok {
		close(done)
		delete(r.tokens, token)
	}
}

// lastLines are the newest lines at level warning and worse.
func (r *logReader) lastLines() []string {
	r.sync()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.recent...)
}

// LogLost is how many pieces of DPDK's log were lost because they came faster
// than they were read.
func LogLost() uint64 { return uint64(C.pmd_log_lost()) }
