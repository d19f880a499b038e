package sa

// Admission is what an SA says about a packet or a run of packets.
type Admission uint8

// The admissions. (Verdict has the name Expired; here it is StateExpired.)
const (
	OK              Admission = iota
	Exhausted                 // the sequence space has ended (RFC 4303, 3.3.3)
	StateExpired              // a hard limit was reached, or the SA was deleted
	NoReserve                 // no sequence number is reserved for it at the moment (see Kept)
	ReplayOld                 // below the window (RFC 4303, 3.4.3)
	ReplayDuplicate           // received before
)

// String names the admission.
func (a Admission) String() string {
	return name(a, "ok", "sequence exhausted", "expired", "nothing reserved", "replay: old", "replay: duplicate")
}

// String names the verdict.
func (v Verdict) String() string {
	return name(v, "pass", "protect", "block", "no state", "expired", "mismatch", "state mismatch", "fragmented")
}

// String gives the word of `ip xfrm`: in, out, fwd.
func (d Direction) String() string { return name(d, "none", "in", "out", "fwd", "ambiguous") }

// String gives the word of `ip xfrm`: transport, tunnel.
func (m Mode) String() string { return name(m, "transport", "tunnel") }

// String gives the kernel's name of the algorithm.
func (a Algorithm) String() string {
	return name(a, "none", "rfc4106(gcm(aes))", "rfc7539esp(chacha20,poly1305)")
}

func name[T ~uint8](v T, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "unknown"
}
