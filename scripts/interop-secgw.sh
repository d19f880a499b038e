#!/usr/bin/env bash
# Two hosts talk through DPDK's own example gateway, ipsec-secgw, on one side and espgw on the other, in network
# namespaces. Root; nothing outside them is touched.
#
# usage: scripts/interop-secgw.sh [--quick] [CASE...]
#
#   hostA 14.0.0.52 ─ ipsec-secgw ══ ESP ══ espgw ─ hostB 14.0.1.70
#
# Cases, all by default (--quick: aes128):
#   aes128      AES-128-GCM, IPv4 and IPv6, ipsec-secgw with librte_ipsec (-l) and crypto_openssl
#   aes192      AES-192-GCM, IPv4
#   aes256      AES-256-GCM, IPv4 and IPv6
#   legacy      ipsec-secgw's own code instead of librte_ipsec's
#   aesni-gcm   crypto_aesni_gcm: Intel's library for IPsec, IPv4
#   aesni-mb    crypto_aesni_mb, AES-256-GCM, IPv6
#   cpu-crypto  synchronous calls of crypto_aesni_gcm, IPv4
#   chacha      ChaCha20-Poly1305 with crypto_aesni_mb
#   esn         extended sequence numbers over 2^32
#   attack      wrong packets towards both gateways
#   windows     replays towards ipsec-secgw with several window sizes
#   limits      what ipsec-secgw does not do: told, not judged
#
# ipsec-secgw is built from Debian's dpdk-doc. Everything seen is left in build/interop-secgw. Exit status: 0 all
# passed, 1 something failed, 2 it could not be run.
set -euo pipefail

cd "$(dirname "$0")/.."
here=$PWD/scripts
# shellcheck source=scripts/checks.sh
. scripts/checks.sh
# shellcheck source=scripts/lab-common.sh
. scripts/lab-common.sh
# shellcheck source=scripts/lab-net.sh
. scripts/lab-net.sh
# shellcheck source=scripts/lab-cases.sh
. scripts/lab-cases.sh
for part in program net config cases attacks; do
    # shellcheck disable=SC1090
    . "scripts/interop-secgw/$part.sh"
done

# note TEXT: something worth knowing about the peer, which is neither good nor bad.
note() { printf 'NOTE  %-15s  %s\n' "$run" "$1" | tee -a "$out/notes.txt"; }

cases=() quick=no
all=(aes128 aes192 aes256 legacy aesni-gcm aesni-mb cpu-crypto chacha esn attack windows limits)
for word; do
    case " ${all[*]} " in
    *" $word "*) cases+=("$word") ;;
    *) case $word in
        --quick) quick=yes ;;
        *)
            usage
            ;;
        esac ;;
    esac
done
if [ ${#cases[@]} -eq 0 ]; then
    cases=("${all[@]}")
    if [ $quick = yes ]; then cases=(aes128); fi
fi

[ "$(id -u)" -eq 0 ] || fail "network namespaces need root"
bin=$PWD/bin
bin=${BIN:-$bin}
[ -x "$bin/espgw" ] || fail "$bin/espgw is not there: make build"
out=$PWD/build/interop-secgw
mkdir -p build
exec 9>build/interop-secgw.lock
flock -n 9 || {
    echo 'interop-secgw: another one runs in this folder: waiting for it'
    flock 9
}
rm -rf "$out"
mkdir -p "$out"
build_secgw
work=$(mktemp -d)
# shellcheck disable=SC2034 # lab-net.sh's and lab-cases.sh's
hostA=$lab-hostA hostB=$lab-hostB gwA=$lab-gwA gwB=$lab-gwB wire=$lab-wire
trap network_down EXIT
trap 'exit 130' INT TERM

interop_network_up
run_cases

verdict
