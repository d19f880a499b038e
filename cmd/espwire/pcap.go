package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"time"
)

// The classic pcap format: a header of 24 octets, then each frame behind a
// header of 16 (draft-ietf-opsawg-pcap).
const (
	pcapMagic    = 0xa1b23c4d // nanosecond time stamps
	pcapSnapLen  = 65535
	pcapEthernet = 1 // LINKTYPE_ETHERNET
)

// recorder writes frames to a pcap file; the zero recorder writes nothing.
type recorder struct {
	out io.WriteCloser
	buf *bufio.Writer
	err error // the first that occurred
}

func newRecorder(out io.WriteCloser) *recorder {
	r := &recorder{out: out, buf: bufio.NewWriterSize(out, 1<<20)}
	var h [24]byte
	binary.LittleEndian.PutUint32(h[0:], pcapMagic)
	binary.LittleEndian.PutUint16(h[4:], 2)
	binary.LittleEndian.PutUint16(h[6:], 4)
	binary.LittleEndian.PutUint32(h[16:], pcapSnapLen)
	binary.LittleEndian.PutUint32(h[20:], pcapEthernet)
	r.write(h[:])
	return r
}

// frame records one frame of at most 65535 octets.
func (r *recorder) frame(at time.Time, frame []byte) {
	if r.out == nil {
		return
	}
	var h [16]byte
	binary.LittleEndian.PutUint32(h[0:], uint32(at.Unix()))
	binary.LittleEndian.PutUint32(h[4:], uint32(at.Nanosecond()))
	binary.LittleEndian.PutUint32(h[8:], uint32(len(frame)))
	binary.LittleEndian.PutUint32(h[12:], uint32(len(frame)))
	r.write(h[:])
	r.write(frame)
}

func (r *recorder) write(b []byte) {
	if r.err == nil {
		_, r.err = r.buf.Write(b)
	}
}

// flush makes what was recorded readable.
func (r *recorder) flush() {
	if r.out != nil && r.err == nil {
		r.err = r.buf.Flush()
	}
}

// close flushes and closes the file; it returns the first error of all.
func (r *recorder) close() error {
	if r.out == nil {
		return nil
	}
	r.flush()
	err := errors.Join(r.err, r.out.Close())
	r.out = nil
	return err
}
