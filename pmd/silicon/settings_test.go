package silicon_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

func TestDefaultSettings(t *testing.T) {
	require.Equal(t, silicon.Settings{TxOff: silicon.TxOffClear, HLREG0: 0x403}, silicon.DefaultSettings())
}

// TestSettingNames: each listed value of each listed name can be set, and all fields have a
// name. The first value of a choice and "no" are the defaults.
func TestSettingNames(t *testing.T) {
	changed := map[string]bool{}
	for _, listed := range silicon.SettingNames() {
		name, values, _ := strings.Cut(listed, "=")
		if values == "NUMBER" {
			values = "4660|0x1234|0x0|0"
		}
		for _, value := range strings.Split(values, "|") {
			var s silicon.Settings
			require.NoError(t, s.Set(name+"="+value))
			v := reflect.ValueOf(s)
			for i := range v.NumField() {
				if !v.Field(i).IsZero() {
					changed[v.Type().Field(i).Name] = true
				}
			}
		}
	}
	require.Len(t, changed, reflect.TypeFor[silicon.Settings]().NumField())
}

// TestSettingsSet each thing that they say, and back.
func TestSettingsSet(t *testing.T) {
	for text, want := range map[string]silicon.Settings{
		"tx-off=clear":          {TxOff: silicon.TxOffClear},
		"tx-off=drop":           {TxOff: silicon.TxOffDrop},
		"tx-off=seal":           {TxOff: silicon.TxOffSeal},
		"strict-version=yes":    {StrictVersion: true},
		"highest-duplicate=yes": {HighestDuplicate: true},
		"keep-failed=yes":       {KeepFailed: true},
		"protocol-is-match=yes": {ProtocolIsMatch: true},
		"skip-tagged=yes":       {SkipTagged: true},
		"inner-type=yes":        {InnerType: true},
		"hlreg0=0xffffffff":     {HLREG0: 0xffffffff},
		"hlreg0=1027":           {HLREG0: 0x403},
	} {
		var s silicon.Settings
		require.NoError(t, s.Set(text))
		require.Equal(t, want, s, text)
		if name, isYes := strings.CutSuffix(text, "=yes"); isYes {
			require.NoError(t, s.Set(name+"=no"))
			require.Zero(t, s)
		}
	}
}

// TestSettingsThatCannotBe are refused by name, and nothing is changed.
func TestSettingsThatCannotBe(t *testing.T) {
	for text, says := range map[string]string{
		"tx-off":             `clear|drop|seal, not ""`,
		"tx-off=open":        `clear|drop|seal, not "open"`,
		"strict-version=1":   `yes|no, not "1"`,
		"strict-version=YES": `yes|no, not "YES"`,
		"keep-failed":        `yes|no, not ""`,
		"hlreg0=":            "NUMBER",
		"hlreg0=x":           "NUMBER",
		"hlreg0=-1":          "NUMBER",
		"hlreg0=0x100000000": "NUMBER",
		"":                   "there are tx-off=clear|drop|seal, ",
		"TX-OFF=clear":       `no setting "TX-OFF"`,
		"no-such=yes":        `no setting "no-such"`,
	} {
		before := silicon.Settings{
			TxOff: silicon.TxOffDrop, StrictVersion: true, KeepFailed: true, HLREG0: 5,
		}
		s := before
		require.ErrorContains(t, s.Set(text), says, text)
		require.Equal(t, before, s, text)
	}
}
