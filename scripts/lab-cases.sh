# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of lab.sh and of its other parts
# Sourced by lab.sh: what is tried between the hosts, and what must be seen.

# iperf_mbits: what the last iperf3 got through, in Mbit/s.
iperf_mbits() {
    python3 -c 'import json, sys
print(round(json.load(open(sys.argv[1]))["end"]["sum_received"]["bits_per_second"] / 1e6))' "$work/iperf.json"
}

# tcp NAMESPACE ADDRESS IPERF3-OPTION... (with -J, iperf3's status is 0 also when it could not connect)
tcp() {
    local ns=$1 address=$2
    shift 2
    in_ns "$ns" timeout 20 iperf3 -J -c "$address" "$@" >"$work/iperf.json" 2>&1 && iperf_received "$work/iperf.json"
}

# iperf_received FILE: there was no error, and something arrived.
iperf_received() {
    python3 -c 'import json, sys
said = json.load(open(sys.argv[1]))
received = said["end"].get("sum_received", {}).get("bytes", 0)
print(said.get("error", ""), received, "octets received")
sys.exit("error" in said or received == 0)' "$1"
}

# An answer has a ttl; the host's own "unreachable" has a number, too.
# ping_all NAMESPACE ADDRESS SIZE [OPTION...]: all answered. Whether the last one is does not count: ping waits for it
# no longer than two round trips, which a busy machine can take.
ping_all() {
    in_ns "$1" ping -c 21 -i 0.01 -s "$3" "${@:4}" "$2" >"$work/ping" || true
    if [ "$(grep -oE 'icmp_seq=([1-9]|1[0-9]|20) ttl=' "$work/ping" | sort -u | wc -l)" != 20 ]; then
        cat "$work/ping"
        return 1
    fi
}

# traffic ADDRESS NAME UDP-LENGTH PING-SIZE: hostA to the address of hostB, TCP in both directions.
traffic() {
    check "$2: TCP from A to B" tcp "$hostA" "$1" -n 3M
    check "$2: TCP from B to A" tcp "$hostA" "$1" -n 3M -R
    check "$2: UDP, 300 datagrams asked and answered" in_ns "$hostA" "$here/lab-echo.py" ask "$1" "$3" 300
    check "$2: ping, all answered, sizes 0, 56 and $4" pings "$1" "$4"
}

pings() { ping_all "$hostA" "$1" 0 && ping_all "$hostA" "$1" 56 && ping_all "$hostA" "$1" "$2" -M "do"; }

# wire_checks OPTION...: the capture, by our checker and by tshark; no drops on either gateway.
wire_checks() {
    check "capture: nothing protected in the clear, every ESP packet opens, no IV and no sequence number twice" \
        "$here/check-esp.py" --xfrm "$out/$run-A.xfrm" --xfrm "$out/$run-B.xfrm" "$@" "$capture"
}

tshark_checks() {
    check "capture: tshark decrypts and authenticates every ESP packet" "$here/check-esp.sh" "$capture" "$out/$run-A.xfrm"
}

# counters_checks A|B REASON=N...
counters_checks() {
    check "gateway $1: counters balance; drops: ${2:-none}${3:+, $3}${4:+, $4}${5:+, $5}${6:+, $6}" "$here/lab-stats.py" "$out/$run-$1.json" "${@:2}"
}

case_classic() {
    config_classic
    gateways_up 1500,1600 "$out/$run-A.xfrm" "$out/$run-B.xfrm"
    capture_start "$run"
    traffic 14.0.0.70 "policies for TCP" 1200 1472
    capture_stop
    gateways_down
    wire_checks --clear arp,nd,icmp,udp --inside tcp --min 1000
    tshark_checks
    counters_checks A
    counters_checks B
    check "log: offload dev eth4 falls back to software, and that is said" grep -q 'served in software.*net_af_packet' "$out/$run-A.log"
    check "counters: the SA's engine and why" grep -q '"engine":"go","engine_reason":"port eth4: net_af_packet' "$out/$run-A.json"
    check "log: a warning names the SAs that share a key" grep -qi 'share a key' "$out/$run-A.log"
}

case_everything() {
    config_everything
    gateways_up 1500,1600 "$out/$run-A.xfrm" "$out/$run-B.xfrm"
    capture_start "$run"
    traffic 14.0.0.70 "policies for all, IPv4" 1200 1472
    traffic 2001:db8:14::70 "policies for all, IPv6" 1200 1452
    capture_stop
    wire_checks --clear arp,nd --min 500
    tshark_checks
    capture_start "$run-vlan"
    check "VLAN: frames with one tag, a priority tag and two tags arrive as they were, tags included" tagged_frames
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --tagged --min 1
    tshark_checks
    counters_checks A out_unparsed=1
    counters_checks B out_unparsed=1
}

# tagged_frames: from A to B and back, by raw sockets: the kernel need not know 802.1Q.
tagged_frames() {
    local from to
    for from in A B; do
        to=$(tr AB BA <<<$from)
        rm -f "$work/frames"
        ip netns exec "$lab-host$to" timeout 40 "$here/lab-frames.py" receive eth0 $from >"$work/frames" 2>&1 &
        local receiver=$!
        wait_for 20 grep -q listening "$work/frames" || {
            echo "the receiver did not start: $(cat "$work/frames")"
            return 1
        }
        in_ns "$lab-host$from" "$here/lab-frames.py" send eth0 $from || return 1
        wait $receiver || {
            cat "$work/frames"
            return 1
        }
    done
}

case_jumbo() {
    set_mtu 8000 9000
    config_empty
    sa 4 0x4001 AB 1 "$gcm" 36 128 replay-window 1024
    sa 4 0x4002 BA 1 "$gcm" 36 128 replay-window 1024
    protect 4 1
    gateways_up 8000,9000 "$out/$run-A.xfrm" "$out/$run-B.xfrm"
    capture_start "$run"
    traffic 14.0.0.70 "MTU 8000" 7900 7972
    capture_stop
    measure "ESP, MTU 8000"
    gateways_down
    wire_checks --clear arp,nd --min 200 --longest 8014
    tshark_checks
    counters_checks A
    counters_checks B
    set_mtu 1500 1600
}

case_encap() {
    config_encap
    gateways_up 1500,1600 "$out/$run-A.xfrm" "$out/$run-B.xfrm"
    capture_start "$run"
    traffic 14.0.0.70 "ESP in UDP" 1200 1472
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --encap --min 500
    tshark_checks
    counters_checks A
    counters_checks B
}

case_esn() {
    config_esn
    gateways_up 1500,1600 "$out/$run-A.xfrm" "$out/$run-B.xfrm"
    capture_start "$run"
    traffic 14.0.0.70 "ESN over 2^32, AES-GCM" 1200 1472
    traffic 2001:db8:14::70 "ESN over 2^32, ChaCha20-Poly1305" 1200 1452
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --min 500 --beyond 0x100000000
    counters_checks A
    counters_checks B
}
