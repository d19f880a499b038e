#!/usr/bin/env bash
# Faults are planted in espgw, one at a time, and the test that is there for such a fault must fail, and say what of.
# A test that cannot fail shows nothing. Root, as the tests need it.
#
# usage: scripts/faults.sh [FAULT...]
#
# The source stays as it is: a changed copy of one file goes to the compiler with `go build -overlay`. What was built
# and seen is left in build/faults (build/kill and build/lab are then of the last test). Exit status: 0 all were caught,
# 1 one was not, 2 it could not be run.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/env.sh
. scripts/env.sh

fail() {
    printf 'faults: %s\n' "$*" >&2
    exit 2
}

# Faults: name; file; what sed does to one line of it; the test; the start of what must be among its failures.
faults=()
fault() { faults+=("$1|$2|$3|$4|$5"); }

kill_outbound='kill.sh --kills 2 --rate 20000 --min-rate 0 outbound-disk'
kill_inbound='kill.sh --kills 1 --rate 20000 inbound-memory'
fault reserve-ignored sa/noncememory.go 's/highest: p\.Reserved,/highest: 0,/' \
    "$kill_outbound" 'outbound-disk: no IV twice under a key'
fault reserve-unwritten sa/durable/flush.go 's/^\t*k\.batch\.Reserve(n\.index, n\.target)$//' \
    "$kill_outbound" 'outbound-disk: no IV twice under a key'
fault accepted-ignored sa/noncememory.go 's/accepted: p\.Highest,/accepted: 0,/' \
    "$kill_inbound" 'inbound-memory: round 1: after a kill nothing is accepted again'
fault accepted-unwritten sa/durable/keeper.go 's/^\tif accepted {$/\tif false {/' \
    "$kill_inbound" 'inbound-memory: round 1: after a kill nothing is accepted again'
fault window-empty sa/noncememory.go 's/l\.resumed = true$/l.resumed = false/' \
    "$kill_inbound" 'inbound-memory: round 2: after a clean stop nothing is accepted again'
# Each gateway clamps in both directions, so that one of them does.
fault clamp-left-out ipsec/clamp.go 's/^\t*packet\.ClampMSS(frame, m, uint16(min(mss, 0xffff)))$//' \
    'lab.sh --quick mtu' 'mtu-clamp: segment sizes announced to A and B'

[ "$(id -u)" -eq 0 ] || fail "the tests make network namespaces, which needs root"
[ -x bin/espload ] || fail "bin/espload is not there: make build"
out=$PWD/build/faults
rm -rf "$out"
mkdir -p "$out"

# plant NAME FILE SED: build/faults/NAME/espgw has the fault.
plant() {
    local folder=$out/$1 file=$2 copy=$out/$1/${2##*/}.txt
    mkdir -p "$folder"
    sed "$3" "$file" >"$copy"
    [ "$(diff "$file" "$copy" | grep -c '^<')" = 1 ] || fail "$1: one line of $file must match: $3"
    printf '{"Replace": {"%s": "%s"}}\n' "$PWD/$file" "$copy" >"$folder/overlay.json"
    go build -trimpath -overlay "$folder/overlay.json" -o "$folder/" ./cmd/espgw || fail "$1: it does not build"
    ln -s "$PWD/bin/espload" "$folder/espload"
}

missed=() planted=0
for one in "${faults[@]}"; do
    IFS='|' read -r name file change test failure <<<"$one"
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
    started=$SECONDS status=0 planted=$((planted + 1))
    plant "$name" "$file" "$change"
    read -ra words <<<"$test"
    BIN=$out/$name "scripts/${words[0]}" "${words[@]:1}" >"$out/$name.log" 2>&1 || status=$?
    if [ $status -eq 1 ] && grep -q "^  $failure" "$out/$name.log"; then
        printf 'PASS  %-18s  seen by %s (%d s)\n' "$name" "$test" $((SECONDS - started))
    else
        missed+=("$name")
        printf 'FAIL  %-18s  status %d and not "%s" of %s\n' "$name" $status "$failure" "$test"
        tail -n 12 "$out/$name.log"
    fi
done
[ $planted -gt 0 ] || fail "no fault of that name: $*"
if [ ${#missed[@]} -gt 0 ]; then
    printf 'faults: FAILED: %d of %d were not seen: %s\n' ${#missed[@]} $planted "${missed[*]}"
    exit 1
fi
printf 'faults: all %d were seen, in %d s\n' $planted $SECONDS
