# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of lab.sh and of its other parts
# Sourced by lab.sh: the network namespaces, the gateways in them and the captures between them.
#
#   hostA eth0 ── lan gwA eth4 ── wan0 wire wan1 ── eth4 gwB lan ── eth0 hostB
#   hostA eth1 ───────────────────────────────────────────────────── eth1 hostB      (no gateway, for comparison)
#
# wire is a namespace with a bridge: captures are taken there, and an attacker's frames are put in there.

lab=espgw-lab-$$
hostA=$lab-hostA hostB=$lab-hostB gwA=$lab-gwA gwB=$lab-gwB wire=$lab-wire
work='' out='' bin=''
declare -A gateway_pid=()
background=()

# in_ns NAMESPACE COMMAND... (not with &, which would leave the PID of a shell)
in_ns() {
    local ns=$1
    shift
    ip netns exec "$ns" "$@"
}

# veth NS NAME MTU NS NAME MTU: a pair of interfaces. Offloads are off: a gateway's ESP cannot carry a checksum that
# the kernel has left to a network card, nor a frame that a card is to cut up.
veth() {
    ip link add "$2" netns "$1" mtu "$3" type veth peer name "$5" netns "$4" mtu "$6"
    local ns name
    for ns in "$1 $2" "$4 $5"; do
        name=${ns#* } ns=${ns% *}
        in_ns "$ns" ethtool -K "$name" rx off tx off sg off tso off gso off gro off >/dev/null
    done
}

# remove_leftovers: the namespaces of labs that were killed before they could clean up.
remove_leftovers() {
    local ns pid
    for ns in $(ip netns list | grep -oE '^espgw-lab-[0-9]+-[A-Za-z]+'); do
        pid=${ns#espgw-lab-} pid=${pid%%-*}
        kill -0 "$pid" 2>/dev/null || ip netns del "$ns"
    done
}

network_up() {
    local ns
    remove_leftovers
    for ns in "$hostA" "$hostB" "$gwA" "$gwB" $wire; do
        ip netns add "$ns"
        ip -n "$ns" link set lo up
    done
    veth "$hostA" eth0 1500 "$gwA" lan 1500
    veth "$hostB" eth0 1500 "$gwB" lan 1500
    veth "$gwA" eth4 1600 "$wire" wan0 1600
    veth "$gwB" eth4 1600 "$wire" wan1 1600
    veth "$hostA" eth1 1500 "$hostB" eth1 1500
    # The kernels of the gateways and of the wire have no business of their own on these links.
    for ns in "$gwA" "$gwB" $wire; do in_ns "$ns" sysctl -q net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1; done
    ip -n "$wire" link add br0 mtu 1600 type bridge mcast_snooping 0
    for ns in wan0 wan1; do ip -n "$wire" link set "$ns" master br0 up; done
    ip -n "$wire" link set br0 up
    host_up "$hostA" 52
    host_up "$hostB" 70
    for ns in "$gwA" $gwB; do
        ip -n "$ns" link set lan up
        ip -n "$ns" link set eth4 up
    done
}

host_up() { # NAMESPACE LAST-NUMBER
    local name
    for name in eth0 eth1; do
        in_ns "$1" sysctl -q "net.ipv6.conf.$name.accept_dad=0" "net.ipv6.conf.$name.router_solicitations=0"
        if [ $name = eth0 ]; then ip -n "$1" link set eth0 address "02:00:00:00:00:$2"; fi
        ip -n "$1" link set $name up
    done
    ip -n "$1" addr add "14.0.0.$2/24" dev eth0
    ip -n "$1" addr add "2001:db8:14::$2/64" dev eth0 nodad
    ip -n "$1" addr add "14.0.1.$2/24" dev eth1
    ip netns exec "$1" iperf3 -s >/dev/null 2>&1 &
    background+=($!)
    ip netns exec "$1" "$here/lab-echo.py" serve >/dev/null 2>&1 &
    background+=($!)
    disown -a # bash need not tell that they are killed at the end
}

# set_mtu HOSTS WAN: the MTU of the hosts' side and of the link between the gateways.
set_mtu() {
    local ns
    for ns in "$hostA" $hostB; do ip -n "$ns" link set eth0 mtu "$1"; done
    for ns in "$gwA" $gwB; do
        ip -n "$ns" link set lan mtu "$1"
        ip -n "$ns" link set eth4 mtu "$2"
    done
    for ns in wan0 wan1 br0; do ip -n "$wire" link set "$ns" mtu "$2"; done
}

# wire_routed MTU: a router instead of the bridge, with that MTU towards gateway B. The hosts do not know it: it answers
# for each of them (proxy ARP, proxy neighbour discovery) on the other's side.
wire_routed() {
    local port router4=14.0.0.1 router6=2001:db8:14::1
    ip -n "$wire" link set br0 down
    ip -n "$wire" link set wan1 mtu "$1"
    ip -n "$gwB" link set eth4 mtu "$1"
    for port in "wan0 52 70" "wan1 70 52"; do
        # shellcheck disable=SC2086 # three words
        set -- $port
        ip -n "$wire" link set "$1" nomaster
        in_ns "$wire" sysctl -q "net.ipv6.conf.$1.accept_dad=0" "net.ipv6.conf.$1.disable_ipv6=0" \
            "net.ipv6.conf.$1.proxy_ndp=1" "net.ipv6.neigh.$1.proxy_delay=0" \
            "net.ipv4.conf.$1.proxy_arp=1" "net.ipv4.conf.$1.rp_filter=0" "net.ipv4.neigh.$1.proxy_delay=0"
        ip -n "$wire" addr add $router4/32 dev "$1"
        ip -n "$wire" addr add $router6/128 dev "$1" nodad
        ip -n "$wire" route add "14.0.0.$2/32" dev "$1"
        ip -n "$wire" -6 route add "2001:db8:14::$2/128" dev "$1"
        ip -n "$wire" neigh add proxy "2001:db8:14::$3" dev "$1"
    done
    in_ns "$wire" sysctl -q net.ipv4.conf.all.rp_filter=0 net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
}

# wire_bridged: the bridge again.
wire_bridged() {
    local port
    in_ns "$wire" sysctl -q net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
    for port in wan0 wan1; do
        ip -n "$wire" neigh flush proxy dev $port
        ip -n "$wire" addr flush dev $port
        ip -n "$wire" route flush dev $port
        in_ns "$wire" sysctl -q net.ipv6.conf.$port.disable_ipv6=1 net.ipv4.conf.$port.proxy_arp=0
        ip -n "$wire" link set $port master br0
    done
    ip -n "$wire" link set br0 up
}

network_down() {
    local pid ns
    for pid in "${gateway_pid[@]}" "${background[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    # Whatever else runs in the lab's namespaces was started by it.
    for ns in "$hostA" "$hostB" "$gwA" "$gwB" $wire; do
        for pid in $(ip netns pids "$ns" 2>/dev/null); do kill -KILL "$pid" 2>/dev/null || true; done
        ip netns del "$ns" 2>/dev/null || true
    done
    rm -rf "$work" /var/run/dpdk/$lab-gw{A,B}
}

# gateway_start A|B MTUS [OPTION...]: espgw in its namespace. MTUS is LAN,WAN. The ports' ring slots hold the frames.
gateway_start() {
    local side=$1 lan=${2%,*} wan=${2#*,} slot=2048 name=$run-$1
    shift 2
    if [ "$wan" -gt 1900 ]; then slot=16384; fi
    local ring="framesz=$slot,blocksz=65536,framecnt=$((slot == 2048 ? 4096 : 1024))"
    rm -f "$out/$name.log" "$out/$name.json"
    eal_args "$lab-gw$side" 192
    ip netns exec "$lab-gw$side" "$bin/espgw" "${eal[@]}" \
        --vdev "net_af_packet0,iface=lan,$ring" --vdev "net_af_packet1,iface=eth4,$ring" \
        -- --pair lan=net_af_packet0,eth4=net_af_packet1 --mtu "lan=$lan,eth4=$wan" --state-dir none \
        --idle-backoff 50us --control "$work/$side.sock" --stats-json "$out/$name.json" "$@" >"$out/$name.log" 2>&1 &
    gateway_pid[$side]=$!
}

gateway_started() { grep -q 'msg=started' "$out/$run-$1.log"; }

# gateways_up MTUS XFRM-A XFRM-B: both, with their files of ip xfrm commands ("" for none).
gateways_up() {
    gateway_start A "$1" ${2:+--xfrm "$2"}
    gateway_start B "$1" ${3:+--xfrm "$3"}
    gateways_wait
}

# gateways_wait: until both have started.
gateways_wait() {
    local side
    for side in A B; do
        wait_for 60 gateway_started $side || {
            tail -n 5 "$out/$run-$side.log"
            fail "gateway $side did not start"
        }
    done
}

# gateways_down: stops both, which must exit with status 0.
gateways_down() {
    local side status
    for side in A B; do
        status=0
        stop_process "${gateway_pid[$side]}" 20 || status=$?
        unset "gateway_pid[$side]"
        if [ $status -ne 0 ]; then bad "gateway $side ended with status $status: $(tail -n 1 "$out/$run-$side.log")"; fi
    done
}

# control A|B COMMAND: one line to the control socket; prints what it answers, fails when that is an error.
control() { "$here/lab-control.py" "$work/$1.sock" "$2"; }

# capture_start NAME, capture_stop: what passes the wire, from gateway A's link, in both directions.
capture_start() {
    capture=$out/$1.pcap
    rm -f "$work/tcpdump" # what an earlier one said must not be taken for this one's
    ip netns exec "$wire" tcpdump -q -i wan0 -s 0 -B 65536 -U --immediate-mode -w "$capture" 2>"$work/tcpdump" &
    capture_pid=$!
    background+=($!)
    wait_for 5 grep -q listening "$work/tcpdump" || fail "tcpdump did not start: $(cat "$work/tcpdump")"
}

capture_stop() {
    sleep 0.3 # the last frames are on their way to tcpdump
    stop_process "$capture_pid" || true
    if ! grep -q '^0 packets dropped by kernel' "$work/tcpdump"; then bad "tcpdump lost frames: $(tail -n 1 "$work/tcpdump")"; fi
}
