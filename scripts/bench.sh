#!/usr/bin/env bash
# How many packets a second one lcore of espgw carries, beside DPDK's own ipsec-secgw, on the same ports in one run.
# docs/performance.md says what is measured and how to read it.
#
# usage: scripts/bench.sh        (make bench builds espgw first)
#
#   BENCH_QUICK=1            few rounds: under 3 minutes
#   BENCH_ROUNDS=24          rounds: in each, the programs take turns
#   BENCH_SECONDS=0.25       seconds of a turn
#   BENCH_SIZES="64 1420 8000"   BENCH_DIRECTIONS="out in"
#   BENCH_LCORE=N            CPU of the polling lcore (default: the last one)
#   BENCH_ENGINE=go          espgw's --engine
#   BIN=bin                  where espgw is
#
# Root, 2 MiB huge pages (set here and put back at the end), and Debian's dpdk-doc, dpdk-dev, libdpdk-dev, gcc, make.
# Writes build/bench/table.txt and build/bench/bench.json. Exit status 1 if a measurement failed, 2 if nothing could be.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh
# shellcheck source=scripts/bench-programs.sh
. scripts/bench-programs.sh

quick=${BENCH_QUICK:-}
rounds=${BENCH_ROUNDS:-$([ -n "$quick" ] && echo 8 || echo 24)}
seconds=${BENCH_SECONDS:-0.25}
# shellcheck disable=SC2034 # bench-programs.sh uses it
engine=${BENCH_ENGINE:-go}
sizes=${BENCH_SIZES:-64 1420 8000}
directions=${BENCH_DIRECTIONS:-out in}
lcore=${BENCH_LCORE:-$(($(nproc) - 1))}
bin=${BIN:-bin}
mkdir -p build/bench
work=$PWD/build/bench
secgw=$work/examples/ipsec-secgw/build/ipsec-secgw
prefix=espgw-bench-$$
results=$work/results.jsonl
failed=0
command=() names=()

fail() {
    printf 'bench: %s\n' "$*" >&2
    exit 2
}
say() { printf 'bench: %s\n' "$*" >&2; }
# shellcheck source=scripts/bench-pages.sh
. scripts/bench-pages.sh

# The example asks every port for receive checksum offloads, which virtual ports have not; a copy that does not ask is
# otherwise the same program.
build_secgw() {
    local examples=/usr/share/dpdk/examples
    if [ -x "$secgw" ] && [ "$(cat "$work/secgw-version" 2>/dev/null)" = "$(pkg-config --modversion libdpdk)" ]; then return; fi
    [ -d $examples/ipsec-secgw ] || fail "DPDK's examples are not in $examples: scripts/setup.sh bench"
    say "building ipsec-secgw from $examples"
    rm -rf "$work/examples"
    mkdir "$work/examples"
    cp -r $examples/ipsec-secgw $examples/common "$work/examples/"
    sed -i 's/\.offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,/.offloads = 0,/' "$work/examples/ipsec-secgw/ipsec-secgw.c"
    make -C "$work/examples/ipsec-secgw" >"$work/secgw-build.log" 2>&1 || fail "ipsec-secgw does not build: $work/secgw-build.log"
    pkg-config --modversion libdpdk >"$work/secgw-version"
}

# The plain frames, and the same sealed by espgw, for the direction in.
make_captures() {
    local size
    for size in $sizes; do
        scripts/bench-frames.py "$work/plain$size.pcap" "$size"
        head -c 24 "$work/plain$size.pcap" >"$work/empty.pcap"
        espgw_offline out "$size" "$work/plain$size.pcap" "$work/esp$size.pcap" || fail "sealing failed: $work/offline.log"
        opens_to_plain "$size" "$work/esp$size.pcap" espgw
    done
}

# opens_to_plain SIZE ESP-PCAP WHOSE: espgw opens it, and every frame is as it was.
opens_to_plain() {
    espgw_offline in "$1" "$2" "$work/opened.pcap" || fail "opening what $3 sealed failed: $work/offline.log"
    scripts/bench-compare.py "$work/plain$1.pcap" "$work/opened.pcap" || fail "espgw does not open what $3 sealed"
}

# The rival does what it is measured for: espgw opens what it seals. (That it opens what espgw sealed shows in the
# direction in: what it cannot open it drops, and does not count as sent.)
check_rivals() {
    local program size=${sizes%% *}
    for program in "${programs[@]}"; do
        if [ "$program" = espgw ]; then continue; fi
        secgw_offline "$size" "${program%/*}" "${program#*/}" "$work/plain$size.pcap" "$work/secgw-esp.pcap" ||
            fail "ipsec-secgw $program failed: $work/offline.log"
        opens_to_plain "$size" "$work/secgw-esp.pcap" "ipsec-secgw $program"
    done
}

# prepare PROGRAM DIRECTION SIZE: writes the command of espgw, testpmd, or DRIVER/PATH of ipsec-secgw to a file, and adds
# its name to `names`.
prepare() {
    local name=$1
    case $1 in
    espgw) espgw_command "$2" "$3" ;;
    testpmd)
        name='testpmd macswap'
        testpmd_command "$3"
        ;;
    *)
        name="ipsec-secgw ${1%/*} ${1#*/}"
        secgw_command "$2" "$3" "${1%/*}" "${1#*/}"
        ;;
    esac
    printf '%s\n' "${command[@]}" >"$work/$name.argv"
    names+=("$name")
}

# compare DIRECTION SIZE PROGRAM...: measures the programs in turns and notes the results.
compare() {
    local direction=$1 size=$2 program
    shift 2
    raise_huge_pages
    names=()
    for program in "$@"; do prepare "$program" "$direction" "$size"; done
    say "$direction, $size octets (load $(cut -d' ' -f1 /proc/loadavg))"
    rm -f "$work/espgw.json"
    scripts/bench-alternate.py 1 "$rounds" "$seconds" "$work" "${names[@]}" |
        sed "s/^{/{\"direction\": \"$direction\", \"size\": $size, /" >>"$results" || failed=1
    scripts/bench-compare.py --counters "$work/espgw.json" "$direction" || failed=1
}

[ "$(id -u)" -eq 0 ] || fail "huge pages and the ports need root"
[ -x "$bin/espgw" ] || fail "$bin/espgw is not there: make build"
[ "$lcore" -lt "$(nproc)" ] || fail "there is no CPU $lcore"
trap cleanup EXIT
raise_huge_pages
build_secgw
programs=(espgw crypto_aesni_gcm/look-aside crypto_aesni_gcm/cpu-crypto crypto_openssl/look-aside)
write_configs
make_captures
check_rivals
: >"$results"

for size in $sizes; do
    for direction in $directions; do compare "$direction" "$size" "${programs[@]}"; done
    compare forward "$size" espgw testpmd
done

scripts/bench-table.py "$results" "$work/bench.json" "$bin/espgw" | tee "$work/table.txt"
exit $failed
