# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of interop.sh and of its other parts
# Sourced by interop.sh: what must not be accepted, and under which name each end counts it.

# config_wrong: all of IPv4 by SAs 0x6001 and 0x6002. The other SAs are for packets that only interop-wrong.py sends; a
# policy of a protocol that nobody uses gives each its direction.
config_wrong() {
    local more='replay-window 64'
    config_empty
    # shellcheck disable=SC2086 # words
    {
        sa 4 0x6001 AB 1 "$gcm" 20 128 $more
        sa 4 0x6002 BA 1 "$gcm" 20 128 $more
        sa 4 0x6003 AB 2 "$gcm" 20 128 $more sel src 14.0.0.52 dst 14.0.0.70 proto 132
        sa 4 0x6004 BA 2 "$gcm" 20 128 $more sel src 14.0.0.70 dst 14.0.0.52 proto 132
        sa 4 0x6005 AB 3 "$gcm" 20 128 $more
        sa 4 0x6006 BA 3 "$gcm" 20 128 $more
        sa 4 0x6007 AB 4 "$gcm" 20 128 $more encap espinudp 4500 4500 0.0.0.0
        sa 4 0x6008 BA 4 "$gcm" 20 128 $more encap espinudp 4500 4500 0.0.0.0
    }
    protect 4 1
    protect 4 2 proto 132
    protect 4 3 proto 33
    protect 4 4 proto 46
    protect 4 9 proto 200 # which no SA has
    for dir in 'A in 70 52' 'A out 52 70' 'B in 52 70' 'B out 70 52'; do
        # shellcheck disable=SC2086 # words
        set -- $dir
        echo "ip xfrm policy add dir $2 src 14.0.0.$3 dst 14.0.0.$4 proto 201 priority 1 action block" >>"$out/$run-$1.xfrm"
    done
    # More particular than the policy for all, so looked at first.
    sed -i 's/\(proto [0-9]* \)priority 100/\1priority 50/' "$out/$run"-{A,B}.xfrm
}

# event TEXT LINUX ESPGW COMMAND...: the command puts packets on the wire; then each end must have counted just what is
# said: counters with their increase, "none" for nothing. One row of the table.
event() {
    local text=$1 linux=$2 espgw=$3 row word
    shift 3
    "$@" >"$work/event" 2>&1 || bad "$text: $(tail -n 3 "$work/event")"
    sleep 0.3
    mv "$out/$run-now.linux" "$work/before.linux"
    mv "$out/$run-now.json" "$work/before.json"
    counters_read "$run-now"
    check "$text: Linux counts $linux" counted linux "$linux"
    row=$(printf '%-44s %-36s' "$text" "$(head -n 1 "$work/check")")
    check "$text: espgw counts $espgw" counted json "$espgw"
    table+=("$row $(head -n 1 "$work/check")")
    for word in $espgw; do
        case $word in
        none | accepted=*) ;;
        *) dropped[${word%=*}]=$((${dropped[${word%=*}]:-0} + ${word#*=})) ;;
        esac
    done
}

# counted linux|json "NAME=N ..."|none
counted() {
    local wanted=()
    if [ "$2" != none ]; then read -ra wanted <<<"$2"; fi
    "$here/interop-counters.py" "$work/before.$1" "$out/$run-now.$1" "${wanted[@]}"
}

wrong() { in_ns "$wire" "$here/interop-wrong.py" br0 "$capture" "$out/$run-B.xfrm" "$work/sequence" "$1"; }

# guest_raw, host_raw PROTOCOL [COUNT]: packets (5) of an IP protocol, by a raw socket that asks the policies once for
# each. Nobody answers protocol 253; with the others nothing arrives.
guest_raw() { guest "$(raw_text 14.0.0.70 "$@")"; }
host_raw() { in_ns "$hostB" sh -c "$(raw_text 14.0.0.52 "$@")"; }
raw_text() { echo "for i in \$(seq ${3:-5}); do echo text | socat -u - IP4-SENDTO:$1:$2 || true; done"; }
raw_both() { guest_raw "$1" && host_raw "$1"; }

case_wrong() {
    config_wrong
    begin || return 0
    echo 100000 >"$work/sequence"
    check "before: ping" guest_pings 100
    check "before: TCP from the host" host_traffic tcp 14.0.0.52 100000
    capture_stop
    counters_read "$run-now"

    event "the newest packet again" XfrmInStateSeqError=5 in_replay_duplicate=5 wrong duplicate
    event "packets below the window" XfrmInStateSeqError=5 in_replay_old=5 wrong old
    event "ICV forged, sequence number new" XfrmInStateProtoError=5 in_auth_failed=5 wrong forged
    event "an SPI that no SA has" XfrmInNoStates=5 in_no_state=5 wrong unknown
    event "shorter than an ESP header" XfrmInHdrError=5 in_malformed=5 wrong short
    event "in the clear, where a policy wants ESP" XfrmInTmplMismatch=5 in_policy_mismatch=5 wrong clear
    event "in the clear, blocked by a policy" XfrmInPolBlock=5 in_policy_block=5 wrong protocol201
    event "the receiver's own packets, reflected" none in_state_mismatch=5 wrong reflected
    event "ESP without UDP, for an SA with encap" XfrmInStateMismatch=5 in_state_mismatch=5 wrong bare
    event "sent, a policy blocks it" XfrmOutPolBlock=5 out_policy_block=5 raw_both 201
    event "sent, no SA for the policy" XfrmOutNoStates=5 out_no_state=5 raw_both 200
    check "after: TCP from the host" host_traffic tcp 14.0.0.52 100000

    # From here on the sequence numbers are the attacker's, who knows the keys.
    counters_read "$run-now"
    event "right in every way" accepted=5 accepted=5 wrong good
    event "padding is not 1, 2, 3" accepted=5 "accepted=5 in_bad_trailer=5" wrong pad-octets
    event "pad length beyond the packet" XfrmInStateProtoError=5 "accepted=5 in_bad_trailer=5" wrong pad-length
    event "dummy packet (next header 59)" XfrmInStateProtoError=5 "accepted=5 in_dummy=5" wrong dummy
    event "not what the SA's selector says" "accepted=5 XfrmInStateMismatch=5" "accepted=5 in_state_mismatch=5" wrong selector
    event "by an SA that the policy does not name" "accepted=5 XfrmInTmplMismatch=5" "accepted=5 in_policy_mismatch=5" wrong template
    starts_anew
    gateway_down
    balanced
}

# guest_pings COUNT: Linux asks until so many are answered.
guest_pings() { guest "ping -n -q -c $1 -i 0.01 -w 20 14.0.0.70"; }

# starts_anew: Linux loses its SAs and adds the same again, as after a restart without an exchange of new keys. What it
# sends then has numbers that espgw has seen: all of it is refused. New keys on both sides mend it.
starts_anew() {
    local spi line
    guest "ip xfrm state delete src 14.0.0.52 dst 14.0.0.70 proto esp spi 0x6001 && $(grep ' spi 0x6001 ' "$out/$run-A.xfrm")" ||
        bad "the SA of Linux is added again"
    event "sent after the same SA was added anew" none in_replay_old=5 guest_raw 253
    sa 4 0x6011 AB 1 "$gcm" 20 128 replay-window 64
    sa 4 0x6012 BA 1 "$gcm" 20 128 replay-window 64
    # On both ends the receiving SA comes first.
    for spi in 0x6011 0x6012; do
        line=$(grep " spi $spi " "$out/$run-B.xfrm")
        control B "$line" && guest "$line" || bad "new keys: $spi"
    done
    for line in 'dst 14.0.0.70 proto esp spi 0x6001' 'dst 14.0.0.52 proto esp spi 0x6002'; do
        control B "ip xfrm state delete $line" && guest "ip xfrm state delete $line" || bad "old keys are deleted: $line"
    done
    capture_start "$run-rekeyed"
    check "new keys on both sides: ping from Linux" guest_pings 10
    capture_stop
    check "capture: all of it is under the new keys" "$here/check-esp.py" --xfrm <(grep -E ' spi 0x601[12] ' "$out/$run-B.xfrm") \
        --clear arp,nd --min 10 "$capture"
}
