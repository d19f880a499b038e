package esp

import (
	"encoding/binary"

	"espgw/ipsec/packet"
)

// Wrap makes an ESP packet of the frame at buf[start:end], where buf is all the
// room there is and *m is what packet.Parse said about the frame. seq is the
// sequence number, all 64 bits of it. The new frame is buf[newStart:newEnd], its
// text in clear and its ICV unwritten, for an engine to seal at o.
//
// The headers move forward into the headroom; Ethernet padding is cut off. The
// octet that named the payload says ESP or UDP, and lengths and the IPv4 header
// checksum follow. The UDP checksum of encapsulation is 0, as RFC 3948 2.1 wants it
// over IPv4; over IPv6 PutChecksum fills it in behind the engine.
//
// It returns ErrMalformed where *m is no whole IP packet within the frame,
// ErrFragment, ErrTooLong or ErrNoRoom; then buf is unchanged.
func (t *Transform) Wrap(buf []byte, start, end int, m *packet.Meta, seq uint64) (newStart, newEnd int, o Offsets, err error) {
	payEnd := start + int(m.End)
	if !m.IsIP() || start < 0 || payEnd > end || end > len(buf) {
		return 0, 0, o, ErrMalformed
	}
	if !m.Whole() {
		return 0, 0, o, ErrFragment
	}
	insert := start + int(m.Insert)
	pad := padLen(payEnd - insert)
	newStart = start - t.headLen()
	o = Offsets{ESP: insert - IVLen - HeaderLen, Text: insert, TextLen: payEnd - insert + pad + trailerLen}
	o.ICV = o.Text + o.TextLen
	newEnd = o.ICV + t.ICVLen
	if tooLong(m, newEnd-newStart-int(m.L3)) {
		return 0, 0, Offsets{}, ErrTooLong
	}
	if newStart < 0 || newEnd > len(buf) {
		return 0, 0, Offsets{}, ErrNoRoom
	}

	copy(buf[newStart:], buf[start:insert])
	frame := buf[newStart:newEnd]
	putTrailer(buf[payEnd:o.ICV], pad, frame[m.InsertNext])
	next := uint8(packet.ProtoESP)
	if t.Encap {
		next = packet.ProtoUDP
		t.putUDP(buf[o.ESP-UDPHeaderLen:o.ESP], newEnd-o.ESP+UDPHeaderLen)
	}
	head := (*[HeaderLen + IVLen]byte)(buf[o.ESP:])
	binary.BigEndian.PutUint64(head[:], uint64(t.SPI)<<32|seq&0xffff_ffff)
	binary.BigEndian.PutUint64(head[HeaderLen:], seq^t.IVMask)
	setHeader(frame, m, m.InsertNext, next)
	return newStart, newEnd, o, nil
}

// putTrailer writes pad octets of padding, their number and the next header into
// tail, which has room for just that.
func putTrailer(tail []byte, pad int, next uint8) {
	_ = tail[pad+1]
	for i := range pad {
		tail[i] = byte(i + 1)
	}
	tail[pad], tail[pad+1] = byte(pad), next
}

func (t *Transform) putUDP(u []byte, length int) {
	binary.BigEndian.PutUint16(u, t.EncapSrc)
	binary.BigEndian.PutUint16(u[2:], t.EncapDst)
	binary.BigEndian.PutUint16(u[4:], uint16(length))
	binary.BigEndian.PutUint16(u[6:], 0)
}
