#!/usr/bin/env bash
# Two gateways carry a real capture over ESP in both directions, and every frame is compared, bit for bit.
#
# usage: scripts/demo.sh [FOLDER]        (build/demo)
#
#   host-a.pcap ─ espgw A ═══ ESP ═══ espwire (records) ═══ ESP ═══ espgw B ─ host-b.pcap
#
# host-a.pcap and host-b.pcap are the two halves of a conversation (testdata/demo). Each gateway reads its host's half
# and writes what comes for that host. No NIC, no huge pages, no root. The keys are random and new in each run.
#
# FLIP=N:BIT in the environment flips one bit of frame N on the wire (FLIP=1 is 200:640): then the demo must fail.
# Exit status: 0 all came back as it was; 1 something differs; 2 it could not be run.
set -euo pipefail

cd "$(dirname "$0")/.."
# shellcheck source=scripts/lab-common.sh
. scripts/lab-common.sh
out=${1:-build/demo}
bin=${BIN:-bin}
flip=${FLIP:-}
if [ "$flip" = 1 ]; then flip=200:640; fi

fail() {
    printf 'demo: %s\n' "$*" >&2
    exit 2
}
for program in espgw espwire; do
    [ -x "$bin/$program" ] || fail "$bin/$program is not there: make build"
done
mkdir -p "$out" || fail "the folder $out cannot be made"
[ -w "$out" ] || fail "the folder $out belongs to somebody else: name another one"
out=$(cd "$out" && pwd)
rm -rf "${out:?}"/*

# Sockets have short names, and DPDK's runtime folder may be another user's.
work=$(mktemp -d)
export XDG_RUNTIME_DIR=$work
pids=()
cleanup() {
    local pid
    for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    rm -rf "$work"
    if [ "$(id -u)" -eq 0 ]; then rm -rf "/var/run/dpdk/espgw-demo-$$"-{wire,a,b}; fi
}
trap cleanup EXIT

# The SAs of both gateways and the policies of one side. IPv4 is protected with AES-128, IPv6 with AES-256.
states() {
    printf 'ip xfrm state add src %s dst %s proto esp spi %s reqid %s mode transport \\\n    replay-window 128 aead "rfc4106(gcm(aes))" 0x%s 128\n' \
        14.0.0.52 14.0.0.70 0x1001 1 "$(random_hex 20)" 14.0.0.70 14.0.0.52 0x1002 1 "$(random_hex 20)" \
        2001:db8:14::52 2001:db8:14::70 0x1003 2 "$(random_hex 36)" 2001:db8:14::70 2001:db8:14::52 0x1004 2 "$(random_hex 36)"
}
policies() { # OWN-LAST-NUMBER OTHER-LAST-NUMBER
    cat <<TEXT
# Neighbour discovery stays in the clear, or IPv6 links do not come up.
$(for type in 133 134 135 136 137; do for dir in out in; do
        echo "ip xfrm policy add dir $dir src ::/0 dst ::/0 proto ipv6-icmp type $type priority 1 action allow"
    done; done)
ip xfrm policy add dir out src 14.0.0.$1 dst 14.0.0.$2 priority 10 tmpl src 14.0.0.$1 dst 14.0.0.$2 proto esp reqid 1 mode transport
ip xfrm policy add dir in src 14.0.0.$2 dst 14.0.0.$1 priority 10 tmpl src 14.0.0.$2 dst 14.0.0.$1 proto esp reqid 1 mode transport
ip xfrm policy add dir out src 2001:db8:14::$1 dst 2001:db8:14::$2 priority 10 tmpl proto esp reqid 2 mode transport
ip xfrm policy add dir in src 2001:db8:14::$2 dst 2001:db8:14::$1 priority 10 tmpl proto esp reqid 2 mode transport
TEXT
}
states | tee "$out/b.xfrm" >"$out/a.xfrm"
policies 52 70 >>"$out/a.xfrm"
policies 70 52 >>"$out/b.xfrm"

# start NAME COMMAND...: in the background, its output in FOLDER/NAME.log.
start() {
    local name=$1
    shift
    "$@" >"$out/$name.log" 2>&1 &
    pids+=($!)
    started=$!
}
gateway() { # a|b
    eal_args "espgw-demo-$$-$1" 96
    start "$1" "$bin/espgw" "${eal[@]}" \
        --vdev "net_pcap0,rx_pcap=testdata/demo/host-$1.pcap,tx_pcap=$out/came-to-$1.pcap" \
        --vdev "net_virtio_user0,path=$work/$1.sock,queue_size=1024,mac=02:00:00:00:00:0$1" \
        -- --pair lan=net_pcap0,wan=net_virtio_user0 --mtu lan=1500,wan=1600 --xfrm "$out/$1.xfrm" \
        --state-dir none --idle-backoff 100us --stats-json "$out/$1.json"
}

eal_args "espgw-demo-$$-wire" 64
start wire "$bin/espwire" "${eal[@]}" --log-level lib.vhost.config:error \
    --vdev "net_vhost0,iface=$work/a.sock" --vdev "net_vhost1,iface=$work/b.sock" \
    -- --pair net_vhost0,net_vhost1 --mtu 1600 --record "$out/esp.pcap" ${flip:+--flip "$flip"}
wire=$started
wait_for 10 test -S "$work/b.sock" || { tail "$out/wire.log" >&2; fail "the wire did not start"; }
gateway a
a=$started
gateway b
b=$started

running() { grep -q 'msg=started' "$out/a.log" && grep -q 'msg=started' "$out/b.log"; }
wait_for 15 running || { tail -n 5 "$out"/{a,b,wire}.log >&2; fail "the gateways did not start"; }

# Both run until all that was sent has arrived, or until nothing more arrives.
arrived() {
    kill -USR1 "$a" "$b" || return
    sleep 0.2
    scripts/demo-check.py progress "$out"
}
last='' same=0
until [ $same -ge 5 ]; do
    now=$(arrived) || break
    if [ "$now" = complete ]; then break; fi
    if [ "$now" = "$last" ]; then same=$((same + 1)); else same=0; fi
    last=$now
done
both=yes
kill -0 "$a" "$b" 2>/dev/null || both=no
status=0
stop_process "$a" || status=1
stop_process "$b" || status=1
stop_process "$wire" || status=1
pids=()
if [ $both = no ] || [ $status -ne 0 ]; then
    tail -n 5 "$out"/{a,b,wire}.log >&2
    fail "a gateway or the wire ended by itself, or with an error"
fi

scripts/demo-check.py report "$out" || status=1
if command -v tshark >/dev/null; then
    scripts/check-esp.sh "$out/esp.pcap" "$out/a.xfrm" || status=1
else
    echo '  tshark is not installed: the ESP packets are not decrypted with it'
fi

mkdir -p "$out/wireshark"
scripts/check-esp.py --keys --xfrm "$out/a.xfrm" >"$out/wireshark/esp_sa"
printf 'esp.enable_encryption_decode: TRUE\nesp.enable_authentication_check: TRUE\n' >"$out/wireshark/preferences"
shown=${out#"$PWD/"}
cat <<TEXT

The ESP capture, and the keys for Wireshark, are in $shown. To look inside:
  WIRESHARK_CONFIG_DIR=$shown/wireshark wireshark $shown/esp.pcap
  WIRESHARK_CONFIG_DIR=$shown/wireshark tshark -r $shown/esp.pcap
TEXT
if [ $status -ne 0 ]; then
    echo 'demo: FAILED'
    exit 1
fi
echo 'demo: passed: every frame came back bit for bit'
