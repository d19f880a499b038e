package esp

import (
	"bytes"
	"fmt"
)

// New makes the AEAD of the named cipher; see NewAESGCM and NewChaCha20Poly1305.
// ChaCha20-Poly1305 has an ICV of 16 octets only (RFC 7634, section 2).
func New(c Cipher, key, salt []byte, icvLen int) (*AEAD, error) {
	if c == AESGCM {
		return NewAESGCM(key, salt, icvLen)
	}
	if icvLen != fullTag {
		return nil, fmt.Errorf("ChaCha20-Poly1305: %w: %d octets, not %d", ErrICVLength, icvLen, fullTag)
	}
	return NewChaCha20Poly1305(key, salt)
}

// SelfTest seals and opens every known answer, and checks that one flipped bit
// of the packet is noticed. The error wraps ErrSelfTest. It takes well under a
// millisecond and is run when an engine is opened.
func SelfTest() error {
	s := NewScratch(256)
	for _, k := range KnownAnswers() {
		if err := k.check(s); err != nil {
			return fmt.Errorf("%w: %s, ICV of %d octets: %w", ErrSelfTest, k.Source, k.ICVLen, err)
		}
	}
	return nil
}

func (k *KnownAnswer) check(s *Scratch) error {
	a, err := New(k.Cipher, k.Key, k.Salt, k.ICVLen)
	if err != nil {
		return err
	}
	o := k.Offsets(0)
	buf := make([]byte, len(k.Packet))
	copy(buf, k.Packet[:o.Text])
	copy(buf[o.Text:], k.Text)
	if err = a.Seal(s, buf, o, k.Seq, k.ESN); err != nil {
		return err
	}
	if !bytes.Equal(buf, k.Packet) {
		return errWrongPacket
	}
	if err = a.Open(s, buf, o, k.Seq, k.ESN); err != nil {
		return err
	}
	if !bytes.Equal(buf[o.Text:o.ICV], k.Text) {
		return errWrongText
	}
	for at := range buf {
		copy(buf, k.Packet)
		buf[at] ^= 1 << (at % 8)
		if a.Open(s, buf, o, k.Seq, k.ESN) == nil {
			return fmt.Errorf("octet %d flipped: %w", at, errNotNoticed)
		}
	}
	return nil
}
