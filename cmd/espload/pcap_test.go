package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pcapHeader is the header of a file of a link type.
func pcapHeader(magic, link uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, magic)
	b = append(b, make([]byte, 12)...)
	b = binary.LittleEndian.AppendUint32(b, 65535)
	return binary.LittleEndian.AppendUint32(b, link)
}

func appendFrame(b []byte, at time.Duration, frame []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(at/time.Second))
	b = binary.LittleEndian.AppendUint32(b, uint32(at%time.Second))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(frame)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(frame)))
	return append(b, frame...)
}

func TestPcap(t *testing.T) {
	data := appendFrame(pcapHeader(pcapNano, pcapEthernet), 5*time.Second+7, []byte("one"))
	data = appendFrame(data, 6*time.Second, []byte("another"))
	name := filepath.Join(t.TempDir(), "f.pcap")
	require.NoError(t, os.WriteFile(name, data, 0o600))
	var frames []string
	var times []int64
	require.NoError(t, eachFrame(name, func(c captured) error {
		frames, times = append(frames, string(c.frame)), append(times, c.at)
		require.Equal(t, len(c.frame), c.length)
		return nil
	}))
	require.Equal(t, []string{"one", "another"}, frames)
	require.Equal(t, []int64{5e9 + 7, 6e9}, times)

	binary.LittleEndian.PutUint32(data, pcapMicro)
	require.NoError(t, os.WriteFile(name, data, 0o600))
	times = nil
	require.NoError(t, eachFrame(name, func(c captured) error { times = append(times, c.at); return nil }))
	require.Equal(t, []int64{5e9 + 7000, 6e9}, times)
}

func TestPcapRefuses(t *testing.T) {
	whole := appendFrame(pcapHeader(pcapNano, pcapEthernet), time.Second, []byte("frame"))
	long := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(long[24+8:], pcapMaxFrame+1)
	for what, data := range map[string][]byte{
		"empty": {}, "half a header": whole[:23], "another magic": append([]byte{1}, whole[1:]...),
		"another link": pcapHeader(pcapNano, 113), "too long": long,
		"cut in a record": whole[:24+9], "cut in a frame": whole[:len(whole)-1],
	} {
		name := filepath.Join(t.TempDir(), "f.pcap")
		require.NoError(t, os.WriteFile(name, data, 0o600))
		require.Error(t, eachFrame(name, func(captured) error { return nil }), what)
	}
	require.Error(t, eachFrame(filepath.Join(t.TempDir(), "none"), nil))
	c, err := newCapture(bytes.NewReader(long), "long")
	require.NoError(t, err)
	for range c.frames() {
		t.Fatal("a frame")
	}
	require.ErrorContains(t, c.err, "cannot be", "no memory is taken for it")
}

func FuzzPcap(f *testing.F) {
	f.Add(appendFrame(pcapHeader(pcapNano, pcapEthernet), time.Second, []byte("frame")))
	f.Add(pcapHeader(pcapMicro, pcapEthernet))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := newCapture(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		octets := 24
		for one := range c.frames() {
			octets += 16 + len(one.frame)
		}
		require.LessOrEqual(t, octets, len(data))
		require.Equal(t, c.err == nil, octets == len(data), "all was read, or it is said that it was not")
	})
}
