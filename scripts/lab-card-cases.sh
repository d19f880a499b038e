# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh and of its other parts
# Sourced by card.sh: what is tried on cards only; the rest is in lab-inline.sh.

# config_card: an SA for each direction, for TCP.
config_card() {
    config_empty
    offloaded 0x1001 AB 1 "$gcm" 20 128 replay-window 1024
    offloaded 0x1002 BA 1 "$gcm" 20 128 replay-window 1024
    protect 4 1 proto tcp
}

# stream_start SECONDS, stream_stop: TCP from A to B meanwhile, slow enough to see each second.
stream_start() {
    ip netns exec "$hostA" timeout 120 iperf3 -J -c 14.0.0.70 -b 5M -t "$1" >"$work/stream.json" 2>&1 &
    stream=$!
    sleep 0.5
}

stream_stop() {
    kill -INT "$stream" 2>/dev/null || true
    wait "$stream" || true
}

card_end() { # MINIMUM [CLEAR]
    gateways_down
    wire_checks --clear "${2:-arp,nd}" --inside tcp --min "$1"
    tshark_checks
}

# rekey: three times new SAs for both directions, beside the old ones; then the old ones go.
case_rekey() {
    local n old=0x1001,0x1002 new
    config_card
    inline_up card card
    capture_start "$run"
    stream_start 60
    for n in 1 2 3; do
        new=0x20${n}1,0x20${n}2
        check "under TCP: SAs $new in, $old out" rekeyed ${old/,/ } ${new/,/ }
        old=$new
    done
    stream_stop
    check "every second of the stream had data" got_on "$work/stream.json"
    capture_stop
    check "the last SAs are in the cards, alone" [ "$(free_slots A) $(free_slots B)" = "1 1 0 1 1 0" ]
    card_end 100
    counters_checks A
    counters_checks B
    card_saw A 500
    card_saw B 500
}

# rekeyed OLD-AB OLD-BA NEW-AB NEW-BA: receivers first.
rekeyed() {
    local spi
    offloaded "$3" AB 1 "$gcm" 20 128 replay-window 1024
    offloaded "$4" BA 1 "$gcm" 20 128 replay-window 1024
    control B "$(line_of B "$3")" && control A "$(line_of A "$4")" || return 1
    control A "$(line_of A "$3")" && control B "$(line_of B "$4")" || return 1
    wait_for 10 settled A B "$1" && wait_for 10 settled B A "$2" || return 1
    for spi in "14.0.0.70 proto esp spi $1" "14.0.0.52 proto esp spi $2"; do
        both "ip xfrm state delete dst $spi" || return 1
    done
    wait_for 5 waiting_is A 0
}

line_of() { grep " spi $2 " "$out/$run-$1.xfrm"; } # A|B SPI

# flap: the link of A's card goes down and comes up, under TCP.
case_flap() {
    local n
    config_card
    inline_up card card
    capture_start "$run"
    stream_start 60
    for n in 1 2 3; do
        check "under TCP: the link goes down" card_control A "link 0 down"
        check "the gateway says so" wait_for 10 more_lines "$out/$run-A.log" 'link changed.*up=false' $((n - 1))
        sleep 0.3
        check "under TCP: the link comes up" card_control A "link 0 up"
        check "the gateway says so" wait_for 10 more_lines "$out/$run-A.log" 'link changed.*up=true' $((n - 1))
        sleep 1
    done
    stream_stop
    check "TCP after that" tcp "$hostA" 14.0.0.70 -n 1M
    check "the SAs are in the card still" [ "$(free_slots A)" = "1 1 0" ]
    capture_stop
    card_end 100
    card_saw A 300 'link_changes=6'
    card_saw B 300
}

# icv: of the packets that A's card opens each 50th has a wrong ICV, it says. They are dropped and counted, and no other.
case_icv() {
    config_card
    card_options[A]='--fault icv:50'
    inline_up card card
    card_options[A]=''
    capture_start "$run"
    check "TCP from A to B" tcp "$hostA" 14.0.0.70 -n 3M
    check "TCP from B to A" tcp "$hostA" 14.0.0.70 -n 1M -R
    capture_stop
    card_end 500
    counters_checks A 'in_auth_failed>=10'
    counters_checks B
    card_saw A 500 'rx_icv_failed>=10'
    card_saw B 500
    check "as many drops as the card found" same_failures A
}

same_failures() {
    python3 -c 'import json, sys
drops = json.load(open(sys.argv[1]))["drops"]["in_auth_failed"]
card = json.load(open(sys.argv[2]))["cards"][0]["counters"]["rx_icv_failed"]
print(drops, card)
sys.exit(drops != card)' "$out/$run-$1.json" "$out/$run-$1.card.json"
}

# churn: thousands of random adds and removals, under traffic both ways; nothing in the clear, no wrong key, no IV twice.
churn_operations=${CHURN:-10000}

case_churn() {
    local seed=${SEED:-$RANDOM}
    config_empty
    protect 4 1 proto tcp
    protect 4 1 proto udp
    offloaded 0x1001 AB 1 "$gcm" 20 128 replay-window 1024
    offloaded 0x1002 BA 1 "$gcm" 20 128 replay-window 1024
    inline_up card none
    capture_start "$run"
    ip netns exec "$hostA" timeout 300 iperf3 -c 14.0.0.70 -u -b 3M -l 700 -t 300 --bidir >"$work/udp.txt" 2>&1 &
    stream=$!
    sleep 0.5
    check "under UDP both ways: $churn_operations random adds and removals (SEED=$seed)" "$here/card-churn.py" \
        "$work/A.sock" "$work/B.sock" "$out/$run-A.xfrm" "$out/$run-B.xfrm" $churn_operations "$seed"
    cat "$work/check"
    check "TCP while it settles" tcp "$hostA" 14.0.0.70 -n 1M
    stream_stop
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --min 0
    counters_checks A
    counters_checks B
    card_saw A 500
}
