#!/usr/bin/env bash
# One suite of tests on inline IPsec, on the emulated NIC and on DPDK's own ixgbe driver with a modelled card: where they
# differ, the emulation is wrong. Root; sets up 2 MiB huge pages.
#
# usage: scripts/contract.sh [ROWS]     ROWS is a regular expression of go test's -run, for the card; all by default
#
# Exit status: 0 all passed on both, 1 something failed, 2 it could not be run.
set -euo pipefail

cd "$(dirname "$0")/.."
here=$PWD/scripts
# shellcheck source=scripts/env.sh
. scripts/env.sh
# shellcheck source=scripts/checks.sh
. scripts/checks.sh
# shellcheck source=scripts/lab-card.sh
. scripts/lab-card.sh

case ${1:-} in
-*) usage ;;
esac
rows=TestCard${1:+/$1}
[ "$(id -u)" -eq 0 ] || fail "the card's driver needs root and huge pages"
bin=$PWD/bin
bin=${BIN:-$bin}
[ -x "$bin/nicmodel" ] || fail "$bin/nicmodel is not there: make build"
out=$PWD/build/contract
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
card_cpus
card_memory 320
trap 'rm -rf "$work"; card_memory_back' EXIT

run=contract
check "the emulated NIC" go test -count=1 ./pmd/contract
go test -c -o "$work/contract.test" ./pmd/contract
for setting in skip-tagged=no skip-tagged=yes; do
    if [ $setting = skip-tagged=yes ]; then
        if [ -n "${1:-}" ]; then break; fi
        rows=TestCard/unopened/tagged
    fi
    ESPGW_CARD=0000:01:00.0 ESPGW_CARD_WIRE=$work/wire ESPGW_CARD_CONTROL=$work/control ESPGW_CARD_REQUIRED=1 \
        ESPGW_CARD_LCORES=0@$work_cpu ESPGW_CARD_TAGGED=$([ $setting = skip-tagged=yes ] && echo skip || echo take) \
        timeout -k 10 400 "$bin/nicmodel" --cpu "$card_cpu" --set $setting --wire "unix:$work/wire" --control "$work/control" --quiet \
        --report "$out/$setting.json" -- "$work/contract.test" -test.run "$rows" -test.v >"$out/$setting.log" 2>&1 || true
    sed -nE 's/^ *--- (PASS|FAIL|SKIP): TestCard\/(.*) \((.*)\)$/\1 \2 (\3)/p' "$out/$setting.log" >"$work/rows"
    while read -r verdict name; do
        case $verdict in
        PASS) good "card, $setting: ${name//_/ }" ;;
        FAIL) bad "card, $setting: ${name//_/ }" ;;
        esac
    done <"$work/rows"
    if ! grep -q '^PASS' "$out/$setting.log" || ! grep -q '^PASS ' "$work/rows"; then
        bad "card, $setting: the tests did not end well"
        tail -n 15 "$out/$setting.log"
    fi
done
verdict
