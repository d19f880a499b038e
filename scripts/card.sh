#!/usr/bin/env bash
# espgw on DPDK's own ixgbe driver, on modelled Intel 82599 cards (nicmodel), between two hosts. Root and 2 MiB huge pages,
# which it sets up; nothing outside its network namespaces is touched.
#
# usage: scripts/card.sh [--quick] [CASE...]
#
#   hostA 14.0.0.52 ─ espgw A [82599] ══ ESP ══ [82599] espgw B ─ hostB 14.0.0.70
#
# Cases, all by default (--quick: inline, inline-fallback, flap, churn):
#   inline           the classic commands; a card on both sides, on one
#   inline-fallback  AES-256 and ESN go through software, AES-128 through the card
#   inline-many      300 SAs a direction, deletes, promotion
#   inline-restart   the port is stopped, started and reset under TCP
#   rekey            SAs are replaced under TCP
#   flap             the link goes down and comes up under TCP
#   churn            thousands of random adds and removals under traffic
#   icv              the card finds wrong ICVs
#   testpmd          another program on the same cards: each path of the driver
#
# Everything seen is left in build/card. Exit status: 0 all passed, 1 something failed, 2 it could not be run.
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
# shellcheck source=scripts/lab-inline.sh
. scripts/lab-inline.sh
# shellcheck source=scripts/lab-card.sh
. scripts/lab-card.sh
# shellcheck source=scripts/lab-card-cases.sh
. scripts/lab-card-cases.sh

# shellcheck disable=SC2034 # of lab-inline.sh
ixgbe=card
cases=() quick=no
all=(inline inline-fallback inline-many inline-restart rekey flap churn icv testpmd)
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
    if [ $quick = yes ]; then
        cases=(inline inline-fallback flap churn)
        churn_operations=1000
    fi
fi

[ "$(id -u)" -eq 0 ] || fail "network namespaces and huge pages need root"
bin=$PWD/bin
bin=${BIN:-$bin}
for word in espgw nicmodel; do [ -x "$bin/$word" ] || fail "$bin/$word is not there: make build"; done
out=$PWD/build/card
mkdir -p build
exec 9>build/lab.lock
flock -n 9 || {
    echo 'card: another lab runs in this folder: waiting for it'
    flock 9
}
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'exit 130' INT TERM

card_cpus
card_memory 384
trap 'network_down; card_memory_back' EXIT
network_up
run_cases
card_rows
verdict
