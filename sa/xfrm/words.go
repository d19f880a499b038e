package xfrm

import (
	"slices"
	"strings"
)

// words is a cursor over the words of one command.
type words struct {
	file string
	list []word
	next int
}

// more reports whether a word is left.
func (c *words) more() bool { return c.next < len(c.list) }

// peek returns the next word, the zero word at the end.
func (c *words) peek() word {
	if !c.more() {
		return word{}
	}
	return c.list[c.next]
}

// take returns the next word and steps over it. Only to be called when more.
func (c *words) take() word {
	c.next++
	return c.list[c.next-1]
}

// last is the word taken last.
func (c *words) last() word { return c.list[max(0, c.next-1)] }

// value takes the word that must follow keyword; what names it, accepted says
// what it may be.
func (c *words) value(keyword word, what string, accepted ...string) (word, error) {
	if !c.more() {
		return word{}, c.fail(keyword, "needs "+what+" behind it", accepted...)
	}
	return c.take(), nil
}

// fail makes an Error at w, or at the end if w is the zero word.
func (c *words) fail(w word, reason string, accepted ...string) error {
	if w.line == 0 && len(c.list) > 0 {
		w = c.list[len(c.list)-1]
	}
	text := w.text
	if w.secret || looksLikeKey(text) {
		text = hiddenWord
	}
	return &Error{File: c.file, Line: w.line, Column: w.column, Word: text, Reason: reason, Accepted: accepted}
}

const hiddenWord = "(hidden)"

// longestWord is what an unknown word may have in characters and be shown: a key
// has at least 16, in hex 32.
const longestWord = 15

// looksLikeKey reports whether a word, wherever it stands, may be a key in the
// wrong place: it is long, and neither an address nor an algorithm's name.
func looksLikeKey(s string) bool {
	if len(s) <= longestWord || looksLikeAlgorithm(s) {
		return false
	}
	isAddress := strings.ContainsAny(s, ".:") && strings.Trim(s, "0123456789abcdefABCDEF.:/") == ""
	return !isAddress
}

// looksLikeAlgorithm reports whether a word is built as the kernel's names of
// algorithms are, with parentheses.
func looksLikeAlgorithm(s string) bool {
	return strings.Contains(s, "(") && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789(),-_") == ""
}

// harmless are words behind an algorithm word that are shown in errors.
var harmless = []string{
	"aead", "auth", "auth-trunc", "comp", "enc", "sel", "src", "dst", "proto", "spi", "mode", "reqid",
	"replay-window", "flag", "limit", "encap", "offload", "dir",
}

// markSecrets marks what stands where a key could: the three words behind
// `aead` and the like. A key with its name forgotten, or behind its length, is
// still not shown.
func markSecrets(list []word) {
	for i, w := range list {
		if !slices.Contains([]string{"aead", "auth", "auth-trunc", "enc", "comp"}, w.text) {
			continue
		}
		for j := i + 1; j < min(i+4, len(list)); j++ {
			t := list[j].text
			shortNumber := len(t) <= 3 && strings.Trim(t, "0123456789") == ""
			if !shortNumber && !looksLikeAlgorithm(t) && !slices.Contains(harmless, t) {
				list[j].secret = true
			}
		}
	}
}

// matches is iproute2's abbreviation rule: text is a beginning of full and not
// empty.
func matches(text, full string) bool {
	return text != "" && strings.HasPrefix(full, text)
}
