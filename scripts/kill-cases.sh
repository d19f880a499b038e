# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of kill.sh and kill-net.sh
# Sourced by kill.sh: the SAs, and what is done to the gateways.

# Who sends to whom. The first two share a key; the last two have extended sequence numbers.
flows=("14.0.0.52,14.0.0.70" "14.0.0.52,14.0.0.71" "14.0.0.52,14.0.0.72" "2001:db8:14::52,2001:db8:14::70")

# config_kill: SAs from A to B with keys that stay the same for the whole run, and policies: outbound ones for A,
# inbound ones for B. The extended sequence numbers begin below 2^32 and go over it, one soon and one later.
config_kill() {
    local shared i=0 to src dst more key
    shared=$(random_hex 20)
    for to in A B; do : >"$out/$run-$to.xfrm"; done
    for to in "${flows[@]}"; do
        src=${to%,*} dst=${to#*,} more='' key=$shared
        case $i in
        2) more='flag esn replay-seq 0xfffffc00 replay-oseq 0xfffffc00' key=$(random_hex 36) ;;
        3) more='flag esn replay-seq 0xffff4000 replay-oseq 0xffff4000' key=$(random_hex 20) ;;
        esac
        i=$((i + 1))
        echo "ip xfrm state add src $src dst $dst proto esp spi $((0x7000 + i)) reqid $i mode transport" \
            "replay-window 1024 $more aead '$gcm' 0x$key 128" | tee -a "$out/$run-A.xfrm" >>"$out/$run-B.xfrm"
        echo "ip xfrm policy add dir out src $src dst $dst tmpl src $src dst $dst proto esp reqid $i mode transport" \
            >>"$out/$run-A.xfrm"
        echo "ip xfrm policy add dir in src $src dst $dst tmpl src $src dst $dst proto esp reqid $i mode transport" \
            >>"$out/$run-B.xfrm"
    done
}

mark() { echo "$(now) $1" >>"$out/$run.marks"; }

# run_a_while MIN MAX: starts A, and returns a random time (in ms) after the first ESP packet. start_ms is how long that
# took to come.
run_a_while() {
    local begun=${EPOCHREALTIME/[.,]/}
    gateway_run A "$state_A"
    in_ns "$wire" "$bin/espload" await wan0 2>"$work/await" || {
        tail -n 5 "$log" >&2
        fail "gateway A sends nothing: $(cat "$work/await")"
    }
    start_ms=$(((${EPOCHREALTIME/[.,]/} - begun) / 1000))
    random_sleep "$1" "$2"
}

# kill_early: A is started and killed at a random moment before it sends, or shortly after.
kill_early() {
    gateway_run A "$state_A"
    random_sleep 0 "$start_ms"
    gateway_kill A
    mark early
    early=$((early + 1))
}

# peer_goes_on: B has accepted packets of every SA since the last time it was asked.
peer_goes_on() {
    local before=$accepted
    wait_for 5 more_accepted || stuck+=("after $kills kills: ${before//$'\n'/ }, then ${accepted//$'\n'/ }")
}

more_accepted() {
    counters B
    accepted=$(sa_packets B)
    all_grew "$before" "$accepted"
}

nothing_stuck() {
    printf '%s\n' "${stuck[@]}"
    [ ${#stuck[@]} -eq 0 ]
}

# outbound KILLS STATE-FOLDER: A is killed under load again and again, now and then while it starts, and now and then
# told to stop. Its peer runs all the time.
outbound() {
    local wanted=$1 state_A=$2 accepted='' stuck=() early=0 clean=0 start_ms=300 i
    kills=0
    config_kill
    gateway_run B none
    gateway_ready B
    local log_B=$log
    record_start "$gwA" eth4 out "$out/$run.pcap" 'ip proto 50 or ip6 proto 50' 96
    load_start 0
    for ((i = 0; i < 3; i++)); do kill_early; done # while there is no state yet
    while [ $kills -lt "$wanted" ]; do
        run_a_while 20 400
        gateway_kill A
        mark kill
        kills=$((kills + 1))
        peer_goes_on
        if [ $((kills % 3)) -eq 0 ]; then kill_early; fi
        if [ $((kills % 4)) -eq 0 ] || [ $kills -eq "$wanted" ]; then
            run_a_while 20 200
            gateway_stop A
            mark clean
            clean=$((clean + 1))
            run_a_while 20 60 # what follows a clean stop is no early kill
            gateway_kill A
            mark kill
            kills=$((kills + 1))
            peer_goes_on
        fi
    done
    load_stop
    record_stop "$out/$run.pcap"
    log=$log_B
    gateway_stop B
    check "no IV twice under a key, no sequence number again, none left out at a clean stop" \
        "$bin/espload" check --xfrm "$out/$run-A.xfrm" --marks "$out/$run.marks" --wraps "$out/$run.pcap"
    local figures
    figures=$(tr ' ' '\n' <"$work/check")
    check "$(figure rate) packets a second while A ran, $min_rate wanted" [ "$(figure rate)" -ge "$min_rate" ]
    check "the peer accepted packets of every SA after each of $kills kills and $clean clean stops" nothing_stuck
    check "the peer counted no replay and no forgery, and dropped nothing" "$here/lab-stats.py" "$work/B.json"
    outbound_table+=("$(printf '%-16s %6s %6s %6s %10s %10s %8s %10s' "$run" $kills $early $clean \
        "$(figure packets)" "$(figure ivs)" "$(figure repeats)" "$(figure rate)")")
}

# figure NAME: from the lines NAME=VALUE in $figures.
figure() { sed -n "s/^$1=//p" <<<"$figures"; }

# inbound KILLS CLEAN-STOPS FOLDER-OF-A FOLDER-OF-B: B is killed, or told to stop, under load; what was on the wire is
# sent to it once more when it runs again.
inbound() {
    local kills=$1 clean=$2 state_A=$3 state_B=$4 round how accepted='' stuck=() captures=()
    local packets=0 again=0 again_clean=0 worst=0 last=$(($1 + $2))
    config_kill
    gateway_run A "$state_A"
    gateway_ready A
    gateway_run B "$state_B"
    gateway_ready B
    for ((round = 1; round <= last; round++)); do
        # The clean stops are spread among the kills, and the last round is one.
        how=killed
        if [ $((round * clean / last)) -gt $(((round - 1) * clean / last)) ]; then how=stopped; fi
        inbound_round
    done
    check "extended sequence numbers went over 2^32 (and no IV came twice)" \
        "$bin/espload" check --xfrm "$out/$run-A.xfrm" --wraps "${captures[@]}"
    check "packets of every SA were accepted in each of $last rounds" nothing_stuck
    gateway_stop B
    log=$out/$run-A-001.log
    gateway_stop A
    inbound_table+=("$(printf '%-16s %6s %6s %10s %12s %12s %12s' \
        "$run" "$kills" "$clean" $packets $again "$worst" $again_clean)")
}

# inbound_round: one kill or clean stop ($how) of B.
inbound_round() {
    local wire_file=$out/$run-$round-wire.pcap before=$out/$run-$round-before.pcap after=$out/$run-$round-after.pcap
    local stopped figures files=() file within=0 text status=0
    record_start "$gwA" eth4 out "$wire_file" 'ip proto 50 or ip6 proto 50' 256
    record_start "$hostB" eth0 in "$before" 'udp' 128
    load_start $((round << 32))
    random_sleep 400 900
    kills=$((round - 1)) peer_goes_on
    stopped=$(now)
    if [ $how = killed ]; then gateway_kill B; else gateway_stop B; fi
    load_stop
    wait_for 10 load_drained || fail "gateway A does not come to an end"
    record_stop "$wire_file"
    record_stop "$before"
    captures+=("$wire_file")

    record_start "$hostB" eth0 in "$after" 'udp' 128
    gateway_run B "$state_B"
    gateway_ready B
    accepted='' # its counters begin anew
    files=(--file "$wire_file")
    if [ $round = $last ]; then # everything there ever was
        files=()
        for file in "${captures[@]}"; do files+=(--file "$file"); done
    fi
    in_ns "$wire" "$bin/espload" replay wan1 --rate 50000 "${files[@]}" >"$work/replay" 2>&1 || status=$?
    [ $status -eq 0 ] || fail "replay: $(cat "$work/replay")"
    if ! wait_for 10 reached >"$work/reached"; then
        bad "round $round: what was sent once more did not reach the gateway: $(tail -n 1 "$work/reached")"
    fi
    echo "$run: round $round, $how: $(tail -n 1 "$work/reached")" >>"$out/checks.log"
    record_stop "$after"
    if [ $how = killed ]; then
        within=${slack}ms
        text="round $round: after a kill nothing is accepted again but what came in the last $slack ms"
    else
        text="round $round: after a clean stop nothing is accepted again"
    fi
    check "$text" "$bin/espload" again --before "$before" --after "$after" --stopped "$stopped" --within "$within"
    figures=$(tr ' ' '\n' <"$work/check")
    packets=$((packets + $(figure before)))
    if [ $how = killed ]; then
        again=$((again + $(figure again)))
        worst=$(printf '%s\n' "$worst" "$(figure oldest_ms)" | sort -g | tail -n 1)
    else
        again_clean=$((again_clean + $(figure again)))
    fi
    rm -f "$before" "$after"
}

# reached: all but one in a thousand of the packets that were replayed were judged by the gateway: it accepted them, or
# counted replays and nothing else. With ESN an old number is taken for one of the next 2^32, and then the ICV is wrong.
reached() {
    counters B
    python3 - "$work/B.json" "$(sed 's/.*=//' "$work/replay")" <<'PYTHON'
import json
import sys

stats, sent = json.load(open(sys.argv[1])), int(sys.argv[2])
drops = {reason: n for reason, n in stats["drops"].items() if n}
accepted = sum(sa["packets"] for sa in stats["sas"])
print(f"{sent} packets sent, {accepted} accepted, drops {drops}")
replays = {"in_replay_old", "in_replay_duplicate", "in_auth_failed"}
sys.exit(not 0.999 * sent <= accepted + sum(drops.values()) <= sent or bool(set(drops) - replays))
PYTHON
}
