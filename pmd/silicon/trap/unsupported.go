//go:build !linux || !amd64

package trap

// Tracer cannot watch anything here.
type Tracer struct{}

// New makes a tracer whose Attach fails.
func New([]File, []Page) *Tracer { return &Tracer{} }

// Attach says ErrUnsupported.
func (t *Tracer) Attach(int) error { return ErrUnsupported }

// Attached says that no program is watched.
func (t *Tracer) Attached() bool { return false }

// Poll has nothing to do.
func (t *Tracer) Poll() bool { return false }

// Counts is zero.
func (t *Tracer) Counts() Counts { return Counts{} }
