package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// pcap is files in place of a wire.
type pcap struct {
	in    source
	out   *pcapgo.Writer
	room  *bufio.Writer
	files []*os.File
	ended bool
	err   error // the first that happened on the way
}

// source gives the frames of a file, one after the other.
type source interface {
	ZeroCopyReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

const fileRoom = 1 << 20 // octets that are read or written at once

// openPcap opens "IN,OUT".
func openPcap(names string) (_ Wire, err error) {
	in, out, both := strings.Cut(names, ",")
	if !both {
		return nil, errors.New("two files are needed, IN,OUT; either may be empty")
	}
	p := &pcap{ended: in == ""}
	defer func() {
		if err != nil {
			p.closeFiles()
		}
	}()
	if in != "" {
		f, err := os.Open(in)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
		if p.in, err = newSource(f); err != nil {
			return nil, fmt.Errorf("%s: %w", in, err)
		}
	}
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, f)
		p.room = bufio.NewWriterSize(f, fileRoom)
		p.out = pcapgo.NewWriterNanos(p.room)
		if err := p.out.WriteFileHeader(inRoom, layers.LinkTypeEthernet); err != nil {
			return nil, fmt.Errorf("%s: %w", out, err)
		}
	}
	return p, nil
}

// inRoom is the longest frame that is kept, in octets.
const inRoom = 256 << 10

// newSource reads pcap or pcapng, of Ethernet.
func newSource(f io.Reader) (source, error) {
	r := bufio.NewReaderSize(f, fileRoom)
	magic, err := r.Peek(4)
	if err != nil {
		return nil, fmt.Errorf("no capture: %w", err)
	}
	if bytes.Equal(magic, []byte{0x0a, 0x0d, 0x0d, 0x0a}) {
		ng, err := pcapgo.NewNgReader(r, pcapgo.DefaultNgReaderOptions)
		if err != nil {
			return nil, err
		}
		return ng, ethernet(ng.LinkType())
	}
	classic, err := pcapgo.NewReader(r)
	if err != nil {
		return nil, err
	}
	return classic, ethernet(classic.LinkType())
}

func ethernet(link layers.LinkType) error {
	if link != layers.LinkTypeEthernet {
		return fmt.Errorf("frames of link type %v, Ethernet is needed", link)
	}
	return nil
}

func (p *pcap) Send(frame []byte) {
	if p.out == nil || p.err != nil {
		return
	}
	p.err = p.out.WritePacket(gopacket.CaptureInfo{Timestamp: time.Now(), CaptureLength: len(frame), Length: len(frame)}, frame)
}

func (p *pcap) Receive(buf []byte) int {
	if p.ended {
		return 0
	}
	frame, _, err := p.in.ZeroCopyReadPacketData()
	if err != nil {
		p.ended = true
		if !errors.Is(err, io.EOF) && p.err == nil {
			p.err = fmt.Errorf("%s: %w", p.files[0].Name(), err)
		}
		return 0
	}
	return pad(buf, copy(buf, frame))
}

func (p *pcap) Lost() uint64 { return 0 }

// Close tells also what went wrong on the way.
func (p *pcap) Close() error {
	err := p.err
	if p.room != nil {
		err = errors.Join(err, p.room.Flush())
	}
	return errors.Join(err, p.closeFiles())
}

func (p *pcap) closeFiles() (err error) {
	for _, f := range p.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
