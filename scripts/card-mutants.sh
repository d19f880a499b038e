#!/usr/bin/env bash
# Takes espgw's answers to the ixgbe driver's flaws out, one by one, and sees that the case of scripts/card.sh that is to
# show it fails, for the reason that it should. Root; six minutes. Copies of the last commit are changed.
#
# usage: scripts/card-mutants.sh [NAME...]
#
#   NAME: lookups, alias, restart, settle. Exit status: 0 each case failed as it should, 1 one did not.
set -euo pipefail
failed=0

cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'if [ $failed -eq 0 ]; then rm -rf "$folder"; fi' EXIT

# mutant NAME FILE EXPRESSION CASE PATTERN: sed -E EXPRESSION changes the file; the case fails, and says PATTERN.
mutant() {
    local name=$1 file=$2 expression=$3 case=$4 pattern=$5 copy=$folder/$1 status=0
    if [ ${#wanted[@]} -gt 0 ] && ! [[ " ${wanted[*]} " = *" $name "* ]]; then return; fi
    rm -rf "$copy"
    mkdir -p "$copy"
    git archive HEAD | tar -x -C "$copy"
    sed -E -i "$expression" "$copy/$file"
    if git diff --no-index --quiet "$file" "$copy/$file"; then
        echo "FAIL  $name: nothing was changed in $file"
        failed=1
        return
    fi
    (cd "$copy" && . scripts/env.sh && go build -o bin/ ./cmd/espgw ./cmd/nicmodel)
    (cd "$copy" && CHURN=600 scripts/card.sh "$case") >"$copy/log" 2>&1 || status=$?
    if [ $status -eq 1 ] && grep -qE "$pattern" "$copy/log"; then
        echo "PASS  $name: $case failed: $(grep -m 1 -oE "$pattern.{0,60}" "$copy/log")"
    else
        echo "FAIL  $name: $case ended with status $status and did not say $pattern: $copy/log"
        failed=1
    fi
}

wanted=("$@")
mutant lookups ipsec/driverlimits_table.go 's/RemovalStopsLookups: true/RemovalStopsLookups: false/' churn 'tx-clear'
mutant alias ipsec/driverlimits_table.go 's/EgressSAs: 256,/EgressSAs: 1024,/' inline-many 'tx-aliased-context|tx-too-many-sas'
mutant restart ipsec/restart.go 's/^(\t+)p\.inline\.(suspend|empty)\(\)$/\1_ = p/; s/err = p\.inline\.resume\(\)/err = nil/' inline-restart \
    '[0-9]+ sessions are open|tx-clear|tx-sa-not-programmed' # pmd refuses to stop such a port
mutant settle ipsec/inlineremove.go 's/^(\t+)ip\.sending\.Store\(false\)$/\1_ = 0/' churn 'tx-clear|table-change-under-traffic'
exit $failed
