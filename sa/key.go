package sa

import (
	"crypto/subtle"
	"log/slog"
	"runtime"
)

// SaltLen is the length in octets of the salt behind a cipher key (RFC 4106
// section 4, RFC 7634 section 2).
const SaltLen = 4

// Key is the secret of an SA: the cipher key followed by 4 octets of salt. It
// never prints: every formatting verb, JSON and slog show "(hidden)".
type Key struct{ b []byte }

// NewKey takes over b, which the caller must not use again.
func NewKey(b []byte) Key { return Key{b} }

// Len is the length in octets, salt included.
func (k Key) Len() int { return len(k.b) }

// Cipher returns the cipher key: borrowed, never to be changed or kept.
func (k Key) Cipher() []byte { return k.b[:max(0, len(k.b)-SaltLen)] }

// Salt returns the 4 octets of salt, borrowed like Cipher's result.
func (k Key) Salt() []byte { return k.b[max(0, len(k.b)-SaltLen):] }

// Bytes returns key and salt, borrowed like Cipher's result.
func (k Key) Bytes() []byte { return k.b }

// Equal compares in constant time.
func (k Key) Equal(o Key) bool { return subtle.ConstantTimeCompare(k.b, o.b) == 1 }

// Clone returns a copy with memory of its own.
func (k Key) Clone() Key { return Key{append([]byte(nil), k.b...)} }

// Wipe overwrites the key. Every copy of the Key value sees zeros afterwards.
func (k Key) Wipe() {
	clear(k.b)
	runtime.KeepAlive(k.b)
}

const hidden = "(hidden)"

// String hides the key.
func (k Key) String() string { return hidden }

// GoString hides the key from %#v.
func (k Key) GoString() string { return hidden }

// MarshalText hides the key from encoders.
func (k Key) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue hides the key from slog.
func (k Key) LogValue() slog.Value { return slog.StringValue(hidden) }
