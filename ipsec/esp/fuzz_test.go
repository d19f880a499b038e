package esp

import (
	"bytes"
	"encoding/binary"
	"testing"

	"espgw/ipsec/packet"
)

func fuzzSeeds() (frames [][]byte) {
	for _, sh := range shapes() {
		frames = append(frames, concat(sh.link, naiveLength(concat(sh.ip, []byte("0123456789abcdef")))))
	}
	for _, ip := range [][]byte{head4, head4o, head6} {
		frames = append(frames, clearText(ip, []byte{0, 1, 0, 2, 1, 2, 2, 17}).frame())
	}
	return append(frames, udpFrame(head4, 0, make([]byte, 40)...), udpFrame(head6, 0, 0xff))
}

func fuzzTransform(choice uint8) Transform {
	return Transform{
		SPI: 0x1000, ICVLen: []int{8, 12, 16}[choice%3], Encap: choice&4 != 0, ESN: choice&8 != 0,
		EncapSrc: 4500, EncapDst: 4500,
	}
}

// repaired is a copy with the IPv4 header checksum made right, so that the
// fuzzer gets past it. Wrong ones are the business of package packet.
func repaired(frame []byte) []byte {
	frame = bytes.Clone(frame)
	if len(frame) < 34 || frame[12] != 8 || frame[13] != 0 {
		return frame
	}
	head := frame[14:min(len(frame), 14+int(frame[14]&15)*4)]
	if len(head) >= 20 {
		head[10], head[11] = 0, 0
		binary.BigEndian.PutUint16(head[10:], ^packet.Sum(head))
	}
	return frame
}

// FuzzOpen takes any frame as a received one. It may be refused at any step, but
// nothing may be read or written outside of it, and what comes out is an IP
// packet whose lengths and checksum are right.
func FuzzOpen(f *testing.F) {
	for _, frame := range fuzzSeeds() {
		for choice := range uint8(8) {
			f.Add(frame, choice)
		}
	}
	a, err := NewAESGCM(make([]byte, 16), make([]byte, 4), 16)
	if err != nil {
		f.Fatal(err)
	}
	s := NewScratch(0)
	f.Fuzz(func(t *testing.T, frame []byte, choice uint8) {
		tr := fuzzTransform(choice)
		buf := repaired(frame)
		var m packet.Meta
		packet.Parse(buf, &m)
		Encapsulated(buf, &m)
		SPIAt(buf, &m, tr.Encap)
		o, _, err := tr.Locate(buf, 0, &m)
		if err != nil {
			return
		}
		if o.ICV+tr.ICVLen > int(m.End) || o.TextLen%4 != 0 || o.TextLen < 2 || o.ESP < int(m.Upper) {
			t.Fatalf("offsets %+v in %+v", o, m)
		}
		if tr.ICVLen == a.ICVLen() && a.Open(s, bytes.Clone(buf), o, 1, tr.ESN) == nil {
			t.Fatal("a packet that nobody sealed")
		}
		start, end, proto, err := tr.Unwrap(buf, 0, &m, o)
		if err != nil {
			return
		}
		if start < 0 || end > int(m.End) || start >= end {
			t.Fatalf("frame from %d to %d of %d", start, end, m.End)
		}
		out := buf[start:end:end]
		var fresh packet.Meta
		packet.Parse(out, &fresh)
		packet.ParseUpper(out, proto, &m)
		if fresh.Fault == packet.OK && int(fresh.End) != len(out) {
			t.Fatal("lengths are wrong")
		}
		if m.Fault == packet.OK && (fresh.Fault != packet.OK || fresh.Flow != m.Flow) {
			t.Fatalf("ParseUpper: %+v, Parse: %+v", m, fresh)
		}
	})
}

// FuzzRoundTrip takes any frame as one to be sent: what can be wrapped comes
// back octet for octet.
func FuzzRoundTrip(f *testing.F) {
	for _, frame := range fuzzSeeds() {
		for choice := range uint8(8) {
			f.Add(frame, choice)
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte, choice uint8) {
		tr := fuzzTransform(choice)
		frame = repaired(frame)
		r := newRoom(frame)
		plain := r.meta
		start, end, o, err := tr.Wrap(r.buf, r.start, r.end, &r.meta, 7)
		if err != nil {
			if !bytes.Equal(frame, r.frame()) {
				t.Fatal("refused and changed")
			}
			return
		}
		if end-start != int(plain.End)+tr.Overhead(&plain) {
			t.Fatal("Overhead is wrong")
		}
		r.checkAround(t, start, max(end, r.end))
		r.start, r.end = start, end
		packet.Parse(r.frame(), &r.meta)
		located, seq, err := tr.Locate(r.buf, r.start, &r.meta)
		if err != nil || located != o || seq != 7 {
			t.Fatalf("%v: %+v, not %+v", err, located, o)
		}
		start, end, proto, err := tr.Unwrap(r.buf, r.start, &r.meta, o)
		if err == ErrDummy && plain.Flow.Proto == packet.ProtoNone {
			return // IPv6 without next header, or IPv4 of protocol 59
		}
		if err != nil || !bytes.Equal(r.buf[start:end], frame[:plain.End]) {
			t.Fatalf("%v: came back as % x", err, r.buf[start:end])
		}
		packet.ParseUpper(r.buf[start:end], proto, &r.meta)
		if r.meta != plain {
			t.Fatalf("ParseUpper: %+v, Parse: %+v", r.meta, plain)
		}
	})
}
