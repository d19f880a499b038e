package wire_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon/wire"
)

// frameOf is a frame of a length whose octets tell it from others.
func frameOf(length int, mark byte) []byte {
	f := bytes.Repeat([]byte{mark}, length)
	copy(f, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5})
	return f
}

// take receives the next frame, which may need a moment.
func take(t *testing.T, w wire.Wire) []byte {
	t.Helper()
	buf := make([]byte, 16<<10)
	n := 0
	require.Eventually(t, func() bool {
		n = w.Receive(buf)
		return n > 0
	}, 5*time.Second, time.Millisecond, "no frame came")
	return buf[:n]
}

// quiet says that no frame is there.
func quiet(t *testing.T, w wire.Wire) {
	t.Helper()
	require.Zero(t, w.Receive(make([]byte, 16<<10)))
}

// open is closed at the end of the test; what openOnce opens the test closes.
func open(t *testing.T, spec string) wire.Wire {
	t.Helper()
	w := openOnce(t, spec)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func openOnce(t *testing.T, spec string) wire.Wire {
	t.Helper()
	w, err := wire.Open(spec)
	require.NoError(t, err)
	return w
}

func TestOpenRefuses(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(file, []byte("no capture at all, but long enough for a header"), 0o600))
	empty := filepath.Join(folder, "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for spec, why := range map[string]string{
		"":                                 "no such wire",
		"cable":                            "no such wire",
		"none:x":                           "no such wire",
		"loop:x":                           "no such wire",
		"tap":                              "no such wire",
		"tap:a-name-that-is-much-too-long": "the name is not an interface's",
		"af_packet:not-there":              "no such network interface",
		"pcap:" + file:                     "two files are needed",
		"pcap:/not/there,":                 "no such file",
		"pcap:,/not/there/out":             "no such file",
		"pcap:" + file + ",":               file,
		"pcap:" + empty + ",":              "no capture: EOF",
		"unix:" + file:                     "no socket",
		"unix:/not/there/socket":           "binding the socket",
	} {
		w, err := wire.Open(spec)
		require.ErrorContains(t, err, why, spec)
		require.Nil(t, w, spec)
	}
}

func TestNone(t *testing.T) {
	w := open(t, "none")
	w.Send(frameOf(60, 1))
	quiet(t, w)
	require.Zero(t, w.Lost())
}

func TestLoopKeepsOrderAndContents(t *testing.T) {
	w := open(t, "loop")
	for i := range 5 {
		w.Send(frameOf(60+i, byte(i)))
	}
	for i := range 5 {
		require.Equal(t, frameOf(60+i, byte(i)), take(t, w))
	}
	quiet(t, w)
}

func TestPairCarriesBothWaysAndLosesWhatIsTooMuch(t *testing.T) {
	a, b := wire.Pair()
	for i := range 1030 {
		a.Send(frameOf(60+i, byte(i)))
	}
	require.Equal(t, uint64(6), a.Lost())
	require.Zero(t, b.Lost())
	b.Send(frameOf(100, 7))
	require.Equal(t, frameOf(100, 7), take(t, a))
	quiet(t, a)
	for i := range 1024 {
		require.Equal(t, frameOf(60+i, byte(i)), take(t, b))
	}
	quiet(t, b)
	a.Send(frameOf(61, 9))
	require.Equal(t, frameOf(61, 9), take(t, b))
}

func TestAPairAllocatesNothing(t *testing.T) {
	a, b := wire.Pair()
	frame, buf := frameOf(1500, 1), make([]byte, 2048)
	for range 1024 { // the room of all slots
		a.Send(frame)
		b.Receive(buf)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		a.Send(frame)
		b.Receive(buf)
	}))
}
