package xfrm

import "io"

// Change is what happened to a state or policy, as `ip xfrm monitor` tells it.
type Change uint8

// The changes.
const (
	Added Change = iota
	Updated
	Deleted
	ExpiredSoft // a soft limit was reached
	ExpiredHard // a hard limit was reached
)

// prefix stands in front of the record.
func (c Change) prefix() string {
	return [...]string{"", "Updated ", "Deleted ", "Expired ", "Expired "}[c]
}

// WriteStateEvent writes a record of `ip xfrm monitor`: what happened, and the
// state as a listing has it. The record of an expiry leaves out algorithm,
// encapsulation and sequence numbers, as the kernel does.
func WriteStateEvent(w io.Writer, c Change, v *StateView, o FormatOptions) error {
	p := &printer{FormatOptions: o, expired: c == ExpiredSoft || c == ExpiredHard}
	p.print(c.prefix())
	p.state(v)
	p.expiry(c)
	p.record()
	return p.writeTo(w)
}

// WritePolicyEvent is WriteStateEvent for a policy.
func WritePolicyEvent(w io.Writer, c Change, v *PolicyView, o FormatOptions) error {
	p := &printer{FormatOptions: o, expired: c == ExpiredSoft || c == ExpiredHard}
	p.print(c.prefix())
	p.policy(v)
	p.expiry(c)
	p.record()
	return p.writeTo(w)
}

// expiry says which limit was reached.
func (p *printer) expiry(c Change) {
	if !p.expired {
		return
	}
	p.printf("\thard %d", c-ExpiredSoft)
	p.end()
}
