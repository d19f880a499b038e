# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of interop-secgw.sh and of its other parts
# Sourced by interop-secgw.sh: both gateways' configurations, for the same SAs with random keys.

# pair_of_sas FAMILY SPI ALGORITHM [TYPE]: an SA from A to B with that SPI, one back with the next SPI, and policies for
# all traffic between the two hosts, on both gateways. FAMILY is 4 or 6 (ipsec-secgw wants other SPIs for each);
# ALGORITHM is ipsec-secgw's name; TYPE its type of SA. The variables sa_options_a and sa_options_b add words to the
# lines of a case.
sa_options_a='' sa_options_b=''
pair_of_sas() {
    local family=$1 spi=$2 algorithm=$3 type=${4:-no-offload} octets name key colons hex_spi
    local host_a=$host_a4 host_b=$host_b4 length=32 dir espgw_dir src dst
    case $algorithm in
    aes-128-gcm) octets=20 ;;
    aes-192-gcm) octets=28 ;;
    *) octets=36 ;;
    esac
    name='rfc4106(gcm(aes))'
    if [ "$algorithm" = chacha20-poly1305 ]; then name='rfc7539esp(chacha20,poly1305)'; fi
    if [ "$family" = 6 ]; then host_a=$host_a6 host_b=$host_b6 length=128; fi
    for dir in out in; do # as ipsec-secgw sees it
        espgw_dir=in src=$host_a dst=$host_b
        if [ $dir = in ]; then espgw_dir=out src=$host_b dst=$host_a; fi
        key=$(random_hex "$octets")
        colons=$(sed 's/../&:/g; s/:$//' <<<"$key") hex_spi=$(printf 0x%x $((spi)))
        cat >>"$out/$run-A.cfg" <<TEXT
sp ipv$family $dir esp protect $((spi)) pri 1 src $src/$length dst $dst/$length sport 0:65535 dport 0:65535
sa $dir $((spi)) aead_algo $algorithm aead_key $colons mode transport type $type telemetry $sa_options_a
TEXT
        cat >>"$out/$run-B.xfrm" <<TEXT
ip xfrm state add src $src dst $dst proto esp spi $hex_spi reqid $family mode transport \\
   replay-window 1024 aead '$name' 0x$key 128 $sa_options_b
ip xfrm policy add dir $espgw_dir src $src dst $dst priority 100 \\
   tmpl src $src dst $dst proto esp reqid $family mode transport
TEXT
        spi=$((spi + 1))
    done
}

# config_start: the part that all cases share: where the hosts are.
config_start() {
    : >"$out/$run-B.xfrm"
    cat >"$out/$run-A.cfg" <<TEXT
neigh port 0 $host_a_mac
neigh port 1 $host_b_mac
rt ipv4 dst $host_a4/32 port 0
rt ipv4 dst $host_b4/32 port 1
rt ipv6 dst $host_a6/128 port 0
rt ipv6 dst $host_b6/128 port 1
TEXT
}
