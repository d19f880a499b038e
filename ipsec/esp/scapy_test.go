package esp

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

func TestScapyInbound(t *testing.T) {
	for name, accepted := range map[string]int{"transport": 72, "pad": 256, "natt": 9, "drop": 6, "replay": 88} {
		t.Run(name, func(t *testing.T) {
			f := readVectors(t, name)
			opened := 0
			for i := range f.Tests {
				v := &f.Tests[i]
				t.Run(fmt.Sprintf("%02d %s", i, v.Name), func(t *testing.T) {
					if runInbound(t, f, v) {
						opened++
					}
				})
			}
			require.Equal(t, accepted, opened, "packets with a right ICV and trailer")
		})
	}
}

// checkedElsewhere are reasons to drop a packet that this package has no say
// in: the packet must open here.
var checkedElsewhere = map[string]bool{"selector": true, "reserved-spi": true, "replay": true}

// runInbound reports whether the packet came out in clear.
func runInbound(t *testing.T, f *vectorFile, v *vector) (opened bool) {
	frame := f.esp[v.ESPFrame-1]
	r := newRoom(frame)
	got, s := classify(f, r)
	if s == nil {
		require.Contains(t, wantWithoutSA(v), got)
		return false
	}
	a, unsupported := s.newAEAD(t)
	if a == nil {
		t.Skip(unsupported)
	}
	tr := s.transform()
	err := r.open(NewScratch(0), &tr, a, receiverHigh(v))
	if want := wantError(v); want != nil {
		require.ErrorIs(t, err, want)
		requireNoPlaintext(t, r, v)
		return false
	}
	require.NoError(t, err)
	require.Equal(t, packet.OK, r.meta.Fault)
	r.checkAround(t, headroom, headroom+len(frame))
	checkOpened(t, f, v, r, frame)
	return true
}

// receiverHigh is the high half that the vector's receiver works out. Where it
// is not the sender's, the notes of the vector name it.
func receiverHigh(v *vector) uint64 {
	switch {
	case v.ESNHi == nil || v.Name == "esn sealed with hi 1, receiver is at hi 0":
		return 0
	case v.Reason == "integrity" && v.SA == "replay-esn-rollover":
		return *v.ESNHi + 1
	}
	return *v.ESNHi
}

// classify does with a frame what comes before its SA is known. It returns the
// SA, or what the frame is.
func classify(f *vectorFile, r *room) (string, *vectorSA) {
	m := &r.meta
	encapsulated := m.Flow.Proto == packet.ProtoUDP
	switch {
	case m.Fault != packet.OK:
		return "malformed", nil
	case !m.Whole():
		return "fragment", nil
	case encapsulated:
		switch Encapsulated(r.frame(), m) {
		case Keepalive:
			return "consume", nil
		case IKE:
			return "to-ike", nil
		case Malformed:
			return "malformed", nil
		}
	case m.Flow.Proto != packet.ProtoESP:
		return "not-esp", nil
	}
	spi, ok := SPIAt(r.frame(), m, encapsulated)
	if !ok {
		return "malformed", nil
	}
	for i := range f.SAs {
		if f.SAs[i].SPI == spi {
			return "", &f.SAs[i]
		}
	}
	return "unknown-spi", nil
}

// wantWithoutSA are the outcomes that conform for a frame that names no SA.
func wantWithoutSA(v *vector) []string {
	switch {
	case v.ExpectIn == "consume" || v.ExpectIn == "to-ike":
		return []string{v.ExpectIn}
	case v.Reason == "bad-ip":
		return []string{"malformed"}
	case v.Reason == "reserved-spi":
		return []string{"unknown-spi"}
	case v.ExpectIn == "either": // what this project chose, see the package comment of packet
		return []string{"malformed"}
	}
	return []string{v.Reason}
}

// wantError is what opening the packet must end in; nil for one that opens.
func wantError(v *vector) error {
	switch {
	case v.ExpectIn == "discard-dummy":
		return ErrDummy
	case v.Name == "protocol 50 packet for a udp-encapsulated sa":
		return ErrEncapsulation
	case v.Name == "valid icv over 2 octets of plaintext", v.Name == "pad length 255 on an empty payload":
		return ErrMalformed
	case v.ExpectIn != "drop" || checkedElsewhere[v.Reason]:
		return nil
	case v.Reason == "integrity":
		return ErrAuth
	case v.Reason == "bad-padding" || strings.HasPrefix(v.Name, "pad length"):
		return ErrBadTrailer
	}
	return ErrMalformed
}

func requireNoPlaintext(t *testing.T, r *room, v *vector) {
	if v.Reason == "integrity" && len(v.PlaintextPacket) > 28 {
		require.NotContains(t, string(r.buf), string(v.PlaintextPacket[28:]))
	}
}

// checkOpened compares what came out with what the vector says.
func checkOpened(t *testing.T, f *vectorFile, v *vector, r *room, sealed []byte) {
	require.Equal(t, sealed[:12], r.frame()[:12], "MAC addresses")
	require.Equal(t, sealed[12:r.meta.L3], r.frame()[12:r.meta.L3], "tags and EtherType")
	want := []byte(v.PlaintextPacket)
	switch {
	case v.ExpectIn == "decrypt-inner":
		require.Equal(t, []byte(v.Payload), r.ip()[20:])
		checkMended(t, r)
		return
	case want == nil && v.ExpectIn == "decrypt":
		want = f.plain[v.PlainFrame-1][14:]
	case want == nil:
		return // nothing to compare with: the vector is not to be delivered, or may be
	}
	require.Equal(t, want, r.ip())
	if r.meta.Flow.Proto == packet.ProtoUDP || r.meta.Flow.Proto == packet.ProtoTCP {
		packet.MendChecksum(r.frame(), &r.meta)
		require.Equal(t, want, r.ip(), "a right checksum must not be mended")
	}
}

// checkMended recomputes the UDP checksum word by word.
func checkMended(t *testing.T, r *room) {
	require.True(t, packet.MendChecksum(r.frame(), &r.meta))
	ip := r.ip()
	require.Equal(t, []byte{203, 0, 113, 77}, ip[12:16], "the address that the NAT wrote stays")
	n := len(ip) - 20
	sum := uint32(packet.ProtoUDP) + uint32(n)
	for i := 12; i < len(ip); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	require.Equal(t, uint32(0xffff), sum)
}

func TestScapyOutbound(t *testing.T) {
	for name, sealed := range map[string]int{"transport": 72, "natt": 4} {
		t.Run(name, func(t *testing.T) {
			f := readVectors(t, name)
			count := 0
			for i := range f.Tests {
				v := &f.Tests[i]
				if v.ExpectOut != "protect" {
					continue
				}
				t.Run(fmt.Sprintf("%02d %s", i, v.Name), func(t *testing.T) {
					if runOutbound(t, f, v) {
						count++
					}
				})
			}
			require.Equal(t, sealed, count)
		})
	}
}

func runOutbound(t *testing.T, f *vectorFile, v *vector) (sealed bool) {
	s := f.byName[v.SA]
	a, unsupported := s.newAEAD(t)
	if a == nil {
		t.Skip(unsupported)
	}
	plain := f.plain[v.PlainFrame-1]
	r := newRoom(plain)
	tr := s.transform()
	tr.IVMask = v.seq() ^ binary.BigEndian.Uint64(v.IV)
	before, overhead := r.meta, tr.Overhead(&r.meta)
	require.NoError(t, r.seal(NewScratch(0), &tr, a, v.seq()))
	require.Equal(t, before.IPLen()+overhead, len(r.ip()))
	require.Equal(t, plain[:before.L3], r.frame()[:before.L3], "addresses, tags and EtherType")
	r.checkAround(t, r.start, max(r.end, headroom+len(plain)))
	if v.ByteExactOut != nil && !*v.ByteExactOut {
		packet.Parse(r.frame(), &r.meta)
		require.NoError(t, r.open(NewScratch(0), &tr, a, v.seq()>>32))
		require.Equal(t, []byte(v.PlaintextPacket), r.ip())
		return true
	}
	require.Equal(t, []byte(v.ESPPacket), r.ip())
	return true
}

// TestScapyUnsealable has frames that must not become ESP packets.
func TestScapyUnsealable(t *testing.T) {
	f := readVectors(t, "outbound")
	for i := range f.Tests {
		v := &f.Tests[i]
		t.Run(fmt.Sprintf("%02d %s", i, v.Name), func(t *testing.T) {
			frame := f.plain[v.PlainFrame-1]
			r := newRoom(frame)
			tr := Transform{SPI: 256, ICVLen: 16}
			_, _, _, err := tr.Wrap(r.buf, r.start, r.end, &r.meta, 1)
			switch {
			case v.ExpectOut == "drop":
				require.Equal(t, packet.Malformed, r.meta.Fault)
				require.ErrorIs(t, err, ErrMalformed)
			case v.ExpectOut == "not-ip":
				require.Equal(t, packet.Other, r.meta.Kind)
				require.Equal(t, packet.OK, r.meta.Fault)
				require.ErrorIs(t, err, ErrMalformed)
			case v.Reason == "fragment":
				require.False(t, r.meta.Whole())
				require.ErrorIs(t, err, ErrFragment)
			case v.ExpectOut == "too-big":
				require.Greater(t, r.meta.IPLen()+tr.Overhead(&r.meta), 1500)
				return
			default: // neighbour discovery: the policy's business
				require.Equal(t, "policy", v.Reason)
				require.Equal(t, uint16(135), r.meta.Flow.SrcPort)
				return
			}
			require.Equal(t, frame, r.frame(), "a refused packet must stay as it was")
			r.checkAround(t, r.start, r.end)
		})
	}
}
