package journal

import "time"

// Identity names what sequence numbers belong to: an SA under a key. Two that
// differ in any field have separate entries.
type Identity struct {
	Print    [16]byte // keyed one-way fingerprint of key and salt, under Journal.Secret
	Mask     uint64   // constant of the SA's IVs
	SPI      uint32
	Src, Dst [16]byte // IPv4 addresses in any fixed form
	V6, ESN  bool
}

// Entry is what is known of an identity.
type Entry struct {
	Identity
	Reserved uint64    // outbound: nothing above it was ever sent
	Highest  uint64    // inbound: highest number accepted, as far as written
	Removed  time.Time // when the SA was deleted, in whole seconds; zero: in use when last written
}

// Index is an entry's place in an open journal, from 1; 0 is none. It is valid
// until Close, or until a removed entry is forgotten, and is never given to another
// entry meanwhile.
type Index uint32

// seconds is t as the file has it: 0 is in use, so no time is.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(t.Unix(), 1)
}
