/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#include <stdio.h>
#include <stdlib.h>

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

/* What calls on a context end in that a reset or a close has freed: on a card, in freed memory. */
static int
gone_create(void *device, struct rte_security_session_conf *conf, struct rte_security_session *session)
{
	emu_breach(device, EMU_breach_order, "a session on a context that is gone");
	return -ENODEV;
}

static int
gone_destroy(void *device, struct rte_security_session *session)
{
	emu_breach(device, EMU_breach_order, "a removal on a context that is gone");
	return -ENODEV;
}

static int
gone_metadata(void *device, struct rte_security_session *session, struct rte_mbuf *m, void *params)
{
	emu_breach(device, EMU_breach_order, "metadata on a context that is gone");
	return -ENODEV;
}

static const struct rte_security_ops gone_ops = {
	.session_create = gone_create,
	.session_destroy = gone_destroy,
	.set_pkt_metadata = gone_metadata,
};

static int
new_context(struct emu_nic *nic)
{
	struct rte_security_ctx *ctx = calloc(1, sizeof(*ctx));

	if (ctx == NULL)
		return -ENOMEM;
	ctx->device = nic;
	ctx->ops = nic->config.profile == EMU_PACKET ? &emu_packet_ops : &emu_ops;
	if (nic->ctx != NULL)
		nic->ctx->ops = &gone_ops; /* its memory stays, so that who uses it is caught */
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
		uint16_t q = nic->rx_queues;
		nic->rx_callback[q] = rte_eth_add_first_rx_callback(port, q, emu_rx_callback, nic);
		if (nic->rx_callback[q] == NULL)
			return -rte_errno;
	}
	for (; nic->tx_queues < tx_queues; nic->tx_queues++) {
		uint16_t q = nic->tx_queues;
		nic->tx_callback[q] = rte_eth_add_tx_callback(port, q, emu_tx_callback, nic);
		if (nic->tx_callback[q] == NULL)
			return -rte_errno;
	}
	return 0;
}

static int
started(void *self)
{
	struct emu_nic *nic = self;

	rte_rwlock_write_lock(&nic->lock);
	/* A start empties ixgbe's tables (ixgbe_ipsec.c: ixgbe_crypto_enable_ipsec). */
	if (nic->config.profile == EMU_IXGBE)
		emu_clear_tables(nic);
	else
		nic->lookup_tx = nic->lookup_rx = true;
	nic->started = true;
	rte_rwlock_write_unlock(&nic->lock);
	return 0;
}

static int
stopping(void *self)
{
	struct emu_nic *nic = self;
	uint64_t alive = nic->counters[EMU_sessions];

	if (alive > 0)
		emu_breach(nic, EMU_breach_order, "%u sessions alive when the port is stopped", (unsigned int)alive);
	rte_rwlock_write_lock(&nic->lock);
	nic->started = false;
	rte_rwlock_write_unlock(&nic->lock);
	return 0;
}

static int
reset(void *self)
{
	struct emu_nic *nic = self;
	int rc;

	rte_rwlock_write_lock(&nic->lock);
	emu_clear_tables(nic);
	nic->dead = false;
	nic->last_tx = 0;
	nic->reset_seen = 0;
	rc = new_context(nic);
	rte_rwlock_write_unlock(&nic->lock);
	return rc;
}

static void
closing(void *self)
{
	struct emu_nic *nic = self;
	uint16_t port = nic->standin.port;

	for (uint16_t q = 0; q < nic->rx_queues; q++)
		rte_eth_remove_rx_callback(port, q, nic->rx_callback[q]);
	for (uint16_t q = 0; q < nic->tx_queues; q++)
		rte_eth_remove_tx_callback(port, q, nic->tx_callback[q]);
	nic->rx_queues = nic->tx_queues = 0;
	nic->ctx->ops = &gone_ops;
	nic->standin.ctx = NULL;
}

int
emu_new(const struct emu_options *o, struct emu_nic **out)
{
	struct emu_nic *nic = calloc(1, sizeof(*nic));
	int rc = register_word();

	*out = NULL;
	if (rc < 0 || nic == NULL) {
		free(nic);
		return rc < 0 ? rc : -ENOMEM;
	}
	nic->config = (struct emu_config){
		.profile = o->profile, .pci_device = o->pci_device, .tx_size = o->tx_size, .rx_size = o->rx_size,
		.address_size = o->address_size, .conf_is_action = o->conf_is_action, .full_is_told = o->full_is_told,
		.ingress = o->ingress, .scalar = o->scalar, .alias = o->alias, .crypto_off = o->crypto_off,
		.abort = o->abort, .ring_us = o->ring_us,
	};
	nic->tx = calloc(o->tx_size, sizeof(*nic->tx));
	nic->rx = calloc(o->rx_size, sizeof(*nic->rx));
	nic->addresses = calloc(o->address_size, sizeof(*nic->addresses));
	if (nic->tx == NULL || nic->rx == NULL || nic->addresses == NULL || new_context(nic) < 0) {
		emu_free(nic);
		return -ENOMEM;
	}
	rte_rwlock_init(&nic->lock);
	rte_spinlock_init(&nic->text_lock);
	nic->counters[EMU_crypto_off] = o->crypto_off;
	nic->standin.self = nic;
	nic->standin.driver = o->profile == EMU_PACKET ? "net_emu_packet" :
		o->profile == EMU_CRYPTO ? "net_emu_crypto" : "net_ixgbe";
	nic->standin.pci_device = o->pci_device;
	nic->standin.rx_offloads = RTE_ETH_RX_OFFLOAD_SECURITY;
	nic->standin.tx_offloads = RTE_ETH_TX_OFFLOAD_SECURITY | RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
	nic->standin.configured = configured;
	nic->standin.started = started;
	nic->standin.stopping = stopping;
	nic->standin.reset = reset;
	nic->standin.closing = closing;
	nic->standin.flow_create = emu_flow_create;
	nic->standin.flow_destroy = emu_flow_destroy;
	*out = nic;
	return 0;
}

void
emu_free(struct emu_nic *nic)
{
	free(nic->tx);
	free(nic->rx);
	free(nic->addresses);
	free(nic->ctx);
	free(nic);
}

void *
emu_standin(struct emu_nic *nic)
{
	return &nic->standin;
}

int
emu_counter_count(void)
{
	return EMU_COUNTER_MAX;
}

const char *
emu_counter_name(int i)
{
	static const char *const names[] = {
#define X(name) #name,
		EMU_COUNTERS(X)
#undef X
	};
	return names[i];
}

uint64_t
emu_counter(const struct emu_nic *nic, int i)
{
	uint64_t n = __atomic_load_n(&nic->counters[i], __ATOMIC_RELAXED);

	return i == EMU_model_ns ? (uint64_t)((double)n / rte_get_tsc_hz() * 1e9) : n;
}

int
emu_texts(struct emu_nic *nic, char (*out)[EMU_TEXT_LEN], int room)
{
	int n;

	RTE_BUILD_BUG_ON((int)EMU_TEXT_LEN != (int)EMU_TEXT);
	rte_spinlock_lock(&nic->text_lock);
	n = RTE_MIN(nic->texts, room);
	memcpy(out, nic->text, n * sizeof(*out));
	rte_spinlock_unlock(&nic->text_lock);
	return n;
}

void
emu_set_faults(struct emu_nic *nic, const uint32_t *values)
{
	rte_rwlock_write_lock(&nic->lock);
	nic->faults = (struct emu_faults){
		.session = values[EMU_FAULT_SESSION], .flow = values[EMU_FAULT_FLOW],
		.destroy = values[EMU_FAULT_DESTROY], .metadata = values[EMU_FAULT_METADATA],
		.full = values[EMU_FAULT_FULL], .icv = values[EMU_FAULT_ICV],
		.noflag = values[EMU_FAULT_NOFLAG], .txicv = values[EMU_FAULT_TXICV],
		.reset = values[EMU_FAULT_RESET], .slow = values[EMU_FAULT_SLOW],
	};
	nic->reset_seen = 0;
	if (values[EMU_FAULT_LOOKUPSOFF]) {
		nic->lookup_tx = nic->lookup_rx = false;
		emu_count(nic, EMU_faults);
	}
	if (values[EMU_FAULT_GONE]) {
		nic->dead = true;
		emu_count(nic, EMU_faults);
	}
	rte_rwlock_write_unlock(&nic->lock);
	if (values[EMU_FAULT_GONE] && nic->standin.event != NULL)
		nic->standin.event(nic->standin.port, RTE_ETH_EVENT_INTR_RMV, nic->standin.event_arg, NULL);
}

#endif
