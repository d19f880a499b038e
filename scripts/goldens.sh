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
# The mirror that this machine's own apt uses, unless another is named.
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '/\/debian\/*$/ && !n++')}

die() { echo "goldens: $*" >&2; exit 1; }

need() {
    local tool
    for tool in apt-get dpkg qemu-system-x86_64 busybox cpio xz; do
        command -v "$tool" >/dev/null || die "$tool is missing; on Debian: apt install qemu-system-x86 busybox-static cpio xz-utils"
    done
}

# apt with lists, cache and status of its own: nothing of this system is touched.
private_apt() { # RELEASE COMMAND ARGS...
    local dir=$work/$1 command=$2
    shift 2
    "$command" -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$dir/lists" -o Dir::State::status="$dir/status" \
        -o Dir::Cache="$dir/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

# The packages, unpacked: kernel and modules in kernel/, iproute2 with the
# libraries it needs in tree/.
fetch() { # RELEASE
    local release=$1 dir=$work/$1 kernel deb
    [[ ! -e $dir/fetched ]] || return 0
    echo "goldens: fetching Debian $release's kernel and iproute2"
    rm -rf "$dir"
    mkdir -p "$dir"/{lists/partial,cache/archives/partial,debs,kernel,tree}
    touch "$dir/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$dir/sources.list"
    private_apt "$release" apt-get update
    kernel=$(private_apt "$release" apt-cache depends linux-image-amd64 |
        sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    private_apt "$release" apt-get -y --no-install-recommends --download-only install iproute2 netbase
    (cd "$dir/debs" && private_apt "$release" apt-get download "$kernel")
    dpkg -x "$dir"/debs/linux-image-*.deb "$dir/kernel"
    for deb in "$dir"/cache/archives/*.deb; do
        dpkg -x "$deb" "$dir/tree"
    done
    touch "$dir/fetched"
}

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
    local dir=$work/$1 root=$work/$1/root lib version m file link
    echo "goldens: building the guest of $1"
    rm -rf "$root"
    mkdir -p "$root"/{bin,dev,etc,proc,run,sys,tmp,var/run,usr}
    cp -a "$dir/tree/." "$root/"
    # trixie's packages put everything under /usr and rely on these links.
    for link in lib lib64 sbin; do
        [[ -e $root/$link ]] || ln -s "usr/$link" "$root/$link"
    done
    rm -rf "${root:?}"/usr/{share,include} "$root"/usr/lib/x86_64-linux-gnu/{gconv,perl-base}
    cp "$(command -v busybox)" "$root/bin/busybox"
    cp "$here/goldens/guest-init" "$root/init"
    chmod 755 "$root/init"
    cp -r "$goldens/cases" "$root/cases"
    lib=$dir/kernel/lib
    [[ -d $lib/modules ]] || lib=$dir/kernel/usr/lib
    version=$(basename "$lib"/modules/*)
    mkdir -p "$root/lib/modules/$version/kernel"
    for m in "${modules[@]}"; do
        for file in "$lib/modules/$version/kernel/$m" "$lib/modules/$version/kernel/$m.xz"; do
            [[ -e $file ]] || continue
            mkdir -p "$root/lib/modules/$version/kernel/$(dirname "$m")"
            cp -r "$file" "$root/lib/modules/$version/kernel/$(dirname "$m")/"
        done
    done
    simulated_device "$1" "$version"
    [[ ! -e $dir/netdevsim.ko ]] || cp "$dir/netdevsim.ko" "$root/lib/"
    find "$root/lib/modules" -name '*.ko.xz' -exec xz -d {} +
    cp "$lib/modules/$version"/modules.{builtin,order} "$root/lib/modules/$version/"
    busybox depmod -b "$root" "$version"
    cp "$dir"/kernel/boot/vmlinuz-* "$dir/vmlinuz"
    (cd "$root" && find . | cpio -o -H newc --quiet) >"$dir/initramfs"
    rm -rf "$root"
}

# The guest runs the cases at boot and sends a tar of the transcripts, in base64,
# to its second serial port.
record() { # RELEASE
    local release=$1 dir=$work/$1 out=$goldens/$1
    echo "goldens: running the cases on $release"
    rm -f "$dir"/{console.log,result}
    timeout 900 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
        -machine pc,accel=tcg -cpu qemu64,+rdrand -smp 1 -m 768 -rtc base=2026-01-02T03:04:05 \
        -kernel "$dir/vmlinuz" -initrd "$dir/initramfs" \
        -append "console=ttyS0 quiet panic=-1 mitigations=off" \
        -serial "file:$dir/console.log" -serial "file:$dir/result"
    grep -q 'GOLDENS: done' "$dir/console.log" || die "the guest failed; see $dir/console.log"
    mkdir -p "$out"
    base64 -di <"$dir/result" | tar -x -C "$out"
    echo "goldens: $(find "$out" -name '*.txt' | wc -l) transcripts in $out"
}

need
(($# > 0)) || set -- bookworm trixie
for release in "$@"; do
    [[ $release == bookworm || $release == trixie ]] || die "no such release: $release"
    fetch "$release"
    build "$release"
    record "$release"
done
