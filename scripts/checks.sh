# shellcheck shell=bash
# shellcheck disable=SC2154 # run, work, out, cases: of the script that sources this
# Sourced by the lab and its relatives: what they say, check by check and at the end. They set the folders out, for what
# stays, and work; the array cases; and a function case_NAME for each, in which run is the name of what is being tried.

script_name=$(basename "$0" .sh)

# usage: the comment at the head of the script.
usage() {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "scripts/$script_name.sh" >&2
    exit 2
}

fail() {
    printf '%s: %s\n' "$script_name" "$*" >&2
    exit 2
}

run=start passed=0 failures=()
good() {
    passed=$((passed + 1))
    printf 'PASS  %-15s  %s\n' "$run" "$1"
}
bad() {
    failures+=("$run: $1")
    printf 'FAIL  %-15s  %s\n' "$run" "$1"
}

# check TEXT COMMAND...: what the command says is shown when it fails, and kept in the log and in $work/check.
check() {
    local text=$1 status=0
    shift
    "$@" >"$work/check" 2>&1 || status=$?
    { echo "== $SECONDS s, $run: $text: status $status" && cat "$work/check"; } >>"$out/checks.log"
    if [ $status -eq 0 ]; then
        good "$text"
    else
        bad "$text"
        tail -n 20 "$work/check"
    fi
}

run_cases() {
    local started
    for run in "${cases[@]}"; do
        started=$SECONDS
        "case_$run"
        echo "      $run took $((SECONDS - started)) s"
    done
}

# verdict: the last lines, and the exit status.
verdict() {
    printf '\nCaptures, counters and logs are in %s.\n' "${out#"$PWD"/}"
    if [ ${#failures[@]} -gt 0 ]; then
        printf '%s: FAILED: %d of %d checks, in %d s:\n' "$script_name" ${#failures[@]} $((passed + ${#failures[@]})) $SECONDS
        printf '  %s\n' "${failures[@]}"
        exit 1
    fi
    printf '%s: all %d checks passed in %d s\n' "$script_name" "$passed" $SECONDS
    exit 0
}
