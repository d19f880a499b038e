package main

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"espgw/pmd/silicon"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{
		"--ports", "2", "--wire", "none", "--wire", "loop", "--fault", "icv:50", "--set", "tx-off=drop", "--strict",
		"--", "espgw", "--no-huge", "--", "--help",
	})
	require.NoError(t, err)
	require.Equal(t, []string{"espgw", "--no-huge", "--", "--help"}, o.command)
	require.Equal(t, 50, o.faults.ICVEvery)
	require.Equal(t, silicon.TxOffDrop, o.settings.TxOff)
	require.True(t, o.strict)
	require.Equal(t, -1, o.cpu)
}

func TestOptionsRefused(t *testing.T) {
	for _, row := range []struct {
		args []string
		why  string
	}{
		{nil, "no command"},
		{[]string{"--ports", "2", "--"}, "no command"},
		{[]string{"--ports", "0", "--", "x"}, "there can be 1 to 8"},
		{[]string{"--ports", "9", "--", "x"}, "there can be 1 to 8"},
		{[]string{"--wire", "none", "--wire", "none", "--", "x"}, "2 wires for 1 ports"},
		{[]string{"--device", "x550", "--", "x"}, "there is only the 82599"},
		{[]string{"--fault", "fire", "--", "x"}, `no fault "fire"`},
		{[]string{"--set", "tx-off=maybe", "--", "x"}, `is clear|drop|seal, not "maybe"`},
		{[]string{"--unheard-of", "--", "x"}, "unknown flag"},
	} {
		_, err := parseOptions(row.args)
		require.ErrorContains(t, err, row.why, "%q", row.args)
	}
	_, err := parseOptions([]string{"--help"})
	require.ErrorIs(t, err, pflag.ErrHelp)
}

func TestHelpNamesEverything(t *testing.T) {
	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"--help"}, &out, &errs))
	require.Empty(t, errs.String())
	for _, word := range append(append(silicon.FaultNames(), silicon.SettingNames()...), wireKinds, "--no-trap", "--record", "COMMAND") {
		require.Contains(t, out.String(), word)
	}
	require.Equal(t, statusUsage, run([]string{"--ports", "x"}, &out, &errs))
	require.Contains(t, errs.String(), "nicmodel: ")
}

func TestWires(t *testing.T) {
	w, err := openWires(4, []string{"loop", "pair", "pair"})
	require.NoError(t, err)
	require.Len(t, w.list, 4)
	w.list[1].Send(make([]byte, 60))
	require.Equal(t, 60, w.list[2].Receive(make([]byte, 100)))
	require.Zero(t, w.lost(1))
	require.NoError(t, w.close())

	w, err = openWires(2, []string{"pair"})
	require.NoError(t, err, "given once for both")
	require.Len(t, w.list, 2)

	for _, row := range []struct {
		ports int
		specs []string
		why   string
	}{
		{1, []string{"pair"}, "port 0 has no next port"},
		{2, []string{"pair", "loop"}, "port 1 is to be plugged into loop, too"},
		{2, []string{"loop", "string"}, "port 1: no such wire"},
	} {
		_, err := openWires(row.ports, row.specs)
		require.ErrorContains(t, err, row.why)
	}
}

func TestReportTellsBreaches(t *testing.T) {
	r := &report{Breaches: 3, Cards: []cardReport{{
		Address: "0000:01:00.0", WireLost: 2,
		Report: silicon.Report{
			Counts:   silicon.Counts{TxFrames: 10, TxClear: 3, LongestGap: 2_500_000},
			Breaches: map[silicon.Breach]uint64{silicon.BreachClear: 3}, Remarks: []string{"tx-clear: lookups are off"},
		},
	}}}
	var out bytes.Buffer
	r.summary(&out)
	require.Contains(t, out.String(), "sent 10 frames (0 sealed, 3 asked for it and left in clear text)")
	require.Contains(t, out.String(), "BREACH tx-clear: 3")
	require.Contains(t, out.String(), "tx-clear: lookups are off")
	require.Contains(t, out.String(), "2 frames were lost on the wire")
	require.NotContains(t, out.String(), "no breach")
	out.Reset()
	(&report{Cards: []cardReport{{Address: "x"}}}).summary(&out)
	require.Contains(t, out.String(), "no breach of the card's contract was seen")
}

func TestCommandThatIsNotThere(t *testing.T) {
	o, err := parseOptions([]string{"--quiet", "--", "/not/there"})
	require.NoError(t, err)
	var errs bytes.Buffer
	status, err := model(o, &errs, slog.New(slog.DiscardHandler))
	require.Equal(t, statusFailed, status)
	require.ErrorContains(t, err, "the program")
}
