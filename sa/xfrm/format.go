package xfrm

// FormatOptions says how listings are written.
type FormatOptions struct {
	Keys    bool // show keys; otherwise as iproute2 does with `nokeys`
	Stats   bool // `ip -s`: limits, counters and more
	OneLine bool // `ip -o`: a record a line, its parts separated by backslashes
}
