/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A lane: one worker's way from a receive queue to a transmit queue. Go fills
 * and reads the vectors in this structure directly; pmd_lane_exchange is the
 * only call per turn.
 */
#ifndef PMD_LANE_H
#define PMD_LANE_H

#include <stdint.h>

struct rte_mbuf;

enum {
	PMD_LANE_BURST_MAX = 512, /* packets received per turn */
	PMD_LANE_TX_MAX = 2048,   /* packets waiting to be sent */
	PMD_LANE_DROP_MAX = 4096, /* packets waiting to be freed */
};

/* A packet in tx that the device is to process. */
struct pmd_lane_secured {
	uintptr_t session; /* rte_security's */
	uint64_t sequence; /* whole, 64 bits */
	uint32_t at;       /* index in tx */
	uint16_t l3_len;   /* IP header in octets */
	uint8_t l2_len;    /* what is in front of it */
	uint8_t flags;     /* PMD_SECURED_ */
};

enum {
	PMD_SECURED_V6 = 1,
	PMD_SECURED_IP_CHECKSUM = 2, /* the device fills in IPv4's, which is zero */
};

struct pmd_lane {
	/* Set when the lane is made. */
	uint16_t rx_port, rx_queue;
	uint16_t tx_port, tx_queue;
	uint16_t burst;
	uint8_t receives;  /* there is a receive queue */
	uint8_t sends;     /* there is a transmit queue */
	uint8_t prepares;  /* offloads are asked for: rte_eth_tx_prepare comes first */
	void **sec_ctx;    /* where the security context of tx_port is; NULL: it never has one */

	/* Set and cleared by the control plane while a port restarts. */
	uint8_t rx_paused; /* nothing is asked of rx_port */
	uint8_t tx_paused; /* nothing is given to tx_port; what waits is given up */

	uint64_t patience; /* TSC cycles without progress before packets are given up */

	/* The worker's, between two exchanges. */
	uint32_t rx_count, tx_count, drop_count;
	uint32_t secured_count; /* of tx, those at its end that are not marked yet */
	uint32_t giving_up; /* patience has run out and nothing was sent since */
	uint64_t stalled;   /* TSC of the first turn without progress, 0: none */
	uint64_t now;       /* TSC of the last exchange */

	/* Counters; written by the lane's thread, read by any. */
	uint64_t turns;
	uint64_t rx_idle;    /* receive calls that found nothing */
	uint64_t tx_emptied; /* exchanges after which nothing waited to be sent */
	uint64_t rx_packets, rx_bytes;
	uint64_t tx_packets, tx_bytes;
	uint64_t tx_given_up;
	uint64_t tx_refused;  /* rte_eth_tx_prepare found the packet unfit for its offloads */
	uint64_t tx_unmarked; /* the device has no session (any more) for the packet */

	struct pmd_lane_secured secured[PMD_LANE_TX_MAX];
	struct rte_mbuf *rx[PMD_LANE_BURST_MAX];
	struct rte_mbuf *tx[PMD_LANE_TX_MAX];
	struct rte_mbuf *drop[PMD_LANE_DROP_MAX];
};

/* The lane comes as an integer: cgo inspects pointer arguments, at a cost per call. */
void pmd_lane_exchange(uintptr_t lane);
void pmd_lane_free_drops(uintptr_t lane);
uint32_t pmd_lane_flush(uintptr_t lane, uint64_t cycles);

void pmd_lane_pause(uint8_t *flag, int on);

struct pmd_lane *pmd_lane_new(void);
void pmd_lane_free(struct pmd_lane *lane); /* and the packets that wait in it */

#endif
