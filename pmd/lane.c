/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include "lane.h"

static void
free_drops(struct pmd_lane *l)
{
	if (l->drop_count > 0)
		rte_pktmbuf_free_bulk(l->drop, l->drop_count);
	l->drop_count = 0;
}

static uint64_t
bytes_of(struct rte_mbuf *const *packets, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += packets[i]->pkt_len;
	return sum;
}

/*
 * Marks a packet for the device: flags and metadata in one place, just before it
 * leaves, because its length must not change any more and because the metadata
 * word of a buffer is never cleared by anybody. A packet that cannot be marked
 * must not leave: it would do so in clear text.
 */
static int
mark(void *ctx, struct rte_mbuf *m, struct pmd_lane_secured *s)
{
	if (ctx == NULL ||
		rte_security_set_pkt_metadata(ctx, (void *)s->session, m, &s->sequence) != 0)
		return -1;
	m->l2_len = s->l2_len;
	m->l3_len = s->l3_len;
	m->ol_flags |= RTE_MBUF_F_TX_SEC_OFFLOAD;
	m->ol_flags |= s->flags & PMD_SECURED_V6 ? RTE_MBUF_F_TX_IPV6 : RTE_MBUF_F_TX_IPV4;
	if (s->flags & PMD_SECURED_IP_CHECKSUM)
		m->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
	return 0;
}

static void
mark_secured(struct pmd_lane *l)
{
	void *ctx = *l->sec_ctx;
	uint32_t failed = 0;

	for (uint32_t i = 0; i < l->secured_count; i++) {
		struct pmd_lane_secured *s = &l->secured[i];
		if (mark(ctx, l->tx[s->at], s) == 0)
			continue;
		rte_pktmbuf_free(l->tx[s->at]);
		l->tx[s->at] = NULL;
		failed++;
	}
	l->secured_count = 0;
	if (failed == 0)
		return;
	uint32_t to = 0;
	for (uint32_t i = 0; i < l->tx_count; i++)
		if (l->tx[i] != NULL)
			l->tx[to++] = l->tx[i];
	l->tx_count = to;
	l->tx_unmarked += failed;
}

/*
 * Offers packets to the transmit queue until it takes no more; returns how many
 * it took. A packet that cannot have the offload it asks for would block those
 * behind it, so it is freed and counted; that counts as taken.
 */
static uint32_t
transmit(struct pmd_lane *l)
{
	uint32_t done = 0;

	if (l->secured_count > 0)
		mark_secured(l);
	while (done < l->tx_count) {
		uint16_t want = (uint16_t)(l->tx_count - done);
		uint16_t fit = want;
		if (l->prepares)
			fit = rte_eth_tx_prepare(l->tx_port, l->tx_queue, &l->tx[done], want);
		uint64_t bytes = bytes_of(&l->tx[done], fit);
		uint16_t sent = rte_eth_tx_burst(l->tx_port, l->tx_queue, &l->tx[done], fit);
		done += sent;
		l->tx_packets += sent;
		l->tx_bytes += bytes - bytes_of(&l->tx[done], fit - sent);
		if (sent < fit) {
			if (sent == 0)
				break;
			continue;
		}
		if (fit < want) {
			rte_pktmbuf_free(l->tx[done++]);
			l->tx_refused++;
		}
	}
	return done;
}

static void
give_up(struct pmd_lane *l)
{
	rte_pktmbuf_free_bulk(l->tx, l->tx_count);
	l->tx_given_up += l->tx_count;
	l->tx_count = 0;
	l->secured_count = 0;
}

/* What is not taken stays in order at the front, for as long as patience lasts. */
static void
send_waiting(struct pmd_lane *l, uint64_t now)
{
	if (__atomic_load_n(&l->tx_paused, __ATOMIC_ACQUIRE)) {
		give_up(l);
		return;
	}
	uint32_t done = transmit(l);
	uint32_t rest = l->tx_count - done;

	if (done > 0 || rest == 0) {
		memmove(l->tx, &l->tx[done], rest * sizeof(l->tx[0]));
		l->tx_count = rest;
		l->stalled = 0;
		l->giving_up = 0;
		return;
	}
	if (l->giving_up) {
		give_up(l);
		return;
	}
	if (l->stalled == 0) {
		l->stalled = now;
	} else if (now - l->stalled >= l->patience) {
		l->giving_up = 1;
		l->stalled = 0;
		give_up(l);
	}
}

static void
receive(struct pmd_lane *l)
{
	uint16_t n = rte_eth_rx_burst(l->rx_port, l->rx_queue, l->rx, l->burst);
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(l->rx[i], void *));
		bytes += l->rx[i]->pkt_len;
	}
	l->rx_count = n;
	l->rx_idle += n == 0;
	l->rx_packets += n;
	l->rx_bytes += bytes;
}

void
pmd_lane_exchange(uintptr_t lane)
{
	struct pmd_lane *l = (struct pmd_lane *)lane;
	uint64_t now = rte_rdtsc();

	l->now = now;
	l->turns++;
	l->rx_count = 0;
	free_drops(l);
	if (l->tx_count > 0)
		send_waiting(l, now);
	/* What cannot leave must not pile up: nothing is received while packets wait. */
	if (l->tx_count > 0)
		return;
	l->tx_emptied++;
	if (l->receives && !__atomic_load_n(&l->rx_paused, __ATOMIC_ACQUIRE))
		receive(l);
}

void
pmd_lane_free_drops(uintptr_t lane)
{
	free_drops((struct pmd_lane *)lane);
}

uint32_t
pmd_lane_flush(uintptr_t lane, uint64_t cycles)
{
	struct pmd_lane *l = (struct pmd_lane *)lane;
	uint64_t start = rte_rdtsc();

	l->rx_count = 0;
	free_drops(l);
	if (l->tx_paused)
		give_up(l);
	while (l->tx_count > 0) {
		uint32_t done = transmit(l);
		l->tx_count -= done;
		memmove(l->tx, &l->tx[done], l->tx_count * sizeof(l->tx[0]));
		if (rte_rdtsc() - start >= cycles)
			break;
		rte_pause();
	}
	l->now = rte_rdtsc();
	return l->tx_count;
}

void
pmd_lane_pause(uint8_t *flag, int on)
{
	__atomic_store_n(flag, (uint8_t)on, __ATOMIC_RELEASE);
}

struct pmd_lane *
pmd_lane_new(void)
{
	struct pmd_lane *l = aligned_alloc(RTE_CACHE_LINE_SIZE,
		RTE_ALIGN_CEIL(sizeof(struct pmd_lane), (size_t)RTE_CACHE_LINE_SIZE));

	if (l != NULL)
		memset(l, 0, sizeof(*l));
	return l;
}

void
pmd_lane_free(struct pmd_lane *l)
{
	free_drops(l);
	if (l->tx_count > 0)
		rte_pktmbuf_free_bulk(l->tx, l->tx_count);
	free(l);
}
