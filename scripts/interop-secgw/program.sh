# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of interop-secgw.sh and of its other parts
# Sourced by interop-secgw.sh: DPDK's example program ipsec-secgw, from the source that Debian's dpdk-doc brings.

secgw=$PWD/build/ipsec-secgw/ipsec-secgw/build/ipsec-secgw

# build_secgw: the program of the installed DPDK version, unless it is there. The example asks every port for receive
# checksum offloads, which virtual ports have not; a copy that does not ask is otherwise the same program.
build_secgw() {
    local examples=/usr/share/dpdk/examples folder=$PWD/build/ipsec-secgw version
    version=$(pkg-config --modversion libdpdk) || fail "DPDK's development files are missing: scripts/setup.sh bench"
    if [ -x "$secgw" ] && [ "$(cat "$folder/version" 2>/dev/null)" = "$version" ]; then return; fi
    [ -d $examples/ipsec-secgw ] || fail "DPDK's examples are not in $examples: scripts/setup.sh bench"
    echo "      building ipsec-secgw $version from $examples"
    rm -rf "$folder"
    mkdir -p "$folder"
    cp -r $examples/ipsec-secgw $examples/common "$folder/"
    sed -i 's/\.offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,/.offloads = 0,/' "$folder/ipsec-secgw/ipsec-secgw.c"
    make -C "$folder/ipsec-secgw" >"$folder/build.log" 2>&1 || fail "ipsec-secgw does not build: $folder/build.log"
    echo "$version" >"$folder/version"
}

# secgw_command DRIVER [OPTION...]: leaves in the array `command` how ipsec-secgw is started: port 0 is the hosts' side,
# port 1 the unprotected one, one lcore polls both. DRIVER is a crypto device's driver.
secgw_command() {
    local driver=$1 eal ring='framesz=2048,blocksz=65536,framecnt=4096' # as espgw's
    shift
    eal_args "$lab-gwA" 512
    # Its counters are asked for over DPDK's telemetry.
    command=("$secgw" "${eal[@]/--no-telemetry/--telemetry}" --vdev "${driver}0"
        --vdev "net_af_packet0,iface=lan,$ring" --vdev "net_af_packet1,iface=eth4,$ring"
        -- -p 0x3 -u 0x2 -P "--config=(0,0,0),(1,0,0)" --rxoffload 0 --txoffload 0 -f "$out/$run-A.cfg" "$@")
}

# secgw_start DRIVER [OPTION...]: in its namespace, until it forwards.
secgw_start() {
    local command
    secgw_command "$@"
    printf '%s ' "${command[@]}" >"$out/$run-A.command"
    rm -f "$out/$run-A.log"
    # Without stdbuf it would write to a file in blocks, and nothing could be waited for.
    ip netns exec "$gwA" stdbuf -oL "${command[@]}" >"$out/$run-A.log" 2>&1 &
    # shellcheck disable=SC2034 # lab-net.sh's
    gateway_pid[A]=$!
    wait_for 20 grep -q 'entering main loop' "$out/$run-A.log" || {
        tail -n 5 "$out/$run-A.log"
        fail "ipsec-secgw did not start"
    }
}

# secgw_counters: ipsec-secgw's own counters, to a file.
secgw_counters() {
    "$here/interop-secgw-facts.py" telemetry "/var/run/dpdk/$lab-gwA/dpdk_telemetry.v2" >"$out/$run-A.json"
}
