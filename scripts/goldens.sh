#!/usr/bin/env bash
# Records what the real iproute2 and the real kernel answer to the commands in
# sa/xfrm/testdata/goldens/cases: one transcript per case and Debian release, in
# sa/xfrm/testdata/goldens/RELEASE. Each release's own kernel is booted in QEMU
# by software emulation, with its own iproute2 in the initial ram disk.
#
#   scripts/goldens.sh [bookworm|trixie ...]        (both without arguments)
#
# It needs apt, dpkg, qemu-system-x86_64, busybox (static), cpio, xz, and the
# network for Debian's packages (DEBIAN_MIRROR names another mirror). About 200 MB
# a release go to GOLDENS_DIR (default /tmp/espgw-goldens-UID), where they stay
# for the next time. No root, but for the case of offload: for that root builds a
# kernel module first (see goldens/netdevsim.sh, which needs debootstrap too);
# without it the case is left as it was recorded.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
goldens=$here/../sa/xfrm/testdata/goldens
work=${GOLDENS_DIR:-/tmp/espgw-goldens-$(id -u)}
# shellcheck source=scripts/guest.sh
. "$here/guest.sh"

die() { echo "goldens: $*" >&2; exit 1; }

# What the guest may load; whole folders, because the kernel asks for crypto
# modules by alias only when a state is added.
modules=(arch/x86/crypto arch/x86/lib crypto lib net/core net/ipv4 net/ipv6 net/key net/xfrm net/psample drivers/net/veth.ko drivers/net/macsec.ko)

simulated_device() { # RELEASE VERSION
    local module=$work/$1/netdevsim.ko
    [[ ! -e $module ]] || return 0
    if [[ $(id -u) == 0 ]]; then
        echo "goldens: building netdevsim for $2"
        "$here/goldens/netdevsim.sh" "$1" "$2" "$module"
    else
        echo "goldens: no root, so the case of offload is left as it is"
    fi
}

build() { # RELEASE
    local dir=$work/$1
    echo "goldens: building the guest of $1"
    guest_root "$dir" "$here/goldens/guest-init"
    cp -r "$goldens/cases" "$dir/root/cases"
    guest_modules "$dir" "${modules[@]}"
    simulated_device "$1" "$(guest_version "$dir")"
    [[ ! -e $dir/netdevsim.ko ]] || cp "$dir/netdevsim.ko" "$dir/root/lib/"
    guest_pack "$dir"
}

# The guest runs the cases at boot and sends a tar of the transcripts, in base64,
# to its second serial port.
record() { # RELEASE
    local release=$1 dir=$work/$1 out=$goldens/$1
    echo "goldens: running the cases on $release"
    rm -f "$dir"/{console.log,result}
    guest_command "$dir" 768 -rtc base=2026-01-02T03:04:05 -serial "file:$dir/console.log" -serial "file:$dir/result"
    timeout 900 "${qemu[@]}"
    grep -q 'GOLDENS: done' "$dir/console.log" || die "the guest failed; see $dir/console.log"
    mkdir -p "$out"
    base64 -di <"$dir/result" | tar -x -C "$out"
    echo "goldens: $(find "$out" -name '*.txt' | wc -l) transcripts in $out"
}

guest_need
(($# > 0)) || set -- bookworm trixie
for release in "$@"; do
    [[ $release == bookworm || $release == trixie ]] || die "no such release: $release"
    guest_fetch "$work/$release" "$release" linux-image-amd64 iproute2 netbase
    build "$release"
    record "$release"
done
