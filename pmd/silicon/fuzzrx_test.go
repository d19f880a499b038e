package silicon_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// fuzzFrames are frames that a fuzzer begins with: those that SAs match among them.
func fuzzFrames() [][]byte {
	e4, e6 := good(), good()
	e6.sa = saOf(2)
	sealed := packet4(peer4, host4, 50, e4.sealed())
	return [][]byte{
		toCard(sealed), toCard(sealed, 5), toCard(sealed, 5, 6), fromPeerESP(host6, e6.sealed()),
		toCard(wrong(sealed, 50)), toCard(packet4(peer4, host4, 50, e4.sealed()[:35])),
		toCard(packet4(peer4, host4, 50, e4.sealed()[:4])), toCard(packet4(peer4, host4, 51, ah(saOf(1)))),
		toCard(packet4Options(peer4, host4, 50, counting(40), e4.sealed())), toCard(fragment4(sealed, 0x2000)),
		toCard(tcp(peer4, host4, 1, 2, counting(5))), toCard(udp(peer6, host6, 1, 2, counting(1300))),
		toCard(packet6(peer6, host6, 0, counting(24))), toCard(packet4(peer4, host4, 132, nil)),
		slices.Concat(cardMAC[:], peerMAC, []byte{0x81, 0}), fromPeer(60)[:14],
		{1},
	}
}

// FuzzReceive has any frame come in. The card never panics; the driver gets each frame that
// is accepted whole, and unchanged unless an SA matched. What was opened without an error is
// authentic: sealing it again gives what came.
func FuzzReceive(f *testing.F) {
	for _, frame := range fuzzFrames() {
		for _, choice := range []uint8{0, 0x7f, 0xff} {
			f.Add(frame, choice)
		}
	}
	f.Fuzz(func(t *testing.T, frame []byte, choice uint8) {
		if len(frame) == 0 || len(frame) > 4000 {
			return
		}
		r := newRigOf(t, 64<<10,
			set("keep-failed="+yes(choice&1 != 0)), set("protocol-is-match="+yes(choice&2 != 0)),
			set("skip-tagged="+yes(choice&4 != 0)), set("inner-type="+yes(choice&8 != 0)),
			set("highest-duplicate="+yes(choice&16 != 0)))
		r.engines()
		r.rxSA(1, saOf(1), host4)
		r.rxSA(2, saOf(2), host6)
		q := r.rxQueue(0, 8, 1)
		r.put(fctrl, fctrlMPE|fctrlUPE|fctrlBAM)
		r.put(hlreg0, 0x407)
		r.put(maxfrs, 4100<<16)
		r.put(mrqc, mrqcAll)
		if choice&32 != 0 {
			r.setBits(rxBlock(0)+queueCtrl, stripVLAN)
		}
		got := q.receive(frame)
		require.NotEmpty(t, got, "all are accepted")
		var data []byte
		for i, d := range got {
			data = append(data, d.data...)
			require.Equal(t, i == len(got)-1, d.status()&rxEOP != 0)
		}
		last := got[len(got)-1]
		want := pad(frame)
		if last.status()&rxVP != 0 {
			require.NotZero(t, choice&32)
			require.Equal(t, binary.BigEndian.Uint16(want[14:]), last.tag())
			want = slices.Concat(want[:12], want[16:])
		}
		require.Len(t, data, len(want))
		switch {
		case last.status()&rxSECP == 0 || last.status()&secErr == errType || last.status()&secErr == errLen:
			require.Equal(t, want, data)
		case last.status()&secErr == 0:
			require.True(t, authentic(data, want))
		}
		if choice&1 != 0 && last.status()&secErr == errICV {
			require.Equal(t, want, data, "a failed one is kept as it came")
		}
	})
}

// authentic says whether a frame that was opened gives, sealed again, the one that came.
func authentic(opened, came []byte) bool {
	at := 14
	for range 2 {
		if kind := binary.BigEndian.Uint16(opened[at-2:]); kind == 0x8100 || kind == 0x88a8 {
			at += 4
		}
	}
	ip, s := opened[at:], saOf(1)
	header, end := 20, at+int(binary.BigEndian.Uint16(ip[2:]))
	if ip[0]>>4 == 6 {
		s, header, end = saOf(2), 40, at+40+int(binary.BigEndian.Uint16(ip[4:]))
	}
	packet := opened[at+header : end]
	text := slices.Clone(packet[16 : len(packet)-16])
	sealed := s.gcm().Seal(nil, slices.Concat(s.salt[:], packet[8:16]), text, packet[:8])
	return bytes.Equal(slices.Concat(opened[:at+header], packet[:16], sealed, opened[end:]), came)
}
