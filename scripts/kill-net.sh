# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of kill.sh, lab-common.sh and lab-net.sh
# Sourced by kill.sh: the network, the gateways that are stopped and started again, load and captures.
#
#   hostA eth0 ── lan gwA eth4 ── wan0 wire wan1 ── eth4 gwB lan ── eth0 hostB
#
# Outbound captures are taken where A's frames leave (gwA eth4), before any queue could lose one; inbound ones where
# they arrive at hostB. Old packets are put in at wan1. The hosts' kernels take no part: the load is for a MAC address
# that nobody has.

# kill_network_up: as the lab's network, without addresses and servers on the hosts.
kill_network_up() {
    local ns
    remove_leftovers
    for ns in "$hostA" "$hostB" "$gwA" "$gwB" "$wire"; do
        ip netns add "$ns"
        in_ns "$ns" sysctl -q net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
    done
    veth "$hostA" eth0 1500 "$gwA" lan 1500
    veth "$hostB" eth0 1500 "$gwB" lan 1500
    veth "$gwA" eth4 1600 "$wire" wan0 1600
    veth "$gwB" eth4 1600 "$wire" wan1 1600
    ip -n "$wire" link add br0 mtu 1600 type bridge mcast_snooping 0
    for ns in wan0 wan1; do ip -n "$wire" link set "$ns" master br0 up; done
    ip -n "$wire" link set br0 up
    ip -n "$hostA" link set eth0 up
    ip -n "$hostB" link set eth0 up
    for ns in "$gwA" "$gwB"; do
        ip -n "$ns" link set lan up
        ip -n "$ns" link set eth4 up
    done
}

# now: Unix time in seconds with six decimals, as captures have it.
now() { echo "${EPOCHREALTIME/,/.}"; } # whatever the locale's decimal point is

# random_sleep FROM TO: so many milliseconds. RANDOM has been seeded, so that a run can be repeated.
random_sleep() {
    local ms=$(($1 + RANDOM % ($2 - $1 + 1)))
    sleep "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

# gateway_run A|B STATE-FOLDER: espgw in its namespace, with the run's file of ip xfrm commands. Each start has a log of
# its own; $log names the last one. qdisc_bypass=0: what is sent past that layer is not seen by tcpdump. Frames are
# small and so are the rings' slots; those of B's unprotected port hold what comes while B waits for a CPU.
gateway_run() {
    local side=$1 ring=framesz=512,blocksz=65536,framecnt=8192 wan
    wan=$ring,qdisc_bypass=0
    if [ "$side" = B ]; then wan=${ring/8192/32768}; fi
    starts=$((starts + 1))
    log=$out/$run-$side-$(printf %03d $starts).log
    eal_args "$lab-gw$side" 192
    ip netns exec "$lab-gw$side" "$bin/espgw" "${eal[@]}" \
        --vdev "net_af_packet0,iface=lan,$ring" --vdev "net_af_packet1,iface=eth4,$wan" \
        -- --pair lan=net_af_packet0,eth4=net_af_packet1 --mtu lan=300,eth4=400 --state-dir "$2" \
        --idle-backoff 50us --xfrm "$out/$run-$side.xfrm" --control "$work/$side.sock" --stats-json "$work/$side.json" \
        >"$log" 2>&1 &
    gateway_pid[$side]=$!
}

# gateway_ready A|B: it takes packets.
gateway_ready() {
    if ! wait_for 20 started_or_gone "$1" || ! grep -q 'msg=started' "$log"; then
        tail -n 5 "$log" >&2
        fail "gateway $1 did not start"
    fi
}

started_or_gone() { grep -q 'msg=started' "$log" || is_gone "${gateway_pid[$1]}"; }

# gateway_kill A|B: at once, whatever it is doing.
gateway_kill() {
    kill -KILL "${gateway_pid[$1]}"
    wait "${gateway_pid[$1]}" 2>/dev/null || true
    unset "gateway_pid[$1]"
}

# gateway_stop A|B: SIGTERM; it must end with status 0.
gateway_stop() {
    local status=0
    kill -TERM "${gateway_pid[$1]}"
    wait_for 10 is_gone "${gateway_pid[$1]}" || kill -KILL "${gateway_pid[$1]}"
    wait "${gateway_pid[$1]}" || status=$?
    unset "gateway_pid[$1]"
    if [ $status -ne 0 ]; then bad "gateway $1 ended with status $status: $(tail -n 1 "$log")"; fi
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }

# counters A|B: has the gateway write its counters now; they are in $work/SIDE.json.
counters() {
    rm -f "$work/$1.json"
    kill -USR1 "${gateway_pid[$1]}"
    wait_for 10 test -e "$work/$1.json" || fail "gateway $1 wrote no counters"
}

# sa_packets A|B: the packet counters of the SAs, in the order of their SPIs, from the counters written last.
sa_packets() {
    grep -oE '"spi":[0-9]+,|"packets":[0-9]+,"bytes"' "$work/$1.json" | tr -dc '0-9\n' | paste - - | sort -n | cut -f 2
}

# all_grew BEFORE AFTER: every SA has more packets, and there are as many as there are flows.
all_grew() {
    local before after i
    mapfile -t before <<<"$1"
    mapfile -t after <<<"$2"
    [ ${#after[@]} -eq ${#flows[@]} ] || return 1
    for i in "${!after[@]}"; do [ "${after[i]}" -gt "${before[i]:-0}" ] || return 1; done
}

# load_start FIRST: numbered datagrams from hostA, in turn to every address, until load_stop.
load_start() {
    local words=() to
    for to in "${flows[@]}"; do words+=(--flow "$to"); done
    ip netns exec "$hostA" "$bin/espload" send eth0 --rate "$rate" --first "$1" "${words[@]}" >"$work/load" 2>&1 &
    load_pid=$!
}

load_stop() {
    stop_process "$load_pid" || fail "the load ended early: $(cat "$work/load")"
    echo "$run: load: $(cat "$work/load")" >>"$out/checks.log"
}

# record_start NAMESPACE INTERFACE in|out FILE FILTER OCTETS: tcpdump, which can be more than one at a time.
record_start() {
    rm -f "$4.err"
    ip netns exec "$1" tcpdump -q -n -i "$2" -Q "$3" -s "$6" -B 131072 --time-stamp-precision=nano -Z root \
        -w "$4" "$5" 2>"$4.err" &
    recorders[$4]=$!
    wait_for 10 grep -q listening "$4.err" || fail "tcpdump did not start: $(cat "$4.err")"
}

# record_stop FILE: it must not have lost a frame, nor left one unread.
record_stop() {
    wait_for 10 all_read "$1" || true
    stop_process "${recorders[$1]}" || true
    unset "recorders[$1]"
    tail -n 3 "$1.err" | paste -sd ' ' >"$work/recorded"
    read_all <"$work/recorded" || bad "tcpdump lost frames: $(cat "$work/recorded")"
    rm -f "$1.err"
}

# all_read FILE: tcpdump, which says on SIGUSR1 how far it is, has read what there is: it waits for its last block, up
# to a second. read_all: a line of it says so.
all_read() {
    kill -USR1 "${recorders[$1]}"
    sleep 0.1
    tail -n 1 "$1.err" | read_all
}
read_all() { grep -qE '\b([0-9]+) packets? captured,? \1 packets? received by filter,? 0 packets? dropped by kernel'; }

# load_drained: A has sealed all that was in its receive ring.
load_drained() {
    local last=$sealed
    counters A
    sealed=$(sa_packets A)
    [ "$sealed" = "$last" ]
}
sealed=''

# kill_network_down: everything that was started ends, and nothing stays but what is in build/kill.
kill_network_down() {
    local pid
    for pid in "$load_pid" "${recorders[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    disown -a
    network_down
    rm -rf "$memory"
}
