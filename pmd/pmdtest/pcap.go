package pmdtest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	pcapMagic      = 0xa1b2c3d4 // microseconds
	pcapFileHeader = 24
	pcapRecord     = 16
)

// WritePcap writes frames (without FCS) as a capture of Ethernet into a folder of
// the test and returns its path: what a net_pcap port reads with rx_pcap.
func WritePcap(t testing.TB, frames ...[]byte) string {
	t.Helper()
	le := binary.LittleEndian
	b := le.AppendUint32(nil, pcapMagic)
	b = le.AppendUint16(b, 2)
	b = le.AppendUint16(b, 4)
	b = append(b, make([]byte, 8)...)
	b = le.AppendUint32(b, 65535)
	b = le.AppendUint32(b, 1) // LINKTYPE_ETHERNET
	for i, frame := range frames {
		b = le.AppendUint32(b, uint32(i/1e6))
		b = le.AppendUint32(b, uint32(i%1e6))
		b = le.AppendUint32(b, uint32(len(frame)))
		b = le.AppendUint32(b, uint32(len(frame)))
		b = append(b, frame...)
	}
	name := filepath.Join(t.TempDir(), "frames.pcap")
	require.NoError(t, os.WriteFile(name, b, 0o644))
	return name
}

// ReadPcap returns the frames of a capture, as a net_pcap port writes it with
// tx_pcap (in the byte order of this machine).
func ReadPcap(t testing.TB, name string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(b), pcapFileHeader, "%s is no capture", name)
	order := binary.NativeEndian
	frames := [][]byte{}
	for b = b[pcapFileHeader:]; len(b) > 0; {
		require.GreaterOrEqual(t, len(b), pcapRecord, "%s ends within a record", name)
		n := int(order.Uint32(b[8:]))
		require.GreaterOrEqual(t, len(b), pcapRecord+n, "%s ends within a frame", name)
		frames = append(frames, b[pcapRecord:pcapRecord+n])
		b = b[pcapRecord+n:]
	}
	return frames
}
