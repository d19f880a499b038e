#!/usr/bin/env bash
# Runs a command in a fresh, minimal Debian that holds nothing but git, make, Go and a clone of this repository: the
# proof that scripts/setup.sh installs all that is needed. `scripts/chroot.sh --help` for more. Needs root, debootstrap.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
suite=bookworm folder=/tmp/espgw-chroot go=host user=root keep=no

usage() {
    cat <<'TEXT'
Usage: scripts/chroot.sh [OPTION]... [--] [COMMAND]

COMMAND (default: make test) is given to the chroot's bash, in the clone of the last commit.

  --suite bookworm|trixie  Debian 12 (default) or 13
  --go host|debian         this machine's Go, seen read-only at /usr/local/go (default), or Debian's own
                           (bookworm: 1.23 from its backports), which has to fetch the version of go.mod
  --user NAME              run COMMAND as that ordinary user (made if needed)
  --keep                   leave the chroot as it is for a look, and go on in it the next time
  --dir FOLDER             where the chroots are (default /tmp/espgw-chroot)

A pristine copy of each Debian is kept as FOLDER/base-SUITE-GO and copied for each run. Mounts live in a mount
namespace of their own and end with it. The network is the host's.
TEXT
}

say() { printf 'chroot: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

all=("$@")
while [ $# -gt 0 ]; do
    case $1 in
    --suite) suite=$2 && shift 2 ;;
    --go) go=$2 && shift 2 ;;
    --user) user=$2 && shift 2 ;;
    --dir) folder=$2 && shift 2 ;;
    --keep) keep=yes && shift ;;
    -h | --help) usage && exit 0 ;;
    --) shift && break ;;
    -*) usage >&2 && exit 2 ;;
    *) break ;;
    esac
done
command=${*:-make test}
case $suite-$go in
bookworm-host | bookworm-debian | trixie-host | trixie-debian) ;;
*) fail "no Debian $suite with Go of $go; see --help" ;;
esac

[ "$(id -u)" -eq 0 ] || fail "this needs root"
command -v debootstrap >/dev/null || fail "debootstrap is missing: scripts/setup.sh chroot"

mkdir -p "$folder"
base=$folder/base-$suite-$go
run=$folder/run-$suite-$go

# Mounts and processes of its own: none can be left behind, and removing the chroot cannot reach through a mount.
if [ -z "${ESPGW_CHROOT_INSIDE:-}" ]; then
    status=0
    ESPGW_CHROOT_INSIDE=1 unshare --mount --propagation private --pid --fork --kill-child "$0" "${all[@]}" || status=$?
    if [ "$keep" = no ]; then rm -rf --one-file-system "$run"; fi
    exit $status
fi

# What apt and TLS need to know to reach the mirrors from this machine: proxies, and certificates that were added.
copy_network_settings() {
    local to=$1
    apt-config dump | grep -E '^(Acquire::(http|https|ftp|Check|Retries)|APT::Sandbox)' >"$to/etc/apt/apt.conf.d/90host" || true
    cp /etc/resolv.conf /etc/hosts "$to/etc/"
    mkdir -p "$to/usr/local/share/ca-certificates"
    find /usr/local/share/ca-certificates -name '*.crt' -exec cp {} "$to/usr/local/share/ca-certificates/" \; 2>/dev/null || true
}

make_base() {
    say "making a minimal $suite in $base"
    rm -rf "$base.new"
    debootstrap --variant=minbase --include=ca-certificates,git,make "$suite" "$base.new" >"$folder/debootstrap-$suite.log" 2>&1 ||
        fail "debootstrap failed; see $folder/debootstrap-$suite.log"
    copy_network_settings "$base.new"
    chroot "$base.new" update-ca-certificates >/dev/null 2>&1
    if [ "$go" = debian ]; then debian_go "$base.new"; fi
    chroot "$base.new" apt-get clean
    mv "$base.new" "$base"
}

debian_go() {
    local to=$1 mirror
    mirror=$(awk '$1 == "deb" { print $2; exit }' "$to/etc/apt/sources.list")
    if [ "$suite" = bookworm ]; then
        printf 'deb %s bookworm-backports main\n' "$mirror" >"$to/etc/apt/sources.list.d/backports.list"
        inside "$to" root / 'apt-get update -qq && apt-get install -y -qq --no-install-recommends golang-1.23-go'
        ln -s ../../lib/go-1.23/bin/go "$to/usr/local/bin/go"
    else
        inside "$to" root / 'apt-get update -qq && apt-get install -y -qq --no-install-recommends golang-go'
    fi >"$folder/go-$suite.log" 2>&1 || fail "Debian's Go could not be installed; see $folder/go-$suite.log"
}

# inside CHROOT USER FOLDER COMMAND: with nothing of this session's environment but the way to the network.
inside() {
    local to=$1 who=$2 where=$3 what=$4 network=() name
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY GOPROXY GONOSUMDB GOSUMDB GOPRIVATE CI; do
        if [ -n "${!name:-}" ]; then network+=("$name=${!name}"); fi
    done
    env -i "${network[@]}" TERM="${TERM:-dumb}" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/go/bin \
        HOME="$(awk -F : -v who="$who" '$1 == who { print $6 }' "$to/etc/passwd")" DEBIAN_FRONTEND=noninteractive \
        chroot --userspec="$who" "$to" /bin/bash -c "cd '$where' && $what" </dev/null
}

mount_all() {
    # A chroot whose / is no mount point cannot run `ip netns exec`, which changes the propagation of /.
    mount --bind "$run" "$run"
    mount -t proc proc "$run/proc"
    mount --rbind /sys "$run/sys"
    mount --rbind /dev "$run/dev"
    mount -t tmpfs tmpfs "$run/run"
    mount -t tmpfs -o mode=1777 tmpfs "$run/tmp"
    if [ "$go" = host ]; then
        mkdir -p "$run/usr/local/go"
        mount --bind "$(go env GOROOT)" "$run/usr/local/go"
        mount -o remount,bind,ro "$run/usr/local/go"
    fi
    local shared=${ESPGW_SHARED:-$root/../shared}
    if [ -d "$shared" ]; then
        mkdir -p "$home/shared"
        mount --bind "$shared" "$home/shared"
        mount -o remount,bind,ro "$home/shared"
    fi
}

# shellcheck source=scripts/env.sh
. "$root/scripts/env.sh"
if [ ! -d "$base" ]; then make_base; fi
if [ "$keep" = no ] || [ ! -d "$run" ]; then
    rm -rf "$run"
    cp -a "$base" "$run"
fi
if [ "$user" != root ] && ! grep -q "^$user:" "$run/etc/passwd"; then
    chroot "$run" useradd --create-home --shell /bin/bash "$user"
fi
home=$run$(awk -F : -v who="$user" '$1 == who { print $6 }' "$run/etc/passwd")
mount_all
rm -rf "$home/espgw"
git -c safe.directory='*' clone -q --no-hardlinks "file://$root" "$home/espgw"
chroot "$run" chown -R "$user:" "${home#"$run"}/espgw"

name="$suite, Go of $go, $user: ${command%%$'\n'*}"
say "$name"
status=0 started=$SECONDS
inside "$run" "$user" "${home#"$run"}/espgw" "$command" || status=$?
say "$name: exit status $status after $((SECONDS - started)) s"
exit $status
