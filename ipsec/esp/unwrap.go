package esp

import "espgw/ipsec/packet"

// Unwrap makes a plain frame of an opened ESP packet. Only call it when the ICV
// was right. buf, start and *m are what Locate was given, o what it returned;
// the text at o is in clear by now.
//
// Padding and trailer are cut off, the headers move up to the payload, the next
// header goes to where the header in front named ESP (or UDP), and lengths and
// the IPv4 header checksum follow. The new frame is buf[newStart:newEnd]; it
// ends where the IP packet ends and may be shorter than Ethernet's minimum. Its
// headers keep their offsets from the frame's start, so packet.ParseUpper can go
// on with the same *m.
//
// It returns ErrDummy or ErrBadTrailer; then the headers are unchanged, and the
// clear text must not go anywhere.
func (t *Transform) Unwrap(buf []byte, start int, m *packet.Meta, o Offsets) (newStart, newEnd int, nextHeader uint8, err error) {
	text := buf[o.Text : o.Text+o.TextLen]
	n := len(text) - trailerLen
	if n < 0 {
		return 0, 0, 0, ErrBadTrailer
	}
	pad := int(text[n])
	nextHeader = text[n+1]
	if nextHeader == packet.ProtoNone {
		return 0, 0, 0, ErrDummy
	}
	if pad > n || !padOK(text[n-pad:n]) {
		return 0, 0, 0, ErrBadTrailer
	}
	newStart, newEnd = o.Text-int(m.Upper), o.Text+n-pad
	copy(buf[newStart:o.Text], buf[start:start+int(m.Upper)])
	setHeader(buf[newStart:newEnd], m, m.UpperNext, nextHeader)
	return newStart, newEnd, nextHeader, nil
}

// padOK reports whether pad is 1, 2, 3 and so on (RFC 4303, 2.4).
func padOK(pad []byte) bool {
	var diff byte
	for i, b := range pad {
		diff |= b ^ byte(i+1)
	}
	return diff == 0
}
