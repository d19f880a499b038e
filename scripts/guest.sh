# shellcheck shell=bash
# Sourced by goldens.sh and interop.sh: a Debian release's own kernel and packages as a QEMU guest, by software
# emulation (no KVM). Nothing is installed on this system and no root is needed: apt works in a folder of its own.
#
# A guest lives in a folder DIR:
#
#   fetched    what guest_fetch was called with, once all of it is there
#   kernel/    the kernel package, unpacked
#   tree/      the other packages and what they depend on, unpacked
#   root/      the root file system while it is being made
#   vmlinuz, initramfs   what QEMU boots

guest_fail() {
    printf 'guest: %s\n' "$*" >&2
    exit 2
}

guest_need() {
    local tool
    for tool in apt-get dpkg qemu-system-x86_64 busybox cpio xz; do
        command -v "$tool" >/dev/null ||
            guest_fail "$tool is missing; on Debian: apt install qemu-system-x86 busybox-static cpio xz-utils"
    done
}

# guest_mirror: DEBIAN_MIRROR, or the mirror that this machine's own apt uses.
guest_mirror() {
    if [ -n "${DEBIAN_MIRROR:-}" ]; then
        printf '%s\n' "$DEBIAN_MIRROR"
        return
    fi
    # All of apt's answer is read, so that no pipe breaks.
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '/\/debian\/*$/ && !n++'
}

# guest_apt DIR COMMAND ARGUMENT...: apt with lists, cache and status of its own. An empty status has it fetch every
# dependency, whatever is installed here.
guest_apt() {
    local dir=$1 command=$2
    shift 2
    "$command" -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$dir/lists" -o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache" \
        -o Acquire::Languages=none -o APT::Sandbox::User="$(id -un)" "$@"
}

# guest_fetch DIR RELEASE KERNEL PACKAGE...: the packages, unpacked. KERNEL is the package that depends on the newest
# kernel, such as linux-image-amd64. Does nothing when DIR holds just that.
guest_fetch() {
    local dir=$1 release=$2 meta=$3 wanted="$2 $3 ${*:4}" kernel deb
    shift 3
    if [ "$(cat "$dir/fetched" 2>/dev/null)" = "$wanted" ]; then return; fi
    echo "guest: fetching Debian $release: $meta, $*"
    rm -rf "$dir"
    mkdir -p "$dir"/{lists/partial,cache/archives/partial,debs,kernel,tree}
    touch "$dir/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(guest_mirror) $release main" >"$dir/sources.list"
    guest_apt "$dir" apt-get update
    kernel=$(guest_apt "$dir" apt-cache depends "$meta" | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -n "$kernel" ] || guest_fail "Debian $release has no kernel for $meta"
    guest_apt "$dir" apt-get -y --no-install-recommends --download-only install "$@"
    (cd "$dir/debs" && guest_apt "$dir" apt-get download "$kernel")
    dpkg -x "$dir"/debs/linux-image-*.deb "$dir/kernel"
    for deb in "$dir"/cache/archives/*.deb; do dpkg -x "$deb" "$dir/tree"; done
    rm -rf "$dir"/{lists,cache,debs}
    echo "$wanted" >"$dir/fetched"
}

# guest_library DIR: the folder of the kernel package that has modules/ in it.
guest_library() {
    local lib=$1/kernel/lib
    if [ ! -d "$lib/modules" ]; then lib=$1/kernel/usr/lib; fi
    printf '%s\n' "$lib"
}

# guest_version DIR: the kernel's release, as uname -r prints it.
guest_version() { basename "$(guest_library "$1")"/modules/*; }

# guest_root DIR INIT: DIR/root, of the packages, busybox and INIT as PID 1.
guest_root() {
    local dir=$1 root=$1/root link
    rm -rf "$root"
    mkdir -p "$root"/{bin,dev,etc,proc,run,sys,tmp,var/run,usr}
    cp -a "$dir/tree/." "$root/"
    # Debian 13's packages put everything under /usr and rely on these links.
    for link in lib lib64 sbin; do
        [ -e "$root/$link" ] || ln -s "usr/$link" "$root/$link"
    done
    rm -rf "${root:?}"/usr/{share,include} "$root"/usr/lib/x86_64-linux-gnu/{gconv,perl-base}
    cp "$(command -v busybox)" "$root/bin/busybox"
    cp "$2" "$root/init"
    chmod 755 "$root/init"
}

# guest_modules DIR MODULE...: copies kernel modules into DIR/root: files, or whole folders, because the kernel asks
# for crypto modules by alias only when a state is added. What a release has not is left out.
guest_modules() {
    local dir=$1 root=$1/root lib version module file
    shift
    lib=$(guest_library "$dir") version=$(guest_version "$dir")
    mkdir -p "$root/lib/modules/$version/kernel"
    for module; do
        for file in "$lib/modules/$version/kernel/$module" "$lib/modules/$version/kernel/$module.xz"; do
            [ -e "$file" ] || continue
            mkdir -p "$root/lib/modules/$version/kernel/$(dirname "$module")"
            cp -r "$file" "$root/lib/modules/$version/kernel/$(dirname "$module")/"
        done
    done
    find "$root/lib/modules/" -name '*.ko.xz' -exec xz -d {} +
    cp "$lib/modules/$version"/modules.{builtin,order} "$root/lib/modules/$version/"
    busybox depmod -b "$root" "$version"
}

# guest_pack DIR: DIR/root becomes DIR/initramfs, not compressed: unpacking would be slower under emulation than
# reading.
guest_pack() {
    cp "$1"/kernel/boot/vmlinuz-* "$1/vmlinuz"
    (cd "$1/root" && find . | cpio -o -H newc --quiet) >"$1/initramfs"
    rm -rf "$1/root"
}

# guest_command DIR MEGABYTES QEMU-OPTION...: leaves QEMU's command line in the array qemu. The guest has one CPU
# without AES instructions, with which the kernel could put packets off to another thread, and no devices but those of
# the options. It ends when it reboots or panics.
guest_command() {
    # shellcheck disable=SC2034,SC2054 # the caller's; commas belong to QEMU's words
    qemu=(qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot
        -machine 'pc,accel=tcg' -cpu qemu64,+rdrand -smp 1 -m "$2" -kernel "$1/vmlinuz" -initrd "$1/initramfs"
        -append "console=ttyS0 quiet panic=-1 mitigations=off" "${@:3}")
}
