/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What Go calls. No DPDK header is needed to read this one. Functions return 0
 * or a count, or a negative errno (rte_errno's values included).
 */
#ifndef PMD_H
#define PMD_H

#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

/* eal.c */
int pmd_eal_init(int argc, char **argv);
int pmd_eal_cleanup(void);
int pmd_eal_lcores(unsigned int *lcores, int room); /* main lcore first; returns how many */
int pmd_lcore_socket(unsigned int lcore);
int pmd_lcore_launch(unsigned int lcore, uintptr_t handle);
int pmd_lcore_wait(unsigned int lcore);
int pmd_thread_pin(void);      /* onto the CPUs of its own lcore */
int pmd_thread_lcore_id(void); /* -1 on a thread that is no lcore's */
int pmd_log_open(int fd);
int pmd_log_sync(uint32_t token);
uint64_t pmd_log_lost(void);
int pmd_has_hugepages(void);
const char *pmd_version(void);
uint64_t pmd_tsc_hz(void);
uint64_t pmd_tsc(void);
void pmd_sleep(uint64_t nanoseconds);

/* pool.c */
int pmd_pool_new(const char *name, unsigned int mbufs, unsigned int cache, uint16_t room,
	int socket, struct rte_mempool **pool);
void pmd_pool_free(struct rte_mempool *pool);
unsigned int pmd_pool_in_use(struct rte_mempool *pool);
struct rte_mbuf *pmd_mbuf_alloc(struct rte_mempool *pool);
void pmd_mbuf_free(struct rte_mbuf *mbuf);
int pmd_mbuf_linearize(struct rte_mbuf *mbuf);

/* port.c */
struct pmd_port_info {
	char device[64];
	char driver[64];
	char args[256];
	char bus[64]; /* what its bus tells: "vendor_id=8086, device_id=10fb" */
	int socket;
	uint32_t if_index; /* kernel interface behind the port, 0: none or not known */
	uint32_t max_frame;
	uint64_t rx_offloads;
	uint64_t tx_offloads;
	uint64_t rss;
	uint16_t max_rx_queues;
	uint16_t max_tx_queues;
	uint16_t min_mtu;
	uint16_t max_mtu;
	uint16_t mtu;
	uint8_t mac[6];
};

struct pmd_port_conf {
	struct rte_mempool *pool;
	uint64_t rx_offloads;
	uint64_t tx_offloads;
	uint64_t rss;
	uint16_t rx_queues;
	uint16_t tx_queues;
	uint16_t rx_desc; /* in: wanted, out: what the port took; the same for tx_desc and mtu */
	uint16_t tx_desc;
	uint16_t mtu;      /* in: 0 leaves it as it is */
	uint8_t mtu_unset; /* out: the driver cannot set an MTU */
};

struct pmd_link {
	uint32_t speed; /* Mbit/s, UINT32_MAX: not known */
	uint8_t up;
	uint8_t full_duplex;
	uint8_t autoneg;
};

struct pmd_stats {
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
	uint64_t rx_missed, rx_errors, tx_errors, rx_no_buffer;
};

int pmd_port_next(int after); /* first port behind it, -1: no more */
int pmd_port_info(uint16_t port, struct pmd_port_info *info);
int pmd_port_configure(uint16_t port, struct pmd_port_conf *conf);
int pmd_port_start(uint16_t port);
int pmd_port_stop(uint16_t port);
int pmd_port_close(uint16_t port);
int pmd_port_reset(uint16_t port);
int pmd_port_set_promiscuous(uint16_t port, int on);
int pmd_port_set_mtu(uint16_t port, uint16_t mtu);
int pmd_port_mtu(uint16_t port);
int pmd_port_set_link(uint16_t port, int up);
int pmd_port_link(uint16_t port, struct pmd_link *link);
int pmd_port_stats(uint16_t port, struct pmd_stats *stats);
int pmd_port_stats_reset(uint16_t port);
int pmd_port_xstats_count(uint16_t port);
int pmd_port_xstats(uint16_t port, int room, char (*names)[64], uint64_t *values);
int pmd_vdev_add(const char *name, const char *args);
int pmd_vdev_remove(const char *name);
int pmd_ring_new(const char *name, unsigned int size, struct rte_ring **ring);
void pmd_ring_free(struct rte_ring *ring); /* frees the packets in it, too */
int pmd_port_from_rings(
	const char *name, struct rte_ring **rx, struct rte_ring **tx, unsigned int queues);

#endif
