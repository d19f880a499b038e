package xfrm

import (
	"encoding/hex"
	"strconv"
	"strings"

	"espgw/sa"
)

// The names of the algorithms are the kernel's.
const (
	nameAESGCM           = "rfc4106(gcm(aes))"
	nameChaCha20Poly1305 = "rfc7539esp(chacha20,poly1305)"
)

var (
	algorithmNames = []string{nameAESGCM, nameChaCha20Poly1305}
	algorithmUsage = []string{"aead '" + nameAESGCM + "' KEY 64|96|128", "aead '" + nameChaCha20Poly1305 + "' KEY 128"}
)

// algorithmName is the kernel's name of an algorithm.
func algorithmName(a sa.Algorithm) string {
	if a == sa.AlgChaCha20Poly1305 {
		return nameChaCha20Poly1305
	}
	return nameAESGCM
}

// aead reads `aead NAME KEY ICVBITS`; finishKey checks the key.
func (s *stateParser) aead(w word) (err error) {
	if s.alg, err = s.value(w, "an algorithm, a key and the length of the ICV in bits", algorithmUsage...); err != nil {
		return err
	}
	switch s.alg.text {
	case nameAESGCM:
		s.p.Algorithm = sa.AlgAESGCM
	case nameChaCha20Poly1305:
		s.p.Algorithm = sa.AlgChaCha20Poly1305
	default:
		return s.fail(s.alg, "is not an algorithm that is spoken here", algorithmNames...)
	}
	if s.key, err = s.value(s.alg, "a key", "0x and the hex digits of cipher key and salt"); err != nil {
		return err
	}
	s.key.secret = true
	if s.icv, err = s.value(s.key, "the length of the ICV in bits behind the key", "64", "96", "128"); err != nil {
		return err
	}
	n, ok := parseUint(s.icv.text, 32)
	if !ok || n != 128 && (s.p.Algorithm != sa.AlgAESGCM || n != 64 && n != 96) {
		accepted := []string{"64", "96", "128"}
		if s.p.Algorithm != sa.AlgAESGCM {
			accepted = []string{"128"}
		}
		return s.fail(s.icv, "is not a length in bits that the ICV of this algorithm may have", accepted...)
	}
	s.p.ICVBits = int(n)
	return nil
}

func (s *stateParser) finishKey() error {
	key, ok := parseKey(s.key.text)
	if !ok {
		return s.fail(s.key, "the key is not hex behind its 0x", "0x and hex digits", "a string, whose octets are the key")
	}
	s.p.Key = sa.NewKey(key)
	if reason, accepted := keyProblem(s.p.Algorithm, len(key)); reason != "" {
		s.p.Key.Wipe()
		return s.fail(s.key, reason, accepted...)
	}
	return nil
}

// parseKey reads a key as iproute2 does: hex behind 0x, an odd first digit
// standing alone, or else the octets of the string.
func parseKey(s string) ([]byte, bool) {
	digits, isHex := strings.CutPrefix(s, "0x")
	if !isHex || digits == "" {
		return []byte(s), true
	}
	if len(digits)%2 != 0 {
		digits = "0" + digits
	}
	key, err := hex.DecodeString(digits)
	return key, err == nil
}

// keyProblem says what is wrong with a key of n octets; "" if nothing is.
func keyProblem(a sa.Algorithm, n int) (reason string, accepted []string) {
	ciphers := []int{16, 24, 32}
	if a == sa.AlgChaCha20Poly1305 {
		ciphers = []int{32}
	}
	for _, c := range ciphers {
		accepted = append(accepted, strconv.Itoa(c+sa.SaltLen)+" octets ("+strconv.Itoa(c)+" of cipher key, 4 of salt)")
		if n == c+sa.SaltLen {
			return "", nil
		}
	}
	reason = "the key has " + strconv.Itoa(n) + " octets"
	for _, c := range ciphers {
		if n == c {
			reason += ": the 4 octets of salt behind the cipher key are missing"
		}
	}
	return reason, accepted
}
