#!/usr/bin/env bash
# What a newcomer meets, tried in fresh Debian chroots (scripts/chroot.sh), one case after the other. Some 30 minutes on
# 2 cores; `make chroot-proof` calls it. With arguments, only the cases named: scripts/chroot-proof.sh demo trixie
set -uo pipefail

cd "$(dirname "$0")/.." || exit 1
summary=() failed=()

# proof NAME ARGUMENT...: one run of chroot.sh that must succeed.
proof() {
    local name=$1 started=$SECONDS
    shift
    if [ ${#cases[@]} -ne 0 ] && ! printf '%s\n' "${cases[@]}" | grep -qx "$name"; then return; fi
    printf '\n== %s\n' "$name"
    if scripts/chroot.sh "$@"; then
        summary+=("$name ok in $((SECONDS - started)) s")
    else
        summary+=("$name FAILED")
        failed+=("$name")
    fi
}

cases=("$@")
# Debian 12: each of the two commands alone gets from nothing to its end, as root.
proof demo --suite bookworm -- make demo
proof test --suite bookworm -- make test
# With Debian's own Go, which has to fetch the version that go.mod names.
proof backports-go --suite bookworm --go debian -- make build
# Debian 13 has DPDK 24.11.
proof trixie --suite trixie -- 'make demo && . scripts/env.sh && go test -count=1 ./pmd/... ./ipsec/... ./cmd/...'
proof trixie-go --suite trixie --go debian -- make build
# An ordinary user is told the one command for root, and can run the demo afterwards.
proof user --suite bookworm -- 'useradd --create-home eve && cp -r . /home/eve/espgw && chown -R eve: /home/eve/espgw &&
    cd /home/eve/espgw && if su eve -c "make demo" >/tmp/told 2>&1; then exit 1; fi && cat /tmp/told &&
    grep -q "^setup:     sudo scripts/setup.sh demo\$" /tmp/told && scripts/setup.sh demo && su eve -c "make demo"'

printf '\nchroot-proof: '
printf '%s, ' "${summary[@]}"
if [ ${#failed[@]} -ne 0 ]; then
    printf 'FAILED: %s\n' "${failed[*]}"
    exit 1
fi
printf 'all as it should be\n'
