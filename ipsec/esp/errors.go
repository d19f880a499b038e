package esp

import "errors"

// Outbound faults.
var (
	// ErrNoRoom: the buffer's headroom or tailroom is too small.
	ErrNoRoom = errors.New("no room for ESP in the buffer")
	// ErrTooLong: the IP packet would be longer than its length field can say.
	ErrTooLong = errors.New("IP packet too long for ESP")
	// ErrFragment: transport mode is for whole datagrams (RFC 4303, 3.3.4).
	ErrFragment = errors.New("fragment in ESP transport mode")
)

// Inbound faults.
var (
	// ErrMalformed: too short, misaligned, or lengths that contradict each
	// other. Outbound: no whole IP packet.
	ErrMalformed = errors.New("malformed ESP packet")
	// ErrEncapsulation: ESP in UDP for an SA without it, or the other way round.
	ErrEncapsulation = errors.New("UDP encapsulation differs from the SA's")
	// ErrAuth: the ICV is wrong.
	ErrAuth = errors.New("ESP integrity check failed")
	// ErrBadTrailer: the ICV is right, but pad octets or pad length are wrong.
	ErrBadTrailer = errors.New("bad ESP trailer")
	// ErrDummy: a dummy packet (RFC 4303, 2.6); to be discarded, no error.
	ErrDummy = errors.New("ESP dummy packet")
)

// Faults of configuration.
var (
	// ErrKeyLength, ErrSaltLength, ErrICVLength: not what the algorithm has.
	ErrKeyLength  = errors.New("wrong key length")
	ErrSaltLength = errors.New("wrong salt length")
	ErrICVLength  = errors.New("wrong ICV length")
	// ErrSelfTest: an engine does not come to the known answers.
	ErrSelfTest = errors.New("cipher self-test failed")
)

// What SelfTest found.
var (
	errWrongPacket = errors.New("sealed packet differs")
	errWrongText   = errors.New("opened text differs")
	errNotNoticed  = errors.New("not noticed")
)
