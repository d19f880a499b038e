#!/usr/bin/env bash
# The one gate: format, vet, staticcheck, layers, go.mod, generated files, shell scripts. Every check runs, so that one
# run shows all there is to mend; exit status 1 if any complains. `make lint` calls it.
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
# shellcheck source=scripts/env.sh
. scripts/env.sh
failed=()

# check NAME COMMAND...: the command succeeds and is silent about it.
check() {
    local name=$1 output started=$SECONDS
    shift
    if output=$("$@" 2>&1); then
        printf 'lint: %-12s ok (%d s)\n' "$name" $((SECONDS - started))
    else
        printf 'lint: %-12s FAILED\n' "$name"
        printf '%s\n' "$output"
        failed+=("$name")
    fi
}

gofumpt() {
    local files
    files=$(go tool gofumpt -l .) || {
        printf '%s\n' "$files"
        return 1
    }
    if [ -n "$files" ]; then
        printf 'not gofumpt-clean, mend with go tool gofumpt -w:\n%s\n' "$files"
        return 1
    fi
}

tidy() {
    go mod tidy -diff || {
        printf 'go.mod or go.sum is not what go mod tidy writes\n'
        return 1
    }
}

# Files that a script makes from DPDK's headers: made again, they must come out the same.
generated() {
    local folder status=0 file
    folder=$(mktemp -d)
    scripts/gen-layout "$folder" || status=1
    for file in "$folder"/*; do
        diff -u "pmd/${file##*/}" "$file" || status=1
    done
    rm -rf "$folder"
    if [ $status -ne 0 ]; then printf 'mend with scripts/gen-layout\n'; fi
    return $status
}

shell_scripts() {
    local files
    mapfile -t files < <(grep -lIrE '^#!.*(bash|/sh)|^# shellcheck shell' scripts .ci)
    shellcheck -x --severity=warning "${files[@]}"
}

check gofumpt gofumpt
check vet go vet ./...
check staticcheck go tool staticcheck ./...
check layers go run ./scripts/check-layers
check tidy tidy
if [ -x scripts/gen-layout ]; then check generated generated; fi
check shellcheck shell_scripts

if [ ${#failed[@]} -ne 0 ]; then
    printf 'lint: FAILED: %s\n' "${failed[*]}"
    exit 1
fi
echo 'lint: all clean'
