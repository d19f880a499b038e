package main

import (
	"encoding/binary"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/ipsec/packet"
)

var (
	macA = net.HardwareAddr{2, 0, 0, 0, 0, 0x52}
	macB = net.HardwareAddr{2, 0, 0, 0, 0, 0x71}
)

func mustFlow(t testing.TB, text string) flow {
	t.Helper()
	fl, err := parseFlow(text)
	require.NoError(t, err)
	return fl
}

// espFrame makes a frame with the visible part of an ESP packet, and 20 octets more.
func espFrame(t testing.TB, to string, p espPacket) []byte {
	t.Helper()
	d := newDatagram(mustFlow(t, to), macA, macB)
	b := d.frame[:d.udp]
	b = binary.BigEndian.AppendUint32(b, p.spi)
	b = binary.BigEndian.AppendUint32(b, p.sequence)
	b = binary.BigEndian.AppendUint64(b, p.iv)
	b = append(b, make([]byte, 20)...)
	if b[12] == 0x08 {
		b[ethernetLen+9] = protoESP
		binary.BigEndian.PutUint16(b[ethernetLen+2:], uint16(len(b)-ethernetLen))
	} else {
		b[ethernetLen+6] = protoESP
		binary.BigEndian.PutUint16(b[ethernetLen+4:], uint16(len(b)-ethernetLen-ip6Len))
	}
	return b
}

func TestDatagram(t *testing.T) {
	for _, to := range []string{"14.0.0.52,14.0.0.70", "2001:db8::52,2001:db8::70"} {
		fl := mustFlow(t, to)
		d := newDatagram(fl, macA, macB)
		for _, number := range []uint64{0, 1, 0xffff, 1<<32 + 7, 1<<64 - 1} {
			d.number(number)
			got, ok := numberOf(d.frame)
			require.True(t, ok)
			require.Equal(t, number, got)
			require.Equal(t, []byte(macB), d.frame[:6])
			require.Equal(t, []byte(macA), d.frame[6:12])

			var meta packet.Meta
			packet.Parse(d.frame, &meta)
			require.Equal(t, packet.OK, meta.Fault, "the gateway's parser")
			require.True(t, meta.IsIP())
			sums := sum(d.frame[d.udp:]) + sum(fl.src.AsSlice()) + sum(fl.dst.AsSlice()) + protoUDP + udpLen + payloadLen
			require.Zero(t, fold(sums), "UDP checksum")
			if fl.src.Is4() {
				require.Zero(t, fold(sum(d.frame[ethernetLen:ethernetLen+ip4Len])), "header checksum")
			}
		}
	}
}

func TestDatagramNeverWithoutChecksum(t *testing.T) {
	d := newDatagram(mustFlow(t, "14.0.0.52,14.0.0.70"), macA, macB)
	for n := range uint64(1 << 17) { // the sum takes every value
		d.number(n)
		require.NotZero(t, binary.BigEndian.Uint16(d.frame[d.udp+6:]))
	}
}

func TestParseFlowRefuses(t *testing.T) {
	for _, text := range []string{
		"", "14.0.0.52", "14.0.0.52,", "14.0.0.52,::1", "fe80::1%eth0,fe80::2", "1.2.3.4,5.6.7.8,9.1.2.3",
	} {
		_, err := parseFlow(text)
		require.Error(t, err, text)
	}
}

func TestParseESP(t *testing.T) {
	for _, to := range []string{"14.0.0.52,14.0.0.70", "2001:db8::52,2001:db8::70"} {
		want := espPacket{mustFlow(t, to).dst, 0x7001, 0xfffffffe, 1<<63 + 5}
		frame := espFrame(t, to, want)
		got, ok := parseESP(frame)
		require.True(t, ok)
		require.Equal(t, want, got)
		_, ok = numberOf(frame)
		require.False(t, ok)
		for cut := range len(frame) - 20 { // headers that were not captured as a whole
			_, ok := parseESP(frame[:cut])
			require.False(t, ok, cut)
		}
	}
	d := newDatagram(mustFlow(t, "14.0.0.52,14.0.0.70"), macA, macB)
	_, ok := parseESP(d.frame)
	require.False(t, ok)
}

func FuzzFrames(f *testing.F) {
	f.Add(espFrame(f, "14.0.0.52,14.0.0.70", espPacket{spi: 7}))
	f.Add(espFrame(f, "2001:db8::52,2001:db8::70", espPacket{spi: 7}))
	f.Add(newDatagram(mustFlow(f, "14.0.0.52,14.0.0.70"), macA, macB).frame)
	f.Fuzz(func(t *testing.T, frame []byte) {
		_, esp := parseESP(frame)
		_, ours := numberOf(frame)
		require.False(t, esp && ours)
	})
}
