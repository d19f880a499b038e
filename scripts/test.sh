#!/usr/bin/env bash
# All tests, in stages; `make test` calls it. Every stage runs even if an earlier one failed (but nothing runs without
# the set-up and a build), the last lines say how long each took, and the exit status is 1 if any failed.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=scripts/env.sh
. scripts/env.sh

# Packages without C: they must build and pass without cgo, and the race detector sees all of what they do.
pure=(./sa/... ./ipsec/packet/... ./ipsec/esp/...)
summary=() failed=()

# stage NAME COMMAND...
stage() {
    local name=$1 started=$SECONDS status=0
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    "$@" </dev/null || status=$?
    summary+=("$name $((SECONDS - started)) s")
    if [ $status -ne 0 ]; then
        printf '== %s: FAILED, exit status %d\n' "$name" "$status"
        failed+=("$name")
    fi
    return $status
}

skip() {
    printf '\n== %s: skipped: %s\n' "$1" "$2"
    summary+=("$1 skipped")
}

finish() {
    printf '\nmake test: '
    printf '%s, ' "${summary[@]}"
    if [ ${#failed[@]} -ne 0 ]; then
        printf 'FAILED: %s\n' "${failed[*]}"
        exit 1
    fi
    printf 'all passed in %d s\n' "$SECONDS"
    exit 0
}

stage setup scripts/setup.sh test || finish
stage lint scripts/lint.sh
stage build make --no-print-directory bin/espgw || finish
stage no-cgo env CGO_ENABLED=0 go test -count=1 -timeout 4m "${pure[@]}"
stage race go test -race -count=1 -timeout 4m "${pure[@]}" ./ipsec
stage demo timeout -k 10 120 scripts/demo-readme.sh
stage demo-flip scripts/demo-flip.sh
stage check-esp scripts/check-esp-test.py
if [ "$(id -u)" -eq 0 ]; then
    stage lab timeout -k 10 600 scripts/lab.sh
    stage card timeout -k 10 400 scripts/card.sh --quick
    stage contract timeout -k 10 200 scripts/contract.sh '(egress|removal|restart|rules)'
    stage interop timeout -k 10 600 scripts/interop.sh --quick
    stage kill timeout -k 10 300 scripts/kill.sh --quick
    stage faults timeout -k 10 400 scripts/faults.sh
else
    for name in lab card contract interop kill faults; do skip $name 'it makes network namespaces and so needs root'; done
fi
# Last, so that its closing lines are the last of the output.
stage unit go test -count=1 -timeout 5m ./...
finish
