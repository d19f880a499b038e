#!/usr/bin/env bash
# Builds netdevsim, the kernel's simulated network device, for the kernel that
# goldens.sh boots: Debian's kernels come without it, and no device that QEMU
# has takes ESP offload. Needs root, debootstrap and the network; the chroot
# with the compiler takes 1.5 GB and is removed again.
#
#   netdevsim.sh RELEASE KERNEL-VERSION OUTPUT.ko
set -euo pipefail
release=$1 version=$2 output=$3
# The mirror that this machine's own apt uses, unless another is named.
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '/\/debian\/*$/ && !n++')}
command -v debootstrap >/dev/null || { echo "netdevsim: debootstrap is missing" >&2; exit 1; }
[[ $(id -u) == 0 ]] || { echo "netdevsim: needs root" >&2; exit 1; }
chroot=$(mktemp -d)
trap 'rm -rf --one-file-system "$chroot"' EXIT

debootstrap --variant=minbase "$release" "$chroot" "$mirror" >/dev/null
chroot "$chroot" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
    gcc make xz-utils "linux-headers-$version" "linux-source-${version%%.*}.$(cut -d. -f2 <<<"$version")" >/dev/null
# shellcheck disable=SC2016 # the inner shell expands these
chroot "$chroot" sh -ec '
    mkdir /build
    tar -xJf /usr/src/linux-source-*.tar.xz -C /build --wildcards --strip-components=1 "*/drivers/net/netdevsim"
    make -C "/lib/modules/$1/build" M=/build/drivers/net/netdevsim CONFIG_NETDEVSIM=m modules
    strip --strip-debug /build/drivers/net/netdevsim/netdevsim.ko
' sh "$version" >/dev/null
cp "$chroot/build/drivers/net/netdevsim/netdevsim.ko" "$output"
