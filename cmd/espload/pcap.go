package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// The classic pcap format: a header of 24 octets, then each frame behind a
// header of 16 (draft-ietf-opsawg-pcap). Captures are made on this machine, so
// numbers are little-endian.
const (
	pcapMicro    = 0xa1b2c3d4
	pcapNano     = 0xa1b23c4d
	pcapEthernet = 1
	pcapMaxFrame = 1 << 18 // no frame of Ethernet is longer
)

// captured is one frame of a capture. Its octets are valid until the next one.
type captured struct {
	at     int64 // Unix nanoseconds
	frame  []byte
	length int // on the wire, which may be more than was kept
}

// capture is an open pcap file.
type capture struct {
	name string
	r    *bufio.Reader
	unit int64 // nanoseconds of what stands beside the seconds
	err  error // what ended the frames too early
}

// newCapture reads the header.
func newCapture(r io.Reader, name string) (*capture, error) {
	c := &capture{name: name, r: bufio.NewReaderSize(r, 1<<20)}
	var h [24]byte
	if _, err := io.ReadFull(c.r, h[:]); err != nil {
		return nil, fmt.Errorf("%s: no pcap header: %w", name, err)
	}
	switch magic := binary.LittleEndian.Uint32(h[:]); magic {
	case pcapMicro:
		c.unit = 1000
	case pcapNano:
		c.unit = 1
	default:
		return nil, fmt.Errorf("%s: no little-endian pcap file: it starts with %#08x", name, magic)
	}
	if link := binary.LittleEndian.Uint32(h[20:]) & 0xffff; link != pcapEthernet {
		return nil, fmt.Errorf("%s: link type %d is not Ethernet", name, link)
	}
	return c, nil
}

// frames goes through the file. After it c.err says whether that was all.
func (c *capture) frames() iter.Seq[captured] {
	return func(yield func(captured) bool) {
		var h [16]byte
		var b []byte
		for n := 1; ; n++ {
			if _, err := io.ReadFull(c.r, h[:]); err != nil {
				if !errors.Is(err, io.EOF) {
					c.err = fmt.Errorf("%s: frame %d: %w", c.name, n, err)
				}
				return
			}
			kept := binary.LittleEndian.Uint32(h[8:])
			if kept > pcapMaxFrame {
				c.err = fmt.Errorf("%s: frame %d: %d octets cannot be", c.name, n, kept)
				return
			}
			if int(kept) > len(b) {
				b = make([]byte, kept)
			}
			if _, err := io.ReadFull(c.r, b[:kept]); err != nil {
				c.err = fmt.Errorf("%s: frame %d is cut off: %w", c.name, n, err)
				return
			}
			at := int64(binary.LittleEndian.Uint32(h[:]))*1e9 + int64(binary.LittleEndian.Uint32(h[4:]))*c.unit
			if !yield(captured{at, b[:kept], int(binary.LittleEndian.Uint32(h[12:]))}) {
				return
			}
		}
	}
}

// eachFrame calls see for every frame of a file, in order, until it fails.
func eachFrame(name string, see func(captured) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	c, err := newCapture(f, name)
	if err != nil {
		return err
	}
	for frame := range c.frames() {
		if err := see(frame); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return c.err
}
