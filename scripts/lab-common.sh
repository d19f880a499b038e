# shellcheck shell=bash
# Sourced by the demo and the lab: starting programs that use DPDK without huge pages and waiting for them.

# eal_args PREFIX MEGABYTES: leaves in the array eal what an EAL needs that uses neither huge pages nor PCI, has no
# files to share, and may run on every CPU of this process.
eal_args() {
    local cpus
    cpus=$(awk '/^Cpus_allowed_list:/ { print $2 }' /proc/self/status)
    # shellcheck disable=SC2034 # the caller's
    eal=(--no-huge -m "$2" --no-shconf --no-pci --no-telemetry --file-prefix "$1" --lcores "0@($cpus)")
}

# wait_for SECONDS COMMAND...: until the command succeeds; fails when it has not in that time.
wait_for() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@" 2>/dev/null; do
        if [ $SECONDS -ge $deadline ]; then return 1; fi
        sleep 0.05
    done
}

# stop_process PID [SECONDS]: SIGINT, and SIGKILL if that does not help in time; the status is the process's own.
stop_process() {
    local pid=$1 deadline=$((SECONDS + ${2:-10})) status=0
    kill -INT "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null && [ $SECONDS -lt $deadline ]; do sleep 0.05; done
    if kill -0 "$pid" 2>/dev/null; then
        echo "process $pid does not end" >&2
        kill -KILL "$pid"
    fi
    wait "$pid" || status=$?
    return $status
}

# random_hex OCTETS
random_hex() { od -An -N "$1" -tx1 /dev/urandom | tr -d ' \n'; }
