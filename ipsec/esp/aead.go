package esp

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	saltLen   = 4
	nonceLen  = saltLen + IVLen
	aadLenESN = HeaderLen + 4
	fullTag   = 16
)

// AEAD seals and opens ESP packets with one key: AES-GCM after RFC 4106 or
// ChaCha20-Poly1305 after RFC 7634. It does not change once made, and any number
// of goroutines may use it, each with a Scratch of its own. The cipher keeps an
// expanded key that lives as long as the AEAD does; the standard library offers
// no way to wipe it.
type AEAD struct {
	aead   cipher.AEAD
	salt   [saltLen]byte
	icvLen int
}

// NewAESGCM makes the AEAD of rfc4106(gcm(aes)): key is 16, 24 or 32 octets,
// salt 4, icvLen 8, 12 or 16. It keeps neither slice. Errors wrap ErrKeyLength,
// ErrSaltLength or ErrICVLength and never show the key.
func NewAESGCM(key, salt []byte, icvLen int) (*AEAD, error) {
	tagLen := icvLen
	switch icvLen {
	case 8:
		tagLen = fullTag
	case 12, 16:
	default:
		return nil, fmt.Errorf("AES-GCM: %w: %d octets, not 8, 12 or 16", ErrICVLength, icvLen)
	}
	switch len(key) {
	case 16, 24, 32:
	default:
		return nil, fmt.Errorf("AES-GCM: %w: %d octets, not 16, 24 or 32", ErrKeyLength, len(key))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("AES-GCM: %w", err)
	}
	gcm, err := cipher.NewGCMWithTagSize(block, tagLen)
	if err != nil {
		return nil, fmt.Errorf("AES-GCM: %w", err)
	}
	return newAEAD("AES-GCM", gcm, salt, icvLen)
}

// NewChaCha20Poly1305 makes the AEAD of rfc7539esp(chacha20,poly1305): key is 32
// octets, salt 4; the ICV is 16. It keeps neither slice. Errors are as those of
// NewAESGCM.
func NewChaCha20Poly1305(key, salt []byte) (*AEAD, error) {
	if len(key) != chacha20poly1305.KeySize {
		return nil, fmt.Errorf("ChaCha20-Poly1305: %w: %d octets, not %d", ErrKeyLength, len(key), chacha20poly1305.KeySize)
	}
	c, err := chacha20poly1305.New(key)
	if err != nil {
		return nil, fmt.Errorf("ChaCha20-Poly1305: %w", err)
	}
	return newAEAD("ChaCha20-Poly1305", c, salt, fullTag)
}

func newAEAD(name string, c cipher.AEAD, salt []byte, icvLen int) (*AEAD, error) {
	if len(salt) != saltLen {
		return nil, fmt.Errorf("%s: %w: %d octets, not %d", name, ErrSaltLength, len(salt), saltLen)
	}
	return &AEAD{aead: c, salt: [saltLen]byte(salt), icvLen: icvLen}, nil
}

// ICVLen is the length of the ICV in octets.
func (a *AEAD) ICVLen() int { return a.icvLen }

// Format hides the key from every verb of package fmt.
func (a AEAD) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("AEAD(hidden)")) }

// Seal encrypts the text of the ESP packet at o in buf, in place, and writes the
// ICV behind it. SPI, low half of the sequence number and IV are read from the
// packet; the high half comes from seq and counts only with esn. It returns
// ErrNoRoom where o is not within buf, and then changes nothing.
func (a *AEAD) Seal(s *Scratch, buf []byte, o Offsets, seq uint64, esn bool) error {
	if !a.fits(buf, o) {
		return ErrNoRoom
	}
	a.seal(s, buf[o.Text:o.ICV+a.icvLen:o.ICV+a.icvLen], o.TextLen, s.prepare(a, buf, o, seq, esn))
	return nil
}

// Open checks the ICV of the ESP packet at o in buf and decrypts its text in
// place; the arguments are those of Seal. It returns ErrMalformed where o is not
// within buf, and ErrAuth where the ICV is wrong. After ErrAuth the text is
// either still encrypted or all zero, never in clear; header, IV and ICV are
// unchanged.
func (a *AEAD) Open(s *Scratch, buf []byte, o Offsets, seq uint64, esn bool) error {
	if !a.fits(buf, o) {
		return ErrMalformed
	}
	return a.open(s, buf[o.Text:o.ICV+a.icvLen:o.ICV+a.icvLen], o.TextLen, s.prepare(a, buf, o, seq, esn))
}

func (a *AEAD) fits(buf []byte, o Offsets) bool {
	return o.ESP >= 0 && o.TextLen >= 0 && o.Text == o.ESP+HeaderLen+IVLen &&
		o.ICV == o.Text+o.TextLen && o.ICV+a.icvLen <= len(buf)
}

// prepare writes the nonce, salt and IV, into the scratch memory and returns the
// additional data: SPI and sequence number, with ESN all 64 bits of it (RFC
// 4106, section 5; RFC 7634, section 2.1).
func (s *Scratch) prepare(a *AEAD, buf []byte, o Offsets, seq uint64, esn bool) (aad []byte) {
	*(*[saltLen]byte)(s.nonce[:]) = a.salt
	*(*[IVLen]byte)(s.nonce[saltLen:]) = [IVLen]byte(buf[o.ESP+HeaderLen:])
	if !esn {
		return buf[o.ESP : o.ESP+HeaderLen : o.ESP+HeaderLen]
	}
	*(*[4]byte)(s.aad[:]) = [4]byte(buf[o.ESP:])
	binary.BigEndian.PutUint32(s.aad[4:], uint32(seq>>32))
	*(*[4]byte)(s.aad[8:]) = [4]byte(buf[o.ESP+4:])
	return s.aad[:]
}

// seal works on room, which is n octets of text and the room for the ICV.
func (a *AEAD) seal(s *Scratch, room []byte, n int, aad []byte) {
	if a.icvLen < a.aead.Overhead() {
		a.sealTruncated(s, room, n, aad)
		return
	}
	a.aead.Seal(room[:0], s.nonce[:], room[:n], aad)
}

func (a *AEAD) open(s *Scratch, room []byte, n int, aad []byte) error {
	if a.icvLen < a.aead.Overhead() {
		return a.openTruncated(s, room, n, aad)
	}
	if _, err := a.aead.Open(room[:0], s.nonce[:], room, aad); err != nil {
		return ErrAuth
	}
	return nil
}
