package wire_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon/wire"
)

// classic is a pcap file in a byte order, of a link type.
func classic(order binary.AppendByteOrder, magic, link uint32, frames ...[]byte) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(order.AppendUint16(b, 2), 4)
	b = order.AppendUint32(append(b, make([]byte, 8)...), 65535)
	b = order.AppendUint32(b, link)
	for _, f := range frames {
		b = append(b, make([]byte, 8)...)
		b = order.AppendUint32(order.AppendUint32(b, uint32(len(f))), uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "in.pcap")
	require.NoError(t, os.WriteFile(name, content, 0o600))
	return name
}

func TestPcapOfBothByteOrders(t *testing.T) {
	short := frameOf(42, 5)
	for name, content := range map[string][]byte{
		"little":      classic(binary.LittleEndian, 0xa1b2c3d4, 1, frameOf(60, 1), frameOf(1514, 2), short),
		"big":         classic(binary.BigEndian, 0xa1b2c3d4, 1, frameOf(60, 1), frameOf(1514, 2), short),
		"nanoseconds": classic(binary.LittleEndian, 0xa1b23c4d, 1, frameOf(60, 1), frameOf(1514, 2), short),
	} {
		t.Run(name, func(t *testing.T) {
			w := openOnce(t, "pcap:"+write(t, content)+",")
			require.Equal(t, frameOf(60, 1), take(t, w))
			require.Equal(t, frameOf(1514, 2), take(t, w))
			require.Equal(t, append(append([]byte(nil), short...), make([]byte, 18)...), take(t, w))
			quiet(t, w)
			quiet(t, w)
			w.Send(frameOf(60, 9)) // goes nowhere
			require.NoError(t, w.Close())
		})
	}
}

func TestPcapIsReadAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out.pcap")
	w := openOnce(t, "pcap:,"+name)
	quiet(t, w)
	for i := range 3 {
		w.Send(frameOf(60+i, byte(i)))
	}
	require.NoError(t, w.Close())
	r := open(t, "pcap:"+name+",")
	for i := range 3 {
		require.Equal(t, frameOf(60+i, byte(i)), take(t, r))
	}
	quiet(t, r)
}

func TestDamagedPcap(t *testing.T) {
	good := classic(binary.LittleEndian, 0xa1b2c3d4, 1, frameOf(60, 1), frameOf(60, 2))
	name := write(t, good[:len(good)-10])
	w := openOnce(t, "pcap:"+name+",")
	require.Equal(t, frameOf(60, 1), take(t, w))
	quiet(t, w)
	require.ErrorContains(t, w.Close(), name)

	_, err := wire.Open("pcap:" + write(t, classic(binary.LittleEndian, 0xa1b2c3d4, 113)) + ",")
	require.ErrorContains(t, err, "Ethernet is needed")
}

func TestRecorder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "wire.pcapng")
	r, err := wire.NewRecorder(name, []string{"0000:01:00.0", "0000:01:00.1"})
	require.NoError(t, err)
	r.Port(0).Record(true, frameOf(60, 1), []string{"tx-clear: lookups are off", "tx-icv-room: none"})
	r.Port(1).Record(false, frameOf(70, 2), nil)
	r.Port(0).Record(false, frameOf(80, 3), []string{"third"})
	require.NoError(t, r.Close())

	w := open(t, "pcap:"+name+",")
	require.Equal(t, frameOf(60, 1), take(t, w))
	require.Equal(t, frameOf(70, 2), take(t, w))
	require.Equal(t, frameOf(80, 3), take(t, w))
	quiet(t, w)

	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("the comments are not looked at: no tshark")
	}
	out, err := exec.Command(tshark, "-r", name, "-T", "fields", "-E", "separator=/s", "-E", "aggregator=|", "-e", "frame.len",
		"-e", "frame.interface_name", "-e", "frame.packet_flags_direction", "-e", "frame.comment").Output()
	require.NoError(t, err)
	got := strings.Fields(string(bytes.TrimSpace(out)))
	want := strings.Fields("60 0000:01:00.0 0x00000002 tx-clear: lookups are off|tx-icv-room: none " +
		"70 0000:01:00.1 0x00000001 80 0000:01:00.0 0x00000001 third")
	require.Equal(t, want, got)
}

func TestRecorderFails(t *testing.T) {
	_, err := wire.NewRecorder("/not/there/wire.pcapng", []string{"x"})
	require.ErrorContains(t, err, "recording")
	_, err = wire.NewRecorder(filepath.Join(t.TempDir(), "x"), nil)
	require.ErrorContains(t, err, "no cards")
	if f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err != nil {
		t.Skip("no /dev/full")
	} else {
		f.Close()
	}
	r, err := wire.NewRecorder("/dev/full", []string{"x"})
	if err == nil {
		for range 100 {
			r.Port(0).Record(true, frameOf(1500, 1), nil)
		}
		err = r.Close()
	}
	require.ErrorContains(t, err, "no space left")
}
