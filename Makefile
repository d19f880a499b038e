# `make help` lists the targets. Each one first calls scripts/setup.sh for what it needs; ESPGW_SETUP=no skips that.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

FUZZTIME ?= 20s
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
GO := . scripts/env.sh && go

.PHONY: help
help: ## this list
	@echo 'espgw: ESP transport mode over DPDK. Targets:'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## bin/espgw
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory bin/espgw

# Always asked of the go command, which knows better than make what has changed.
.PHONY: bin/espgw
bin/espgw:
	$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/ ./cmd/...

.PHONY: demo
demo: ## two gateways carry a real capture over ESP and back; no NIC, no huge pages, no root
	@scripts/setup.sh demo
	@$(MAKE) --no-print-directory bin/espgw
	@scripts/demo.sh

.PHONY: lab
lab: ## two hosts talk through two gateways, in network namespaces; root
	@scripts/setup.sh lab
	@$(MAKE) --no-print-directory bin/espgw
	@scripts/lab.sh

.PHONY: test
test: ## all tests: lint, unit, race, demo, lab, kills, a Linux peer; under 20 minutes on 2 cores
	@scripts/test.sh

.PHONY: interop
interop: ## two peers, at length: the Linux kernel in QEMU, and DPDK's ipsec-secgw; root
	@scripts/setup.sh interop
	@$(MAKE) --no-print-directory bin/espgw
	@scripts/interop.sh
	@scripts/interop-secgw.sh

.PHONY: card
card: ## espgw, testpmd and ipsec-secgw on DPDK's own ixgbe driver, on modelled 82599 cards; root, sets up huge pages
	@scripts/setup.sh interop
	@$(MAKE) --no-print-directory bin/espgw
	@scripts/contract.sh
	@scripts/card.sh
	@scripts/card-secgw.sh

.PHONY: kill
kill: ## gateways are killed under load, 50 times and more: no nonce twice, no packet again; root
	@scripts/setup.sh lab
	@$(MAKE) --no-print-directory bin/espgw
	@scripts/kill.sh

.PHONY: lint
lint: ## format, vet, staticcheck, layers, go.mod, generated files, shell scripts
	@scripts/setup.sh lint
	@scripts/lint.sh

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (20s) each
	@scripts/setup.sh build
	@scripts/fuzz.sh $(FUZZTIME)

.PHONY: bench
bench: ## packets a second of one lcore, beside DPDK's ipsec-secgw; root
	@scripts/setup.sh bench
	@$(MAKE) --no-print-directory bin/espgw
	@scripts/bench.sh

.PHONY: bench-inline
bench-inline: ## what a packet costs the host when a NIC encrypts, beside forwarding and the Go engine; root
	@scripts/setup.sh bench
	@$(MAKE) --no-print-directory bin/espgw
	@scripts/bench-inline.sh

.PHONY: goldens
goldens: ## records iproute2's listings anew from a guest; root
	@scripts/setup.sh guest
	@scripts/goldens.sh

.PHONY: chroot-proof
chroot-proof: ## make demo and make test from nothing, in fresh Debian 12 and 13 chroots; root
	@scripts/setup.sh chroot
	@scripts/chroot-proof.sh

.PHONY: clean
clean: ## removes what was built
	rm -rf bin build
