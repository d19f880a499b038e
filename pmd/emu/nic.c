/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#include <stdlib.h>

#include <rte_malloc.h>

#include "emu.h"

/* The metadata word of rte_security, which a driver registers (rte_security_dynfield_register is not public). */
static int
register_word(void)
{
	static const struct rte_mbuf_dynfield word = {
		.name = "rte_security_dynfield_metadata",
		.size = sizeof(rte_security_dynfield_t),
		.align = __alignof__(rte_security_dynfield_t),
	};
	int offset = rte_mbuf_dynfield_register(&word);

	if (offset < 0)
		return -rte_errno;
	rte_security_dynfield_offset = offset;
	return 0;
}

/* A context for the device; one that it had is gone from now on. */
static int
new_context(struct emu_nic *nic)
{
	struct rte_security_ctx *ctx = calloc(1, sizeof(*ctx));
	struct emu_old_context *old = calloc(1, sizeof(*old));

	if (ctx == NULL || old == NULL) {
		free(ctx);
		free(old);
		return -ENOMEM;
	}
	ctx->device = nic;
	ctx->ops = nic->config.profile == EMU_PACKET ? &emu_packet_ops : &emu_ops;
	if (nic->ctx != NULL)
		nic->ctx->ops = &emu_gone_ops;
	old->ctx = ctx;
	old->next = nic->old;
	nic->old = old;
	nic->ctx = ctx;
	nic->standin.ctx = ctx;
	return 0;
}

static int
configured(void *self, uint64_t rx_offloads, uint64_t tx_offloads, uint16_t rx_queues, uint16_t tx_queues)
{
	struct emu_nic *nic = self;
	uint16_t port = nic->standin.port;

	if (rx_queues > EMU_QUEUES || tx_queues > EMU_QUEUES)
		return -EINVAL;
	nic->rx_offloads = rx_offloads;
	nic->tx_offloads = tx_offloads;
	/* Callbacks stay over a stop and a start, and over another configuration. */
	for (; nic->rx_queues < rx_queues; nic->rx_queues++) {
		struct emu_queue *q = &nic->rxq[nic->rx_queues];
		q->callback = rte_eth_add_first_rx_callback(port, nic->rx_queues, emu_rx_callback, nic);
		if (q->callback == NULL)
			return -rte_errno;
	}
	for (; nic->tx_queues < tx_queues; nic->tx_queues++) {
		struct emu_queue *q = &nic->txq[nic->tx_queues];
		q->callback = rte_eth_add_tx_callback(port, nic->tx_queues, emu_tx_callback, nic);
		if (q->callback == NULL)
			return -rte_errno;
	}
	return 0;
}

static void
check_none_alive(struct emu_nic *nic, const char *when)
{
	uint64_t alive = emu_total(nic, EMU_sessions);

	if (alive > 0)
		emu_breach(nic, EMU_breach_order, "%u sessions alive when the port is %s", (unsigned int)alive, when);
}

static int
started(void *self)
{
	struct emu_nic *nic = self;

	emu_lock(nic);
	/* A start empties ixgbe's tables (ixgbe_ipsec.c: ixgbe_crypto_enable_ipsec). */
	if (nic->config.profile == EMU_IXGBE)
		emu_clear_tables(nic);
	else
		nic->lookup_tx = nic->lookup_rx = true;
	nic->started = true;
	emu_unlock(nic);
	return 0;
}

static int
stopping(void *self)
{
	struct emu_nic *nic = self;

	check_none_alive(nic, "stopped");
	emu_lock(nic);
	nic->started = false;
	emu_unlock(nic);
	return 0;
}

static int
reset(void *self)
{
	struct emu_nic *nic = self;
	int rc;

	check_none_alive(nic, "reset");
	emu_lock(nic);
	emu_clear_tables(nic);
	emu_flows_forget(nic, NULL, false);
	for (int q = 0; q < EMU_QUEUES; q++)
		nic->txq[q].last_tx = 0;
	nic->started = false;
	nic->faults.reset = 0;
	nic->off_until = 0;
	__atomic_store_n(&nic->dead, false, __ATOMIC_RELAXED);
	rc = new_context(nic);
	emu_unlock(nic);
	return rc;
}

/* The port is closed next; no lane uses it any more. */
static void
closing(void *self)
{
	struct emu_nic *nic = self;
	uint16_t port = nic->standin.port;

	check_none_alive(nic, "closed");
	for (uint16_t q = 0; q < nic->rx_queues; q++)
		if (rte_eth_remove_rx_callback(port, q, nic->rxq[q].callback) == 0)
			rte_free((void *)(uintptr_t)nic->rxq[q].callback);
	for (uint16_t q = 0; q < nic->tx_queues; q++)
		if (rte_eth_remove_tx_callback(port, q, nic->txq[q].callback) == 0)
			rte_free((void *)(uintptr_t)nic->txq[q].callback);
	nic->rx_queues = nic->tx_queues = 0;
	nic->ctx->ops = &emu_gone_ops;
	nic->standin.ctx = NULL;
}

static void
fill_standin(struct emu_nic *nic)
{
	static const char *const drivers[] = {
		[EMU_IXGBE] = "net_ixgbe", [EMU_CRYPTO] = "net_emu_crypto", [EMU_PACKET] = "net_emu_packet",
	};

	nic->standin.self = nic;
	nic->standin.driver = drivers[nic->config.profile];
	nic->standin.pci_device = nic->config.pci_device;
	nic->standin.rx_offloads = RTE_ETH_RX_OFFLOAD_SECURITY;
	nic->standin.tx_offloads = RTE_ETH_TX_OFFLOAD_SECURITY | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
	nic->standin.configured = configured;
	nic->standin.started = started;
	nic->standin.stopping = stopping;
	nic->standin.reset = reset;
	nic->standin.closing = closing;
	nic->standin.flow_create = emu_flow_create;
	nic->standin.flow_destroy = emu_flow_destroy;
}

int
emu_new(const struct emu_options *o, struct emu_nic **out)
{
	struct emu_nic *nic = aligned_alloc(RTE_CACHE_LINE_SIZE,
		RTE_ALIGN_CEIL(sizeof(*nic), (size_t)RTE_CACHE_LINE_SIZE));
	int rc = register_word();

	*out = NULL;
	if (rc < 0 || nic == NULL) {
		free(nic);
		return rc < 0 ? rc : -ENOMEM;
	}
	memset(nic, 0, sizeof(*nic));
	nic->config = (struct emu_config){
		.profile = o->profile, .pci_device = o->pci_device, .tx_size = o->tx_size, .rx_size = o->rx_size,
		.address_size = o->address_size, .conf_is_action = o->conf_is_action, .full_is_told = o->full_is_told,
		.ingress = o->ingress, .scalar = o->scalar, .alias = o->alias, .crypto_off = o->crypto_off,
		.strict = o->strict, .abort = o->abort, .ring_us = o->ring_us,
	};
	nic->tx = calloc(o->tx_size, sizeof(*nic->tx));
	nic->rx = calloc(o->rx_size, sizeof(*nic->rx));
	nic->addresses = calloc(o->address_size, sizeof(*nic->addresses));
	if (nic->tx == NULL || nic->rx == NULL || nic->addresses == NULL || new_context(nic) < 0) {
		emu_free(nic);
		return -ENOMEM;
	}
	emu_clear_tables(nic);
	emu_add(nic, EMU_crypto_off, o->crypto_off);
	fill_standin(nic);
	*out = nic;
	return 0;
}

static void
free_table(struct emu_sa *table, uint32_t n)
{
	if (table != NULL)
		explicit_bzero(table, n * sizeof(*table)); /* keys */
	free(table);
}

void
emu_free(struct emu_nic *nic)
{
	while (nic->old != NULL) {
		struct emu_old_context *old = nic->old;
		nic->old = old->next;
		free(old->ctx);
		free(old);
	}
	while (nic->flows != NULL) {
		struct emu_flow *flow = nic->flows;
		nic->flows = flow->next;
		free(flow);
	}
	free_table(nic->tx, nic->config.tx_size);
	free_table(nic->rx, nic->config.rx_size);
	free(nic->addresses);
	free(nic);
}

void *
emu_standin(struct emu_nic *nic)
{
	return &nic->standin;
}

#endif
