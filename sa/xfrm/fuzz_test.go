package xfrm

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// seedCommands are the recorded cases, whole and by line, and oddities.
func seedCommands(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "goldens", "cases", "*.cmd"))
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(string(text))
		for line := range strings.Lines(string(text)) {
			f.Add(line)
		}
	}
	for _, s := range []string{
		classic, "", "#", "\\", "'", `"`, "ip x s add \\\r\n  src 1 \\\n dst 2", "ip x s;ip x p&&ip x m", "x p add dir in sel",
		"ip x p add dir out proto tcp sport 5/0xff dport 0/0xffff tmpl proto esp", "\xff\xfe", "ip x s add src ::ffff:1.2.3.4",
		"ip x s a " + id + alg + " flag esn replay-seq 1 replay-seq-hi 2 replay-oseq 3 replay-oseq-hi 4 offload packet dev a$b dir in",
		"ip x s a " + id + "aead 'rfc4106(gcm(aes))' 'twenty octets of key' 128",
	} {
		f.Add(s)
	}
}

// FuzzParse: no panic; an error points into the text and shows no key; what a
// command says can be written as a command that says the same.
func FuzzParse(f *testing.F) {
	seedCommands(f)
	f.Fuzz(func(t *testing.T, text string) {
		commands, err := ParseFile(strings.NewReader(text), "fuzz")
		if err != nil {
			checkError(t, text, err)
			hideKeys(t, text)
			return
		}
		for _, c := range commands {
			require.NotEmpty(t, c.Verb.String()+c.Object.String())
			switch {
			case c.State != nil:
				line := CommandLine(c.State, true)
				again, err := Parse(line)
				require.NoError(t, err, line)
				require.Equal(t, c.State, again.State, line)
				require.Equal(t, line, CommandLine(again.State, true))
			case c.Policy != nil:
				line := PolicyCommandLine(c.Policy)
				again, err := Parse(line)
				require.NoError(t, err, line)
				require.Equal(t, c.Policy, again.Policy, line)
				require.NoError(t, c.Policy.Validate(), line)
			}
		}
	})
}

// checkError expects that err is an *Error that points into text.
func checkError(t *testing.T, text string, err error) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	require.GreaterOrEqual(t, e.Line, 1)
	require.LessOrEqual(t, e.Line, len(lines))
	require.GreaterOrEqual(t, e.Column, 1)
	require.LessOrEqual(t, e.Column, max(1, utf8.RuneCountInString(lines[e.Line-1])), "%v", err)
	require.NotEmpty(t, e.Reason)
}

// hideKeys puts a key at every place where a word of text begins, and expects
// that no error shows it.
func hideKeys(t *testing.T, text string) {
	const key = "00112233445566778899aabbccddeeff01234567"
	words := strings.Fields(text)
	if len(words) > 40 {
		return
	}
	for i := range words {
		line := strings.Join(words[:i], " ") + " 0x" + key + " " + strings.Join(words[i:], " ")
		if _, err := ParseFile(strings.NewReader(line), "fuzz"); err != nil {
			require.NotContains(t, err.Error(), key)
		}
	}
}

// FuzzParseListing: no panic; an error points into the text; what was read can
// be written, and reads the same again.
func FuzzParseListing(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "goldens", "*", "*.txt"))
	require.NoError(f, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		for _, part := range strings.Split(string(text), "\n$ ") {
			if _, out, _ := strings.Cut(part, "\n"); strings.HasPrefix(out, "src ") {
				f.Add(out)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseListing(strings.NewReader(text))
		if err != nil {
			checkError(t, text, err)
			return
		}
		o := FormatOptions{Keys: true, Stats: true}
		var first, second bytes.Buffer
		write(t, &first, l, o)
		again, err := ParseListing(bytes.NewReader(first.Bytes()))
		require.NoError(t, err, first.String())
		write(t, &second, again, o)
		require.Equal(t, first.String(), second.String())
	})
}

func write(t *testing.T, out *bytes.Buffer, l *Listing, o FormatOptions) {
	t.Helper()
	for _, v := range l.States {
		require.NoError(t, WriteState(out, v, o))
	}
	for _, v := range l.Policies {
		require.NoError(t, WritePolicy(out, v, o))
	}
}
