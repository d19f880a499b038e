#!/usr/bin/env bash
# espgw talks to the Linux kernel's own IPsec: a Debian kernel in QEMU, by software emulation, is the other end. Root;
# nothing outside namespaces of its own is touched.
#
# usage: scripts/interop.sh [--quick] [--release bookworm|trixie] [CASE...]
#
#   Linux 14.0.0.52 (guest) ══ ESP ══ espgw ─ host 14.0.0.70
#
# Both ends get the same ip xfrm commands, with the directions of policies swapped. Cases, all by default
# (--quick: classic, everything, esn, ipv6, inline, inline-packet, wrong):
#   classic     the commands of many a guide: one key and SPI for both directions, TCP only
#   everything  all of IPv4, AES-128 and an ICV of 16 octets
#   aes192, aes256, icv12, icv8, chacha     other keys, ICVs and ciphers
#   esn         extended sequence numbers; esnwrap: over 2^32 and 2^33
#   ipv6        UDP, TCP, ICMPv6; ipv6all: one policy for all, AES-256 and an ICV of 12 octets
#   encap       ESP in UDP (RFC 3948); encap6: over IPv6
#   inline      the SAs of espgw in an emulated inline NIC; inline-6: over IPv6; inline-256: AES-256 and ESN;
#               inline-packet: the NIC does all of ESP
#   limits      SAs that may carry so many packets and no more
#   mtu         packets too long for ESP are answered (once espgw can)
#   wrong       wrong packets of every kind towards both ends: each is counted by its name; a peer that starts anew
#
# The guest is Debian's cloud kernel of the release (default: this machine's, or bookworm), fetched once, 40 MB, into
# ESPGW_GUEST_DIR or ~/.cache/espgw/guest. Everything seen is left in build/interop. Exit status: 0 all passed,
# 1 something failed, 2 it could not be run.
set -euo pipefail

cd "$(dirname "$0")/.."
here=$PWD/scripts
# shellcheck source=scripts/checks.sh
. scripts/checks.sh
# shellcheck source=scripts/lab-common.sh
. scripts/lab-common.sh
# shellcheck source=scripts/lab-net.sh
. scripts/lab-net.sh
# shellcheck source=scripts/lab-config.sh
. scripts/lab-config.sh
# shellcheck source=scripts/guest.sh
. scripts/guest.sh
# shellcheck source=scripts/interop-guest.sh
. scripts/interop-guest.sh
# shellcheck source=scripts/interop-net.sh
. scripts/interop-net.sh
# shellcheck source=scripts/interop-cases.sh
. scripts/interop-cases.sh
# shellcheck source=scripts/interop-wrong.sh
. scripts/interop-wrong.sh
# shellcheck source=scripts/interop-inline.sh
. scripts/interop-inline.sh

table=() device=

all=(classic everything aes192 aes256 icv12 icv8 chacha esn esnwrap ipv6 ipv6all encap encap6 inline inline-6 inline-256 inline-packet limits mtu wrong)
cases=() quick=no release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null)
case $release in bookworm | trixie) ;; *) release=bookworm ;; esac
while [ $# -gt 0 ]; do
    case " ${all[*]} " in
    *" $1 "*) cases+=("$1") ;;
    *) case $1 in
        --quick) quick=yes ;;
        --release)
            case ${2:-} in bookworm | trixie) release=$2 ;; *) usage ;; esac
            shift
            ;;
        *) usage ;;
        esac ;;
    esac
    shift
done
if [ ${#cases[@]} -eq 0 ]; then
    cases=("${all[@]}")
    if [ $quick = yes ]; then cases=(classic everything esn ipv6 inline inline-packet wrong); fi
fi

[ "$(id -u)" -eq 0 ] || fail "network namespaces need root"
[ -c /dev/net/tun ] || fail "there is no /dev/net/tun: the guest has no wire"
command -v socat >/dev/null || fail "socat is not there: scripts/setup.sh interop"
bin=${BIN:-$PWD/bin}
[ -x "$bin/espgw" ] || fail "$bin/espgw is not there: make build"
out=$PWD/build/interop
mkdir -p build
exec 9>build/interop.lock
flock -n 9 || {
    echo 'interop: another one runs in this folder: waiting for it'
    flock 9
}
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap network_down EXIT
trap 'exit 130' INT TERM

guest_image "$release"
interop_up
started=$SECONDS
interop_guest_up
echo "guest: Debian $release, Linux $(head -n 1 "$out/guest-version"), up after $((SECONDS - started)) s"
run_cases

if [ ${#table[@]} -gt 0 ]; then
    printf '\n%-44s %-36s %s\n' "5 packets each, if no number is given" "Linux counts" "espgw counts"
    printf '%s\n' "${table[@]}"
fi
verdict
