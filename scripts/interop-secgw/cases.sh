# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of interop-secgw.sh and of its other parts
# Sourced by interop-secgw.sh: what is tried, and what must be seen.

# gateways DRIVER [OPTION-OF-IPSEC-SECGW...]: starts both for a case whose files are written, and the capture.
gateways() {
    # Only the code that uses librte_ipsec (-l) counts packets by SA.
    case " $* " in
    *' -l '*) secgw_counts=yes ;;
    *) secgw_counts=no ;;
    esac
    secgw_start "$@"
    espgw_start
    capture_start "$run"
}

# talk FAMILY: the hosts talk, and each of them begins a conversation.
talk() {
    local name=IPv$1 host_a=$host_a4 host_b=$host_b4 largest=$((host_mtu - 28))
    if [ "$1" = 6 ]; then host_a=$host_a6 host_b=$host_b6 largest=$((host_mtu - 48)); fi
    check "$name: TCP, 3 MB from ipsec-secgw's host to espgw's" tcp "$hostA" "$host_b" -n 3M
    check "$name: TCP, 3 MB from espgw's host to ipsec-secgw's" tcp "$hostA" "$host_b" -n 3M -R
    check "$name: UDP, 100 datagrams asked and answered" in_ns "$hostA" "$here/lab-echo.py" ask "$host_b" 1200 100
    check "$name: UDP, 50 datagrams asked by espgw's host" in_ns "$hostB" "$here/lab-echo.py" ask "$host_a" 1 50
    check "$name: ping, all answered, sizes 0, 1 and $largest" pings "$hostA" "$host_b" 0 1 "$largest"
}

# pings NAMESPACE ADDRESS SIZE...: each of the first 20 is answered, within 10 s even if the machine is busy.
pings() {
    local ns=$1 address=$2 size
    shift 2
    for size; do
        in_ns "$ns" ping -c 20 -w 10 -i 0.01 -M "do" -s "$size" "$address" >"$work/ping" || true
        if [ "$(grep -oE 'icmp_seq=([1-9]|1[0-9]|20) ttl=' "$work/ping" | sort -u | wc -l)" != 20 ]; then
            cat "$work/ping"
            return 1
        fi
    done
}

# finish: stops both gateways and looks at what they counted.
finish() {
    secgw_counters || bad "ipsec-secgw does not tell its counters"
    gateways_down
    check "espgw: counters balance; drops: none" "$here/lab-stats.py" "$out/$run-B.json"
    if [ $secgw_counts = yes ]; then
        check "both count the same packets and octets of every SA" \
            "$here/interop-secgw-facts.py" carried "$out/$run-B.json" "$out/$run-A.json"
    else
        check "espgw: every SA carried packets" "$here/interop-secgw-facts.py" carried "$out/$run-B.json" -
    fi
}

# wire_is_clean: the case's capture, by our checker. Hosts of IPv6 join multicast groups: that may be in the clear.
wire_is_clean() {
    check "wire: nothing but ESP between the hosts, every packet opens, no IV and no sequence number twice" \
        "$here/check-esp.py" --xfrm "$out/$run-B.xfrm" --clear nd --min 500 "$capture"
}

tshark_agrees() {
    check "wire: tshark decrypts and authenticates every ESP packet" "$here/check-esp.sh" "$capture" "$out/$run-B.xfrm"
}

# ivs: how each gateway makes its IVs, seen in the capture.
ivs() {
    check "wire: ipsec-secgw's IV is the sequence number in every packet, espgw's in none" \
        "$here/interop-secgw-facts.py" ivs "$capture" "$out/$run-B.xfrm" $host_a4 $host_a6
}

# conversation FAMILIES ALGORITHM DRIVER [OPTION-OF-IPSEC-SECGW...]: a whole case. FAMILIES is 4, 6 or 46; sa_type is
# the type of ipsec-secgw's SAs.
sa_type=no-offload
conversation() {
    local families=$1 algorithm=$2 family
    shift 2
    config_start
    for family in $(fold -w 1 <<<"$families"); do pair_of_sas "$family" "0x${family}001" "$algorithm" $sa_type; done
    gateways "$@"
    for family in $(fold -w 1 <<<"$families"); do talk "$family"; done
    capture_stop
    finish
    wire_is_clean
    # tshark knows neither ChaCha20-Poly1305 nor, in its version 4.0, ESN.
    if [ "$algorithm" != chacha20-poly1305 ] && [ -z "$sa_options_a" ]; then tshark_agrees; fi
    ivs
}

case_aes128() { conversation 46 aes-128-gcm crypto_openssl -l -w 192; }
case_aes192() { conversation 4 aes-192-gcm crypto_openssl -l -w 192; }
case_aes256() { conversation 46 aes-256-gcm crypto_openssl -l -w 192; }
case_legacy() { conversation 46 aes-128-gcm crypto_openssl; }
case_aesni-gcm() { conversation 4 aes-128-gcm crypto_aesni_gcm -l -w 192; }
case_aesni-mb() { conversation 6 aes-256-gcm crypto_aesni_mb -l -w 192; }
case_chacha() { conversation 46 chacha20-poly1305 crypto_aesni_mb -l -w 192; }

case_cpu-crypto() {
    local sa_type=cpu-crypto
    conversation 4 aes-128-gcm crypto_aesni_gcm -l -w 192
}

# esn: the low half of the sequence numbers wraps soon. ipsec-secgw wants -e besides the number in each SA's line, which
# is the first one that it sends and the last one that it takes for received.
case_esn() {
    local sa_options_a="esn $((0xffffff00))" sa_options_b='flag esn replay-seq 0xfffffeff replay-oseq 0xffffff00'
    conversation 46 aes-256-gcm crypto_openssl -l -w 192 -e
    check "wire: every SA got over 2^32" \
        "$here/check-esp.py" --xfrm "$out/$run-B.xfrm" --clear nd --beyond 0x100000000 "$capture"
}
