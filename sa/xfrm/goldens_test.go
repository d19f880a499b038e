package xfrm

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/sa"
)

// exchange is one line of a transcript that scripts/goldens.sh recorded: a
// command, what it printed, and whether it succeeded.
type exchange struct {
	line, out string
	failed    bool
}

// offloadLine is a line of Debian 12's iproute2, which has neither the mode of an
// offload nor the direction of a state; the goldens are compared in the form of
// Debian 13.
var offloadLine = regexp.MustCompile(`(crypto offload parameters: dev \S+ dir (in|out))([\\\n])`)

func readTranscript(t *testing.T, path string) []exchange {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var list []exchange
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "$ "):
			list = append(list, exchange{line: strings.TrimSuffix(line[2:], "\n")})
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "! "):
			list[len(list)-1].failed = true
		default:
			list[len(list)-1].out += offloadLine.ReplaceAllString(line, "${1} mode crypto${3}\tdir ${2}${3}")
		}
	}
	return list
}

// transcripts calls f for every transcript of every release.
func transcripts(t *testing.T, f func(t *testing.T, list []exchange)) {
	for _, release := range []string{"bookworm", "trixie"} {
		paths, err := filepath.Glob(filepath.Join("testdata", "goldens", release, "*.txt"))
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			t.Run(release+"/"+filepath.Base(path), func(t *testing.T) { f(t, readTranscript(t, path)) })
		}
	}
}

// parseAs parses a line and sets for this package what iproute2 has otherwise:
// it shows keys unless told not to, and an SA without `replay-window` has none.
func parseAs(line string) (*Command, error) {
	c, err := Parse(line)
	if err != nil {
		return nil, err
	}
	c.Options.Keys = !strings.Contains(line, "nokeys")
	if c.State != nil {
		c.State.ReplayWindowSet = true
	}
	return c, nil
}

// difference is a command, known by a part of it, that ends otherwise here.
type difference struct {
	part, why string
	refused   bool // there; where it was accepted it is so here
	stop      bool // what follows in the transcript depends on it
}

// differs lists commands that end otherwise here than with iproute2, and why.
var differs = []difference{
	{part: "tmpl proto comp", why: "one template, and ESP only", stop: true},
	{part: "replay-window 4097", why: "windows may be larger", stop: true},
	{part: "spi 0x20a flag esn", why: "an SA without replay-window gets the default one"},
	{part: "offload dev eth4 dir out", why: "Linux 6.10 and later want no window then; the classic commands give one", refused: true},
	{part: "dir out replay-window 32", why: "the classic commands say so with offload", stop: true},
}

// newer are words that Debian 12's iproute2 does not have.
var newer = []string{"dir out aead", "dir in replay-window", "dir out flag", "setdefault out allow", "offload crypto"}

func contains(line string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line, part) })
}

var (
	times   = regexp.MustCompile(`add [-0-9]+ [:0-9]+ use`)
	indices = regexp.MustCompile(`index \d+`)
)

// normalise takes out what depends on the clock and on what was there before.
func normalise(s string) string {
	return indices.ReplaceAllString(times.ReplaceAllString(s, "add TIME use"), "index N")
}

// TestGoldensReplayed runs the recorded commands on a DB and expects the
// recorded answers, byte for byte.
func TestGoldensReplayed(t *testing.T) {
	transcripts(t, func(t *testing.T, list []exchange) {
		db := sa.NewDB(sa.Options{})
		compared := 0
		for _, x := range list {
			if !strings.HasPrefix(x.line, "ip ") {
				return // what it did cannot be done here
			}
			if contains(x.line, newer) && strings.Contains(t.Name(), "bookworm") {
				require.True(t, x.failed)
				return
			}
			d := slices.IndexFunc(differs, func(d difference) bool {
				return strings.Contains(x.line, d.part) && (x.failed || !d.refused)
			})
			if d >= 0 && differs[d].stop {
				return
			} else if d >= 0 {
				continue
			}
			var out bytes.Buffer
			err := execute(db, x.line, &out)
			if x.failed {
				require.Error(t, err, x.line)
				continue
			}
			require.NoError(t, err, x.line)
			require.Equal(t, normalise(x.out), normalise(out.String()), x.line)
			if x.out != "" {
				compared++
			}
			requireSameStates(t, db, x)
		}
		t.Logf("%d listings alike", compared)
	})
}

// requireSameStates expects that the recorded listing, of whichever release, is
// read as the states that the commands made.
func requireSameStates(t *testing.T, db *sa.DB, x exchange) {
	t.Helper()
	c, err := parseAs(x.line)
	require.NoError(t, err)
	if c.Object != ObjectState || c.Verb != VerbList {
		return
	}
	l, err := ParseListing(strings.NewReader(x.out))
	require.NoError(t, err)
	tx := db.Begin()
	defer tx.Rollback()
	var want, got []string
	for s := range tx.States(c.StateFilter.Match) {
		p := *s.Params()
		if !c.Options.Stats {
			p.Limits = sa.Unlimited()
		}
		want = append(want, CommandLine(&p, c.Options.Keys))
	}
	for _, v := range l.States {
		got = append(got, CommandLine(v.Params, c.Options.Keys))
	}
	require.Equal(t, want, got, x.line)
}

func execute(db *sa.DB, line string, out *bytes.Buffer) error {
	c, err := parseAs(line)
	if err != nil {
		return err
	}
	tx := db.Begin()
	defer tx.Rollback()
	if err := c.Execute(tx, out); err != nil {
		return err
	}
	if _, err := tx.Prepare(); err != nil {
		return err
	}
	tx.Commit()
	return nil
}

// TestGoldensReadAndWritten reads every recorded listing and writes it again:
// live values, times and keys included.
func TestGoldensReadAndWritten(t *testing.T) {
	transcripts(t, func(t *testing.T, list []exchange) {
		for _, x := range list {
			if !strings.HasPrefix(x.out, "src ") || !strings.HasPrefix(x.line, "ip ") || strings.Contains(x.out, "proto comp") {
				continue
			}
			c, err := parseAs(x.line)
			require.NoError(t, err)
			l, err := ParseListing(strings.NewReader(x.out))
			require.NoError(t, err, x.line)
			var out bytes.Buffer
			for _, v := range l.States {
				require.NoError(t, WriteState(&out, v, c.Options))
			}
			for _, v := range l.Policies {
				require.NoError(t, WritePolicy(&out, v, c.Options))
			}
			require.Equal(t, x.out, out.String(), x.line)
		}
	})
}

// TestMonitorGolden writes the events that the recorded commands raised.
func TestMonitorGolden(t *testing.T) {
	for _, release := range []string{"bookworm", "trixie"} {
		list := readTranscript(t, filepath.Join("testdata", "goldens", release, "monitor.txt"))
		want, _, _ := strings.Cut(list[len(list)-1].out, "Default policies:")
		var out bytes.Buffer
		o := FormatOptions{Keys: true} // iproute2 shows them in spite of nokeys
		state := func(c Change, n int) {
			command, err := parseAs(list[n].line)
			require.NoError(t, err)
			require.NoError(t, WriteStateEvent(&out, c, NewStateView(command.State), o))
		}
		policy := func(c Change, n int) {
			command, err := parseAs(list[n].line)
			require.NoError(t, err)
			require.NoError(t, WritePolicyEvent(&out, c, &PolicyView{Policy: command.Policy}, o))
		}
		state(Added, 1)
		state(Added, 2)
		state(Updated, 3)
		policy(Added, 4)
		policy(Updated, 5)
		policy(Added, 6)
		state(ExpiredHard, 1)
		state(ExpiredSoft, 3)
		policy(ExpiredHard, 5)
		state(Deleted, 3)
		policy(Deleted, 6)
		require.ElementsMatch(t, records(want), records(out.String()), release)
	}
}

// records cuts a listing: only the first line of a record is not indented. When
// an expiry is told depends on the guest's speed, so their order does not count.
func records(s string) []string {
	var list []string
	for line := range strings.Lines(s) {
		if line[0] == '\t' {
			list[len(list)-1] += line
		} else {
			list = append(list, line)
		}
	}
	return list
}
