# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of interop.sh and of its other parts
# Sourced by interop.sh: the SAs of espgw are in an emulated inline NIC, and Linux must not be able to tell.

# inlined PROFILE NAME ALGORITHM KEY-OCTETS ICV-BITS [OPTION...]: all of IPv4 between the two. PROFILE is that of
# --emulate-inline.
inlined() {
    one_pair "${@:3}"
    device=$1 inlined_traffic traffic4 "$2"
}

# inlined_traffic COMMAND...: with the configuration as it is and the device in $device.
inlined_traffic() {
    begin || return 0
    "$@"
    finish --clear arp,nd --min 100
    check "espgw: both SAs were in the device, which opened and sealed them, and kept its contract" \
        "$here/lab-engines.py" "$out/$run-B.json" engine=inline 'emulation.eth4.tx_encrypted>100' \
        'emulation.eth4.rx_opened>100' emulation.eth4.leak_tx=0 emulation.eth4.bad_tx=0 emulation.eth4.breaches=0
}

case_inline() { inlined ixgbe "AES-128 in an 82599" "$gcm" 20 128 replay-window 128; }
case_inline-256() { NO_TSHARK=yes inlined crypto "AES-256 and ESN in a NIC" "$gcm" 36 128 replay-window 256 flag esn; }
case_inline-6() {
    config_empty
    sa 6 0x1001 AB 1 "$gcm" 20 128 replay-window 128
    sa 6 0x1002 BA 1 "$gcm" 20 128 replay-window 128
    protect 6 1 proto udp
    protect 6 1 proto tcp
    protect 6 1 proto ipv6-icmp
    pass_neighbour_discovery
    forget_neighbours
    device=ixgbe inlined_traffic traffic6 "IPv6 in an 82599"
}
case_inline-packet() {
    one_pair "$gcm" 20 128 replay-window 128
    sed -i 's/^\(ip xfrm state add .* spi 0x1001 .*\)/\1 offload packet dev eth4 dir in/; s/^\(ip xfrm state add .* spi 0x1002 .*\)/\1 offload packet dev eth4 dir out/' \
        "$out/$run-B.xfrm"
    device=packet inlined_traffic traffic4 "packet offload"
}
