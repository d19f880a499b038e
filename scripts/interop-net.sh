# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of interop.sh and of its other parts
# Sourced by interop.sh: the network, built of the lab's parts, and what begins and ends a case.
#
#   guest eth4 ── tap0 wire wan0 ── eth4 gwB lan ── eth0 hostB
#   14.0.0.52                                       14.0.0.70
#
# The guest is the lab's host A and gateway A in one, so the lab's files of ip xfrm commands fit: A's is run by the
# guest's shell, B's is read by espgw.

guest_mac=02:00:00:00:00:52 host_mac=02:00:00:00:00:70

interop_up() {
    local ns
    remove_leftovers
    for ns in "$hostB" "$gwB" "$wire"; do
        ip netns add "$ns"
        ip -n "$ns" link set lo up
    done
    veth "$hostB" eth0 1500 "$gwB" lan 1500
    veth "$gwB" eth4 1500 "$wire" wan0 1500
    # The kernels of the gateway and of the wire have no business of their own on these links.
    for ns in "$gwB" "$wire"; do
        in_ns "$ns" sysctl -q net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
    done
    ip -n "$wire" link add br0 mtu 1500 type bridge mcast_snooping 0
    ip -n "$wire" tuntap add tap0 mode tap
    for ns in wan0 tap0; do ip -n "$wire" link set $ns master br0 up; done
    ip -n "$wire" link set br0 up
    for ns in lan eth4; do ip -n "$gwB" link set $ns up; done
    interop_host_up
}

# The host sends packets that still fit the link once they are ESP: its routes say so.
interop_host_up() {
    in_ns "$hostB" sysctl -q net.ipv6.conf.eth0.accept_dad=0 net.ipv6.conf.eth0.router_solicitations=0
    ip -n "$hostB" link set eth0 address $host_mac up
    ip -n "$hostB" addr add 14.0.0.70/24 dev eth0
    ip -n "$hostB" addr add 2001:db8:14::70/64 dev eth0 nodad
    host_mtu 1440
    ip netns exec "$hostB" "$here/lab-echo.py" serve >/dev/null 2>&1 9>&- &
    background+=($!)
    ip netns exec "$hostB" socat TCP6-LISTEN:7,fork,reuseaddr "EXEC:$here/interop-traffic.sh answer,nofork" >/dev/null 2>&1 9>&- &
    background+=($!)
    # For packets that nobody answers, see guest_raw.
    ip netns exec "$hostB" socat -u IP4-RECV:253 OPEN:/dev/null 9>&- &
    background+=($!)
    disown -a
}

# host_mtu OCTETS: the longest packet that the host sends to its neighbours.
host_mtu() {
    ip -n "$hostB" route replace 14.0.0.0/24 dev eth0 src 14.0.0.70 mtu "$1"
    ip -n "$hostB" -6 route replace 2001:db8:14::/64 dev eth0 metric 256 mtu "$1"
}

interop_guest_up() {
    guest_start tap0 $guest_mac
    guest "set -e
ip addr add 14.0.0.52/24 dev eth4
ip addr add 2001:db8:14::52/64 dev eth4 nodad
cat >/bin/traffic <<'TEXT'
$(cat "$here/interop-traffic.sh")
TEXT
chmod 755 /bin/traffic
socat -T 5 UDP6-RECVFROM:7,fork PIPE >/dev/null 2>&1 &
socat TCP6-LISTEN:7,fork,reuseaddr 'EXEC:traffic answer,nofork'  >/dev/null 2>&1 &
socat -u IP4-RECV:253 OPEN:/dev/null >/dev/null 2>&1 &
until grep -q up /sys/class/net/eth4/operstate; do sleep 0.1; done
uname -rv; ip -V" >"$out/guest-version" || fail "the guest could not be set up"
}

# counters_read NAME: what both ends have counted, in NAME.linux and NAME.json.
counters_read() {
    guest 'cat /proc/net/xfrm_stat; ip -s xfrm state' >"$out/$1.linux" || fail "the guest's counters cannot be read"
    rm -f "$out/$run-B.json"
    kill -USR1 "${gateway_pid[B]}"
    wait_for 5 complete_json "$out/$run-B.json" || fail "espgw writes no counters"
    cp "$out/$run-B.json" "$out/$1.json"
}

complete_json() { [ "$(tail -c 2 "$1" | tr -d '\n')" = '}' ]; }

# begin: both ends get their commands, and the capture starts. Status 1 if the guest refuses its own.
begin() {
    # shellcheck disable=SC2034 # of interop-cases.sh
    dropped=()
    # The modules, which one case brings in, would have later ones count otherwise (see interop-sas.py).
    if ! guest "ip xfrm state flush; ip xfrm policy flush; modprobe -r esp4_offload esp6_offload 2>/dev/null
set -e
$(cat "$out/$run-A.xfrm")" >"$out/$run-guest.log" 2>&1; then
        bad "Linux takes the commands: $(tail -n 3 "$out/$run-guest.log")"
        return 1
    fi
    gateway_start B 1500,1500 --xfrm "$out/$run-B.xfrm" ${device:+--offload all --emulate-inline "eth4=$device"} 9>&-
    wait_for 20 gateway_started B || {
        bad "espgw takes the commands: $(tail -n 3 "$out/$run-B.log")"
        stop_process "${gateway_pid[B]}" || true
        unset 'gateway_pid[B]'
        return 1
    }
    counters_read "$run-begin"
    capture_start "$run"
}

# end_traffic: the capture stops, and both ends say what they have counted.
end_traffic() {
    capture_stop
    counters_read "$run-end"
}

gateway_down() {
    local status=0
    stop_process "${gateway_pid[B]}" 20 || status=$?
    unset 'gateway_pid[B]'
    if [ $status -ne 0 ]; then bad "espgw ended with status $status: $(tail -n 1 "$out/$run-B.log")"; fi
}
