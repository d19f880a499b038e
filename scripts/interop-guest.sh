# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of interop.sh and of its other parts
# Sourced by interop.sh: the guest, which is host A of the lab and does its own ESP.

guest_release=bookworm
guest_pid=''
# What is in the guest besides the kernel, and what the kernel may load.
guest_packages=(netbase iproute2 iputils-ping dash socat)
guest_kernel_modules=(arch/x86/crypto arch/x86/lib crypto lib drivers/virtio drivers/char/virtio_console.ko drivers/net/net_failover.ko
    drivers/net/virtio_net.ko net/core net/ipv4 net/ipv6 net/key net/xfrm)

# guest_image RELEASE: makes the image once; later calls find it. It is made anew when the scripts that make it change,
# and with another kernel when the folder is removed. The cloud kernel is the smallest of Debian's that has ESP.
guest_image() {
    guest_release=$1
    guest_dir=${ESPGW_GUEST_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/espgw/guest}/$guest_release
    local stamp lock
    guest_need
    mkdir -p "$guest_dir"
    exec {lock}>"$guest_dir.lock"
    flock "$lock"
    guest_fetch "$guest_dir" "$guest_release" linux-image-cloud-amd64 "${guest_packages[@]}" >"$work/fetch" 2>&1 || {
        tail -n 20 "$work/fetch"
        fail "the guest's packages could not be fetched"
    }
    stamp=$(cat "$here"/{guest-init,guest.sh,interop-guest.sh} "$(command -v busybox)" "$guest_dir/fetched" | sha256sum)
    if [ "$(cat "$guest_dir/stamp" 2>/dev/null)" != "$stamp" ]; then
        guest_root "$guest_dir" "$here/guest-init"
        guest_modules "$guest_dir" "${guest_kernel_modules[@]}"
        guest_pack "$guest_dir"
        echo "$stamp" >"$guest_dir/stamp"
    fi
    exec {lock}>&-
}

# guest_start TAP MAC: boots it in the namespace of the wire. It is killed when this shell ends, however it ends.
# Without offloads: whatever leaves the guest is whole, checksummed and no longer than the MTU.
guest_start() {
    local net="tap,id=net0,ifname=$1,script=no,downscript=no,vnet_hdr=off" qemu
    mkfifo "$work"/guest.{in,out}
    guest_command "$guest_dir" 256 -serial "file:$out/guest-console.log" \
        -chardev "pipe,id=shell,path=$work/guest" -device virtio-serial-pci -device virtserialport,chardev=shell \
        -netdev "$net" -device "virtio-net-pci,netdev=net0,mac=$2,romfile="
    ip netns exec "$wire" setpriv --pdeathsig KILL "${qemu[@]}" >"$out/guest-qemu.log" 2>&1 9>&- &
    guest_pid=$!
    background+=("$guest_pid")
    disown "$guest_pid"
    wait_for 120 guest_ready || {
        tail -n 5 "$out/guest-console.log" "$out/guest-qemu.log"
        fail "the guest did not boot"
    }
}

guest_ready() {
    kill -0 "$guest_pid" 2>/dev/null || fail "the guest ended: $(tail -n 3 "$out/guest-console.log" "$out/guest-qemu.log")"
    grep -q 'guest: ready' "$out/guest-console.log"
}

# guest [-t SECONDS] TEXT: runs shell text in the guest; 60 s at most, if nothing else is said.
guest() {
    local seconds=60
    if [ "$1" = -t ]; then
        seconds=$2
        shift 2
    fi
    "$here/guest-exec.py" "$work/guest" "$seconds" "$1"
}
