package sa

import "fmt"

// The kinds of warnings.
const (
	warnSPI = iota
	warnKey
	warnPolicy
	warnDirection
	warnKinds
)

// maxWarnings is how many warnings of a kind are spelled out.
const maxWarnings = 10

// warnings collects lines for the operator.
type warnings [warnKinds]struct {
	lines []string
	more  int
}

func (w *warnings) add(kind int, format string, args ...any) {
	k := &w[kind]
	if len(k.lines) == maxWarnings {
		k.more++
		return
	}
	k.lines = append(k.lines, fmt.Sprintf(format, args...))
}

func (w *warnings) forget(kind int) { w[kind].lines, w[kind].more = nil, 0 }

func (w *warnings) lines() (all []string) {
	what := [warnKinds]string{
		"more SAs have reserved SPIs", "more SAs share a key",
		"more policies protect what links need to come up", "more SAs fit policies of both directions",
	}
	for kind := range w {
		k := &w[kind]
		all = append(all, k.lines...)
		if k.more > 0 {
			all = append(all, fmt.Sprintf("%d %s", k.more, what[kind]))
		}
	}
	return all
}
