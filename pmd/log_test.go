package pmd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// records makes what arrives through the pipe.
func records(pieces ...any) io.Reader {
	var b []byte
	for i := 0; i < len(pieces); i += 2 {
		text := pieces[i+1].(string)
		b = binary.NativeEndian.AppendUint32(b, uint32(pieces[i].(int)))
		b = binary.NativeEndian.AppendUint32(b, uint32(len(text)))
		b = append(b, text...)
	}
	return bytes.NewReader(b)
}

func readLog(pieces ...any) (string, *logReader) {
	var out bytes.Buffer
	handler := slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})
	r := &logReader{to: slog.New(handler), partial: map[uint32][]byte{}, tokens: map[uint32]chan struct{}{}}
	r.run(records(pieces...))
	return out.String(), r
}

func TestLogLevels(t *testing.T) {
	out, _ := readLog(1, "a\n", 4, "b\n", 5, "c\n", 6, "d\n", 7, "e\n", 8, "f\n")
	require.Equal(t, "level=ERROR msg=a\nlevel=ERROR msg=b\nlevel=WARN msg=c\nlevel=INFO msg=d\nlevel=INFO msg=e\nlevel=DEBUG msg=f\n", out)
}

func TestLogLinesInPieces(t *testing.T) {
	out, _ := readLog(7, "EAL: one ", 4, "error\n", 7, "line\nand another\n\n  \nunfinished")
	require.Equal(t, "level=ERROR msg=error\nlevel=INFO msg=\"EAL: one line\"\nlevel=INFO msg=\"and another\"\n", out)
}

func TestLogRemembersTheLastComplaints(t *testing.T) {
	var pieces []any
	for i := range 20 {
		pieces = append(pieces, 4, fmt.Sprintf("e%d\n", i), 7, "chatter\n")
	}
	_, r := readLog(pieces...)
	require.Equal(t, []string{"e12", "e13", "e14", "e15", "e16", "e17", "e18", "e19"}, r.recent)
}

func TestLogEndsWithinARecord(t *testing.T) {
	_, r := readLog()
	b, err := io.ReadAll(records(4, "whole\n", 4, "cut\n"))
	require.NoError(t, err)
	for n := range len(b) {
		r.recent = nil
		r.run(bytes.NewReader(b[:n]))
		require.LessOrEqual(t, len(r.recent), 1)
	}
}

func TestErrno(t *testing.T) {
	err := failed(-int(syscall.ENOTSUP), "setting %s", "x")
	require.EqualError(t, err, "setting x: operation not supported")
	require.ErrorIs(t, err, ErrNotSupported)
	require.ErrorIs(t, err, syscall.ENOTSUP)
	require.NotErrorIs(t, err, syscall.EPERM)
	require.NoError(t, failed(0, ""))
	require.NoError(t, failed(7, ""))
	require.ErrorIs(t, failed(-int(syscall.ENOSYS), "y"), ErrNotSupported)
	require.NotErrorIs(t, failed(-int(syscall.ENODEV), "y"), ErrNotSupported)
	require.EqualError(t, failed(-1001, "y"), "y: not allowed in a secondary process")
	number, ok := errors.AsType[Errno](err)
	require.True(t, ok)
	require.Equal(t, Errno(syscall.ENOTSUP), number)
}
