package xfrm

import (
	"strings"
	"unicode/utf8"
)

// word is one word of a command, quotes and escapes undone, and where it began.
type word struct {
	text   string
	line   int
	column int
	secret bool // may be key material: never show it
}

// lexer cuts a text into commands as a POSIX shell would: blanks separate
// words; '…', "…" and \ quote; \ before a newline joins lines; # at the start
// of a word begins a comment; a newline, ; or && ends a command. What a shell
// would do beyond that (variables, pipes, redirection) is refused.
type lexer struct {
	file         string
	rest         string
	line, column int // of the first character of rest
}

func newLexer(file, text string) *lexer {
	return &lexer{file: file, rest: text, line: 1, column: 1}
}

// advance steps over one character and returns it.
func (l *lexer) advance() rune {
	r, size := utf8.DecodeRuneInString(l.rest)
	l.rest = l.rest[size:]
	if r == '\n' {
		l.line++
		l.column = 1
	} else {
		l.column++
	}
	return r
}

// take is advance, appending the character's bytes as they are to b.
func (l *lexer) take(b *strings.Builder) {
	before := l.rest
	l.advance()
	b.WriteString(before[:len(before)-len(l.rest)])
}

// continuation reports the length of a backslash-newline in front, 0 if there
// is none. A text from Windows has a carriage return between the two.
func (l *lexer) continuation() int {
	for _, c := range [...]string{"\\\n", "\\\r\n"} {
		if strings.HasPrefix(l.rest, c) {
			return len(c)
		}
	}
	return 0
}

func (l *lexer) skipContinuation(n int) {
	for range n {
		l.advance()
	}
}

func (l *lexer) fail(line, column int, what, reason string) error {
	return &Error{File: l.file, Line: line, Column: column, Word: what, Reason: reason}
}

// command returns the words of the next command; no words and no error mean
// that the text has ended. A command that was only blanks or comments is skipped.
func (l *lexer) command() ([]word, error) {
	var words []word
	for l.rest != "" {
		n := l.continuation()
		switch c := l.rest[0]; {
		case n > 0:
			l.skipContinuation(n)
		case c == ' ' || c == '\t' || c == '\r':
			l.advance()
		case c == '#':
			for l.rest != "" && l.rest[0] != '\n' {
				l.advance()
			}
		case c == '\n' || c == ';' || strings.HasPrefix(l.rest, "&&"):
			l.advance()
			if c == '&' {
				l.advance()
			}
			if len(words) > 0 {
				return words, nil
			}
		default:
			w, err := l.word()
			if err != nil {
				return nil, err
			}
			words = append(words, w)
		}
	}
	return words, nil
}

// word reads one word; the text does not begin with a blank.
func (l *lexer) word() (word, error) {
	w := word{line: l.line, column: l.column}
	var b strings.Builder
	for l.rest != "" {
		line, column := l.line, l.column
		n := l.continuation()
		switch c := l.rest[0]; {
		case n > 0:
			l.skipContinuation(n)
		case strings.IndexByte(" \t\r\n;", c) >= 0 || strings.HasPrefix(l.rest, "&&"):
			w.text = b.String()
			return w, nil
		case c == '\'':
			if err := l.singleQuoted(&b); err != nil {
				return w, err
			}
		case c == '"':
			if err := l.doubleQuoted(&b); err != nil {
				return w, err
			}
		case c == '\\':
			l.advance()
			if l.rest == "" {
				return w, l.fail(line, column, `\`, "nothing follows the backslash")
			}
			l.take(&b)
		case strings.IndexByte("$`|&<>", c) >= 0:
			return w, l.fail(line, column, string(rune(c)), "only a shell understands this; quote it if it is meant as it stands")
		default:
			l.take(&b)
		}
	}
	w.text = b.String()
	return w, nil
}

func (l *lexer) singleQuoted(b *strings.Builder) error {
	line, column := l.line, l.column
	l.advance()
	for l.rest != "" {
		if l.rest[0] == '\'' {
			l.advance()
			return nil
		}
		l.take(b)
	}
	return l.fail(line, column, "'", "the quote is not closed")
}

func (l *lexer) doubleQuoted(b *strings.Builder) error {
	line, column := l.line, l.column
	l.advance()
	for l.rest != "" {
		if n := l.continuation(); n > 0 {
			l.skipContinuation(n)
			continue
		}
		switch c := l.rest[0]; {
		case c == '"':
			l.advance()
			return nil
		case c == '$' || c == '`':
			return l.fail(l.line, l.column, string(rune(c)), "only a shell understands this; use single quotes if it is meant as it stands")
		case c == '\\' && len(l.rest) > 1 && strings.IndexByte("\\\"$`", l.rest[1]) >= 0:
			l.advance()
			l.take(b)
		default:
			l.take(b)
		}
	}
	return l.fail(line, column, `"`, "the quote is not closed")
}
