package esp

import "crypto/subtle"

// The standard library's GCM knows tags of 12 to 16 octets only. For ICVs of 8
// octets (RFC 4106, section 6) the whole tag is computed in scratch memory, as
// the packet may have no room for it, and only its first octets are used.

func (a *AEAD) sealTruncated(s *Scratch, room []byte, n int, aad []byte) {
	s.grow(n)
	copy(room, a.aead.Seal(s.text[:0], s.nonce[:], room[:n], aad))
}

// openTruncated uses that GCM encrypts by XOR with a key stream: sealing the
// ciphertext under the same nonce gives the plaintext, with a tag that means
// nothing; sealing that plaintext gives the ciphertext again, with the tag that
// the sender computed. The packet is changed only when the ICV was right.
func (a *AEAD) openTruncated(s *Scratch, room []byte, n int, aad []byte) error {
	s.grow(n)
	text := a.aead.Seal(s.text[:0], s.nonce[:], room[:n], aad)[:n]
	tag := a.aead.Seal(s.tag[:0], s.nonce[:], text, aad)[n:]
	if subtle.ConstantTimeCompare(tag[:a.icvLen], room[n:]) != 1 {
		clear(text)
		return ErrAuth
	}
	copy(room, text)
	clear(text)
	return nil
}
