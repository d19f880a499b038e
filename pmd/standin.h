/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A stand-in does for a port what its driver cannot: inline IPsec on a virtual
 * port (package emu). pmd asks it wherever it would ask the driver about
 * security, in the same terms, so that nobody above can tell the difference.
 * An application cannot give a port a security context of its own: struct
 * rte_eth_dev is not in the public headers. Include shim.h first.
 */
#ifndef PMD_STANDIN_H
#define PMD_STANDIN_H

#include <stdint.h>

struct pmd_standin {
	void *self; /* the stand-in's own; first argument of its functions */
	/*
	 * struct rte_security_ctx *, as rte_eth_dev_get_sec_ctx would give it; NULL
	 * when there is none. A reset replaces it, so it is read anew after one.
	 */
	void *ctx;
	const char *driver;   /* what it imitates: "net_ixgbe"; shown and looked up as the driver's name */
	uint32_t pci_device;  /* PCI device id that it imitates, 0: none */
	uint64_t rx_offloads; /* what it adds to the capabilities of the port */
	uint64_t tx_offloads;

	/*
	 * After rte_eth_dev_configure and the set-up of the queues, with what was asked
	 * of the port as a whole: before that, the bits of rx_offloads and tx_offloads
	 * above were taken out for a driver that lacks them. 0 or a negative errno.
	 */
	int (*configured)(void *self, uint64_t rx_offloads, uint64_t tx_offloads,
		uint16_t rx_queues, uint16_t tx_queues);
	/* After rte_eth_dev_start; before rte_eth_dev_stop; at the end of rte_eth_dev_reset; before rte_eth_dev_close. */
	int (*started)(void *self);
	int (*stopping)(void *self);
	int (*reset)(void *self);
	void (*closing)(void *self);
	/* As rte_flow_create and rte_flow_destroy. */
	struct rte_flow *(*flow_create)(void *self, const struct rte_flow_attr *attr,
		const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
		struct rte_flow_error *error);
	int (*flow_destroy)(void *self, struct rte_flow *flow, struct rte_flow_error *error);

	/*
	 * Set by pmd when the stand-in is attached: what an event of the device is told
	 * to, as a callback of rte_eth_dev_callback_register is called, with event_arg as
	 * cb_arg. Thread-safe. RTE_ETH_EVENT_IPSEC, _INTR_RESET and _INTR_RMV matter.
	 */
	rte_eth_dev_cb_fn event;
	void *event_arg;
	uint16_t port;
};

enum { PMD_STANDIN_STARTED, PMD_STANDIN_STOPPING, PMD_STANDIN_RESET };

static inline int
pmd_standin_tell(struct pmd_standin *s, int moment)
{
	switch (moment) {
	case PMD_STANDIN_STARTED:
		return s->started(s->self);
	case PMD_STANDIN_STOPPING:
		return s->stopping(s->self);
	default:
		return s->reset(s->self);
	}
}

static inline int
pmd_standin_configured(struct pmd_standin *s, uint64_t rx_offloads, uint64_t tx_offloads,
	uint16_t rx_queues, uint16_t tx_queues)
{
	return s->configured(s->self, rx_offloads, tx_offloads, rx_queues, tx_queues);
}

static inline void
pmd_standin_closing(struct pmd_standin *s)
{
	s->closing(s->self);
}

#endif
