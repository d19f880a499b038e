package xfrm

import (
	"net/netip"

	"espgw/sa"
)

// stateID is what `[src ADDR] [dst ADDR] [proto P] [spi SPI]` said.
type stateID struct {
	src, dst         netip.Prefix
	proto            uint8
	spi              uint32
	hasSPI           bool
	srcWord, dstWord word
	spiWord          word
}

func isIDWord(t string) bool { return t == "src" || t == "dst" || t == "proto" || t == "spi" }

// parseID reads an ID as iproute2 does: its words in any order, in one piece.
// There is at least one of them.
func parseID(in *words, family Family) (*stateID, error) {
	id := &stateID{}
	for in.more() && isIDWord(in.peek().text) {
		w := in.take()
		var err error
		switch w.text {
		case "proto":
			err = id.parseProto(in, w)
		case "spi":
			err = id.parseSPI(in, w)
		default:
			err = id.parseAddress(in, w, family)
		}
		if err != nil {
			return nil, err
		}
	}
	return id, nil
}

func (id *stateID) parseProto(in *words, w word) error {
	if id.proto != 0 {
		return in.fail(w, "is given twice")
	}
	v, err := in.value(w, "a protocol", "esp")
	if err != nil {
		return err
	}
	switch v.text {
	case "esp":
		id.proto = sa.ProtoESP
		return nil
	case "ah", "comp", "route2", "hao", "ipsec-any":
		return in.fail(v, "only ESP is spoken here", "esp")
	}
	return in.fail(v, "is not an IPsec protocol", "esp")
}

func (id *stateID) parseSPI(in *words, w word) error {
	if id.hasSPI {
		return in.fail(w, "is given twice")
	}
	n, v, err := in.uint(w, 32, "an SPI")
	if err != nil {
		return err
	}
	id.spi, id.hasSPI, id.spiWord = uint32(n), true, v
	return nil
}

func (id *stateID) parseAddress(in *words, w word, family Family) error {
	own, at, other := &id.src, &id.srcWord, id.dst
	if w.text == "dst" {
		own, at, other = &id.dst, &id.dstWord, id.src
	}
	if own.IsValid() {
		return in.fail(w, "is given twice")
	}
	v, err := in.value(w, "an address")
	if err != nil {
		return err
	}
	p, err := in.prefix(v, family)
	if err != nil {
		return err
	}
	if other.IsValid() && other.Addr().Is4() != p.Addr().Is4() {
		return in.fail(v, "is not of the other address's family")
	}
	*own, *at = p, v
	return nil
}

// single fails unless both addresses, where given, are whole ones.
func (id *stateID) single(in *words) error {
	for _, a := range []struct {
		prefix netip.Prefix
		at     word
	}{{id.src, id.srcWord}, {id.dst, id.dstWord}} {
		if a.prefix.IsValid() && !a.prefix.IsSingleIP() {
			return in.fail(a.at, "an address without a prefix length is meant here; networks are for selectors")
		}
	}
	return nil
}

// uint takes the number behind keyword.
func (c *words) uint(keyword word, bits int, what string) (uint64, word, error) {
	v, err := c.value(keyword, what)
	if err != nil {
		return 0, v, err
	}
	n, ok := parseUint(v.text, bits)
	if !ok {
		return 0, v, c.fail(v, "is not "+what, numberRange(bits))
	}
	return n, v, nil
}

func numberRange(bits int) string {
	switch bits {
	case 16:
		return "0 to 65535, decimal or 0x hex"
	case 32:
		return "0 to 0xffffffff, decimal or 0x hex"
	}
	return "0 to 0xffffffffffffffff, decimal or 0x hex"
}

// parseStateID reads the ID of `state get` and `state delete`.
func parseStateID(in *words, c *Command) error {
	for in.more() {
		w := in.peek()
		switch {
		case refusedStateWords[w.text] != "":
			return in.fail(w, refusedStateWords[w.text], "src", "dst", "proto", "spi")
		case c.Verb == VerbGet && (w.text == "keys" || w.text == "nokeys"):
			in.take()
			c.Options.Keys = w.text == "keys"
		case isIDWord(w.text) && c.StateFilter.SPI == nil:
			if err := parseExactID(in, c); err != nil {
				return err
			}
		default:
			return in.fail(w, "is not expected here", "src", "dst", "proto", "spi")
		}
	}
	if c.StateFilter.SPI == nil {
		return in.fail(in.last(), "the ID is missing", "[src ADDRESS] dst ADDRESS proto esp spi SPI")
	}
	return nil
}

func parseExactID(in *words, c *Command) error {
	id, err := parseID(in, c.Family)
	if err != nil {
		return err
	}
	if err := id.single(in); err != nil {
		return err
	}
	last := in.last()
	switch {
	case !id.dst.IsValid():
		return in.fail(last, "the ID has no destination address", "dst ADDRESS")
	case id.proto == 0:
		return in.fail(last, "the ID has no protocol", "proto esp")
	case !id.hasSPI:
		return in.fail(last, "the ID has no SPI", "spi 1 to 0xffffffff")
	}
	c.StateFilter = StateFilter{Src: id.src, Dst: id.dst, SPI: &id.spi}
	return nil
}

// parseStateFilter reads the conditions of `state list` and `state deleteall`.
func parseStateFilter(in *words, c *Command) error {
	f := &c.StateFilter
	f.Family = c.Family
	hasID := false
	for in.more() {
		w := in.peek()
		switch {
		case w.text == "keys" || w.text == "nokeys":
			in.take()
			c.Options.Keys = w.text == "keys"
		case w.text == "mode":
			mode, _, err := parseAnyMode(in, in.take())
			if err != nil {
				return err
			}
			f.Mode = &mode
		case w.text == "reqid":
			n, _, err := in.uint(in.take(), 32, "a request ID")
			if err != nil {
				return err
			}
			f.ReqID = new(uint32(n))
		case w.text == "flag":
			if err := parseStateFlags(in, in.take(), &f.Flags); err != nil {
				return err
			}
		case isIDWord(w.text) && !hasID:
			hasID = true
			id, err := parseID(in, c.Family)
			if err != nil {
				return err
			}
			f.Src, f.Dst = id.src, id.dst
			if id.hasSPI {
				f.SPI = &id.spi
			}
		default:
			return in.fail(w, "is not a condition of a listing", "src", "dst", "proto", "spi", "mode", "reqid", "flag", "keys", "nokeys")
		}
	}
	return nil
}

// parseStateFlush reads `state flush [proto esp]`.
func parseStateFlush(in *words) error {
	if in.more() && in.peek().text == "proto" {
		if err := new(stateID).parseProto(in, in.take()); err != nil {
			return err
		}
	}
	return in.end("proto esp")
}
