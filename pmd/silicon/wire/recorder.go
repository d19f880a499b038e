package wire

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"espgw/pmd/silicon"
)

// Recorder writes what passes the connectors of cards to a file, pcapng, with the direction
// of each frame, as seen from the card, and the remarks on it as comments. The cards'
// goroutine uses it.
type Recorder struct {
	file  *os.File
	to    *pcapgo.NgWriter
	ports int
	err   error // the first that happened on the way
}

// NewRecorder makes a file with an interface for each of the cards' names.
func NewRecorder(name string, cards []string) (_ *Recorder, err error) {
	if len(cards) == 0 {
		return nil, errors.New("recording: no cards")
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	r := &Recorder{file: f}
	for i, card := range cards {
		port := pcapgo.NgInterface{Name: card, LinkType: layers.LinkTypeEthernet, TimestampResolution: 9, SnapLength: 0}
		if i == 0 {
			r.to, err = pcapgo.NewNgWriterInterface(f, port, pcapgo.NgWriterOptions{
				SectionInfo: pcapgo.NgSectionInfo{Application: "nicmodel"},
			})
		} else {
			_, err = r.to.AddInterface(port)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("recording to %s: %w", name, err), f.Close())
		}
		r.ports++
	}
	return r, nil
}

// Port is for one of the cards, by its place among the names.
func (r *Recorder) Port(i int) silicon.Recorder { return port{r, i} }

// Close finishes the file, and tells what went wrong on the way.
func (r *Recorder) Close() error {
	err := errors.Join(r.err, r.to.Flush(), r.file.Close())
	if err != nil {
		return fmt.Errorf("recording to %s: %w", r.file.Name(), err)
	}
	return nil
}

type port struct {
	recorder *Recorder
	index    int
}

func (p port) Record(sent bool, frame []byte, remarks []string) {
	r := p.recorder
	if r.err != nil {
		return
	}
	info := gopacket.CaptureInfo{Timestamp: time.Now(), CaptureLength: len(frame), Length: len(frame), InterfaceIndex: p.index}
	flags := pcapgo.NgEpbFlags{Direction: pcapgo.NgEpbFlagDirectionInbound}
	if sent {
		flags.Direction = pcapgo.NgEpbFlagDirectionOutbound
	}
	r.err = r.to.WritePacketWithOptions(info, frame, pcapgo.NgPacketOptions{Comments: remarks, Flags: &flags})
}
