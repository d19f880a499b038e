#!/usr/bin/env bash
# Records anew the capture that make demo carries: real ICMP, TCP and UDP over IPv4 and IPv6 between two hosts in
# network namespaces, split by sender into testdata/demo/host-a.pcap and host-b.pcap. Root; nothing else is touched.
#
# Checksum and segmentation offloads are off, so that every frame is as a network would carry it. Neighbours are
# static for IPv6 (the demo protects all of IPv6, neighbour discovery included) and resolved by ARP for IPv4.
set -euo pipefail

cd "$(dirname "$0")/.."
out=${1:-testdata/demo}
id=espgw-cap-$$
a=$id-a b=$id-b
work=$(mktemp -d)
pids=()

cleanup() {
    local pid
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    ip netns del "$a" 2>/dev/null || true
    ip netns del "$b" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

[ "$(id -u)" -eq 0 ] || { echo "demo-capture: network namespaces need root" >&2; exit 1; }
mac_a=02:00:00:00:00:52 mac_b=02:00:00:00:00:70

host() { # NAMESPACE LAST-OCTET MAC OTHER-LAST-OCTET OTHER-MAC
    local ns=$1 n=$2 mac=$3 other=$4 other_mac=$5
    ip -n "$ns" link set lo up
    ip netns exec "$ns" sysctl -q net.ipv6.conf.eth0.accept_dad=0 net.ipv6.conf.eth0.router_solicitations=0
    ip netns exec "$ns" ethtool -K eth0 rx off tx off gso off gro off >/dev/null
    ip -n "$ns" link set eth0 address "$mac" mtu 1500 up
    ip -n "$ns" addr add "14.0.0.$n/24" dev eth0
    ip -n "$ns" addr add "2001:db8:14::$n/64" dev eth0 nodad
    ip -n "$ns" -6 neigh replace "2001:db8:14::$other" lladdr "$other_mac" dev eth0 nud permanent
}

ip netns add "$a"
ip netns add "$b"
ip link add eth0 netns "$a" type veth peer name eth0 netns "$b"
host "$a" 52 $mac_a 70 $mac_b
host "$b" 70 $mac_b 52 $mac_a

# Multicast listener reports of a link that has just come up belong to no conversation.
filter="arp or ip or (ip6 and not ip6 multicast)"
ip netns exec "$a" tcpdump -q -i eth0 -s 0 -U --immediate-mode -Q out -w "$work/host-a.pcap" "$filter" 2>"$work/tcpdump-a" &
pids+=($!)
ip netns exec "$a" tcpdump -q -i eth0 -s 0 -U --immediate-mode -Q in -w "$work/host-b.pcap" "$filter" 2>"$work/tcpdump-b" &
pids+=($!)
ip netns exec "$b" iperf3 -s >/dev/null &
server=$!
until grep -q listening "$work/tcpdump-a" && grep -q listening "$work/tcpdump-b" &&
    ip netns exec "$b" ss -ltn | grep -q :5201; do sleep 0.05; done

from_a() { ip netns exec "$a" "$@"; }
for size in 0 1 2 3 56 1472; do from_a ping -q -c 1 -s $size 14.0.0.70 >/dev/null; done
for size in 0 7 56 1452; do from_a ping -q -c 1 -s $size 2001:db8:14::70 >/dev/null; done
from_a ping -q -c 1 -M dont -Q 0x2e -t 9 14.0.0.70 >/dev/null
from_a iperf3 -c 14.0.0.70 -n 48K -l 4K >/dev/null
from_a iperf3 -c 14.0.0.70 -n 24K -l 4K -R >/dev/null
from_a iperf3 -c 2001:db8:14::70 -n 16K -l 4K >/dev/null
from_a iperf3 -c 14.0.0.70 -u -b 2M -n 12K -l 300 >/dev/null
from_a iperf3 -c 2001:db8:14::70 -u -b 2M -n 8K -l 700 >/dev/null
from_a iperf3 -c 14.0.0.70 -u -b 2M -n 9K -l 300 -R >/dev/null
kill $server

# tcpdump writes what it has received before it ends.
sleep 0.3
for pid in "${pids[@]}"; do kill -INT "$pid"; wait "$pid" || true; done
pids=()

for half in host-a host-b; do
    bad=$(tshark -n -r "$work/$half.pcap" -o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE \
        -Y 'ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0 || icmp.checksum.status == 0 || icmpv6.checksum.status == 0 || frame.len > 1514' 2>/dev/null)
    [ -z "$bad" ] || { printf 'demo-capture: unfinished checksums or long frames:\n%s\n' "$bad" >&2; exit 1; }
done
mkdir -p "$out"
cp "$work/host-a.pcap" "$work/host-b.pcap" "$out/"
for half in host-a host-b; do
    printf 'demo-capture: %s: %s octets, protocols:' "$half.pcap" "$(stat -c %s "$out/$half.pcap")"
    tshark -n -r "$out/$half.pcap" -T fields -e _ws.col.Protocol 2>/dev/null | sort | uniq -c | awk '{printf " %s %s", $1, $2}'
    echo
done
