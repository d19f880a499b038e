package silicon_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// framed is a broadcast, unicast or multicast frame by its destination.
func framed(mac ...byte) []byte { return ethernet(mac, udp(peer4, host4, 1, 2, counting(60))) }

// Bits of FCTRL.
const (
	fctrlMPE = 1 << 8
	fctrlUPE = 1 << 9
	fctrlBAM = 1 << 10
)

// TestAddressFilter: which destinations pass under which bits of FCTRL (reference 2.4).
func TestAddressFilter(t *testing.T) {
	own, other := cardMAC[:], []byte{0x02, 0x82, 0x59, 0x90, 0x12, 0x35}
	group := []byte{0x01, 0x00, 0x5e, 0x00, 0x00, 0x01}
	for _, test := range []struct {
		name  string
		mac   []byte
		fctrl uint32
		taken bool
	}{
		{"own", own, 0, true},
		{"another's", other, 0, false},
		{"another's, promiscuous for multicast", other, fctrlMPE | fctrlBAM, false},
		{"another's, promiscuous", other, fctrlUPE, true},
		{"broadcast, not accepted", broadcast, 0, false},
		{"broadcast, accepted", broadcast, fctrlBAM, true},
		{"broadcast, promiscuous for multicast", broadcast, fctrlMPE, true},
		{"broadcast, promiscuous for unicast", broadcast, fctrlUPE, false},
		{"multicast", group, fctrlBAM | fctrlUPE, false},
		{"multicast, promiscuous", group, fctrlMPE, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			q := r.rxQueue(0, 64, 2)
			r.put(fctrl, test.fctrl)
			got := q.receive(framed(test.mac...))
			require.Equal(t, test.taken, len(got) == 1)
			require.Equal(t, !test.taken, r.counts().RxFiltered == 1)
			if test.taken {
				require.Equal(t, framed(test.mac...), got[0].data)
			}
		})
	}
}

// TestReceiveAddresses: each of the 128 pairs counts while it is valid (AV).
func TestReceiveAddresses(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	for i := range 128 {
		at := uint32(ral0 + 8*i)
		if i >= 16 {
			at = uint32(ralHigh + 8*i)
		}
		mac := []byte{0x06, 1, 2, 3, 4, byte(i)}
		require.Empty(t, q.receive(framed(mac...)), "pair %d before", i)
		r.writeMAC(at, mac, false)
		require.Empty(t, q.receive(framed(mac...)), "pair %d, not valid", i)
		r.writeMAC(at, mac, true)
		require.Len(t, q.receive(framed(mac...)), 1, "pair %d", i)
	}
}

// TestMulticastTable: which 12 bits of the address choose MTA's bit is MCSTCTRL.MO's to
// say; without MFE the table is not looked at. Drivers compute the place from the last two
// octets.
func TestMulticastTable(t *testing.T) {
	mac := []byte{0x01, 0x00, 0x5e, 0x7f, 0xa5, 0xc3}
	for mo, place := range []uint32{
		0xa5>>4 | 0xc3<<4,        // bits 47:36
		0xa5>>3 | 0xc3<<5&0xfff,  // 46:35
		0xa5>>2 | 0xc3<<6&0xfff,  // 45:34
		(0xa5 | 0xc3<<8) & 0xfff, // 43:32
	} {
		r := newRig(t)
		q := r.rxQueue(0, 64, 2)
		r.put(mta+4*(place>>5), 1<<(place&31))
		r.put(mcstctrl, uint32(mo))
		require.Empty(t, q.receive(framed(mac...)), "MO %d without MFE", mo)
		r.put(mcstctrl, uint32(mo)|4)
		require.Len(t, q.receive(framed(mac...)), 1, "MO %d", mo)
		r.put(mta+4*(place>>5), ^uint32(1<<(place&31)))
		require.Empty(t, q.receive(framed(mac...)), "MO %d, all other bits", mo)
	}
}

// TestVLANFilter: with VLNCTRL.VFE, of frames with a tag only those whose identifier is in
// VFTA pass; those without always do.
func TestVLANFilter(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	ip := udp(peer4, host4, 1, 2, counting(60))
	require.Len(t, q.receive(toCard(ip, 100)), 1, "no filter")
	r.put(vlnctrl, 1<<30|0x8100)
	require.Empty(t, q.receive(toCard(ip, 100)))
	require.Len(t, q.receive(toCard(ip)), 1, "no tag")
	for _, id := range []uint16{0, 31, 32, 100, 4095} {
		r.put(vfta+4*uint32(id>>5), 1<<(id&31))
		require.Len(t, q.receive(toCard(ip, id)), 1, "identifier %d", id)
		require.Len(t, q.receive(toCard(ip, id|0xf000)), 1, "priority and DEI do not count")
		require.Empty(t, q.receive(toCard(ip, id^1)), "identifier %d", id^1)
		r.put(vfta+4*uint32(id>>5), 0)
	}
	require.EqualValues(t, 6, r.counts().RxFiltered)
}

// TestLengthLimits: 1,518 octets with CRC, 4 more for a tag; with HLREG0.JUMBOEN what
// MAXFRS says.
func TestLengthLimits(t *testing.T) {
	for _, test := range []struct {
		name  string
		jumbo uint32 // MAXFRS' field; 0: no jumbo frames
		tags  []uint16
		most  int // without CRC
	}{
		{"standard", 0, nil, 1514},
		{"standard, a tag", 0, []uint16{5}, 1518},
		{"jumbo of 9,018", 9018, nil, 9014},
		{"jumbo of 9,018, a tag", 9018, []uint16{5}, 9018},
		{"jumbo of the standard's size", 1518, nil, 1514},
		{"less than the standard", 100, nil, 96},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			q := r.rxQueue(0, 64, 16)
			if test.jumbo != 0 {
				r.setBits(hlreg0, 1<<2)
			}
			r.put(maxfrs, test.jumbo<<16|0xffff)
			frame := toCard(udp(peer4, host4, 1, 2, counting(test.most-14-28-4*len(test.tags))), test.tags...)
			require.Len(t, frame, test.most)
			require.Len(t, q.receive(frame), 1)
			require.Empty(t, q.receive(append(frame, 0)), "one more")
			require.EqualValues(t, 1, r.counts().RxTooLong)
			require.Zero(t, r.counts().RxFiltered)
		})
	}
}

// TestShortFramesArePadded: a wire has none below 60 octets.
func TestShortFramesArePadded(t *testing.T) {
	r := newRig(t)
	q := r.rxQueue(0, 64, 2)
	q.receive(framed(cardMAC[:]...)) // leaves octets behind
	short := slices.Concat(cardMAC[:], peerMAC, []byte{0x88, 0xb5, 1})
	got := q.receive(short)
	require.Equal(t, append(short, make([]byte, 60-15)...), got[0].data)
}

// TestReceiverSwitches: RXCTRL.RXEN, the queue's enable bit, the link.
func TestReceiverSwitches(t *testing.T) {
	for name, off := range map[string]func(*rig){
		"RXCTRL.RXEN":   func(r *rig) { r.put(rxctrl, 0) },
		"RXDCTL.ENABLE": func(r *rig) { r.put(rxBlock(0)+queueCtrl, 0) },
		"no link":       func(r *rig) { r.card.SetLink(false) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			q := r.rxQueue(0, 64, 2)
			off(r)
			r.settle()
			require.Empty(t, q.receive(framed(cardMAC[:]...)))
			require.Zero(t, q.head())
			r.breached()
		})
	}
}
