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
    stream_stop
    check "TCP after that" wait_for 20 tcp "$hostA" 14.0.0.70 -n 1M
    capture_stop
    gateways_down
    # The hosts say ICMP of UDP that nobody takes any more.
    wire_checks --clear arp,nd,icmp --min 0
    counters_checks A
    counters_checks B
    card_saw A 500
}

# testpmd: the driver's receive and transmit paths, each with another setting of testpmd as gateway A's place. Side B is espgw
# without policies.
case_testpmd() {
    local name=$run mode
    for mode in ${TESTPMD:-vector scalar jumbo checksum queues}; do
        run=$name-$mode
        config_empty
        testpmd_start $mode
        if [ $mode = jumbo ]; then set_mtu 8000 9000; fi
        gateway_start B "$([ $mode = jumbo ] && echo 8000,9000 || echo 1500,1600)" --xfrm "$out/$run-B.xfrm"
        wait_for 60 gateway_started B || fail "gateway B did not start"
        wait_for 20 grep -q 'packet forwarding - ports' "$out/$run-A.log" || fail "testpmd did not start: $out/$run-A.log"
        check "TCP from A to B" tcp "$hostA" 14.0.0.70 -n 3M
        check "TCP from B to A" tcp "$hostA" 14.0.0.70 -n 3M -R
        check "ping, all answered, sizes 0, 56 and 1472" pings 14.0.0.70 1472
        if [ $mode = jumbo ]; then
            check "ping, all answered, size 7972" ping_all "$hostA" 14.0.0.70 7972 -M "do"
            set_mtu 1500 1600
        fi
        gateways_down
        check "cards: no breach of their contract; what came went on, but for the last when it ended" "$here/card-report.py" \
            "$out/$run-A.card.json" breaches=0 tx_clear=0 rx_missed=0 'tx_frames>=1000' "tx_frames>=$(($(card_counter rx_frames) * 99 / 100))"
    done
    run=$name
}

# testpmd_start MODE: on two cards, one at each side of gateway A.
testpmd_start() {
    local options=(--forward-mode=io --total-num-mbufs=16384)
    case $1 in
    scalar) options+=(--rxd=1000 --txd=992 --txrst=16 --txfreet=16) ;;
    jumbo) options+=(--max-pkt-len=9018 --enable-scatter --tx-offloads=0x8000) ;;
    checksum)
        printf 'csum mac-swap off %s\n' 0 1 >"$work/csum"
        printf 'port stop all\ncsum set %s hw 0\ncsum set %s hw 0\ncsum set %s hw 0\n' ip udp tcp >>"$work/csum"
        printf 'csum set %s hw 1\ncsum set %s hw 1\ncsum set %s hw 1\nport start all\nset fwd csum\nstart\n' ip udp tcp >>"$work/csum"
        options=(--total-num-mbufs=16384 -i "--cmdline-file=$work/csum" --enable-rx-cksum)
        ;;
    queues) options+=(--rxq=2 --txq=2 --rss-ip) ;;
    esac
    card_table+=("$run-A")
    mkfifo "$work/$run.in"
    sleep 1000 >"$work/$run.in" & # or testpmd would end at once
    background+=($!)
    disown
    nicmodel_in "$gwA" "$run-A" --strict --ports 2 --wire af_packet:lan --wire af_packet:eth4 -- \
        stdbuf -oL dpdk-testpmd --lcores "0@$work_cpu,1@$work_cpu" -m 192 --huge-unlink=always --no-telemetry --file-prefix "$lab-gwA" -- \
        "${options[@]}" <"$work/$run.in" >"$out/$run-A.log" 2>&1 &
    gateway_pid[A]=$!
}

card_counter() { # NAME: of both cards of side A
    python3 -c 'import json, sys; print(sum(c["counters"][sys.argv[2]] for c in json.load(open(sys.argv[1]))["cards"]))' \
        "$out/$run-A.card.json" "$1"
}
