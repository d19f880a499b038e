# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of interop.sh and of its other parts
# Sourced by interop.sh: what is tried between Linux and espgw, and what must be seen.

host_traffic() { in_ns "$hostB" "$here/interop-traffic.sh" "$@"; }
guest_traffic() { guest "traffic $*"; }

# traffic NAME GUEST HOST: ping, UDP and TCP, asked by either end.
traffic() {
    check "$1: ping from Linux, 10 of 10, 56 and 1200 octets" guest "traffic ping $3 56 && traffic ping $3 1200"
    check "$1: ping from the host behind espgw" eval "host_traffic ping $2 56 && host_traffic ping $2 1200"
    check "$1: UDP from Linux, 5 datagrams of 1300 octets come back" guest_traffic udp "$3" 1300 5
    check "$1: UDP from the host, 20 datagrams of 1300 octets come back" in_ns "$hostB" "$here/lab-echo.py" ask "$2" 1300 20
    check "$1: TCP from Linux, 200 kB there and back" guest_traffic tcp "$3" 200000
    check "$1: TCP from the host, 200 kB there and back" host_traffic tcp "$2" 200000
}

traffic4() { traffic "$1" 14.0.0.52 14.0.0.70; }
traffic6() { traffic "$1" 2001:db8:14::52 2001:db8:14::70; }

# dropped: what espgw is to have dropped since begin, by reason. "out_too_big>" for so many or more.
declare -A dropped=()

# balanced: espgw's last counters, once it is down.
balanced() {
    local words=() reason
    for reason in "${!dropped[@]}"; do words+=("$reason=${dropped[$reason]}"); done
    check "espgw: counters balance, drops: ${words[*]:-none}" "$here/lab-stats.py" "$out/$run-B.json" "${words[@]}"
}

# finish [CHECK-ESP-OPTION...]: what every case must end with. NO_TSHARK=yes where tshark 4.0 cannot; GSO=yes where
# Linux counts before it cuts up.
finish() {
    end_traffic
    gateway_down
    check "Linux: no XFRM error counter has moved" linux_quiet
    balanced
    check "both ends have counted the same packets and octets in every SA" "$here/interop-sas.py" ${GSO:+--gso} "$out/$run-end.linux" "$out/$run-B.json"
    check "capture: nothing protected in the clear, every ESP packet opens, no IV and no sequence number twice" \
        "$here/check-esp.py" --xfrm "$out/$run-B.xfrm" "$@" "$capture"
    if [ "${NO_TSHARK:-no}" = no ]; then
        check "capture: tshark decrypts and authenticates every ESP packet" "$here/check-esp.sh" "$capture" "$out/$run-B.xfrm"
    fi
}

# linux_quiet: of what the guest counts, only packets that it accepted.
linux_quiet() {
    "$here/interop-counters.py" "$out/$run-begin.linux" "$out/$run-end.linux" >"$work/moved" || true
    cat "$work/moved"
    ! grep -q 'Xfrm' "$work/moved"
}

# classic: Debian 13's Linux and iproute2 take "offload ... dir out" for the direction of the SA, and refuse a replay
# window where nothing is received. There the guest gets its sending SA without those two words.
case_classic() {
    config_classic
    if [ "$release" = trixie ]; then
        check "Linux refuses a replay window in an SA of dir out" refused_window
        sed -i -z 's/replay-window 32 \\\n\([^\n]*\n[^\n]*dir out\)/\\\n\1/' "$out/$run-A.xfrm"
    fi
    begin || return 0
    traffic4 "classic"
    check "Linux takes offload for a card that has none, and serves it in software" guest 'ip xfrm state | grep -c "spi 0x00000007" | grep -x 2'
    GSO=yes finish --clear arp,nd,icmp,udp --inside tcp --min 100
}

refused_window() {
    guest "$(cat "$out/$run-A.xfrm")" >"$work/refused" 2>&1 || true
    cat "$work/refused"
    grep -q 'Replay window should be 0' "$work/refused"
}

# one_pair ALGORITHM KEY-OCTETS ICV-BITS [OPTION...]: all of IPv4 between the two, a key for each direction.
one_pair() {
    config_empty
    sa 4 0x1001 AB 1 "$1" "$2" "$3" "${@:4}"
    sa 4 0x1002 BA 1 "$1" "$2" "$3" "${@:4}"
    protect 4 1
}

# aead NAME ALGORITHM KEY-OCTETS ICV-BITS [OPTION...]
aead() {
    one_pair "${@:2}"
    begin || return 0
    traffic4 "$1"
    finish --clear arp,nd --min 100
}

# everything: and the longest packet that fits 1500 octets as ESP, 20 + 8 + 8 + 1448 + 16: Linux and espgw agree on it.
case_everything() {
    one_pair "$gcm" 20 128 replay-window 128
    begin || return 0
    traffic4 "AES-128, every protocol"
    host_mtu 1466
    check "packets of 1466 octets pass, there and back" guest "traffic ping 14.0.0.70 1438 -M do"
    check "Linux itself refuses one of 1467" guest "ping -c 1 -W 2 -M do -s 1439 14.0.0.70 2>&1 | tee /dev/stderr | grep -i 'message too long'"
    host_mtu 1440
    finish --clear arp,nd --min 100 --longest 1514
}

case_aes192() { aead "AES-192" "$gcm" 28 128 replay-window 128; }
case_aes256() { aead "AES-256" "$gcm" 36 128 replay-window 128; }
case_icv12() { aead "ICV of 12 octets" "$gcm" 20 96 replay-window 128; }
case_icv8() { aead "ICV of 8 octets" "$gcm" 20 64 replay-window 128; }
case_chacha() { NO_TSHARK=yes aead "ChaCha20-Poly1305" "$chacha" 36 128 replay-window 128; }
case_esn() { NO_TSHARK=yes aead "ESN" "$gcm" 20 128 replay-window 256 flag esn; }

# esnwrap: one direction passes 2^32, the other 2^33, both 32 packets after the start.
case_esnwrap() {
    local low='replay-window 256 flag esn replay-seq 0xffffffe0 replay-oseq 0xffffffe0'
    config_empty
    sa 4 0x1001 AB 1 "$gcm" 36 128 "$low"
    sa 4 0x1002 BA 1 "$gcm" 36 128 "$low" replay-seq-hi 1 replay-oseq-hi 1
    protect 4 1
    begin || return 0
    traffic4 "ESN over 2^32"
    NO_TSHARK=yes finish --clear arp,nd --min 100 --beyond 0x100000000
    check "capture: the direction that began above 2^32 passed 2^33" passed_2_33
}

passed_2_33() {
    "$here/check-esp.py" --xfrm "$out/$run-B.xfrm" --clear arp,nd "$capture" | tee "$work/passed"
    awk '$2 == "0x1002" && $NF > 2^33 { passed = 1 } END { exit !passed }' "$work/passed"
}

# ipv6: UDP, TCP and ICMPv6 by policies of their own; neighbour discovery is let pass.
case_ipv6() {
    config_empty
    sa 6 0x1001 AB 1 "$gcm" 20 128 replay-window 128
    sa 6 0x1002 BA 1 "$gcm" 20 128 replay-window 128
    protect 6 1 proto udp
    protect 6 1 proto tcp
    protect 6 1 proto ipv6-icmp
    pass_neighbour_discovery
    forget_neighbours
    begin || return 0
    traffic6 "IPv6"
    finish --clear arp,nd --inside udp,tcp,icmpv6 --min 100
}

# ipv6all: one policy for every protocol, so that neighbour discovery too would need ESP but for the lines that pass it.
case_ipv6all() {
    config_empty
    sa 6 0x1001 AB 1 "$gcm" 36 96 replay-window 128
    sa 6 0x1002 BA 1 "$gcm" 36 96 replay-window 128
    protect 6 1
    pass_neighbour_discovery
    forget_neighbours
    begin || return 0
    traffic6 "IPv6, every protocol"
    finish --clear arp,nd --min 100
}

# forget_neighbours: so that neighbour discovery has to work under the policies of the case.
forget_neighbours() {
    guest 'ip -6 neigh flush dev eth4' >/dev/null 2>&1 || true
    ip -n "$hostB" -6 neigh flush dev eth0 >/dev/null 2>&1 || true
}

# encapsulated FAMILY SOCAT-ADDRESS ANY: ESP in UDP. Linux needs two things more than its states: a socket on port 4500
# that says UDP_ENCAP (option 100 of level 17), and a policy that lets in what comes to that port, because the
# policies are asked before ESP is looked for.
encapsulated() {
    local family=$1 listen=$2 any=$3 own peer
    own=$(address "$family" A) peer=$(address "$family" B)
    config_empty
    sa "$family" 0x1001 AB 1 "$gcm" 20 128 replay-window 128 encap espinudp 4500 4500 "$any"
    sa "$family" 0x1002 BA 1 "$gcm" 20 128 replay-window 128 encap espinudp 4500 4500 "$any"
    protect "$family" 1
    if [ "$family" = 6 ]; then pass_neighbour_discovery; fi
    cat >>"$out/$run-A.xfrm" <<TEXT
ip xfrm policy add dir in src $peer dst $own proto udp dport 4500 priority 1
socat -u $listen-RECV:4500,setsockopt-listen=17:100:x02000000 OPEN:/dev/null >/dev/null 2>&1 &
echo \$! >/tmp/encap
sleep 0.5
TEXT
    begin || return 0
    "traffic$family" "ESP in UDP, IPv$family"
    # tshark takes port 4500 for ESP in UDP by itself.
    finish --clear arp,nd --encap --min 100
    guest 'kill $(cat /tmp/encap)' || bad "the socket for port 4500 has ended"
}

case_encap() { encapsulated 4 UDP4 0.0.0.0; }
case_encap6() { encapsulated 6 UDP6 ::; }

# limits: SAs that carry 20 packets and no more. Linux deletes an SA that has reached its limit, so it counts the first
# packet too many as expired and the others as without SA, and what the SA has accepted is gone; espgw keeps the SA, and
# counts them all as expired.
case_limits() {
    one_pair "$gcm" 20 128 replay-window 128 limit packet-hard 20
    begin || return 0
    counters_read "$run-now"
    event "Linux sends 25 where packet-hard is 20" "XfrmOutStateExpired=1 XfrmOutNoStates=4" accepted=20 guest_raw 253 25
    event "espgw sends 25 where packet-hard is 20" accepted=20 out_state_expired=5 host_raw 253 25
    capture_stop
    gateway_down
    balanced
    check "capture: 20 packets in each SA, nothing in the clear" "$here/check-esp.py" --xfrm "$out/$run-B.xfrm" --clear arp,nd --min 20 "$capture"

    # The same, but only the receivers know of a limit.
    sed -i '/ spi 0x1001 /s/ limit packet-hard 20//' "$out/$run-A.xfrm"
    sed -i '/ spi 0x1002 /s/ limit packet-hard 20//' "$out/$run-B.xfrm"
    begin || return 0
    counters_read "$run-now"
    event "Linux gets 25 where packet-hard is 20" "XfrmInStateExpired=1 XfrmInNoStates=4" none host_raw 253 25
    event "espgw gets 25 where packet-hard is 20" none "accepted=20 in_state_expired=5" guest_raw 253 25
    capture_stop
    gateway_down
    balanced
}

# mtu: the host knows nothing of ESP and sends packets of 1500 octets; espgw must tell it what fits.
case_mtu() {
    if ! grep -q -e --mss-clamp <<<"$("$bin/espgw" --help)"; then
        echo "SKIP  $run         this espgw does not answer packets that are too long"
        return
    fi
    config_empty
    sa 4 0x1001 AB 1 "$gcm" 20 128 replay-window 128
    sa 4 0x1002 BA 1 "$gcm" 20 128 replay-window 128
    sa 6 0x1003 AB 2 "$gcm" 20 128 replay-window 128
    sa 6 0x1004 BA 2 "$gcm" 20 128 replay-window 128
    protect 4 1
    protect 6 2
    pass_neighbour_discovery
    host_mtu 1500
    begin || return 0
    check "IPv4: the host is told that 1466 octets fit" told_mtu 14.0.0.52 1472
    check "IPv6: the host is told that 1466 octets fit" told_mtu 2001:db8:14::52 1452
    traffic4 "MTU, IPv4"
    traffic6 "MTU, IPv6"
    check "IPv4: the host's packets of 1466 octets pass" host_traffic ping 14.0.0.52 1438 -M "do"
    check "IPv6: the host's packets of 1466 octets pass" host_traffic ping 2001:db8:14::52 1418 -M "do"
    dropped["out_too_big>"]=2
    finish --clear arp,nd --min 100 --longest 1514
    in_ns "$hostB" ip route flush cache
    host_mtu 1440
}

# told_mtu ADDRESS SIZE: a ping of that size is answered by "too long", and the host's routes remember what fits.
told_mtu() {
    in_ns "$hostB" ping -n -c 2 -i 0.3 -W 2 -M "do" -s "$2" "$1" || true
    in_ns "$hostB" ip route get "$1" | tee /dev/stderr | grep -q 'mtu 1466'
}
