package sa

import "errors"

// The errors that callers decide on. They come wrapped with what was being done
// and to which SA or policy.
var (
	// ErrExists: an SA of that (destination, protocol, SPI), or a policy of
	// that direction and selector, is there already (the kernel's EEXIST).
	ErrExists = errors.New("exists already")
	// ErrNotFound: there is no such SA or policy (the kernel's ESRCH, ENOENT).
	ErrNotFound = errors.New("not found")
	// ErrInvalid: a setting contradicts itself or another (the kernel's EINVAL).
	ErrInvalid = errors.New("invalid")
	// ErrUnsupported: a setting is well formed, but espgw does not do it.
	ErrUnsupported = errors.New("not supported")
	// ErrKeyLength: the key is not 16, 24 or 32 octets (ChaCha20: 32) plus 4
	// octets of salt.
	ErrKeyLength = errors.New("wrong key length")
	// ErrICVLength: the integrity check value is not of a length that the
	// algorithm has.
	ErrICVLength = errors.New("wrong ICV length")
	// ErrTableFull: one SA more than Options.MaxSAs.
	ErrTableFull = errors.New("SA table full")
	// ErrNonceOverlap: two SAs with one key could use the same nonce (RFC 4106,
	// section 3.1 forbids it). Another SPI or, better, another key helps.
	ErrNonceOverlap = errors.New("nonces would overlap with another SA of the same key")
)
