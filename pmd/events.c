/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include <rte_spinlock.h>

#include "security.h"
#include "standin.h"

/* A device's events wait here until Go asks for them: nothing calls into Go. */
struct pmd_events {
	rte_spinlock_t lock;
	int count;
	uint64_t lost; /* came while it was full */
	struct pmd_event waiting[PMD_EVENTS_MAX];
};

static uint32_t
ipsec_kind(const struct rte_eth_event_ipsec_desc *desc)
{
	switch (desc->subtype) {
	case RTE_ETH_EVENT_IPSEC_ESN_OVERFLOW:
		return PMD_EVENT_SEQUENCE;
	case RTE_ETH_EVENT_IPSEC_SA_TIME_EXPIRY:
	case RTE_ETH_EVENT_IPSEC_SA_BYTE_EXPIRY:
	case RTE_ETH_EVENT_IPSEC_SA_PKT_EXPIRY:
		return PMD_EVENT_SA_SOFT;
	case RTE_ETH_EVENT_IPSEC_SA_BYTE_HARD_EXPIRY:
	case RTE_ETH_EVENT_IPSEC_SA_PKT_HARD_EXPIRY:
		return PMD_EVENT_SA_HARD;
	default:
		return 0;
	}
}

static int
on_event(uint16_t port, enum rte_eth_event_type type, void *arg, void *param)
{
	struct pmd_events *events = arg;
	struct pmd_event event = { 0 };
	const struct rte_eth_event_ipsec_desc *desc = param;

	switch (type) {
	case RTE_ETH_EVENT_IPSEC:
		if (desc == NULL)
			return 0;
		event.kind = ipsec_kind(desc);
		event.user_data = desc->metadata;
		break;
	case RTE_ETH_EVENT_INTR_RESET:
		event.kind = PMD_EVENT_RESET;
		break;
	case RTE_ETH_EVENT_INTR_RMV:
		event.kind = PMD_EVENT_REMOVED;
		break;
	default:
		break;
	}
	if (event.kind == 0)
		return 0;
	rte_spinlock_lock(&events->lock);
	if (events->count < PMD_EVENTS_MAX)
		events->waiting[events->count++] = event;
	else
		events->lost++;
	rte_spinlock_unlock(&events->lock);
	return 0;
}

static const enum rte_eth_event_type watched[] = {
	RTE_ETH_EVENT_IPSEC,
	RTE_ETH_EVENT_INTR_RESET,
	RTE_ETH_EVENT_INTR_RMV,
};

struct pmd_events *
pmd_events_new(uint16_t port, struct pmd_standin *standin)
{
	struct pmd_events *events = calloc(1, sizeof(*events));

	if (events == NULL)
		return NULL;
	rte_spinlock_init(&events->lock);
	for (unsigned int i = 0; i < RTE_DIM(watched); i++)
		rte_eth_dev_callback_register(port, watched[i], on_event, events);
	if (standin != NULL) {
		standin->port = port;
		standin->event_arg = events;
		standin->event = on_event;
	}
	return events;
}

int
pmd_events_take(struct pmd_events *events, struct pmd_event *out, int room, uint64_t *lost)
{
	int n;

	rte_spinlock_lock(&events->lock);
	n = RTE_MIN(events->count, room);
	memcpy(out, events->waiting, n * sizeof(*out));
	events->count -= n;
	memmove(events->waiting, &events->waiting[n], events->count * sizeof(*out));
	*lost = events->lost;
	rte_spinlock_unlock(&events->lock);
	return n;
}

void
pmd_events_free(struct pmd_events *events, uint16_t port, struct pmd_standin *standin)
{
	for (unsigned int i = 0; i < RTE_DIM(watched); i++)
		while (rte_eth_dev_callback_unregister(port, watched[i], on_event, events) == -EAGAIN)
			rte_pause();
	if (standin != NULL)
		standin->event = NULL;
	free(events);
}
