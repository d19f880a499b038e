# shellcheck shell=bash
# Sourced by bench.sh: how each program is started for one measurement. All get the same ports (net_pcap with
# infinite_rx to net_null), the same lcore, the same kind of memory, frames of the same pcaps and the same key.
#
# The functions leave the command in the array `command`. They use bench.sh's variables lcore, work, bin, secgw, engine,
# prefix.
# shellcheck disable=SC2154

key=44434241343332312423222114131211 salt=f4f3f2f1

# Room for the largest frame, sealed: the same for all programs.
jumbo_room=10240 jumbo_mtu=9600
is_jumbo() { [ "$1" -gt 1500 ]; }

started=0

# ports SOURCE-PCAP: EAL's arguments for the two ports. net_null receives nothing, so that one direction is measured.
ports() {
    eal=(--no-pci --huge-unlink --file-prefix "$prefix-$((++started))"
        --vdev "net_pcap0,rx_pcap=$1,infinite_rx=1,tx_pcap=/dev/null" --vdev "net_null1,size=64,no-rx=1")
}

# source_of DIRECTION SIZE: the pcap that is replayed.
source_of() { if [ "$1" = in ]; then echo "$work/esp$2.pcap"; else echo "$work/plain$2.pcap"; fi; }

# with_colons HEX
with_colons() { sed 's/../&:/g; s/:$//' <<<"$1"; }

write_configs() {
    cat >"$work/espgw-out.xfrm" <<TEXT
ip xfrm state add src 14.0.0.52 dst 14.0.0.70 proto esp spi 0x1005 reqid 5 mode transport replay-window 0 \\
    aead 'rfc4106(gcm(aes))' 0x$key$salt 128
ip xfrm policy add dir out src 14.0.0.52 dst 14.0.0.70 tmpl proto esp reqid 5 mode transport
TEXT
    sed 's/dir out/dir in/' "$work/espgw-out.xfrm" >"$work/espgw-in.xfrm"
    : >"$work/espgw-forward.xfrm"
    local type suffix
    for suffix in look-aside cpu-crypto; do
        type=''
        if [ $suffix = cpu-crypto ]; then type=' type cpu-crypto'; fi
        cat >"$work/secgw-$suffix.cfg" <<TEXT
sp ipv4 out esp protect 4101 pri 1 dst 14.0.0.0/24 sport 0:65535 dport 0:65535
sp ipv4 in esp protect 4101 pri 1 dst 14.0.0.0/24 sport 0:65535 dport 0:65535
sa out 4101 aead_algo aes-128-gcm aead_key $(with_colons $key$salt) mode transport$type
sa in 4101 aead_algo aes-128-gcm aead_key $(with_colons $key$salt) mode transport$type
rt ipv4 dst 14.0.0.0/24 port 1
neigh port 1 02:00:00:00:00:01
TEXT
    done
}

# espgw_options DIRECTION SIZE PROTECTED UNPROTECTED: espgw's own options; DIRECTION is out, in or forward.
espgw_options() {
    local mtu=1600
    if is_jumbo "$2"; then mtu=$jumbo_mtu; fi
    own=(--pair "lan=$3,wan=$4" --xfrm "$work/espgw-$1.xfrm" --mtu "$mtu" --state-dir none --engine "$engine")
    if is_jumbo "$2"; then own+=(--mbuf-size "$jumbo_room"); fi
}

espgw_command() { # DIRECTION SIZE
    ports "$(source_of "$1" "$2")"
    if [ "$1" = in ]; then
        espgw_options "$1" "$2" net_null1 net_pcap0
    else
        espgw_options "$1" "$2" net_pcap0 net_null1
    fi
    command=("$bin/espgw" -l "$lcore" "${eal[@]}" -- "${own[@]}" --stats-json "$work/espgw.json")
}

# espgw_offline DIRECTION SIZE FROM TO: pushes the pcap FROM through espgw once; what comes out becomes TO.
espgw_offline() {
    espgw_options "$1" "$2" net_pcap0 net_pcap1
    if [ "$1" = in ]; then espgw_options "$1" "$2" net_pcap1 net_pcap0; fi
    "$bin/espgw" -l "$lcore" --no-pci --huge-unlink --file-prefix "$prefix" \
        --vdev "net_pcap0,rx_pcap=$3,tx_pcap=/dev/null" --vdev "net_pcap1,rx_pcap=$work/empty.pcap,tx_pcap=$4" \
        -- "${own[@]}" --idle-exit 300ms --stats-json "$work/espgw.json" >"$work/offline.log" 2>&1
}

# secgw_arguments DIRECTION SIZE DRIVER PATH: what stands behind --. PATH is look-aside or cpu-crypto.
secgw_arguments() {
    # An SA of type cpu-crypto wants a receive queue on the port of its direction: port 1 gets one.
    local unprotected=0x2 queues="(0,0,$lcore)"
    if [ "$1" = in ]; then unprotected=0x1; fi
    own=(-p 0x3 -P -u "$unprotected" -f "$work/secgw-$4.cfg" --rxoffload 0 --txoffload 0)
    if [ "$4" = cpu-crypto ]; then
        own+=(-l)
        queues+=",(1,0,$lcore)"
    fi
    own+=("--config=$queues")
    if is_jumbo "$2"; then own+=(-j "$jumbo_room" --mtu "$jumbo_mtu"); fi
}

secgw_command() { # DIRECTION SIZE DRIVER PATH
    ports "$(source_of "$1" "$2")"
    secgw_arguments "$@"
    command=("$secgw" -l "$lcore" "${eal[@]}" --vdev "${3}0" -- "${own[@]}")
}

# secgw_offline SIZE DRIVER PATH FROM TO: ipsec-secgw seals the pcap FROM once, into TO.
secgw_offline() {
    secgw_arguments out "$1" "$2" "$3"
    timeout --preserve-status --signal INT 3 "$secgw" -l "$lcore" --no-pci --huge-unlink --file-prefix "$prefix" \
        --vdev "net_pcap0,rx_pcap=$4,tx_pcap=/dev/null" --vdev "net_pcap1,rx_pcap=$work/empty.pcap,tx_pcap=$5" \
        --vdev "${2}0" -- "${own[@]}" >"$work/offline.log" 2>&1
}

# testpmd exchanges the MAC addresses and does nothing else. Its main lcore only waits.
testpmd_command() { # SIZE
    ports "$(source_of out "$1")"
    command=(dpdk-testpmd --lcores "0@(0-$(($(nproc) - 1))),$((lcore + 1))@$lcore" "${eal[@]}" --
        --forward-mode=macswap --auto-start --nb-cores=1 --burst=32 --total-num-mbufs=16384)
    if is_jumbo "$1"; then command+=("--mbuf-size=$jumbo_room" "--max-pkt-len=$((jumbo_mtu + 22))"); fi
}
