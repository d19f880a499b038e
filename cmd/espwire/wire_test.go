package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseFlip(t *testing.T) {
	for _, row := range []struct {
		text string
		want flip
		ok   bool
	}{
		{"1:0", flip{1, 0}, true},
		{"300:431", flip{300, 431}, true},
		{"0:3", flip{}, false},
		{"3", flip{}, false},
		{"3:-1", flip{}, false},
		{"x:1", flip{}, false},
		{"1:", flip{}, false},
	} {
		got, err := parseFlip(row.text)
		require.Equal(t, row.want, got, row.text)
		if row.ok {
			require.NoError(t, err, row.text)
		} else {
			require.ErrorIs(t, err, errFlip, row.text)
		}
	}
}

func TestFlipApply(t *testing.T) {
	frame := []byte{0x00, 0xff}
	require.NoError(t, flip{1, 0}.apply(frame))
	require.NoError(t, flip{1, 15}.apply(frame))
	require.Equal(t, []byte{0x80, 0xfe}, frame)
	require.ErrorContains(t, flip{7, 16}.apply(frame), "frame 7 has 16 bits")
	require.Equal(t, []byte{0x80, 0xfe}, frame)
}

type closableBuffer struct {
	bytes.Buffer
	closed int
}

func (b *closableBuffer) Close() error { b.closed++; return nil }

// The octets are those of the format's description, written by hand.
func TestRecorder(t *testing.T) {
	var file closableBuffer
	r := newRecorder(&file)
	r.frame(time.Unix(0x01020304, 5), []byte{0xaa, 0xbb, 0xcc})
	require.Zero(t, file.Len(), "nothing is written before a flush")
	require.NoError(t, r.close())
	require.NoError(t, r.close())
	require.Equal(t, 1, file.closed)
	require.Equal(t, []byte{
		0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0,
		4, 3, 2, 1, 5, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0xaa, 0xbb, 0xcc,
	}, file.Bytes())
}

func TestNoRecording(t *testing.T) {
	r := &recorder{}
	r.frame(time.Unix(1, 0), []byte{1})
	r.flush()
	require.NoError(t, r.close())
}

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"--pair", "0,net_vhost1", "--flip", "3:100", "--drop", "9"})
	require.NoError(t, err)
	require.Equal(t, []string{"0", "net_vhost1"}, o.pair)
	require.Equal(t, flip{3, 100}, o.flip)
	require.Equal(t, uint64(9), o.drop)
	for _, args := range [][]string{
		{},
		{"--pair", "0"},
		{"--pair", "0,1,2"},
		{"--pair", "0,1", "--flip", "0:1"},
		{"--pair", "0,1", "--mtu", "20"},
		{"--pair", "0,1", "more"},
		{"--no-such"},
	} {
		_, err := parseOptions(args)
		require.Error(t, err, args)
	}
}
