#!/usr/bin/env bash
# Two hosts talk through two gateways, in network namespaces of their own. Root; nothing outside them is touched.
#
# usage: scripts/lab.sh [--quick] [CASE...]
#
#   hostA 14.0.0.52 ─ espgw A ══ ESP ══ espgw B ─ hostB 14.0.0.70
#
# Cases, all by default (--quick: classic, everything, throughput, mtu, inline, attack):
#   classic     the commands of many a guide: one key and SPI for both directions, TCP only
#   everything  all of IPv4 and IPv6, other keys, VLAN-tagged frames
#   throughput  TCP with no gateway, gateways without policies, gateways with ESP
#   mtu         1500 octets on every link: TCP's segment size, path MTU discovery, a router, made up ICMP errors
#   jumbo       hosts with an MTU of 8000
#   encap       ESP in UDP (RFC 3948)
#   esn         extended sequence numbers over 2^32, AES-GCM and ChaCha20-Poly1305
#   live        SAs change under traffic: control socket, SIGHUP
#   inline      an emulated inline NIC on one side or on both, crypto and packet offload
#   inline-fallback, inline-many, inline-restart   what it cannot do; 300 SAs; ports stopped and started
#   attack      replays, forgeries, reflection, clear text from the wire; no SA
#
# Everything seen is left in build/lab. Exit status: 0 all passed, 1 something failed, 2 it could not be run.
set -euo pipefail

cd "$(dirname "$0")/.."
here=$PWD/scripts
# shellcheck source=scripts/checks.sh
. scripts/checks.sh
# shellcheck source=scripts/lab-common.sh
. scripts/lab-common.sh
# shellcheck source=scripts/lab-net.sh
. scripts/lab-net.sh
# shellcheck source=scripts/lab-config.sh
. scripts/lab-config.sh
# shellcheck source=scripts/lab-cases.sh
. scripts/lab-cases.sh
# shellcheck source=scripts/lab-live.sh
. scripts/lab-live.sh
# shellcheck source=scripts/lab-mtu.sh
. scripts/lab-mtu.sh
# shellcheck source=scripts/lab-inline.sh
. scripts/lab-inline.sh

table=()

cases=() quick=no
seconds=1 # of a measurement
all=(classic everything throughput mtu jumbo encap esn live inline inline-fallback inline-many inline-restart attack)
for word; do
    case " ${all[*]} " in
    *" $word "*) cases+=("$word") ;;
    *) case $word in
        --quick) quick=yes ;;
        *)
            usage
            ;;
        esac ;;
    esac
done
if [ ${#cases[@]} -eq 0 ]; then
    cases=("${all[@]}")
    if [ $quick = yes ]; then cases=(classic everything throughput mtu inline attack); fi
fi

[ "$(id -u)" -eq 0 ] || fail "network namespaces need root"
bin=$PWD/bin
bin=${BIN:-$bin}
[ -x "$bin/espgw" ] || fail "$bin/espgw is not there: make build"
out=$PWD/build/lab
mkdir -p build
exec 9>build/lab.lock
flock -n 9 || {
    echo 'lab: another one runs in this folder: waiting for it'
    flock 9
}
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap network_down EXIT
trap 'exit 130' INT TERM

network_up
run_cases

if [ ${#table[@]} -gt 0 ]; then
    printf '\n%-36s %12s %12s\n' "TCP, Mbit/s, better of two tries" "A to B" "B to A"
    printf '%s\n' "${table[@]}"
fi
if [ ${#mtu_table[@]} -gt 0 ]; then
    printf '\n%-26s %19s %19s  %-10s %11s %10s\n' "every link of 1500, Mbit/s" "IPv4 A to B, B to A" "IPv6 A to B, B to A" \
        "MSS seen" out_too_big originated
    printf '%s\n' "${mtu_table[@]}"
fi
verdict
