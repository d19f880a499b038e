# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lab.sh and of its other parts
# Sourced by card.sh: gateways whose port eth4 is a modelled Intel 82599 that DPDK's own ixgbe driver drives (nicmodel).
# The lab's captures and checks stay as they are: the card's wire is the gateway's interface eth4.

# Options of nicmodel for a gateway's card.
declare -A card_options=()
card_table=()

# card_cpus: the cards are polled on the first CPU that this process may use, gateways work on the last.
card_cpus() {
    local cpus
    cpus=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
    card_cpu=${cpus%% *} work_cpu=${cpus##* }
}

# card_memory MEGABYTES: at least that much of free huge pages of 2 MiB, and a place to map them from.
card_memory() {
    local pages=/sys/kernel/mm/hugepages/hugepages-2048kB want=$(($1 / 2)) free
    pages_before=$(cat $pages/nr_hugepages)
    free=$(cat $pages/free_hugepages)
    if [ "$free" -lt $want ]; then
        sync
        echo 3 >/proc/sys/vm/drop_caches # what is cached lies between free memory
        echo 1 >/proc/sys/vm/compact_memory
        echo $((pages_before + want - free)) >$pages/nr_hugepages
    fi
    free=$(cat $pages/free_hugepages)
    [ "$free" -ge $want ] || fail "$((free * 2)) MiB of free huge pages of 2 MiB, $1 are needed"
    if ! awk '$3 == "hugetlbfs" && !/pagesize=1024M/ { found = 1 } END { exit !found }' /proc/mounts; then
        mkdir -p /dev/hugepages
        mount -t hugetlbfs none /dev/hugepages || fail "hugetlbfs cannot be mounted at /dev/hugepages"
    fi
}

# card_start A|B [OPTION...]: a gateway on a card.
card_start() {
    local side=$1 name=$run-$1
    shift
    rm -f "$out/$name.log" "$out/$name.json" "$out/$name.card.json"
    card_table+=("$name")
    # shellcheck disable=SC2086 # words
    nicmodel_in "$lab-gw$side" "$name" --wire af_packet:eth4 --control "$work/$side.card" ${card_options[$side]:-} -- \
        "$bin/espgw" --lcores "0@$work_cpu" -a 0000:01:00.0 -m 128 --huge-unlink=always --no-telemetry --file-prefix "$lab-gw$side" \
        --vdev net_af_packet0,iface=lan,framesz=2048,blocksz=65536,framecnt=4096 \
        -- --pair lan=net_af_packet0,eth4=0000:01:00.0 --mtu lan=1500,eth4=1600 --state-dir none \
        --idle-backoff 50us --control "$work/$side.sock" --stats-json "$out/$name.json" "$@" >"$out/$name.log" 2>&1 &
    gateway_pid[$side]=$!
}

# card_memory_back: as many huge pages as before.
card_memory_back() { echo "$pages_before" >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages; }

# nicmodel_in NAMESPACE NAME OPTION... -- COMMAND...: becomes nicmodel. What the cards saw is in NAME.card.json, their wire
# in NAME.pcapng.
nicmodel_in() {
    local ns=$1 name=$2
    shift 2
    exec ip netns exec "$ns" "$bin/nicmodel" --cpu "$card_cpu" --quiet --report "$out/$name.card.json" \
        --record "$out/$name.pcapng" "$@"
}

# card_control A|B COMMAND: to nicmodel's control socket.
card_control() { "$here/lab-control.py" "$work/$1.card" "$2"; }

# card_saw A|B MINIMUM [CONDITION...]: no breach of the card's contract, nothing that was to be sealed in clear text, and so
# many packets sealed and opened.
card_saw() {
    check "card of $1: no breach of its contract; sealed and opened $2 or more" "$here/card-report.py" "$out/$run-$1.card.json" \
        breaches=0 tx_clear=0 "tx_sealed>=$2" "rx_opened>=$2" "${@:3}"
}

# card_rows: the table of all that the cards saw.
card_rows() {
    local name
    printf '\n%-22s%12s%12s%12s%12s%12s%12s\n' "what the cards saw" sent sealed "in clear" received opened breaches
    for name in "${card_table[@]}"; do
        if [ -e "$out/$name.card.json" ]; then "$here/card-report.py" --row "$name" "$out/$name.card.json"; fi
    done
}
