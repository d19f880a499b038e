#!/usr/bin/env bash
# Has tshark decrypt and authenticate every ESP packet of a capture.
#
# usage: scripts/check-esp.sh CAPTURE XFRM-FILE...
#
# The keys come from the `ip xfrm state add` commands of the files. Exit status: 0 every ESP packet was
# authenticated, and there was one; 1 one was not, or there was none; 2 tshark is missing or fails. AES-GCM without
# ESN: tshark 4.0 leaves the high half out of what it authenticates; check-esp.py knows ESN and ChaCha20-Poly1305.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ]; then
    sed -n '2,/^set/{/^# /s/^# //p}' "$0" >&2
    exit 2
fi
capture=$1
shift
command -v tshark >/dev/null || { echo 'check-esp: tshark is not installed' >&2; exit 2; }

# A configuration folder of its own, so that no preference of the user's changes the outcome.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
files=()
for file; do files+=(--xfrm "$file"); done
"$here/check-esp.py" --keys "${files[@]}" >"$work/esp_sa"
export WIRESHARK_CONFIG_DIR=$work

# Nothing is dissected but what leads to ESP: a dissector that stumbles over what was inside would keep tshark from
# saying whether the ICV was right.
needed=(frame eth ethertype vlan ieee8021ad ip ipv6 ipv6.hopopts ipv6.routing ipv6.dstopts ipv6.fraghdr udp udpencap esp data)
tshark -G protocols 2>/dev/null | cut -f 3 | grep -vxF "$(printf '%s\n' "${needed[@]}")" >"$work/disabled_protos"

tshark -n -r "$capture" \
    -o esp.enable_encryption_decode:TRUE -o esp.enable_authentication_check:TRUE -o esp.do_esp_sequence_analysis:FALSE \
    -o ip.defragment:FALSE -o ipv6.defragment:FALSE -o tcp.desegment_tcp_streams:FALSE \
    -Y esp -T fields -E separator='|' -E occurrence=f \
    -e frame.number -e esp.spi -e esp.icv_good -e esp.icv_bad >"$work/esp" 2>"$work/errors" || {
    cat "$work/errors" >&2
    exit 2
}
awk -F'|' '
    $3 == "1" || $3 == "True" { good++; next }
    { bad++; if (bad <= 10) printf "  frame %s, SPI %s: %s\n", $1, $2, $4 == "1" || $4 == "True" ? "ICV is wrong" : "not authenticated" }
    END {
        printf "  tshark: %d ESP packets authenticated, %d not\n", good, bad
        exit (good == 0 || bad > 0)
    }' "$work/esp"
