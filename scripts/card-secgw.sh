#!/usr/bin/env bash
# DPDK's own example gateway, ipsec-secgw, with inline crypto on a modelled Intel 82599 (nicmodel), against espgw in software:
# what the card sees of it. Root and 2 MiB huge pages, which it sets up.
#
# usage: scripts/card-secgw.sh [CASE...]
#
#   hostA 14.0.0.52 ─ ipsec-secgw [82599] ══ ESP ══ espgw ─ hostB 14.0.1.70
#
# Cases, all by default:
#   librte     ipsec-secgw with librte_ipsec (-l), IPv4
#   legacy     ipsec-secgw's own code, which leaves the padding as it was in memory: espgw drops such packets (RFC 4303,
#              2.4), and the card tells
#
# The packets must open and nothing may be in the clear. Breaches of the card's contract are ipsec-secgw's own: they are
# told, not judged. Everything seen is left in build/card-secgw. Exit status: 0 all passed, 1 something failed, 2 it
# could not be run.
# shellcheck disable=SC2154,SC2317 # variables of the parts; cases are called by name
set -euo pipefail

cd "$(dirname "$0")/.."
here=$PWD/scripts
# shellcheck source=scripts/checks.sh
. scripts/checks.sh
# shellcheck source=scripts/lab-common.sh
. scripts/lab-common.sh
# shellcheck source=scripts/lab-net.sh
. scripts/lab-net.sh
# shellcheck source=scripts/lab-cases.sh
. scripts/lab-cases.sh
# shellcheck source=scripts/lab-card.sh
. scripts/lab-card.sh
for part in program net config; do
    # shellcheck disable=SC1090
    . "scripts/interop-secgw/$part.sh"
done

cases=()
for word; do
    case $word in
    librte | legacy) cases+=("$word") ;;
    *) usage ;;
    esac
done
if [ ${#cases[@]} -eq 0 ]; then cases=(librte legacy); fi

# ipsec-secgw's port 0 is the card: EAL finds PCI devices first.
config_card_secgw() {
    : >"$out/$run-B.xfrm"
    cat >"$out/$run-A.cfg" <<TEXT
neigh port 1 $host_a_mac
neigh port 0 $host_b_mac
rt ipv4 dst $host_a4/32 port 1
rt ipv4 dst $host_b4/32 port 0
TEXT
    pair_of_sas 4 0x4001 aes-128-gcm 'inline-crypto-offload port_id 0'
}

# secgw_on_card [OPTION...]: until it forwards.
secgw_on_card() {
    card_table+=("$run-A")
    nicmodel_in "$gwA" "$run-A" --wire af_packet:eth4 -- \
        stdbuf -oL "$secgw" --lcores "0@$work_cpu" -a 0000:01:00.0 -m 256 --huge-unlink=always --no-telemetry --file-prefix "$lab-gwA" \
        --vdev net_af_packet0,iface=lan,framesz=2048,blocksz=65536,framecnt=4096 \
        -- -p 0x3 -u 0x1 -P "--config=(0,0,0),(1,0,0)" -f "$out/$run-A.cfg" "$@" >"$out/$run-A.log" 2>&1 &
    gateway_pid[A]=$!
    wait_for 60 grep -q 'entering main loop' "$out/$run-A.log" || {
        tail -n 5 "$out/$run-A.log"
        fail "ipsec-secgw did not start"
    }
}

conversation() {
    config_card_secgw
    secgw_on_card "$@"
    espgw_start
    capture_start "$run"
    check "TCP, 1 MB from ipsec-secgw's host to espgw's" tcp "$hostA" "$host_b4" -n 1M
    check "TCP, 1 MB from espgw's host to ipsec-secgw's" tcp "$hostA" "$host_b4" -n 1M -R
    check "ping, all answered" ping_all "$hostA" "$host_b4" 56
    capture_stop
    gateways_down
    check "wire: nothing but ESP between the hosts, every packet opens, no IV and no sequence number twice" \
        "$here/check-esp.py" --xfrm "$out/$run-B.xfrm" --clear nd --min 300 "$capture"
    check "card: sealed and opened, nothing in the clear" "$here/card-report.py" "$out/$run-A.card.json" \
        tx_clear=0 'tx_sealed>=300' 'rx_opened>=300'
    tell_breaches
}

case_librte() { conversation -l; }

case_legacy() {
    config_card_secgw
    secgw_on_card
    espgw_start
    in_ns "$hostA" ping -c 20 -i 0.05 "$host_b4" >"$work/ping" || true
    gateways_down
    tell_breaches
    check "card: sealed, and told of each packet's padding" "$here/card-report.py" "$out/$run-A.card.json" tx_clear=0 'tx_sealed>=10' \
        'tx-esp-padding>=10'
    check "espgw: dropped them for their padding" "$here/lab-stats.py" "$out/$run-B.json" 'in_bad_trailer>=10'
}

tell_breaches() {
    "$here/card-report.py" "$out/$run-A.card.json" breaches=0 | sort | uniq -c | sed 's/^/NOTE  ipsec-secgw: /' || true
}

[ "$(id -u)" -eq 0 ] || fail "network namespaces and huge pages need root"
bin=$PWD/bin
bin=${BIN:-$bin}
for word in espgw nicmodel; do [ -x "$bin/$word" ] || fail "$bin/$word is not there: make build"; done
out=$PWD/build/card-secgw
rm -rf "$out"
mkdir -p "$out"
build_secgw
work=$(mktemp -d)
trap 'exit 130' INT TERM

card_cpus
card_memory 1024
trap 'network_down; card_memory_back' EXIT
interop_network_up
run_cases
card_rows
verdict
