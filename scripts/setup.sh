#!/usr/bin/env bash
# Installs what the targets of the Makefile need on Debian 12 and 13: Debian packages, Go modules and, where asked for,
# 2 MiB huge pages. It does nothing, quickly, where all is there. `scripts/setup.sh --help` for more.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=scripts/env.sh
. "$root/scripts/env.sh"

usage() {
    cat <<'TEXT'
Usage: scripts/setup.sh [PART]...

Installs what the named parts need; default: test.

  build      compile espgw: C compiler, DPDK (development files, drivers), OpenSSL (of the emulated NIC)
  demo       make demo
  lint       make lint: build, and shellcheck
  lab        make lab: network namespaces, iperf3, ping, tcpdump, tshark
  guest      a Linux kernel in QEMU: make goldens
  test       make test: all of the above
  bench      make bench: DPDK's example programs and tools
  interop    make interop: lab, guest and bench
  vectors    scripts/vectors: scapy
  chroot     make chroot-proof: debootstrap
  hugepages  256 free huge pages of 2 MiB until the next boot, for gateways on network cards (no target needs them)

Packages and huge pages need root. Go (1.21 or later) must be there already: it fetches by itself the version that
go.mod names. ESPGW_SETUP=no skips everything, for systems that are prepared in another way.
TEXT
}

say() { printf 'setup: %s\n' "$*"; }
fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

# The command that an operator types as root to get what is missing.
as_root() {
    local script=$root/scripts/setup.sh
    if [ "$PWD" = "$root" ]; then script=scripts/setup.sh; fi
    printf 'sudo %s %s' "$script" "${parts[*]}"
}

# packages_of PART: the Debian packages of a part, by names that Debian 12 and 13 share.
packages_of() {
    case $1 in
    build) echo gcc libc6-dev pkg-config libdpdk-dev libssl-dev ;;
    demo) packages_of build && echo python3 tshark ;;
    lint) packages_of build && echo shellcheck ;;
    lab) packages_of build && echo iproute2 iputils-ping iperf3 ethtool tcpdump tshark procps \
        util-linux python3 python3-cryptography ;;
    guest) packages_of lab && echo qemu-system-x86 busybox-static cpio socat xz-utils ;;
    test) packages_of demo && packages_of lint && packages_of guest ;;
    bench) packages_of build && echo make dpdk dpdk-dev dpdk-doc python3 ;;
    vectors) echo python3-scapy python3-cryptography ;;
    hugepages) ;;
    interop) packages_of guest && packages_of bench ;;
    chroot) echo debootstrap git ;;
    esac
}

# Drivers of the virtual ports that the demo, the lab and the tests use.
drivers="net_ring net_pcap net_memif net_af_packet net_tap net_null net_virtio net_vhost"

parts=()
for part in "$@"; do
    case $part in
    build | demo | lint | lab | guest | test | bench | interop | vectors | chroot | hugepages) parts+=("$part") ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        printf 'setup: no part %q\n\n' "$part" >&2
        usage >&2
        exit 2
        ;;
    esac
done
if [ ${#parts[@]} -eq 0 ]; then parts=(test); fi

if [ "${ESPGW_SETUP:-}" = no ]; then
    say "skipped, as ESPGW_SETUP=no says"
    exit 0
fi

# wants PART...: whether any of these is asked for.
wants() {
    local part wanted
    for part in "${parts[@]}"; do
        for wanted in "$@"; do
            if [ "$part" = "$wanted" ]; then return 0; fi
        done
    done
    return 1
}

install_packages() {
    local names=() missing=() name part installed
    mapfile -t names < <(for part in "${parts[@]}"; do packages_of "$part"; done | tr ' ' '\n' | sort -u)
    if [ ${#names[@]} -eq 0 ]; then return; fi

    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        fail "this is not Debian, so the packages cannot be checked. Needed, under Debian's names: ${names[*]}." \
            "Install their like, then set ESPGW_SETUP=no."
    fi
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null || true)
    for name in "${names[@]}"; do
        if ! grep -qx "$name installed" <<<"$installed"; then missing+=("$name"); fi
    done
    if [ ${#missing[@]} -eq 0 ]; then
        say "Debian packages: all ${#names[@]} are there"
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        fail "Debian packages are missing: ${missing[*]}" "run this one command as root, then repeat yours:" "    $(as_root)"
    fi
    say "Debian packages: installing ${missing[*]} (it may take some minutes)"
    apt update -qq
    apt install -y -qq --no-install-recommends "${missing[@]}"
    say "Debian packages: installed ${#missing[@]} and what they need"
}

# apt VERB ARGUMENT...: apt-get, whose hundreds of lines are shown only if it fails.
apt() {
    local log
    log=$(mktemp)
    if ! DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" </dev/null >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        rm -f "$log"
        fail "apt-get $1 failed: see its last lines above"
    fi
    rm -f "$log"
}

check_dpdk() {
    local version folder driver missing=()
    version=$(pkg-config --modversion libdpdk 2>/dev/null) ||
        fail "pkg-config does not find libdpdk (is PKG_CONFIG_PATH right?)"
    pkg-config --exists libcrypto || fail "pkg-config does not find libcrypto (Debian: libssl-dev)"
    pkg-config --atleast-version=22.11 libdpdk ||
        fail "DPDK $version is too old: 22.11 (Debian 12) or later is needed"
    folder=$(pkg-config --variable=libdir libdpdk)
    for driver in $drivers; do
        if [ ! -e "$folder/librte_$driver.so" ]; then missing+=("$driver"); fi
    done
    if [ ${#missing[@]} -ne 0 ]; then
        fail "DPDK $version lacks the drivers ${missing[*]} in $folder"
    fi
    say "DPDK $version with its virtual drivers"
}

go_missing() {
    if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ]; then
        say "Go: not in root's PATH; fine if $SUDO_USER has it"
        return
    fi
    fail "Go is not in PATH. It must be there already, 1.21 or later: from go.dev/dl, on Debian 13 the package" \
        "golang-go, on Debian 12 golang-1.23-go from bookworm-backports (add /usr/lib/go-1.23/bin to PATH)."
}

fetch_modules() {
    local wanted version
    wanted=$(sed -n 's/^go //p' "$root/go.mod")
    if ! command -v go >/dev/null; then
        go_missing
        return
    fi
    version=$(cd "$root" && go env GOVERSION) ||
        fail "go.mod asks for Go $wanted and this one does not do; its own words are above." \
            "Any Go from 1.21 on fetches that by itself, unless GOTOOLCHAIN=local forbids it."
    # Go 1.20 and older do not know how to fetch a newer one and would only fail while they compile.
    if [ "$(printf '%s\n' "$wanted" "${version#go}" | sort -V | head -n 1)" != "$wanted" ]; then
        fail "$version is too old: go.mod asks for $wanted. Any Go from 1.21 on fetches that by itself," \
            "unless GOTOOLCHAIN=local forbids it."
    fi
    (cd "$root" && go mod download) || fail "the Go modules of go.mod could not be fetched: look at the network and GOPROXY"
    say "${version/go/Go }, modules of go.mod are there"
}

# huge_pages N: at least N free 2 MiB pages and a mount for them.
huge_pages() {
    local wanted=$1 folder=/sys/kernel/mm/hugepages/hugepages-2048kB total free
    if [ ! -d "$folder" ]; then fail "this kernel has no 2 MiB huge pages ($folder)"; fi
    total=$(cat "$folder/nr_hugepages") free=$(cat "$folder/free_hugepages")
    if [ "$free" -lt "$wanted" ]; then
        if [ "$(id -u)" -ne 0 ]; then
            fail "$free of $total huge pages are free, $wanted are needed; run this one command as root:" "    $(as_root)"
        fi
        say "huge pages: $free free, raising the total from $total to $((total + wanted - free))"
        echo $((total + wanted - free)) >"$folder/nr_hugepages"
        free=$(cat "$folder/free_hugepages")
        if [ "$free" -lt "$wanted" ]; then
            fail "the kernel found room for only $free free huge pages of 2 MiB: free some memory, or reboot"
        fi
    fi
    if ! grep -q ' hugetlbfs ' /proc/mounts; then
        if [ "$(id -u)" -ne 0 ]; then fail "no hugetlbfs is mounted; run this one command as root:" "    $(as_root)"; fi
        say "huge pages: mounting hugetlbfs on /dev/hugepages"
        mkdir -p /dev/hugepages
        mount -t hugetlbfs none /dev/hugepages
    fi
    say "huge pages: $free of 2 MiB are free"
}

install_packages
if wants build demo lint lab test bench interop; then
    check_dpdk
    fetch_modules
fi
if wants hugepages; then huge_pages 256; fi
