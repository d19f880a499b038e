package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"espgw/ipsec"
)

func TestSplitArgs(t *testing.T) {
	eal, own := splitArgs([]string{"-l", "0", "--", "--pair", "0,1", "--"})
	require.Equal(t, []string{"-l", "0"}, eal)
	require.Equal(t, []string{"--pair", "0,1", "--"}, own)
	eal, own = splitArgs([]string{"--version"})
	require.Empty(t, eal)
	require.Equal(t, []string{"--version"}, own)
}

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{
		"--pair", "lan=0,eth4=net_null1", "--pair", "2,0000:01:00.0", "--queue-map", "(0,0,1), (1,0,2)",
		"--mtu", "1500,eth4=9000", "--run-for", "5s", "--replay-window", "64", "--log-format", "json",
	})
	require.NoError(t, err)
	require.Equal(t, []pairOption{
		{sideOption{"lan", "0"}, sideOption{"eth4", "net_null1"}},
		{sideOption{"", "2"}, sideOption{"", "0000:01:00.0"}},
	}, o.pairs)
	require.Equal(t, []ipsec.QueueAssignment{{Port: 0, Queue: 0, Lcore: 1}, {Port: 1, Queue: 0, Lcore: 2}}, o.queueMap)
	require.Equal(t, 1500, o.mtus.all)
	require.Equal(t, map[string]int{"eth4": 9000}, o.mtus.byName)
	require.Equal(t, 5*time.Second, o.runFor)
	require.EqualValues(t, 64, o.replayWindow)
}

func TestOptionDefaults(t *testing.T) {
	o, err := parseOptions([]string{"--pair", "0,1"})
	require.NoError(t, err)
	require.EqualValues(t, 1024, o.replayWindow)
	require.Equal(t, 32, o.burst)
	require.Equal(t, 1024, o.rxDesc)
	require.Equal(t, 1024, o.txDesc)
	require.Equal(t, "auto", o.engine)
	require.Equal(t, "text", o.logFormat)
	require.Zero(t, o.idleBackoff)
}

func TestOptionErrors(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no pair", nil, "no --pair"},
		{"one port", []string{"--pair", "0"}, "PROTECTED,UNPROTECTED"},
		{"three ports", []string{"--pair", "0,1,2"}, "3 ports"},
		{"empty port", []string{"--pair", "0,"}, "[NAME=]PORT"},
		{"empty name", []string{"--pair", "=0,1"}, "[NAME=]PORT"},
		{"unknown option", []string{"--pears", "0,1"}, "--pears"},
		{"EAL option behind the --", []string{"--pair", "0,1", "--no-huge"}, "--no-huge"},
		{"word", []string{"--pair", "0,1", "start"}, `"start" is no option`},
		{"queue map", []string{"--pair", "0,1", "--queue-map", "0,0,1"}, "(port,queue,lcore)"},
		{"MTU", []string{"--pair", "0,1", "--mtu", "20"}, "68 to 16000"},
		{"engine", []string{"--pair", "0,1", "--engine", "fast"}, "accepted: auto, inline, go"},
		{"engine not built", []string{"--pair", "0,1", "--engine", "cryptodev"}, "not in this version"},
		{"burst", []string{"--pair", "0,1", "--burst", "0"}, "1 to 512"},
		{"no window for all", []string{"--pair", "0,1", "--replay-window", "0"}, "1 to 65536"},
		{"negative time", []string{"--pair", "0,1", "--run-for", "-1s"}, "negative"},
		{"log level", []string{"--pair", "0,1", "--log-level", "loud"}, "debug, info, warn, error"},
		{"EtherType", []string{"--pair", "0,1", "--pass-ethertypes", "0x0800"}, "past the policies"},
		{"state folder", []string{"--pair", "0,1", "--state-dir", ""}, "accepted: a folder, or none"},
		{"not built", []string{"--pair", "0,1", "--check"}, "--check"},
		{"not built, with a value", []string{"--pair", "0,1", "--metrics=:9000"}, "--metrics"},
		{"not built, short", []string{"--pair", "0,1", "-i"}, "--interactive"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			require.Equal(t, exitUsage, run(append([]string{"--no-pci", "--"}, tt.args...), &out, &errs))
			require.Contains(t, errs.String(), tt.want)
		})
	}
}

// Help and version need neither EAL nor a pair.
func TestHelpAndVersion(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"--", "--help"}, {"--pair", "0,1", "--help"}} {
		var out, errs bytes.Buffer
		require.Equal(t, exitOK, run(args, &out, &errs), errs.String())
		for _, option := range []string{
			"--pair", "--xfrm", "--engine", "--pass-ethertypes", "--queue-map", "--control", "--run-for", "--idle-exit",
			"--stats-period", "--stats-json", "--replay-window", "--mtu", "--mbufs", "--mbuf-size", "--burst", "--rx-desc",
			"--tx-desc", "--idle-backoff", "--log-level", "--log-format", "--version",
			"--offload", "--emulate-inline", "--probe",
		} {
			require.Contains(t, out.String(), option)
		}
	}
	var out bytes.Buffer
	require.Equal(t, exitOK, run([]string{"--version"}, &out, &out))
	require.Contains(t, out.String(), "DPDK")
}
