# shellcheck shell=bash
# Sourced by the scripts and the Makefile: what the go command needs to know here, in one place.

# sudo and cron reset PATH and lose the folder that Go's own installer uses.
if ! command -v go >/dev/null 2>&1; then
    PATH=$PATH:/usr/local/go/bin
fi
export PATH

# DPDK 24.11's pkg-config prints -mrtm, which cgo accepts only when it is named.
export CGO_CFLAGS_ALLOW="${CGO_CFLAGS_ALLOW:+$CGO_CFLAGS_ALLOW|}-mrtm"

# Root building in somebody else's clone: git refuses to look into it, and then go build would fail. The version
# is stamped by the Makefile instead.
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-buildvcs=false"
