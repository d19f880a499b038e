# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of lab.sh and of its other parts
# Sourced by lab.sh: 1500 octets on every link, so that a full packet does not fit with ESP around it. The gateways then
# make TCP announce smaller segments, tell hosts how much fits, and listen to ICMP errors about their ESP.
#
# What fits, with 16 octets of ICV: 1500 - 20 - 8 (SPI, sequence number) - 8 (IV) - 16 (ICV) = 1448, less 2 of trailer,
# plus the header again: 1466 octets of IPv4 packet. IPv6: 1500 - 40 - 32 = 1428, 1466 as well. The segment is that
# less 20 or 40 octets of IP and 20 of TCP. On a path of 1400, 1366 of both.

fits=1466 fits_path=1366 path=1400
hostA4=14.0.0.52 hostB4=14.0.0.70 hostA6=2001:db8:14::52 hostB6=2001:db8:14::70
mtu_table=()

# snapshot: both gateways write their counters.
snapshot() {
    local side
    for side in A B; do
        rm -f "$out/$run-$side.json"
        kill -USR1 "${gateway_pid[$side]}"
        wait_for 5 test -s "$out/$run-$side.json" || return 1
    done
}

# facts: what the run has shown so far; lines of a name and values, A's and B's or IPv4's and IPv6's.
facts() { "$here/lab-mtu.py" facts "$out/$run" >"$work/facts" || bad "facts"; }

# fact NAME: its values. fact_is LINE...: each is there.
fact() { sed -n "s/^$1 //p" "$work/facts"; }
fact_is() {
    local line
    cat "$work/facts"
    for line; do grep -qx "$line" "$work/facts" || return 1; done
}

# fact_at_least NAME N M: both values.
fact_at_least() {
    local values
    cat "$work/facts"
    read -r -a values <<<"$(fact "$1")"
    [ "${values[0]}" -ge "$2" ] && [ "${values[1]}" -ge "$3" ]
}

# forget_mtu: what the hosts have learnt of their paths, and of each other's MAC addresses.
forget_mtu() {
    local ns last
    for ns in "$hostA 52" "$hostB 70"; do
        last=${ns#* } ns=${ns% *}
        # IPv4's exceptions stay with their route.
        ip -n "$ns" route del 14.0.0.0/24 dev eth0
        ip -n "$ns" route add 14.0.0.0/24 dev eth0 proto kernel scope link src "14.0.0.$last"
        ip -n "$ns" -6 route flush cache
        ip -n "$ns" neigh flush dev eth0
    done
}

# knows NAMESPACE ADDRESS MTU: the host's route to that address.
knows() {
    local seen
    seen=$(ip -n "$1" route get "$2" | tr -d '\n')
    echo "$seen"
    [[ "$seen " == *" mtu $3 "* ]]
}

# syn_capture_start, syn_capture_stop: what comes to each host of TCP's first packets.
syn_capture_start() {
    local side ns filter='tcp[tcpflags] & tcp-syn != 0 or (ip6[6] = 6 and ip6[53] & 2 != 0)'
    syn_pids=()
    for side in A B; do
        ns=$lab-host$side
        rm -f "$work/syn-$side"
        ip netns exec "$ns" tcpdump -q -i eth0 -Q in -U --immediate-mode \
            -w "$out/$run-syn-$side.pcap" "$filter" 2>"$work/syn-$side" &
        syn_pids+=($!)
        background+=($!)
    done
    for side in A B; do
        wait_for 5 grep -q listening "$work/syn-$side" || fail "tcpdump did not start: $(cat "$work/syn-$side")"
    done
}

syn_capture_stop() {
    local pid
    sleep 0.3
    for pid in "${syn_pids[@]}"; do stop_process "$pid" || true; done
}

# mtu_tcp [MTU]: both ways over both, each as if for the first time; with MTU, that is what the sender must have learnt.
# Only the sender: it announces smaller segments from then on.
mtu_tcp() {
    local way ways=("$hostA $hostB4 A-B" "$hostB $hostA4 B-A" "$hostA $hostB6 A-B" "$hostB $hostA6 B-A") number=0
    syn_capture_start
    for way in "${ways[@]}"; do
        # shellcheck disable=SC2086 # three words
        set -- "${1:-}" $way
        forget_mtu
        check "TCP, $4, $3" tcp "$2" "$3" "${mtu_amount[@]}"
        cp "$work/iperf.json" "$out/$run-tcp-$((number += 1)).json"
        if [ "$1" ]; then check "the sender's route: MTU $1" knows "$2" "$3" "$1"; fi
    done
    syn_capture_stop
}

# mtu_row TEXT: a row of the table.
mtu_row() {
    local mbits big answers four six
    read -r -a mbits <<<"$(fact mbits)"
    read -r -a big <<<"$(fact out_too_big)"
    read -r -a answers <<<"$(fact originated)"
    four=$(fact mss4) six=$(fact mss6)
    mtu_table+=("$(printf '%-26s %9s %9s %9s %9s  %-10s %11s %10s' "$1" "${mbits[@]}" "${four%% *}/${six%% *}" \
        $((big[0] + big[1])) $((answers[0] + answers[1])))")
}

# sane: no rate is below a fifth of what it was with the clamp (clamped).
sane() {
    local mbits i
    read -r -a mbits <<<"$(fact mbits)"
    echo "${mbits[*]} Mbit/s; with the clamp: ${clamped[*]}"
    for i in 0 1 2 3; do [ "${mbits[i]}" -gt $((clamped[i] / 5)) ] || return 1; done
}

# ping_limit NAMESPACE ADDRESS SIZE: that is answered; one octet more is not, and says what fits.
ping_limit() {
    forget_mtu
    in_ns "$1" ping -c 1 -W 2 -M "do" -s "$3" "$2" || return 1
    if in_ns "$1" ping -c 1 -W 2 -M "do" -s $(($3 + 1)) "$2" >"$work/ping"; then return 1; fi
    cat "$work/ping"
    grep -qiE "^From $2 .*mtu ?= ?$fits\b" "$work/ping"
}

case_mtu() {
    mtu_amount=(-t 1)
    if [ $quick = yes ]; then mtu_amount=(-n 30M); fi
    set_mtu 1500 1500
    mtu_clamp
    mtu_discovery
    if [ $quick = no ]; then
        mtu_attack
        wire_routed $path
        mtu_path
        wire_bridged
    fi
    forget_mtu
    set_mtu 1500 1600
}

# mtu_start NAME WAN-B [OPTION...]: both gateways, with new keys, as sequence numbers begin at 1 again; WAN-B is the MTU
# of B's side of the wire.
mtu_start() {
    run=$1
    config_mtu
    gateway_start A 1500,1500 --xfrm "$out/$run-A.xfrm" "${@:3}"
    gateway_start B "1500,$2" --xfrm "$out/$run-B.xfrm" "${@:3}"
    gateways_wait
    forget_mtu
}

# mtu_clamp: as gateways are by default; then what is not TCP.
mtu_clamp() {
    local run blind=7
    mtu_start mtu-clamp 1500
    mtu_tcp
    snapshot
    facts
    read -r -a clamped <<<"$(fact mbits)"
    check "segment sizes announced to A and B: 1426 over IPv4, 1406 over IPv6" fact_is 'mss4 1426 1426' 'mss6 1406 1406'
    check "no packet was too big, nobody had to be told" fact_is 'out_too_big 0 0' 'originated 0 0'
    mtu_row "clamp"
    forget_mtu
    capture_start "$run"
    check "UDP without DF, 1500 octets: lost, no answer" in_ns "$hostA" "$here/lab-mtu.py" blind $hostB4 $blind
    check "UDP with DF, IPv4: EMSGSIZE, MTU $fits; so much is answered" in_ns "$hostA" "$here/lab-mtu.py" learn $hostB4 $fits
    check "UDP with DF, IPv6: EMSGSIZE, MTU $fits; so much is answered" in_ns "$hostB" "$here/lab-mtu.py" learn $hostA6 $fits
    check "ping, IPv4: $fits octets pass, one more is answered with the MTU" ping_limit "$hostB" $hostA4 $((fits - 28))
    check "ping, IPv6: $fits octets pass, one more is answered with the MTU" ping_limit "$hostA" $hostB6 $((fits - 48))
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --min 2 --longest 1514
    tshark_checks
    counters_checks A out_too_big=$((blind + 2))
    counters_checks B out_too_big=2
    facts
    check "answers: one for each that was too big and had DF" fact_is 'originated 2 2'
}

# mtu_discovery: segment sizes are left alone, so that hosts have to find out.
mtu_discovery() {
    local run
    mtu_start mtu-found 1500 --mss-clamp off
    mtu_tcp $fits
    gateways_down
    facts
    check "segment sizes are left alone" fact_is 'mss4 1460 1460' 'mss6 1440 1440'
    check "no way is slower than a fifth of TCP with the clamp" sane
    check "both gateways have answered, IPv4 and IPv6" fact_at_least originated 2 2
    counters_checks A 'out_too_big>=2'
    counters_checks B 'out_too_big>=2'
    mtu_row "path MTU discovery"
}

# mtu_path: a router between the gateways; its link to B takes $path octets. It tells A, about ESP.
mtu_path() {
    local run
    mtu_start mtu-path $path --mss-clamp off
    mtu_tcp $fits_path
    gateways_down
    facts
    check "segment sizes are left alone" fact_is 'mss4 1460 1460' 'mss6 1440 1440'
    check "gateway A has learnt $path octets, $fits_path of them inside" \
        fact_is "path_mtu $path $path" "inner_mtu $fits_path $fits_path"
    counters_checks A 'out_too_big>=2' 'in_path_mtu>=2'
    counters_checks B 'out_too_big>=2'
    mtu_row "router, $path octets"
}

listens() { [ -n "$(in_ns "$1" ss -Hltn "sport = $2")" ]; }

no_path_mtu() { ! grep -o '"path_mtu":[1-9][0-9]*' "$out/$run-A.json"; }

# mtu_attack: ICMP errors that no router has sent. The numbers of packets are lab-mtu.py's. Rates are seen at the receiver,
# where a stall shows at once.
mtu_attack() {
    local run four six
    mtu_start mtu-attack 1500
    capture_start "$run"
    check "TCP before the attack, IPv4" tcp "$hostA" $hostB4 -n 300K
    check "TCP before the attack, IPv6" tcp "$hostA" $hostB6 -n 300K
    capture_stop
    ip netns exec "$hostA" iperf3 -s -p 5202 >/dev/null 2>&1 &
    background+=($!)
    disown $! # it is killed at the end
    wait_for 5 listens "$hostA" 5202
    ip netns exec "$hostB" timeout 60 iperf3 -J -R -c $hostA4 -b 20M -t 50 >"$out/$run-four.json" &
    four=$!
    ip netns exec "$hostB" timeout 60 iperf3 -J -R -c $hostA6 -p 5202 -b 20M -t 50 >"$out/$run-six.json" &
    six=$!
    sleep 1
    check "ICMP errors with made up sequence numbers, SPIs, checksums, or no MTU" \
        in_ns "$wire" "$here/lab-mtu.py" attack br0 "$capture" ignored
    sleep 0.3
    snapshot
    check "no path MTU was learnt" no_path_mtu
    check "ICMP errors that quote what was sent say 68 octets" \
        in_ns "$wire" "$here/lab-mtu.py" attack br0 "$capture" believed
    sleep 3.5 # a second that was begun, and two more
    kill -INT $four $six || true
    wait $four || true
    wait $six || true
    check "the open IPv4 connection got on in every second of it" got_on "$out/$run-four.json"
    check "the open IPv6 connection got on in every second of it" got_on "$out/$run-six.json"
    check "TCP after the attack, IPv4" tcp "$hostA" $hostB4 -n 300K
    check "TCP after the attack, IPv6" tcp "$hostA" $hostB6 -n 300K
    gateways_down
    facts
    # Linux goes no lower (net.ipv4.route.min_pmtu; RFC 8200, section 5) and would send packets of that size in vain.
    check "hosts are told no less than they go down to: 552 octets over IPv4, 1280 over IPv6" \
        fact_at_least inner_mtu 552 1280
    check "a path MTU was learnt, and none below 576 octets over IPv4, 1280 over IPv6" fact_at_least path_mtu 576 1280
    counters_checks A in_esp_error=16 in_policy_mismatch=10 in_malformed=2 in_path_mtu=2 'out_too_big>=2'
    counters_checks B
}
