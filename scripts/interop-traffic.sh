#!/bin/sh
# What is tried between the ends; the host and the guest run the same. Exit status 1, and why, when something is lost.
#
# usage: interop-traffic.sh ping ADDRESS SIZE [PING-OPTION...]    10 echo requests of SIZE octets behind the ICMP header
#        interop-traffic.sh udp ADDRESS SIZE COUNT                COUNT datagrams that port 7 is to send back
#        interop-traffic.sh tcp ADDRESS OCTETS                    a stream that port 7 is to send back
#        interop-traffic.sh answer                                sends back its input: all of it is kept first, so that
#                                                                 no two buffers can wait for each other
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# socat wants the address of IPv6 in brackets.
case ${2:-} in *:*) target="[$2]" ;; *) target=${2:-} ;; esac

case $1 in
ping)
    address=$2 size=$3
    shift 3
    # With -w it waits for ten answers, however late; without, for no longer than two round trips.
    ping -n -c 10 -i 0.05 -w 20 -s "$size" "$@" "$address" >"$work/ping" 2>&1 || true
    if [ "$(grep -oE 'icmp_seq=([1-9]|10) ttl' "$work/ping" | sort -u | wc -l)" != 10 ]; then
        cat "$work/ping"
        exit 1
    fi
    ;;
udp)
    for number in $(seq "$4"); do
        head -c "$3" /dev/urandom >"$work/sent"
        timeout 20 socat -b 65536 -t 10 - "UDP:$target:7,readbytes=$3" <"$work/sent" >"$work/got"
        cmp "$work/got" "$work/sent" || {
            echo "datagram $number of $4"
            exit 1
        }
    done
    ;;
tcp)
    head -c "$3" /dev/urandom >"$work/sent"
    timeout 30 socat -t 20 - "TCP:$target:7" <"$work/sent" >"$work/got"
    cmp "$work/got" "$work/sent"
    ;;
answer)
    cat >"$work/got"
    cat "$work/got"
    ;;
esac
