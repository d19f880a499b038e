#!/usr/bin/env bash
# Runs every fuzz target for some time, one after the other: scripts/fuzz.sh [TIME] [PACKAGE]...
# TIME as go test's -fuzztime has it (default 20s). What crashes is left in the package's testdata/fuzz.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=scripts/env.sh
. scripts/env.sh
time=${1:-20s}
shift || true
if [ $# -eq 0 ]; then set -- ./...; fi
targets=0 failed=()

while read -r folder package; do
    while read -r target; do
        targets=$((targets + 1))
        printf '== %s %s\n' "$package" "$target"
        go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package" || failed+=("$package.$target")
    done < <(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$folder"/*_test.go 2>/dev/null)
done < <(go list -f '{{.Dir}} {{.ImportPath}}' "$@")

if [ ${#failed[@]} -ne 0 ]; then
    printf 'fuzz: FAILED: %s\n' "${failed[*]}"
    exit 1
fi
printf 'fuzz: %d targets ran for %s each, none failed\n' "$targets" "$time"
