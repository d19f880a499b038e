package silicon_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// good is a packet of ESP that SA 1 opens.
func good() esp { return esp{sa: saOf(1), seq: 1, iv: 3, payload: counting(64), next: 17} }

// TestNoMatch: for each of these reasons a packet comes as it is, SECP and error 0
// (reference 4.4).
func TestNoMatch(t *testing.T) {
	packet := packet4(peer4, host4, 50, good().sealed())
	nothing := func(*rig) {}
	const lookedFor = 6 // for the first so many an SA is looked for
	for i, test := range []struct {
		name   string
		frame  []byte
		change func(r *rig)
	}{
		{"another SPI", toCard(wrong(packet, 23)), nothing},
		{"another address", toCard(packet4(peer4, peer4, 50, good().sealed())), nothing},
		{"source and destination swapped", toCard(packet4(host4, peer4, 50, good().sealed())), nothing},
		{"the same SPI to an address without", fromPeerESP(host6, good().sealed()), nothing},
		{"not valid", toCard(packet), func(r *rig) { r.rxKey(1, saOf(1), modESP|modDecrypt) }},
		{"of IPv6", toCard(packet), func(r *rig) { r.rxKey(1, saOf(1), modValid|modESP|modDecrypt|modIPv6) }},
		{"lookups off", toCard(packet), func(r *rig) { r.put(ipsRxIdx, 0) }},
		{"engine off", toCard(packet), func(r *rig) { r.put(secRxCtrl, 1) }},
		{"first fragment", toCard(fragment4(packet, 0x2000)), nothing},
		{"later fragment", toCard(fragment4(packet, 0x0010)), nothing},
		{"options", toCard(packet4Options(peer4, host4, 50, []byte{1, 1, 1, 0}, good().sealed())), nothing},
		{
			"behind an IPv6 extension", toCard(packet6(peer6, host6, 60, slices.Concat([]byte{50, 0, 1, 4, 0, 0, 0, 0},
				esp{sa: saOf(2), payload: counting(64)}.sealed()))), nothing,
		},
		{"in UDP", toCard(udp(peer4, host4, 4500, 4500, good().sealed())), nothing},
		{
			"SNAP", slices.Concat(cardMAC[:], peerMAC, []byte{0, 200, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, packet),
			nothing,
		},
		{"shorter than an SPI", toCard(packet4(peer4, host4, 50, good().sealed()[:3])), nothing},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, q := openRig(t)
			test.change(r)
			r.settle()
			got := q.receive(test.frame)
			require.Equal(t, pad(test.frame), got[0].data, "untouched")
			require.Zero(t, got[0].status()&(rxSECP|secErr))
			require.Zero(t, r.counts().RxOpened)
			require.Equal(t, i < lookedFor, r.counts().RxNoSA == 1)
			r.breached()
		})
	}
}

// TestLengthError: ESP that is shorter than 36 octets, or ends at no multiple of 4, is
// error 10 and comes as it is.
func TestLengthError(t *testing.T) {
	sealed := good().sealed()
	for _, n := range []int{4, 7, 8, 16, 32, 35, 37, 38, 39, 41, len(sealed) - 1} {
		r, q := openRig(t)
		frame := fromPeerESP(host4, sealed[:n])
		got := q.receive(frame)
		require.Equal(t, pad(frame), got[0].data)
		require.EqualValuesf(t, statusLength, got[0].status(), "%d octets: %#x", n, got[0].status())
		require.EqualValues(t, 1, r.counts().RxBadLength)
	}
	r, q := openRig(t)
	least := esp{sa: saOf(1), next: 59} // 2 octets of padding
	require.Len(t, least.sealed(), 36)
	require.EqualValues(t, statusMatched, q.receive(fromPeerESP(host4, least.sealed()))[0].status())
	require.EqualValues(t, statusICV, q.receive(fromPeerESP(host4, sealed[:36]))[0].status())
	require.Zero(t, r.counts().RxBadLength)
}

// TestICVError: error 11. The octets are what deciphering gives all the same, or, with
// keep-failed, as they came.
func TestICVError(t *testing.T) {
	sealed := good().sealed()
	for _, keep := range []bool{false, true} {
		for name, at := range map[string]int{
			"sequence number": 4, "IV": 8, "text": 20, "trailer": len(sealed) - 17, "ICV": len(sealed) - 1,
		} {
			t.Run(name, func(t *testing.T) {
				r, q := openRig(t, set("keep-failed="+yes(keep)))
				bad := wrong(sealed, at)
				got := q.receive(fromPeerESP(host4, bad))
				require.EqualValues(t, statusICV, got[0].status())
				require.EqualValues(t, 1, r.counts().RxICVFailed)
				require.Zero(t, r.counts().RxOpened)
				want := slices.Clone(bad)
				if !keep {
					want = deciphered(bad)
				}
				require.Equal(t, fromPeerESP(host4, want), got[0].data)
			})
		}
	}
}

// deciphered is a packet of SA 1 with its text deciphered, however wrong its ICV is. GCM
// enciphers by adding a stream of bits that depends on key and nonce alone; sealing zeros
// shows the stream.
func deciphered(packet []byte) []byte {
	packet = slices.Clone(packet)
	s := saOf(1)
	text := packet[16 : len(packet)-16]
	stream := s.gcm().Seal(nil, slices.Concat(s.salt[:], packet[8:16]), make([]byte, len(text)), nil)
	for i := range text {
		text[i] ^= stream[i]
	}
	return packet
}

// TestWrongKeyOrSalt is a wrong ICV.
func TestWrongKeyOrSalt(t *testing.T) {
	for name, change := range map[string]func(*sa){
		"first octet of the key": func(s *sa) { s.key[0]++ }, "last": func(s *sa) { s.key[15]++ },
		"first octet of the salt": func(s *sa) { s.salt[0]++ }, "last of the salt": func(s *sa) { s.salt[3]++ },
	} {
		r, q := openRig(t)
		s := saOf(1)
		change(&s)
		r.rxKey(1, s, modValid|modESP|modDecrypt)
		require.EqualValues(t, statusICV, q.receive(fromPeerESP(host4, good().sealed()))[0].status(), name)
	}
}
