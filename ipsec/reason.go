package ipsec

// Reason says why a packet ended without being transmitted. Every packet that
// was received and not sent is counted under exactly one.
type Reason uint8

// The reasons, in the order of listings. ReasonNone is no reason at all.
const (
	ReasonNone Reason = iota
	InMalformed
	InNoState
	InStateMismatch
	InStateExpired
	InReplayOld
	InReplayDuplicate
	InAuthFailed
	InBadTrailer
	InDummy
	InFragment
	InPolicyMismatch
	InPolicyBlock
	InUnparsed
	InTooBig
	InEngineFailed
	InPathMTU
	InESPError
	OutNoState
	OutPolicyBlock
	OutStateExpired
	OutSequenceExhausted
	OutFragment
	OutTooBig
	OutMalformed
	OutUnfinishedChecksum
	OutEngineFailed
	OutUnparsed
	OutNoReserve
	TxFull
	TxLinkDown
	TxPortRestarting
	Keepalive
	NoBuffer
	Shutdown
	NumReasons // how many there are, ReasonNone included
)

// ReasonInfo is one row of the table from which JSON keys, metric labels and
// help come.
type ReasonInfo struct {
	Name   string // JSON key and metric label
	Kernel string // the kernel's counter for the same event in /proc/net/xfrm_stat, or ""
	Help   string
}

var reasonTable = [NumReasons]ReasonInfo{
	InMalformed:           {"in_malformed", "XfrmInHdrError", "a length, header chain or ESP size that cannot be right"},
	InNoState:             {"in_no_state", "XfrmInNoStates", "ESP for a destination and SPI that no SA has"},
	InStateMismatch:       {"in_state_mismatch", "XfrmInStateMismatch", "ESP for an SA of another direction, encapsulation or selector"},
	InStateExpired:        {"in_state_expired", "XfrmInStateExpired", "ESP for an SA whose hard lifetime is over"},
	InReplayOld:           {"in_replay_old", "XfrmInStateSeqError", "a sequence number left of the anti-replay window"},
	InReplayDuplicate:     {"in_replay_duplicate", "XfrmInStateSeqError", "a sequence number that was accepted before"},
	InAuthFailed:          {"in_auth_failed", "XfrmInStateProtoError", "the ICV is wrong: a forgery, a damaged packet or another key"},
	InBadTrailer:          {"in_bad_trailer", "XfrmInStateProtoError", "authenticated, but padding or pad length is wrong"},
	InDummy:               {"in_dummy", "", "a dummy packet (next header 59), discarded as the sender meant it"},
	InFragment:            {"in_fragment", "", "a fragment of ESP, or of what a policy protects"},
	InPolicyMismatch:      {"in_policy_mismatch", "XfrmInTmplMismatch", "clear text where a policy demands ESP, or ESP under an SA the policy does not name"},
	InPolicyBlock:         {"in_policy_block", "XfrmInPolBlock", "an inbound policy, or the default, blocks it"},
	InUnparsed:            {"in_unparsed", "", "not IP and not in --pass-ethertypes"},
	InTooBig:              {"in_too_big", "", "larger than the protected side's MTU"},
	InEngineFailed:        {"in_engine_failed", "XfrmInError", "the crypto engine failed, not the packet"},
	InPathMTU:             {"in_path_mtu", "", "an ICMP error that our ESP was too big for a link: noted, so that hosts are told"},
	InESPError:            {"in_esp_error", "", "any other ICMP error about our ESP, or one that is not believed"},
	OutNoState:            {"out_no_state", "XfrmOutNoStates", "a policy demands protection and no usable SA fits"},
	OutPolicyBlock:        {"out_policy_block", "XfrmOutPolBlock", "an outbound policy, or the default, blocks it"},
	OutStateExpired:       {"out_state_expired", "XfrmOutStateExpired", "the only SA that fits has reached a hard limit"},
	OutSequenceExhausted:  {"out_sequence_exhausted", "XfrmOutStateSeqError", "the SA has used up its sequence numbers"},
	OutFragment:           {"out_fragment", "", "a fragment of what a policy protects: transport mode takes whole packets only"},
	OutTooBig:             {"out_too_big", "", "larger than the unprotected side's MTU, with ESP where a policy protects"},
	OutMalformed:          {"out_malformed", "XfrmOutError", "a length or header chain that cannot be right"},
	OutUnfinishedChecksum: {"out_unfinished_checksum", "", "its transport checksum was left to hardware and cannot be finished here"},
	OutEngineFailed:       {"out_engine_failed", "XfrmOutError", "the crypto engine failed, not the packet"},
	OutUnparsed:           {"out_unparsed", "", "not IP and not in --pass-ethertypes"},
	OutNoReserve:          {"out_no_reserve", "", "no sequence numbers could be reserved on disk"},
	TxFull:                {"tx_full", "", "the transmit queue stayed full"},
	TxLinkDown:            {"tx_link_down", "", "the link of the port it should leave by is down"},
	TxPortRestarting:      {"tx_port_restarting", "", "the port it should leave by is being restarted"},
	Keepalive:             {"keepalive", "", "a NAT keepalive (RFC 3948, 2.3), consumed"},
	NoBuffer:              {"no_buffer", "", "no packet buffer was free"},
	Shutdown:              {"shutdown", "", "still held when the gateway stopped"},
}

// Info returns the table row of r.
func (r Reason) Info() ReasonInfo { return reasonTable[r] }

// String returns the JSON key of r.
func (r Reason) String() string { return reasonTable[r].Name }
