#!/usr/bin/env bash
# Runs the demo and compares with the session that README.md shows: what a newcomer gets must be what was promised.
# usage: scripts/demo-readme.sh
set -uo pipefail

cd "$(dirname "$0")/.." || exit 2
mkdir -p build
log=build/demo.out
scripts/demo.sh | tee "$log" || exit 1
missing=0 lines=0
while IFS= read -r line; do
    lines=$((lines + 1))
    if ! grep -qFx -- "$line" "$log"; then
        echo "demo-readme: README.md shows a line that the demo did not print: $line"
        missing=$((missing + 1))
    fi
done < <(sed -n '/^```session$/,/^```$/{/^```/d;p}' README.md)
if [ $missing -ne 0 ] || [ $lines -lt 10 ]; then
    echo "demo-readme: FAILED: $missing of $lines lines of README.md's session differ"
    exit 1
fi
echo "demo-readme: passed: the session in README.md is what the demo prints"
