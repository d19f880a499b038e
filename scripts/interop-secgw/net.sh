# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of interop-secgw.sh and of its other parts
# Sourced by interop-secgw.sh, after lab-net.sh: the network namespaces. Side A is ipsec-secgw's, side B espgw's.
#
#   hostA eth0 ── lan gwA eth4 ── wan0 wire wan1 ── eth4 gwB lan ── eth0 hostB
#          (router) ipsec-secgw                            espgw (bump in the wire)
#
# ipsec-secgw is a router that knows neither ARP nor neighbour discovery: the hosts have permanent entries for it, and
# its configuration names the hosts' MAC addresses.

host_a4=14.0.0.52 host_b4=14.0.1.70 host_a6=2001:db8:14::52 host_b6=2001:db8:15::70
host_a_mac=02:00:00:00:00:52 host_b_mac=02:00:00:00:00:70 lan_mac=02:00:00:00:01:00 wan_mac=02:00:00:00:01:01

# The hosts' MTU leaves room for ESP on a link of 1500 octets, as ipsec-secgw does not tell a host that a packet was
# too big.
host_mtu=1400

interop_network_up() {
    local ns
    remove_leftovers
    for ns in "$hostA" "$hostB" "$gwA" "$gwB" "$wire"; do
        ip netns add "$ns"
        ip -n "$ns" link set lo up
    done
    veth "$hostA" eth0 $host_mtu "$gwA" lan 1500
    veth "$hostB" eth0 $host_mtu "$gwB" lan 1500
    veth "$gwA" eth4 1500 "$wire" wan0 1500
    veth "$gwB" eth4 1500 "$wire" wan1 1500
    # The kernels of the gateways and of the wire have no business of their own on these links.
    for ns in "$gwA" "$gwB" "$wire"; do
        in_ns "$ns" sysctl -q net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
    done
    ip -n "$wire" link add br0 type bridge mcast_snooping 0
    for ns in wan0 wan1; do ip -n "$wire" link set "$ns" master br0 up; done
    ip -n "$wire" link set br0 up
    ip -n "$gwA" link set lan address $lan_mac
    ip -n "$gwA" link set eth4 address $wan_mac
    for ns in "$gwA" "$gwB"; do
        ip -n "$ns" link set lan up
        ip -n "$ns" link set eth4 up
    done
    routed_host_up "$hostA" $host_a_mac $host_a4 $host_a6 $lan_mac
    routed_host_up "$hostB" $host_b_mac $host_b4 $host_b6 $wan_mac
}

# routed_host_up NAMESPACE MAC IPV4 IPV6 ROUTER-MAC: a host whose default router is at that MAC address.
routed_host_up() {
    local ns=$1 router4=${3%.*}.1 router6=${4%::*}::1
    in_ns "$ns" sysctl -q net.ipv6.conf.eth0.accept_dad=0 net.ipv6.conf.eth0.router_solicitations=0
    ip -n "$ns" link set eth0 address "$2"
    ip -n "$ns" link set eth0 up
    ip -n "$ns" addr add "$3/24" dev eth0
    ip -n "$ns" addr add "$4/64" dev eth0 nodad
    ip -n "$ns" neigh add "$router4" lladdr "$5" dev eth0 nud permanent
    ip -n "$ns" neigh add "$router6" lladdr "$5" dev eth0 nud permanent
    ip -n "$ns" route add default via "$router4"
    ip -n "$ns" route add default via "$router6" dev eth0
    ip netns exec "$ns" iperf3 -s >/dev/null 2>&1 &
    background+=($!)
    ip netns exec "$ns" "$here/lab-echo.py" serve >/dev/null 2>&1 &
    background+=($!)
    disown -a # bash need not tell that they are killed at the end
}

# espgw_start [OPTION...]: side B's gateway, until it forwards.
espgw_start() {
    gateway_start B 1500,1500 --xfrm "$out/$run-B.xfrm" "$@"
    wait_for 15 gateway_started B || {
        tail -n 5 "$out/$run-B.log"
        fail "espgw did not start"
    }
}
