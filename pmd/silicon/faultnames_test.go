package silicon_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

// TestFaultNames: each can be set by its name, alone for 1, and changes one thing; 0 ends it.
func TestFaultNames(t *testing.T) {
	changed := map[string]bool{}
	for _, listed := range silicon.FaultNames() {
		name, unit, _ := strings.Cut(listed, ":")
		require.NotEmpty(t, unit)
		var seven, one silicon.Faults
		require.NoError(t, seven.Set(name+":7"))
		require.NoError(t, one.Set(name))
		v, fields := reflect.ValueOf(seven), 0
		for i := range v.NumField() {
			if !v.Field(i).IsZero() {
				changed[v.Type().Field(i).Name] = true
				fields++
			}
		}
		require.Equal(t, 1, fields, name)
		again := silicon.Faults{}
		require.NoError(t, again.Set(name+":1"))
		require.Equal(t, again, one)
		require.NoError(t, seven.Set(name+":0"))
		require.Zero(t, seven)
	}
	require.Len(t, changed, reflect.TypeFor[silicon.Faults]().NumField(), "each fault has a name")
}

func TestFaultsThatCannotBe(t *testing.T) {
	r := newRig(t)
	for text, says := range map[string]string{
		"icv:": "no number", "icv:x": "no number", "icv:-1": "no number", "icv:1.5": "no number",
		"icv:99999999999999999999": "no number",
		"":                         "there are icv:PACKETS", "ICV:1": "there are", "no-such:1": `no fault "no-such"`,
	} {
		faults := silicon.Faults{ICVEvery: 5}
		require.ErrorContains(t, faults.Set(text), says, text)
		require.Equal(t, silicon.Faults{ICVEvery: 5}, faults)
		require.Error(t, r.card.SetFault(text))
	}
}
