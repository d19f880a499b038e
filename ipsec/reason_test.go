package ipsec

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The names and the kernel's counters are a contract with those who read the
// JSON: the design's table, written down a second time.
func TestReasonTable(t *testing.T) {
	want := map[string]string{
		"in_malformed": "XfrmInHdrError", "in_no_state": "XfrmInNoStates", "in_state_mismatch": "XfrmInStateMismatch",
		"in_state_expired": "XfrmInStateExpired", "in_replay_old": "XfrmInStateSeqError", "in_replay_duplicate": "XfrmInStateSeqError",
		"in_auth_failed": "XfrmInStateProtoError", "in_bad_trailer": "XfrmInStateProtoError", "in_dummy": "", "in_fragment": "",
		"in_policy_mismatch": "XfrmInTmplMismatch", "in_policy_block": "XfrmInPolBlock", "in_unparsed": "", "in_too_big": "",
		"in_engine_failed": "XfrmInError", "out_no_state": "XfrmOutNoStates", "out_policy_block": "XfrmOutPolBlock",
		"out_state_expired": "XfrmOutStateExpired", "out_sequence_exhausted": "XfrmOutStateSeqError", "out_fragment": "",
		"out_too_big": "", "out_malformed": "XfrmOutError", "out_unfinished_checksum": "", "out_engine_failed": "XfrmOutError",
		"out_unparsed": "", "out_no_reserve": "", "tx_full": "", "tx_link_down": "", "tx_port_restarting": "",
		"keepalive": "", "no_buffer": "", "shutdown": "",
		// Not in the design's table: they came with path MTU discovery.
		"in_path_mtu": "", "in_esp_error": "",
	}
	got := map[string]string{}
	for r := ReasonNone + 1; r < NumReasons; r++ {
		got[r.Info().Name] = r.Info().Kernel
		require.NotEmpty(t, r.Info().Help, r.String())
	}
	require.Equal(t, want, got)
}

func TestDropCountsJSON(t *testing.T) {
	var d DropCounts
	d[InAuthFailed] = 7
	text, err := json.Marshal(d)
	require.NoError(t, err)
	var back map[string]uint64
	require.NoError(t, json.Unmarshal(text, &back))
	require.Len(t, back, int(NumReasons)-1, "zeros are printed too")
	require.EqualValues(t, 7, back["in_auth_failed"])
}
