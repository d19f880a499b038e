package silicon

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Settings choose the card's behaviour where no document tells it, or where two
// contradict each other. The zero value is what is thought most likely.
type Settings struct {
	// TxOff is what becomes of a packet that asks for IPsec while SA lookups are off
	// (IPS_TX_EN = 0) or the engine is.
	TxOff TxOff
	// StrictVersion: where ESP is found goes by the context's IPV4 bit; otherwise by
	// the packet's own version.
	StrictVersion bool
	// HighestDuplicate: of several receive SAs of one SPI and address the highest
	// counts; otherwise the lowest.
	HighestDuplicate bool
	// KeepFailed: a packet whose ICV is wrong is delivered as it came; otherwise
	// deciphered all the same.
	KeepFailed bool
	// ProtocolIsMatch: an SA of the other protocol (AH) does not match; otherwise it
	// does and the packet has error 01.
	ProtocolIsMatch bool
	// SkipTagged: frames with a VLAN tag are no IPsec packets to the receiver
	// (comment in Linux's driver); otherwise they are (datasheet 7.13.2.2).
	SkipTagged bool
	// InnerType: the packet type of an opened packet tells TCP or UDP (datasheet
	// 7.13.11).
	InnerType bool
	// HLREG0 is that register's value after a reset.
	HLREG0 uint32
}

// TxOff is an answer to an open question; see Settings.
type TxOff int

// The answers.
const (
	TxOffClear TxOff = iota // sent as it is, in clear text
	TxOffDrop               // not sent
	TxOffSeal               // sealed: the bit has no such effect
)

// setting is one name that a user may set.
type setting struct {
	name, values string
	set          func(*Settings, string) bool
}

func flagSetting(at func(*Settings) *bool) func(*Settings, string) bool {
	return func(s *Settings, v string) bool {
		*at(s) = v == "yes"
		return v == "yes" || v == "no"
	}
}

var settingList = []setting{
	{"tx-off", "clear|drop|seal", func(s *Settings, v string) bool {
		i := slices.Index([]string{"clear", "drop", "seal"}, v)
		s.TxOff = TxOff(i)
		return i >= 0
	}},
	{"strict-version", "yes|no", flagSetting(func(s *Settings) *bool { return &s.StrictVersion })},
	{"highest-duplicate", "yes|no", flagSetting(func(s *Settings) *bool { return &s.HighestDuplicate })},
	{"keep-failed", "yes|no", flagSetting(func(s *Settings) *bool { return &s.KeepFailed })},
	{"protocol-is-match", "yes|no", flagSetting(func(s *Settings) *bool { return &s.ProtocolIsMatch })},
	{"skip-tagged", "yes|no", flagSetting(func(s *Settings) *bool { return &s.SkipTagged })},
	{"inner-type", "yes|no", flagSetting(func(s *Settings) *bool { return &s.InnerType })},
	{"hlreg0", "NUMBER", func(s *Settings, v string) bool {
		n, err := strconv.ParseUint(v, 0, 32)
		s.HLREG0 = uint32(n)
		return err == nil
	}},
}

// DefaultSettings are those of a card of which nothing else is said.
func DefaultSettings() Settings { return Settings{HLREG0: hlregTxCRC | hlregRxStrip | hlregTxPad} }

// Set changes the setting that text names, "NAME=VALUE".
func (s *Settings) Set(text string) error {
	name, value, _ := strings.Cut(text, "=")
	for _, known := range settingList {
		if known.name != name {
			continue
		}
		changed := *s
		if !known.set(&changed, value) {
			return fmt.Errorf("setting %s is %s, not %q", name, known.values, value)
		}
		*s = changed
		return nil
	}
	return fmt.Errorf("no setting %q; there are %s", name, strings.Join(SettingNames(), ", "))
}

// SettingNames lists the settings with their values.
func SettingNames() []string {
	var names []string
	for _, s := range settingList {
		names = append(names, s.name+"="+s.values)
	}
	return names
}
