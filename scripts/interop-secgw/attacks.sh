# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of interop-secgw.sh and of its other parts
# Sourced by interop-secgw.sh: wrong packets on the wire, and what ipsec-secgw cannot do.

# arrived: how many packets have come to ipsec-secgw's host.
arrived() { in_ns "$hostA" cat /sys/class/net/eth0/statistics/rx_packets; }

# attacked TARGET: the attacker's frames towards espgw or secgw, and time to work on them.
attacked() {
    in_ns "$wire" "$here/interop-secgw-attack.py" "$1" br0 "$capture" "$out/$run-B.xfrm" || return
    sleep 1
}

# attack: the numbers are interop-secgw-attack.py's, for two families.
case_attack() {
    local before
    config_start
    pair_of_sas 4 0x4001 aes-128-gcm
    pair_of_sas 6 0x6001 aes-128-gcm
    gateways crypto_openssl -l -w 192
    check "IPv4: TCP before the attack" tcp "$hostA" $host_b4 -n 3M
    check "IPv4: TCP before the attack, the other way" tcp "$hostA" $host_b4 -n 3M -R
    check "IPv6: TCP before the attack" tcp "$hostA" $host_b6 -n 3M
    check "IPv6: TCP before the attack, the other way" tcp "$hostA" $host_b6 -n 3M -R
    capture_stop
    check "the attacker's frames towards espgw are on the wire" attacked espgw
    check "IPv4 goes on" pings "$hostA" $host_b4 56
    check "IPv6 goes on" pings "$hostA" $host_b6 56
    before=$(arrived)
    check "the attacker's frames towards ipsec-secgw are on the wire" attacked secgw
    check "ipsec-secgw lets none of them pass to its host (the replays are older than its window)" \
        [ "$(arrived)" = "$before" ]
    check "IPv4 goes on" pings "$hostB" $host_a4 56
    check "IPv6 goes on" pings "$hostB" $host_a6 56
    gateways_down
    check "espgw counts each kind by name" "$here/lab-stats.py" "$out/$run-B.json" in_replay_old=10 \
        in_replay_duplicate=2 in_state_mismatch=10 in_auth_failed=10 in_policy_mismatch=10 in_no_state=10 \
        in_bad_trailer=10 in_dummy=10
}

# replayed [OPTION-OF-IPSEC-SECGW...]: 200 packets to ipsec-secgw's host, all of them once more, then 70 pings. Leaves
# in `came` how many of the 200 came again, and in `lost` how many of the 70 were not answered.
replayed() {
    local before
    config_start
    pair_of_sas 4 0x4001 aes-128-gcm
    gateways crypto_openssl "$@"
    in_ns "$hostA" "$here/lab-echo.py" ask $host_b4 100 200 || return
    capture_stop
    before=$(arrived)
    attacked replay || return
    came=$(($(arrived) - before))
    in_ns "$hostB" ping -q -c 70 -i 0.01 -W 2 $host_a4 >"$work/ping" || true
    lost=$((70 - $(grep -oE '[0-9]+ received' "$work/ping" | cut -d ' ' -f 1)))
    gateways_down
    echo "${*:-no options}: $came replays came to the host, then $lost pings were lost"
}

# windows: ipsec-secgw's anti-replay windows. librte_ipsec of DPDK 22.11 has two flaws here, which is why its numbers
# are told and not judged. It marks a packet in words of 64 bits through a variable of 32: sequence numbers whose
# remainder by 64 is 32 or more are never marked. And the window has a power of two of words, each cleared as a whole
# when the window moves into it: a window that needs all of its words (65 to 128, 193 to 256, ...) forgets packets that
# are still inside, and a replay of those marks packets that are yet to come.
case_windows() {
    local came lost window
    check "200 packets again, no window" replayed -l
    check "without -w all 200 come to the host: the count can fail" [ "$came" = 200 ]
    for window in 64 192 128; do
        check "200 packets again, -w $window" replayed -l -w $window
        note "-w $window: $came of 200 replays come to the host, $lost of the next 70 packets are lost"
    done
}

# refused_by_secgw TEXT PATTERN OPTION...: ipsec-secgw does not start with the case's file, and says why.
refused_by_secgw() {
    local text=$1 pattern=$2 command status=0
    shift 2
    secgw_command crypto_openssl "$@"
    # In a shell of its own, which is the one to say that it aborted.
    (ip netns exec "$gwA" timeout -k 5 10 "${command[@]}" || exit $?) >"$out/$run-A.log" 2>&1 || status=$?
    if [ $status -ne 124 ] && grep -q "$pattern" "$out/$run-A.log"; then
        note "$text: refused (status $status): $(grep -m 1 -o "$pattern.*" "$out/$run-A.log")"
    else
        note "$text: not refused (status $status)"
    fi
}

# limits: what ipsec-secgw does not do, tried and told. Nothing of it counts as passed or failed.
case_limits() {
    local sa_options_a='' sa_options_b='' answer
    sa_options_a=udp-encap
    config_start
    pair_of_sas 4 0x4001 aes-128-gcm
    refused_by_secgw "UDP encapsulation" 'UDP encapsulation not supported' -l

    sa_options_a=''
    config_start
    pair_of_sas 4 0x4001 aes-128-gcm
    pair_of_sas 6 0x4001 aes-128-gcm
    refused_by_secgw "one SPI for IPv4 and IPv6" 'used simultaneously\|failed to init\|already' -l

    sa_options_a='esn 1' sa_options_b='flag esn'
    config_start
    pair_of_sas 4 0x4001 aes-128-gcm
    gateways crypto_openssl -l -w 192
    in_ns "$hostA" ping -q -c 5 -i 0.05 -W 1 $host_b4 >"$work/ping" || true
    answer=$(grep -oE '[0-9]+ received' "$work/ping")
    capture_stop
    gateways_down
    note "esn in an SA's line without -e: 5 pings, $answer; espgw: $(drops)"

    sa_options_a='' sa_options_b=''
    config_start
    pair_of_sas 4 0x4001 aes-128-gcm
    gateways crypto_openssl -l -w 192
    ip -n "$hostA" link set eth0 mtu 1500
    in_ns "$hostA" ping -c 3 -i 0.05 -W 1 -M "do" -s 1472 $host_b4 >"$work/ping" 2>&1 || true
    ip -n "$hostA" link set eth0 mtu $host_mtu
    capture_stop
    gateways_down
    answer=$(grep -oE '[0-9]+ received' "$work/ping")
    note "3 pings that ESP makes too large for the link: $answer, ICMP errors: $(grep -c 'Frag needed' "$work/ping")"
}

# drops: espgw's drop reasons that are not 0.
drops() {
    python3 -c 'import json, sys
print({k: n for k, n in json.load(open(sys.argv[1]))["drops"].items() if n})' "$out/$run-B.json"
}
