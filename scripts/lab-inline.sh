# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of lab.sh and of its other parts
# Sourced by lab.sh: SAs in an emulated inline NIC behind eth4, on one gateway or on both. The emulated device really
# encrypts, with another library than espgw's own engine, and counts whatever would have gone wrong on a card.

# offloaded SPI AB|BA REQID ALGORITHM KEY-OCTETS ICV-BITS [OPTION...]: an SA of IPv4 that asks each gateway for its eth4.
offloaded() {
    local direction=$2 line out_file in_file
    line="ip xfrm state add src $(address 4 "${direction:0:1}") dst $(address 4 "${direction:1:1}") proto esp spi $1"
    line+=" reqid $3 mode transport ${*:7} aead '$4' 0x$(random_hex "$5") $6 offload dev eth4 dir"
    out_file=$out/$run-${direction:0:1}.xfrm in_file=$out/$run-${direction:1:1}.xfrm
    echo "$line out" >>"$out_file"
    echo "$line in" >>"$in_file"
}

# What stands for an 82599: the emulated NIC's profile, or card, the modelled one of lab-card.sh.
ixgbe=ixgbe

# inline_up A-PROFILE B-PROFILE: both gateways; none is no inline device.
inline_up() {
    local side profile
    for side in "A $1" "B $2"; do
        profile=${side#* } side=${side% *}
        set -- --xfrm "$out/$run-$side.xfrm"
        case $profile in
        none) gateway_start "$side" 1500,1600 "$@" ;;
        card) card_start "$side" "$@" ;;
        *) gateway_start "$side" 1500,1600 "$@" --emulate-inline "eth4=$profile" ;;
        esac
    done
    gateways_wait
}

# device A|B CONDITION...: of the counters that a gateway has written at its end; see lab-engines.py.
device() { check "gateway $1: ${*:2}" "$here/lab-engines.py" "$out/$run-$1.json" "${@:2}"; }

# kept_contract A|B [MINIMUM]: the device saw nothing that a card would have punished; it sealed and opened that many.
kept_contract() {
    if [ $ixgbe = card ]; then
        card_saw "$1" "${2:-0}"
        return
    fi
    device "$1" emulation.eth4.leak_tx=0 emulation.eth4.bad_tx=0 emulation.eth4.breaches=0 \
        "emulation.eth4.tx_encrypted>=${2:-0}" "emulation.eth4.rx_opened>=${2:-0}"
}

# inline: the classic commands, and every combination of the device and software on the two sides.
case_inline() {
    local profiles engine_b all="ixgbe,ixgbe ixgbe,none crypto,ixgbe packet,none" name=$run
    if [ $ixgbe = card ]; then all="card,card card,none"; fi
    for profiles in $all; do
        run=$name-${profiles/,/-}
        # Packet offload of an SA that shares its key is refused, so it has keys of its own.
        if [ "$profiles" = packet,none ]; then
            config_empty
            offloaded 0x7001 AB 7 "$gcm" 20 128 replay-window 128
            offloaded 0x7002 BA 7 "$gcm" 20 128 replay-window 128
            protect 4 7 proto tcp
            sed -i 's/offload dev/offload packet dev/' "$out/$run-A.xfrm" "$out/$run-B.xfrm"
        else
            config_classic
        fi
        inline_up "${profiles%,*}" "${profiles#*,}"
        capture_start "$run"
        traffic 14.0.0.70 "device of A ${profiles%,*}, of B ${profiles#*,}" 1200 1472
        capture_stop
        gateways_down
        wire_checks --clear arp,nd,icmp,udp --inside tcp --min 1000
        tshark_checks
        counters_checks A
        counters_checks B
        engine_b=inline
        if [ "${profiles#*,}" = none ]; then engine_b=go; fi
        device A engine=inline
        device B engine=$engine_b
        kept_contract A 1000
        if [ $engine_b = inline ]; then kept_contract B 1000; fi
    done
    run=$name
}

# inline-fallback: what an 82599 cannot do goes through software, and why is told.
case_inline-fallback() {
    config_empty
    offloaded 0x7101 AB 1 "$gcm" 36 128 replay-window 128
    offloaded 0x7102 BA 1 "$gcm" 36 128 replay-window 128
    protect 4 1 proto tcp
    offloaded 0x7103 AB 2 "$gcm" 20 128 flag esn replay-window 128
    offloaded 0x7104 BA 2 "$gcm" 20 128 flag esn replay-window 128
    protect 4 2 proto udp
    offloaded 0x7105 AB 3 "$gcm" 20 128 replay-window 128
    offloaded 0x7106 BA 3 "$gcm" 20 128 replay-window 128
    protect 4 3 proto icmp
    inline_up $ixgbe $ixgbe
    capture_start "$run"
    traffic 14.0.0.70 "AES-256 for TCP, ESN for UDP" 1200 1400
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --min 20
    counters_checks A
    counters_checks B
    device A spi.0x7101.engine=go 'spi.0x7101.engine_reason~256' spi.0x7103.engine=go 'spi.0x7103.engine_reason~ESN' spi.0x7105.engine=inline
    kept_contract A
    kept_contract B
}

# inline-many: 300 SAs a direction, each for a port of its own. The driver's transmit path tells 256 apart; one is the
# gateway's own. The others go through software, and take the places of those that are deleted.
case_inline-many() {
    local i port
    config_empty
    for i in {1..300}; do
        offloaded $((0x8000 + i)) AB $i "$gcm" 20 128 replay-window 128
        offloaded $((0x9000 + i)) BA $i "$gcm" 20 128 replay-window 128
        protect_port $((6000 + i)) $i
    done
    inline_up $ixgbe $ixgbe
    # shellcheck disable=SC2046 # two words
    set -- $(free_slots A)
    check "A: 255 egress SAs and 300 ingress SAs are in the device" [ "$*" = "255 300 45" ]
    for port in 6001 6255 6256 6300; do
        ip netns exec "$hostB" iperf3 -s -p $port >/dev/null 2>&1 &
        background+=($!)
        disown
    done
    sleep 0.3
    capture_start "$run"
    for port in 6001 6255 6256 6300; do
        check "TCP to port $port from A to B" tcp "$hostA" 14.0.0.70 -p $port -n 1M
        check "TCP to port $port from B to A" tcp "$hostA" 14.0.0.70 -p $port -n 1M -R
    done
    check "deleted: SAs that are in the device, on both sides" delete_many
    check "one of those that waited has its place" wait_for 10 waiting_is A 42
    for port in 6001 6255 6256 6300; do
        check "after that, TCP to port $port" tcp "$hostA" 14.0.0.70 -p $port -n 1M
    done
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --inside tcp --min 0
    tshark_checks
    counters_checks A
    counters_checks B
    kept_contract A
    kept_contract B
}

protect_port() { # PORT REQID
    cat >>"$out/$run-A.xfrm" <<TEXT
ip xfrm policy add dir out src 14.0.0.52 dst 14.0.0.70 proto tcp dport $1 tmpl src 14.0.0.52 dst 14.0.0.70 proto esp reqid $2 mode transport
ip xfrm policy add dir in src 14.0.0.70 dst 14.0.0.52 proto tcp sport $1 tmpl src 14.0.0.70 dst 14.0.0.52 proto esp reqid $2 mode transport
TEXT
    cat >>"$out/$run-B.xfrm" <<TEXT
ip xfrm policy add dir out src 14.0.0.70 dst 14.0.0.52 proto tcp sport $1 tmpl src 14.0.0.70 dst 14.0.0.52 proto esp reqid $2 mode transport
ip xfrm policy add dir in src 14.0.0.52 dst 14.0.0.70 proto tcp dport $1 tmpl src 14.0.0.52 dst 14.0.0.70 proto esp reqid $2 mode transport
TEXT
}

# delete_many: three SAs a direction, the receiver's after the sender's.
delete_many() {
    local i
    for i in 10 20 30; do
        control A "ip xfrm state delete dst 14.0.0.70 proto esp spi $((0x8000 + i))" &&
            control B "ip xfrm state delete dst 14.0.0.70 proto esp spi $((0x8000 + i))" || return 1
    done
}

# free_slots A|B: egress SAs in the device, ingress SAs in it, and SAs that wait.
free_slots() {
    fresh_counters "$1" && "$here/lab-engines.py" "$out/$run-$1.json" --offload
}

fresh_counters() { # A|B: SIGUSR1 writes them
    rm -f "$out/$run-$1.json"
    kill -USR1 "${gateway_pid[$1]}"
    wait_for 5 test -e "$out/$run-$1.json"
}

waiting_is() { # A|B N
    local used
    used=$(free_slots "$1") && [ "${used##* }" = "$2" ]
}

# inline-restart: a port is stopped and started, and reset, under TCP. What the capture has must open, and nothing
# may be in the clear.
case_inline-restart() {
    local i number=1
    if [ $ixgbe = card ]; then number=0; fi # EAL finds PCI devices first
    config_classic
    inline_up $ixgbe $ixgbe
    capture_start "$run"
    ip netns exec "$hostA" timeout 90 iperf3 -J -c 14.0.0.70 -b 5M -t 60 >"$work/restart.json" &
    local stream=$!
    sleep 1
    for i in 1 2 3; do
        check "under TCP: port stop eth4" control A "port stop eth4"
        check "stopped twice is refused" refused A "port stop eth4"
        sleep 0.2
        check "under TCP: port start, by its number" control A "port start $number"
        sleep 1
    done
    check "under TCP: port reset, by its number" control A "port reset $number"
    sleep 1.5
    check "a port that is not there is refused" refused A "port stop 7"
    kill -INT $stream
    wait $stream || true
    check "both SAs are in the device again" [ "$(free_slots A)" = "1 1 0" ]
    check "TCP after that" tcp "$hostA" 14.0.0.70 -n 1M
    capture_stop
    gateways_down
    wire_checks --clear arp,nd --inside tcp --min 500
    tshark_checks
    counters_checks A 'tx_port_restarting>=1'
    counters_checks B
    kept_contract A
    kept_contract B
}
