# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of lab.sh and of its other parts
# Sourced by lab.sh: changes under traffic, attacks on the wire, and how fast it all is.

# answers A|B COMMAND PATTERN: the command succeeds and its answer has the pattern.
answers() {
    control "$1" "$2" >"$work/answer" || return
    cat "$work/answer"
    grep -q -e "$3" "$work/answer"
}

refused() { ! control "$1" "$2" >"$work/answer" && grep -q '^error: ' "$work/answer"; }

# state_line SPI: the command that added it, from A's file.
state_line() { grep " spi $1 " "$out/$run-A.xfrm"; }

# both COMMAND: on both gateways, the receiver of AB first, so that nothing is sent that is not expected.
both() { control B "$1" && control A "$1"; }

# rekey: new SAs for both directions beside the old ones, the receiver's first; then the old ones go.
rekey() {
    local old ab ba
    sa 4 0x1011 AB 1 "$gcm" 20 128 replay-window 128
    sa 4 0x1012 BA 1 "$gcm" 20 128 replay-window 128
    ab=$(state_line 0x1011) ba=$(state_line 0x1012)
    control B "$ab" && control A "$ba" && control A "$ab" && control B "$ba" || return 1
    wait_for 10 settled A B 0x1001 && wait_for 10 settled B A 0x1002 || return 1
    for old in 14.0.0.70,0x1001 14.0.0.52,0x1002; do
        both "ip xfrm state delete dst ${old%,*} proto esp spi ${old#*,}" || return 1
    done
}

# again: deletes A's outbound SA while another stands in, and adds it again with its key. It must go on above
# the numbers that were sent: the capture shows whether it does.
again() {
    local line
    line=$(state_line 0x1011)
    sa 4 0x1021 AB 1 "$gcm" 20 128 replay-window 128
    control B "$(state_line 0x1021)" && control A "$(state_line 0x1021)" || return 1
    sleep 0.3
    control A "ip xfrm state delete dst 14.0.0.70 proto esp spi 0x1011" && control A "$line" || return 1
    wait_for 10 settled A B 0x1021 && both "ip xfrm state delete dst 14.0.0.70 proto esp spi 0x1021"
}

reload() { # A|B PATTERN: SIGHUP, and a line of the log that says what came of it
    local before
    before=$(grep -c "$2" "$out/$run-$1.log")
    kill -HUP "${gateway_pid[$1]}"
    wait_for 5 more_lines "$out/$run-$1.log" "$2" "$before"
}

more_lines() { [ "$(grep -c "$2" "$1")" -gt "$3" ]; }

# sequence_of A|B SPI: from the counters that SIGUSR1 has written.
sequence_of() {
    local file=$out/$run-$1.json
    rm -f "$file"
    kill -USR1 "${gateway_pid[$1]}"
    wait_for 5 test -e "$file" || return 1
    grep -o "\"spi\":$(($2)),[^{]*" "$file" | grep -o '"sequence":[0-9]*' | cut -d : -f 2
}

# settled FROM TO SPI: what was sent under an SA that is not used any more has arrived.
settled() {
    local sent
    sent=$(sequence_of "$1" "$3") && [ -n "$sent" ] && [ "$sent" = "$(sequence_of "$2" "$3")" ]
}

# got_on FILE: every full second of what iperf3 says has octets.
got_on() {
    python3 -c 'import json, sys
seconds = [i["sum"] for i in json.load(open(sys.argv[1]))["intervals"] if i["sum"]["seconds"] > 0.9]
print([i["bytes"] for i in seconds])
sys.exit(not seconds or not all(i["bytes"] for i in seconds))' "$1"
}

case_live() {
    local before after
    config_everything
    cp "$out/$run-A.xfrm" "$work/A.xfrm"
    cp "$out/$run-B.xfrm" "$work/B.xfrm"
    gateways_up 1500,1600 "$work/A.xfrm" "$work/B.xfrm"
    capture_start "$run"
    ip netns exec "$hostA" timeout 90 iperf3 -J -c 14.0.0.70 -b 20M -t 60 >"$work/live.json" &
    local stream=$!
    sleep 0.5
    check "under TCP: new SAs in, old SAs out (control socket)" rekey
    check "under TCP: an SA is deleted and added again with its key" again
    check "a command that makes no sense is refused" refused A 'ip xfrm state add src 14.0.0.52 dst nowhere proto esp spi 5'
    check "listing: the new SA, its key hidden" answers A 'ip xfrm state list' 'spi 0x00001011'
    before=$(sequence_of A 0x1011)
    sed -i '/ spi 0x100[12] /d' "$work/A.xfrm" # these have been replaced
    echo "ip xfrm state add src 10.1.1.1 dst 10.1.1.2 proto esp spi 0x5001 mode transport aead '$gcm' 0x$(random_hex 20) 128" >>"$work/A.xfrm"
    check "under TCP: SIGHUP applies what has changed in the file" reload A 'msg=reloaded'
    check "listing: the SA that was added to the file" answers A 'ip xfrm state list' 'spi 0x00005001'
    check "listing: the SA of the control socket has stayed" answers A 'ip xfrm state list' 'spi 0x00001011'
    echo "ip xfrm state add src 10.1.1.1" >>"$work/A.xfrm"
    check "under TCP: SIGHUP with a broken file changes nothing, and says so" reload A 'reload failed'
    after=$(sequence_of A 0x1011)
    check "the sequence number of an unchanged SA goes on ($before, $after)" [ "$after" -gt "$before" ]
    kill -INT $stream
    wait $stream || true
    check "the TCP stream got on in every second of it" got_on "$work/live.json"
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --inside tcp --min 0
    tshark_checks
    counters_checks A
    counters_checks B
}

# attack: frames of an attacker on the wire; the counters must name each. The numbers are lab-attack.py's.
case_attack() {
    config_classic
    gateways_up 1500,1600 "$out/$run-A.xfrm" "$out/$run-B.xfrm"
    capture_start "$run"
    check "TCP before the attack" tcp "$hostA" 14.0.0.70 -n 300K
    capture_stop
    check "the attacker's frames are on the wire" in_ns "$wire" "$here/lab-attack.py" br0 "$capture"
    sleep 0.3
    check "TCP after the attack" tcp "$hostA" 14.0.0.70 -n 300K
    capture_start "$run-closed"
    control A 'ip xfrm state deleteall' >/dev/null
    in_ns "$hostA" timeout 2 iperf3 -c 14.0.0.70 --connect-timeout 1000 >/dev/null 2>&1 && bad "TCP without an SA went through"
    capture_stop
    gateways_down
    check "no SA: nothing leaves in the clear" [ "$(tcpdump -n -r "$capture" tcp 2>/dev/null | wc -l)" = 0 ]
    counters_checks A in_state_mismatch=5 'out_no_state>=1'
    counters_checks B in_replay_old=5 in_replay_duplicate=1 in_auth_failed=5 in_policy_mismatch=5 in_no_state=5
}

# measure NAME [ADDRESS]: a row of the table: TCP in each direction, the better of two tries of $seconds each.
measure() {
    local row=$1 address=${2:-14.0.0.70} there back
    there=$(best_of_two "$address") || bad "throughput, A to B: $row"
    back=$(best_of_two "$address" -R) || bad "throughput, B to A: $row"
    table+=("$(printf '%-36s %12s %12s' "$row" "${there:-failed}" "${back:-failed}")")
}

# best_of_two ADDRESS IPERF3-OPTION...: Mbit/s, for the CPUs are shared with whatever else runs here.
best_of_two() {
    local rates=()
    while [ ${#rates[@]} -lt 2 ]; do
        tcp "$hostA" "$1" -t "$seconds" "${@:2}" || return
        rates+=("$(iperf_mbits)")
    done
    printf '%s\n' "${rates[@]}" | sort -n | tail -n 1
}

case_throughput() {
    measure "no gateway" 14.0.1.70
    config_empty
    gateways_up 1500,1600 '' ''
    measure "two gateways without policies"
    gateways_down
    counters_checks A
    counters_checks B
    config_classic
    gateways_up 1500,1600 "$out/$run-A.xfrm" "$out/$run-B.xfrm"
    measure "two gateways with ESP"
    gateways_down
    counters_checks A
    counters_checks B
}
