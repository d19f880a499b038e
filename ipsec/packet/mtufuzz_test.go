package packet

import (
	"bytes"
	"encoding/binary"
	"testing"

	"espgw/sa"
)

// mtuSeeds are the frames of the vectors.
func mtuSeeds(f *testing.F) (frames [][]byte) {
	v := readMTUVectors(f)
	for _, c := range v.MSS {
		frames = append(frames, unhex(f, c.Before))
	}
	for _, c := range v.TooBig {
		frames = append(frames, concat(unhex(f, c.Headers), pattern(c.Pattern)))
	}
	for _, c := range v.AboutESP {
		frames = append(frames, unhex(f, c.Frame))
	}
	return append(frames, seeds()...)
}

// variants are the frame itself and, so that the fuzzer gets past it, the frame
// with a right IPv4 header checksum.
func variants(frame []byte) [][]byte {
	all := [][]byte{frame[:len(frame):len(frame)]}
	if repaired := repair(frame); repaired != nil {
		all = append(all, repaired)
	}
	return all
}

// FuzzClampMSS checks that nothing changes but MSS options and the checksum, that
// the sum stays what it was, right or wrong, and that no larger MSS is left.
func FuzzClampMSS(f *testing.F) {
	for _, s := range mtuSeeds(f) {
		f.Add(s, uint16(1200))
	}
	f.Fuzz(func(t *testing.T, frame []byte, mss uint16) {
		for _, frame := range variants(frame) {
			checkClamp(t, frame, mss)
		}
	})
}

func checkClamp(t *testing.T, frame []byte, mss uint16) {
	t.Helper()
	m, before := parse(frame), concat(frame)
	changed := ClampMSS(frame, &m, mss)
	if changed && bytes.Equal(before, frame) {
		t.Fatal("changed, it says, and is not")
	}
	if !changed {
		if !bytes.Equal(before, frame) {
			t.Fatal("changed, and does not say so")
		}
		return
	}
	u := int(m.Upper)
	head := u + int(frame[u+12]>>4)*4
	was, is := before[u:m.End], frame[u:m.End]
	if !bytes.Equal(before[:u], frame[:u]) || !bytes.Equal(before[head:], frame[head:]) ||
		!bytes.Equal(was[:16], is[:16]) || !bytes.Equal(was[18:20], is[18:20]) || head > int(m.End) {
		t.Fatal("changed outside of checksum and options")
	}
	if was[13]&2 == 0 || m.Flow.Proto != ProtoTCP || !m.Whole() {
		t.Fatal("no SYN")
	}
	// Sums 0 and 0xffff are one; the octets in front of the packet do not count.
	if (int(naiveSum(was))-int(naiveSum(is)))%0xffff != 0 {
		t.Fatalf("sum %#x became %#x", naiveSum(was), naiveSum(is))
	}
	if ClampMSS(frame, &m, mss) {
		t.Fatal("changed twice")
	}
}

// FuzzTooBig checks that what is answered may be, that the answer is a sound ICMP
// error within its limits that quotes the packet, and that nothing is written
// outside.
func FuzzTooBig(f *testing.F) {
	for _, s := range mtuSeeds(f) {
		f.Add(s, uint8(64), uint8(64), 1400)
	}
	f.Fuzz(func(t *testing.T, frame []byte, head, tail uint8, mtu int) {
		for _, frame := range variants(frame) {
			checkTooBig(t, frame, int(head), int(tail), mtu)
			if len(frame) > 20 && frame[12] == 8 && frame[13] == 0 { // DF, which the fuzzer seldom finds
				frame[20] |= 0x40
				if frame = repair(frame); frame != nil {
					checkTooBig(t, frame, int(head), int(tail), mtu)
				}
			}
		}
	})
}

func checkTooBig(t *testing.T, frame []byte, head, tail, mtu int) {
	t.Helper()
	m := parse(frame)
	buf := inRoom(frame, head, tail)
	start, end, ok := TooBig(buf, head, &m, mtu)
	if !ok {
		if !bytes.Equal(buf, inRoom(frame, head, tail)) {
			t.Fatal("refused and changed")
		}
		if head >= 48 && MayAnswer(frame, &m) {
			t.Fatal("refused with all the room it needs")
		}
		return
	}
	if !MayAnswer(frame, &m) || m.Flow.Frag == sa.FragLater || (frame[0]|frame[6])&1 != 0 {
		t.Fatal("answered what may not be")
	}
	if start < 0 || end > len(buf) || !bytes.Equal(buf[:start], inRoom(nil, start, 0)) {
		t.Fatalf("answer at %d to %d of %d", start, end, len(buf))
	}
	answer := buf[start:end:end]
	a := parse(answer)
	if !a.IsIP() || a.Kind != m.Kind || int(a.End) != len(answer) || a.Tags != m.Tags || !a.Whole() {
		t.Fatalf("answer is no such packet: %+v", a)
	}
	if a.Flow.Src != m.Flow.Dst || a.Flow.Dst != m.Flow.Src ||
		!bytes.Equal(answer[:12], concat(frame[6:12], frame[:6])) || !bytes.Equal(answer[12:a.L3], frame[12:m.L3]) {
		t.Fatal("answer goes elsewhere")
	}
	if checksumOf(answer, &a) != 0xffff {
		t.Fatal("wrong checksum")
	}
	most := 576
	if a.Kind == IPv6 {
		most = 1280
	}
	quote := answer[a.Upper+8:]
	if a.IPLen() > most || len(quote) < m.IPLen() && a.IPLen() != most || !bytes.HasPrefix(frame[m.L3:m.End], quote) {
		t.Fatalf("quotes %d octets in %d", len(quote), a.IPLen())
	}
	if MayAnswer(answer, &a) {
		t.Fatal("an answer that may be answered")
	}
}

// FuzzAboutESP checks that what is reported stands in the frame, that no octet of
// the ICMP message can change unnoticed, and that nothing outside counts.
func FuzzAboutESP(f *testing.F) {
	for _, s := range mtuSeeds(f) {
		f.Add(s, uint16(0))
	}
	f.Fuzz(func(t *testing.T, frame []byte, flip uint16) {
		for _, frame := range variants(frame) {
			checkAbout(t, frame, int(flip))
			if m := parse(frame); m.IsIP() && m.Whole() && int(m.End) >= int(m.Upper)+4 && m.Flow.Proto == icmpOf(m.Kind) {
				u := frame[m.Upper:m.End]
				u[2], u[3] = 0, 0
				binary.BigEndian.PutUint16(u[2:], 0xffff-checksumOf(frame, &m))
				checkAbout(t, frame, int(flip))
			}
		}
	})
}

func checkAbout(t *testing.T, frame []byte, flip int) {
	t.Helper()
	m, before := parse(frame), concat(frame)
	var q, again QuotedESP
	kind := AboutESP(frame, &m, &q)
	if !bytes.Equal(before, frame) {
		t.Fatal("changed the frame")
	}
	if kind == NotAbout {
		if q != (QuotedESP{}) {
			t.Fatal("not about ESP, and fills in what it quotes")
		}
		return
	}
	if AboutESP(frame[:m.End:m.End], &m, &again) != kind || again != q {
		t.Fatal("octets behind the packet count")
	}
	quote := frame[int(m.Upper)+8 : m.End]
	shown := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, q.SPI), q.Sequence)
	if q.SPI == 0 || !bytes.Contains(quote, shown) || q.V6 != (m.Kind == IPv6) ||
		q.Encap && !bytes.Contains(quote, ports4(q.SrcPort, q.DstPort)) || !q.Encap && q.SrcPort|q.DstPort != 0 {
		t.Fatalf("not in the quote: %+v", q)
	}
	if right := checksumOf(frame, &m) == 0xffff; right != (kind != BadChecksum) {
		t.Fatalf("kind %d, checksum right: %v", kind, right)
	}
	if kind == BadChecksum {
		return
	}
	frame[int(m.Upper)+flip/8%(int(m.End)-int(m.Upper))] ^= 1 << (flip % 8)
	if kind = AboutESP(frame, &m, &q); kind != BadChecksum && kind != NotAbout {
		t.Fatal("a bit changed, unnoticed")
	}
}
