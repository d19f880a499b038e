#!/usr/bin/env bash
# What a packet costs the host when a NIC does the encryption, beside plain forwarding and the Go engine, in one run.
#
# usage: scripts/bench-inline.sh        (make build first)
#
#   BENCH_ROUNDS=24          rounds: in each, the programs take turns
#   BENCH_SECONDS=0.25       seconds of a turn
#   BENCH_SIZES="64 1420"    BENCH_DIRECTIONS="out in"
#   BENCH_LCORE=N            CPU of the polling lcore (default: the last one)
#   BIN=bin                  where espgw is
#
# There is no NIC: espgw runs on an emulated one that is idle (crypto=off). It checks metadata, framing and lengths of
# every packet, copies and encrypts nothing but each 1,000th, and takes its time for that on the same CPU. It says how
# much; the ratio is of what is left, which is what the host does. Root and 2 MiB huge pages. Writes build/bench/inline.txt and
# build/bench/inline.jsonl. Exit status 1 if a measurement failed, 2 if nothing could be.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh
# shellcheck source=scripts/bench-programs.sh
. scripts/bench-programs.sh

rounds=${BENCH_ROUNDS:-24}
seconds=${BENCH_SECONDS:-0.25}
sizes=${BENCH_SIZES:-64 1420}
directions=${BENCH_DIRECTIONS:-out in}
lcore=${BENCH_LCORE:-$(($(nproc) - 1))}
bin=${BIN:-bin}
mkdir -p build/bench
work=$PWD/build/bench
prefix=espgw-bench-$$
results=$work/inline.jsonl
device=crypto,crypto=off
failed=0 command=() eal=() own=()

fail() {
    printf 'bench-inline: %s\n' "$*" >&2
    exit 2
}
say() { printf 'bench-inline: %s\n' "$*" >&2; }
# shellcheck source=scripts/bench-pages.sh
. scripts/bench-pages.sh

# options ENGINE DIRECTION PROTECTED UNPROTECTED
options() {
    engine=go
    espgw_options "$2" 64 "$3" "$4"
    case $1 in
    forward) own[3]=$work/espgw-forward.xfrm ;;
    inline)
        own=(--pair "lan=$3,wan=$4" --xfrm "$work/espgw-$2.xfrm" --mtu 1600 --state-dir none
            --offload all --engine inline --emulate-inline "wan=$device")
        ;;
    esac
}

# offline ENGINE DIRECTION FROM TO: pushes the pcap FROM through espgw once; what comes out becomes TO.
offline() {
    options "$1" "$2" net_pcap0 net_pcap1
    if [ "$2" = in ]; then options "$1" "$2" net_pcap1 net_pcap0; fi
    "$bin/espgw" -l "$lcore" --no-pci --huge-unlink --file-prefix "$prefix" \
        --vdev "net_pcap0,rx_pcap=$3,tx_pcap=/dev/null" --vdev "net_pcap1,rx_pcap=$work/empty.pcap,tx_pcap=$4" \
        -- "${own[@]}" --idle-exit 300ms >"$work/offline.log" 2>&1 || fail "$work/offline.log"
}

# prepare ENGINE DIRECTION SIZE
prepare() {
    local source=$work/plain$3.pcap
    if [ "$2" = in ]; then
        source=$work/esp$3.pcap
        if [ "$1" = inline ]; then source=$work/model$3.pcap; fi
        if [ "$1" = forward ]; then source=$work/plain$3.pcap; fi # ESP of no SA would be dropped
        ports "$source"
        options "$1" in net_null1 net_pcap0
    else
        ports "$source"
        options "$1" out net_pcap0 net_null1
    fi
    printf '%s\n' "$bin/espgw" -l "$lcore" "${eal[@]}" -- "${own[@]}" --stats-json "$work/$1.json" >"$work/$1.argv"
}

# model DIRECTION SIZE: what the model itself took a packet, by its own clock.
model() {
    python3 -c 'import json, sys
nic = json.load(open(sys.argv[1]))["emulation"]["wan"]
packets = nic["tx_encrypted"] + nic["rx_opened"]
print(json.dumps({"direction": sys.argv[2], "size": int(sys.argv[3]), "name": "model", "ns": nic["model_ns"] / packets}))' \
        "$work/inline.json" "$1" "$2"
}

[ "$(id -u)" -eq 0 ] || fail "huge pages and the ports need root"
[ -x "$bin/espgw" ] || fail "$bin/espgw is not there: make build"
trap cleanup EXIT
raise_huge_pages
write_configs
for size in $sizes; do
    scripts/bench-frames.py "$work/plain$size.pcap" "$size"
    head -c 24 "$work/plain$size.pcap" >"$work/empty.pcap"
    offline go out "$work/plain$size.pcap" "$work/esp$size.pcap"
    offline inline out "$work/plain$size.pcap" "$work/model$size.pcap" # what a sender of the model's kind sends
done
: >"$results"
for size in $sizes; do
    for direction in $directions; do
        for program in forward inline go; do prepare $program "$direction" "$size"; done
        say "$direction, $size octets (load $(cut -d' ' -f1 /proc/loadavg))"
        scripts/bench-alternate.py 1 "$rounds" "$seconds" "$work" forward inline go |
            sed "s/^{/{\"direction\": \"$direction\", \"size\": $size, /" >>"$results" || failed=1
        model "$direction" "$size" >>"$results" || failed=1
    done
done
scripts/bench-inline-table.py "$results" | tee "$work/inline.txt"
exit $failed
