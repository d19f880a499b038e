#!/usr/bin/env bash
# Compiles the C of pmd and pmd/emu against the headers of a DPDK source tree: what a release that is not installed
# here would say. Nothing is linked or run.
#
# usage: scripts/check-dpdk.sh TREE...      TREE is a checkout of DPDK, of any release from 22.11 on
#
# The driver's header for security (rte_security_driver.h) is left out from 25.11 on, as an installation does unless it
# was built with -Denable_driver_sdk=true. Exit status 1 if a file does not compile.
set -euo pipefail

cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
    sed -n '2,/^set/{/^# \{0,1\}/s/^# \{0,1\}//p}' "$0" >&2
    exit 2
fi
config=$(pkg-config --variable=includedir libdpdk)
config=$(find "$config" /usr/include -name rte_build_config.h -print -quit)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

for tree; do
    version=$(cat "$tree/VERSION")
    rm -rf "$work/include" && mkdir -p "$work/include/generic"
    find "$tree/lib" -name '*.h' | grep -vE '/(arm|ppc|riscv|loongarch|windows|freebsd|generic)/' | xargs cp -t "$work/include"
    cp "$tree"/lib/eal/include/*.h "$tree"/lib/eal/x86/include/*.h "$tree"/config/rte_config.h "$work/include"
    cp "$tree"/lib/eal/include/generic/*.h "$work/include/generic"
    cp "$tree"/drivers/net/ring/*.h "$tree"/drivers/bus/vdev/*.h "$work/include"
    if ! printf '25.11\n%s\n' "$version" | sort -CV; then :; else rm -f "$work/include/rte_security_driver.h"; fi
    IFS=. read -r year month _ <<<"$version"
    sed "s/\(RTE_VER_YEAR\) .*/\1 $year/; s/\(RTE_VER_MONTH\) .*/\1 $((10#$month))/; /RTE_BACKTRACE/d" "$config" >"$work/include/rte_build_config.h"
    for file in pmd/*.c pmd/emu/*.c; do
        if ! gcc -c -o /dev/null -std=gnu11 -O2 -Wall -Wextra -Wno-unused-parameter -DALLOW_EXPERIMENTAL_API -march=native \
            -DRTE_IOVA_IN_MBUF=1 -DRTE_BACKTRACE=1 -DRTE_PKTMBUF_HEADROOM=128 -include "$work/include/rte_build_config.h" \
            -include "$work/include/rte_config.h" -I"$work/include" -Ipmd "$file" 2>"$work/errors"; then
            printf 'FAIL  DPDK %s  %s\n' "$version" "$file"
            head -n 5 "$work/errors"
            failed=1
        fi
    done
    [ $failed -ne 0 ] || printf 'PASS  DPDK %s: all C files compile\n' "$version"
done
exit $failed
