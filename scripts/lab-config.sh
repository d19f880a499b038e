# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of lab.sh and of its other parts
# Sourced by lab.sh: the files of ip xfrm commands that the gateways get. Each function writes A's and B's.

# classic: one SPI and one key for both directions, TCP only. The lines are as they stand in many a guide; B's are A's
# with the addresses swapped.
config_classic() {
    cat >"$out/$run-A.xfrm" <<'TEXT'
ip x p add dir out src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp tmpl \
   proto esp src 14.0.0.52 dst 14.0.0.70 spi 0x07 mode transport reqid 0x07
ip x p add dir in src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp tmpl \
   proto esp dst 14.0.0.52 src 14.0.0.70 spi 0x07 mode transport reqid 0x07
ip x s add proto esp src 14.0.0.52 dst 14.0.0.70 spi 0x07 mode transport \
   reqid 0x07 replay-window 32 \
   aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 \
   sel src 14.0.0.52/24 dst 14.0.0.70/24 proto tcp offload dev eth4 dir out
ip x s add proto esp dst 14.0.0.52 src 14.0.0.70 spi 0x07 mode transport \
   reqid 0x07 replay-window 32 \
   aead 'rfc4106(gcm(aes))' 0x44434241343332312423222114131211f4f3f2f1 128 \
   sel src 14.0.0.70/24 dst 14.0.0.52/24 proto tcp offload dev eth4 dir in
TEXT
    sed 's/14\.0\.0\.52/@/g; s/14\.0\.0\.70/14.0.0.52/g; s/@/14.0.0.70/g' "$out/$run-A.xfrm" >"$out/$run-B.xfrm"
}

# sa FAMILY SPI DIRECTION REQID ALGORITHM KEY-OCTETS ICV-BITS [OPTION...]: one SA, with a random key. FAMILY is 4 or
# 6, DIRECTION AB or BA. The line goes to both files.
sa() {
    local family=$1 spi=$2 direction=$3 reqid=$4 algorithm=$5 octets=$6 icv=$7 src dst
    shift 7
    src=$(address "$family" "${direction:0:1}") dst=$(address "$family" "${direction:1:1}")
    echo "ip xfrm state add src $src dst $dst proto esp spi $spi reqid $reqid mode transport $*" \
        "aead '$algorithm' 0x$(random_hex "$octets") $icv" | tee -a "$out/$run-A.xfrm" >>"$out/$run-B.xfrm"
}

address() { # 4|6 A|B
    local n=52
    if [ "$2" = B ]; then n=70; fi
    if [ "$1" = 4 ]; then echo "14.0.0.$n"; else echo "2001:db8:14::$n"; fi
}

# protect FAMILY REQID [SELECTOR...]: policies on both sides that demand ESP for all between the hosts, or for what the
# selector says.
protect() {
    local family=$1 reqid=$2 side other
    shift 2
    for side in A B; do
        other=$(tr AB BA <<<"$side")
        local own peer
        own=$(address "$family" $side) peer=$(address "$family" "$other")
        cat >>"$out/$run-$side.xfrm" <<TEXT
ip xfrm policy add dir out src $own dst $peer $* priority 100 tmpl src $own dst $peer proto esp reqid $reqid mode transport
ip xfrm policy add dir in src $peer dst $own $* priority 100 tmpl src $peer dst $own proto esp reqid $reqid mode transport
TEXT
    done
}

# pass_neighbour_discovery: the lines without which a policy for all of IPv6 keeps links from coming up.
pass_neighbour_discovery() {
    local side type dir
    for side in A B; do
        for type in 133 134 135 136 137; do
            for dir in out in; do
                echo "ip xfrm policy add dir $dir src ::/0 dst ::/0 proto ipv6-icmp type $type priority 1 action allow"
            done
        done >>"$out/$run-$side.xfrm"
    done
}

config_empty() { : | tee "$out/$run-A.xfrm" >"$out/$run-B.xfrm"; }

gcm='rfc4106(gcm(aes))'
chacha='rfc7539esp(chacha20,poly1305)'

# everything: all of IPv4 and IPv6 between the hosts, a key for each direction.
config_everything() {
    config_empty
    sa 4 0x1001 AB 1 "$gcm" 20 128 replay-window 128
    sa 4 0x1002 BA 1 "$gcm" 20 128 replay-window 128
    sa 6 0x1003 AB 2 "$gcm" 36 96 replay-window 1024
    sa 6 0x1004 BA 2 "$gcm" 28 64 replay-window 1024
    protect 4 1
    protect 6 2
    pass_neighbour_discovery
}

# mtu: as everything, with the same ICV for both, so that the same fits into the link.
config_mtu() {
    config_empty
    sa 4 0x6001 AB 1 "$gcm" 20 128 replay-window 1024
    sa 4 0x6002 BA 1 "$gcm" 20 128 replay-window 1024
    sa 6 0x6003 AB 2 "$gcm" 36 128 replay-window 1024
    sa 6 0x6004 BA 2 "$gcm" 36 128 replay-window 1024
    protect 4 1
    protect 6 2
    pass_neighbour_discovery
}

config_encap() {
    config_empty
    sa 4 0x2001 AB 1 "$gcm" 20 128 replay-window 128 encap espinudp 4500 4500 0.0.0.0
    sa 4 0x2002 BA 1 "$gcm" 20 128 replay-window 128 encap espinudp 4500 4500 0.0.0.0
    protect 4 1
}

# esn: the low half of the sequence number wraps 256 packets after the start.
config_esn() {
    config_empty
    local near='replay-window 256 flag esn replay-seq 0xffffff00 replay-oseq 0xffffff00'
    sa 4 0x3001 AB 1 "$gcm" 36 128 "$near"
    sa 4 0x3002 BA 1 "$gcm" 36 128 "$near"
    sa 6 0x3003 AB 2 "$chacha" 36 128 "$near"
    sa 6 0x3004 BA 2 "$chacha" 36 128 "$near"
    protect 4 1
    protect 6 2
    pass_neighbour_discovery
}
