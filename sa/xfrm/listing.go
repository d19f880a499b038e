package xfrm

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"espgw/sa"
)

// Listing is what `ip xfrm state list` or `ip xfrm policy list` printed, in its
// order.
type Listing struct {
	States   []*StateView
	Policies []*PolicyView
}

// ParseListing reads what WriteState, WritePolicy or iproute2 (6.1 to 6.15, with
// -s and -o or without) printed, of states, policies, or both one behind the
// other. A hidden key is empty in the result. A state without a selector of its
// own has none here either. What the listing shows of sequence numbers is in
// ReplaySeq and ReplayOSeq too, so that the state can be added again.
//
// Settings that have no meaning here give an *Error, as in commands; so does
// what is not a listing.
func ParseListing(r io.Reader) (*Listing, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading a listing: %w", err)
	}
	p := &listingParser{lines: splitListing(string(text))}
	l := &Listing{}
	for p.more() {
		w := p.line()
		// `src 10.0.0.1` begins a state, `src 10.0.0.0/8` a policy.
		isPolicy := len(w.list) > 1 && strings.Contains(w.list[1].text, "/")
		if first := w.peek(); first.text != "src" {
			return nil, w.fail(first, "does not begin a state or a policy", "src ADDRESS dst ADDRESS")
		}
		if isPolicy {
			v, err := p.policy(w)
			if err != nil {
				return nil, err
			}
			l.Policies = append(l.Policies, v)
			continue
		}
		v, err := p.state(w)
		if err != nil {
			return nil, err
		}
		l.States = append(l.States, v)
	}
	return l, nil
}

// splitListing cuts a listing into lines of words. A backslash ends a line of a
// record under `ip -o`. Empty lines are dropped.
func splitListing(text string) [][]word {
	var lines [][]word
	for n, row := range strings.Split(text, "\n") {
		column, line := 1, []word(nil)
		start, startColumn := -1, 0
		cut := func(end int) {
			if start >= 0 {
				line = append(line, word{text: row[start:end], line: n + 1, column: startColumn})
			}
			start = -1
		}
		for i, r := range row {
			switch r {
			case ' ', '\t', '\r', '\\':
				cut(i)
				if r == '\\' && len(line) > 0 {
					lines, line = append(lines, line), nil
				}
			default:
				if start < 0 {
					start, startColumn = i, column
				}
			}
			column++
		}
		cut(len(row))
		if len(line) > 0 {
			lines = append(lines, line)
		}
	}
	for _, line := range lines {
		markSecrets(line)
	}
	return lines
}

// listingParser goes through the lines of a listing.
type listingParser struct {
	lines [][]word
	next  int
}

// more reports whether a line is left.
func (p *listingParser) more() bool { return p.next < len(p.lines) }

// inRecord reports whether the next line belongs to the record that has begun.
func (p *listingParser) inRecord() bool { return p.more() && p.lines[p.next][0].text != "src" }

// line takes the next line. Only to be called when more.
func (p *listingParser) line() *words {
	p.next++
	return &words{list: p.lines[p.next-1]}
}

// expect takes the word that must stand here.
func (c *words) expect(text string) error {
	if !c.more() {
		return c.fail(c.last(), "ends too early", text)
	}
	if w := c.take(); w.text != text {
		return c.fail(w, "is not expected here", text)
	}
	return nil
}

// listed takes the number behind the word name, without what stands behind it:
// a comma, or the same number in another form in parentheses.
func (c *words) listed(name string, bits int) (uint64, error) {
	if err := c.expect(name); err != nil {
		return 0, err
	}
	return c.listedNumber(bits)
}

func (c *words) listedNumber(bits int) (uint64, error) {
	if !c.more() {
		return 0, c.fail(c.last(), "ends too early", "a number")
	}
	w := c.take()
	text, _, _ := strings.Cut(strings.TrimSuffix(w.text, ","), "(")
	n, ok := parseUint(text, bits)
	if !ok {
		return 0, c.fail(w, "is not a number", numberRange(bits))
	}
	return n, nil
}

// listedPair takes `src A dst B`.
func (c *words) listedID() (*stateID, error) {
	if !c.more() || !isIDWord(c.peek().text) {
		return nil, c.fail(c.last(), "is not followed by an ID", "src ADDRESS dst ADDRESS")
	}
	id, err := parseID(c, FamilyAny)
	if err != nil {
		return nil, err
	}
	if !id.src.IsValid() || !id.dst.IsValid() {
		return nil, c.fail(c.last(), "an address is missing", "src ADDRESS dst ADDRESS")
	}
	return id, id.single(c)
}

// listedIdentity takes `proto esp [spi S] reqid R mode M`.
func (c *words) listedIdentity() (proto uint8, spi, reqID uint32, mode sa.Mode, err error) {
	id := &stateID{}
	if err = c.expect("proto"); err != nil {
		return
	}
	if err = id.parseProto(c, c.last()); err != nil {
		return
	}
	var n uint64
	if c.peek().text == "spi" {
		if n, err = c.listed("spi", 32); err != nil {
			return
		}
		spi = uint32(n)
	}
	if n, err = c.listed("reqid", 32); err != nil {
		return
	}
	if err = c.expect("mode"); err != nil {
		return
	}
	mode, err = parseMode(c, c.last())
	return id.proto, spi, uint32(n), mode, err
}

// listedSelector takes a selector and the `uid 0` of `ip -s` behind it.
func (c *words) listedSelector() (sa.Selector, error) {
	s, err := parseSelector(c, FamilyAny)
	if err != nil {
		return sa.Selector{}, err
	}
	if c.peek().text == "uid" {
		if _, err := c.listed("uid", 32); err != nil {
			return sa.Selector{}, err
		}
	}
	return s.resolve(FamilyAny), c.end("proto", "sport", "dport", "type", "code")
}

// listedTime takes a time, two words, or `-` for none.
func (c *words) listedTime() (time.Time, error) {
	if !c.more() {
		return time.Time{}, c.fail(c.last(), "is not followed by a time", "YYYY-MM-DD HH:MM:SS", "-")
	}
	w := c.take()
	if w.text == "-" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(time.DateTime, w.text+" "+c.peek().text, time.Local)
	if err != nil || !c.more() {
		return t, c.fail(w, "does not begin a time", "YYYY-MM-DD HH:MM:SS", "-")
	}
	c.take()
	return t, nil
}

// skipFlags takes the `(0x…)` that ends a list of flags under `ip -s`.
func (c *words) skipFlagBits() {
	if strings.HasPrefix(c.peek().text, "(0x") {
		c.take()
	}
}

// hasFlag reports whether a flag's name comes next: under `ip -s` a list of
// flags may be empty.
func hasFlag[T any](c *words, names []T, name func(T) string) bool {
	return slices.ContainsFunc(names, func(n T) bool { return name(n) == c.peek().text })
}
