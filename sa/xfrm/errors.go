package xfrm

import (
	"errors"
	"fmt"
	"strings"
)

// ErrMonitor: the command is `ip xfrm monitor`, which does not end and so is not
// for Execute: the caller follows the DB's events itself.
var ErrMonitor = errors.New("monitor does not end and cannot be part of a batch")

// Error says what is wrong with a text, where, and what would be right. Line and
// Column count from 1; Column counts characters. File is empty where the text
// has no name. Word is what stands there, "(hidden)" where it may be a key.
type Error struct {
	File         string
	Line, Column int
	Word         string
	Reason       string
	Accepted     []string // may be empty
}

// Error gives `FILE:LINE:COLUMN: "WORD": reason; accepted: a, b`.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, e.Line, e.Column)
	} else {
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Column)
	}
	fmt.Fprintf(&b, "%q: %s", e.Word, e.Reason)
	if len(e.Accepted) > 0 {
		b.WriteString("; accepted: ")
		b.WriteString(strings.Join(e.Accepted, ", "))
	}
	return b.String()
}
