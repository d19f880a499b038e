package packet

import (
	"testing"

	"espgw/sa"
)

func seeds() [][]byte {
	udp := ports4(4000, 53, 0, 8, 0, 0)
	return [][]byte{
		nil,
		ether(nil, 0x0800),
		ether(ip4(17, 0, nil, udp), 0x0800),
		ether(ip4(17, 0, []byte{7, 7, 4, 1, 2, 3, 4, 0}, udp), 0x88a8, 0x8100, 0x0800),
		ether(ip4(6, 0x2000, nil, udp), 0x8100, 0x0800),
		ether(ip4(1, 0x1234, nil, udp), 0x0800),
		ether(ip6(0, ext(60, 0), ext(43, 0), ext(60, 1), ext(17, 0), udp), 0x86dd),
		ether(ip6(44, frag(60, 1), ext(17, 0), udp), 0x86dd),
		ether(ip6(44, frag(60, 9), udp), 0x86dd),
		ether(ip6(60, ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0), ext(60, 0)), 0x86dd),
		ether(ip6(60, []byte{17, 255}), 0x86dd),
		ether(jumbogram(), 0x86dd),
		ether(udp, 0x8100, 0x8100, 0x8100, 0x0800),
		ether([]byte{0x42, 0x42, 3}, 38),
	}
}

// FuzzParse checks that whatever Parse accepts has offsets in order and within
// the packet, that nothing behind the packet counts, and that the later steps
// hold on any frame.
func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, uint8(17))
	}
	f.Fuzz(func(t *testing.T, frame []byte, proto uint8) {
		checkFrame(t, frame[:len(frame):len(frame)], proto)
		if repaired := repair(frame); repaired != nil {
			checkFrame(t, repaired, proto)
		}
	})
}

// repair makes the IPv4 header checksum right, so that the fuzzer gets past it.
func repair(frame []byte) []byte {
	if len(frame) < 34 || frame[12] != 8 || frame[13] != 0 {
		return nil
	}
	frame = concat(frame)
	checksum4(frame[14:])
	return frame
}

func checkFrame(t *testing.T, frame []byte, proto uint8) {
	t.Helper()
	m := parse(frame)
	if m.Kind == Other {
		if m.Fault == OK && m.EtherType >= 0x600 && m.LLC != 0 {
			t.Fatal("an LLC address without LLC")
		}
		return
	}
	if int(m.L3) != 14+4*int(m.Tags) || m.Tags > 2 {
		t.Fatalf("IP header at %d with %d tags", m.L3, m.Tags)
	}
	if m.Fault == OK {
		checkOffsets(t, frame, &m)
		if parse(frame[:m.End]) != m || parse(concat(frame, []byte{1, 2, 3})) != m {
			t.Fatal("octets behind the packet count")
		}
	}
	before := m
	ParseUpper(frame, proto, &m)
	if m.Fault == OK && m.Flow.Proto == frame[m.UpperNext] {
		checkOffsets(t, frame, &m)
	}
	m = before
	FinishChecksum(frame, &m)
	MendChecksum(frame, &m)
	if m != before {
		t.Fatal("checksums change the Meta")
	}
	if m.Fault == OK && parse(frame) != m {
		t.Fatal("checksums change more than checksums")
	}
}

func checkOffsets(t *testing.T, frame []byte, m *Meta) {
	t.Helper()
	inOrder := m.L3 < m.Insert && m.Insert <= m.Upper && int(m.Upper) <= int(m.End) && int(m.End) <= len(frame) &&
		m.L3 < m.InsertNext && m.InsertNext < m.Insert && m.InsertNext <= m.UpperNext && m.UpperNext < m.Upper
	if !inOrder {
		t.Fatalf("offsets out of order: %+v", *m)
	}
	if frame[m.UpperNext] != m.Flow.Proto {
		t.Fatalf("octet %d names %d, the flow %d", m.UpperNext, frame[m.UpperNext], m.Flow.Proto)
	}
	if m.Flow.Frag == sa.FragLater && m.Flow.SrcPort|m.Flow.DstPort != 0 {
		t.Fatal("a later fragment with ports")
	}
	if m.Flow.V6 != (m.Kind == IPv6) {
		t.Fatal("address family")
	}
}
