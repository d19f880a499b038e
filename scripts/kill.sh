#!/usr/bin/env bash
# Gateways are killed under load and started again with the same keys: no nonce may be used twice, and no packet that
# was accepted may be accepted again. Root; network namespaces of its own; nothing outside them is touched.
#
# usage: scripts/kill.sh [OPTION...] [CASE...]
#
# Cases, all by default (--quick: outbound-disk, inbound-memory), with the state on disk or on tmpfs:
#   outbound-disk, outbound-memory
#       A, which seals, is killed at random moments, some of them while it starts, and told to stop now and then. On the
#       wire no IV comes twice under a key and no sequence number again; after a clean stop the next number follows. B,
#       which runs all the time, accepts what comes after each start and counts no replay.
#   inbound-disk, inbound-memory
#       B, which opens, is killed and told to stop under load. When it runs again, what was on the wire is sent to it
#       once more. After a kill it may accept again what came in the last moments; after a clean stop, nothing.
#
#   --kills N     so many kills of A under load (50; a fifth of that on tmpfs), and a seventh of that of B
#   --quick       --kills 8 --min-rate 20000, and only two cases; under a minute on two idle CPUs
#   --rate N      datagrams a second from hostA (150000)
#   --min-rate N  at least so many ESP packets a second while A runs (100000)
#   --seed N      of the random moments
#   --no-state    gateways that keep no state: the test must fail
#
# All seen is left in build/kill. Exit status: 0 all passed, 1 something failed, 2 it could not be run.
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
# shellcheck source=scripts/kill-net.sh
. scripts/kill-net.sh
# shellcheck source=scripts/kill-cases.sh
. scripts/kill-cases.sh

number_of() { # OPTION VALUE
    [[ ${2-} =~ ^[0-9]{1,9}$ ]] || fail "$1: a number is needed"
    echo "$2"
}
cases=() quick=no keep=yes wanted='' rate=150000 min_rate='' seed=$((RANDOM * 32768 + RANDOM))
while [ $# -gt 0 ]; do
    case $1 in
    outbound-disk | outbound-memory | inbound-disk | inbound-memory) cases+=("$1") ;;
    --quick) quick=yes ;;
    --no-state) keep=no ;;
    --kills) wanted=$(number_of "$@") && shift ;;
    --rate) rate=$(number_of "$@") && shift ;;
    --min-rate) min_rate=$(number_of "$@") && shift ;;
    --seed) seed=$(number_of "$@") && shift ;;
    *) usage ;;
    esac
    shift
done
if [ ${#cases[@]} -eq 0 ]; then
    cases=(outbound-disk outbound-memory inbound-disk inbound-memory)
    if [ $quick = yes ]; then cases=(outbound-disk inbound-memory); fi
fi
if [ $quick = yes ]; then
    wanted=${wanted:-8} min_rate=${min_rate:-20000}
else
    wanted=${wanted:-50} min_rate=${min_rate:-100000}
fi
RANDOM=$seed
# What is accepted is written every 100 ms, and the write takes its time on a machine that is busy.
slack=150

[ "$(id -u)" -eq 0 ] || fail "network namespaces need root"
bin=$PWD/bin
bin=${BIN:-$bin}
for program in espgw espload; do
    [ -x "$bin/$program" ] || fail "$bin/$program is not there: make build"
done
out=$PWD/build/kill
mkdir -p build
exec 9>build/kill.lock
flock -n 9 || {
    echo 'kill: another one runs in this folder: waiting for it'
    flock 9
}
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
memory=$(mktemp -d -p /dev/shm) # tmpfs
load_pid='' log='' starts=0 kills=0
declare -A recorders=()
outbound_table=() inbound_table=()
trap kill_network_down EXIT
trap 'exit 130' INT TERM

# folder A|B: where the gateway keeps its state in this run.
folder() {
    if [ $keep = no ]; then
        echo none
    elif [[ $run = *-disk ]]; then
        echo "$out/$run-state-$1"
    else
        echo "$memory/$run-state-$1"
    fi
}

echo "kill: seed $seed; $(stat -f -c %T "$out") and $(stat -f -c %T "$memory") for state; $rate datagrams a second"
kill_network_up
for run in "${cases[@]}"; do
    started=$SECONDS starts=0
    case $run in
    outbound-disk) outbound "$wanted" "$(folder A)" ;;
    outbound-memory) outbound $(((wanted + 4) / 5)) "$(folder A)" ;;
    *) inbound $(((wanted + 6) / 7)) $(((wanted + 24) / 25)) "$(folder A)" "$(folder B)" ;;
    esac
    echo "      $run took $((SECONDS - started)) s"
done

if [ ${#outbound_table[@]} -gt 0 ]; then
    printf '\n%-16s %6s %6s %6s %10s %10s %8s %10s\n' "A killed" kills early clean packets IVs repeats packets/s
    printf '%s\n' "${outbound_table[@]}"
fi
if [ ${#inbound_table[@]} -gt 0 ]; then
    printf '\n%-16s %6s %6s %10s %12s %12s %12s\n' \
        "B killed" kills clean packets "again: kill" "oldest, ms" "again: clean"
    printf '%s\n' "${inbound_table[@]}"
fi
verdict
