/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What Go calls for inline IPsec: the security context of a port, its
 * capabilities, sessions and flow rules. Functions return 0 or a count, or a
 * negative errno.
 */
#ifndef PMD_SECURITY_H
#define PMD_SECURITY_H

#include <stdint.h>

struct rte_mempool;
struct pmd_standin;

/* enum values of ours: DPDK's change between releases. */
enum {
	PMD_SEC_OTHER = 0,
	PMD_SEC_INLINE_CRYPTO = 1,
	PMD_SEC_INLINE_PROTOCOL = 2,

	PMD_AEAD_OTHER = 0,
	PMD_AEAD_AES_GCM = 1,
	PMD_AEAD_CHACHA20_POLY1305 = 2,

	PMD_SEC_AEADS_MAX = 8,
	PMD_SEC_KEY_MAX = 32,
	PMD_SEC_SALT = 4,
};

struct pmd_sec_range {
	uint16_t min, max, step;
};

struct pmd_sec_aead {
	uint8_t algorithm;
	struct pmd_sec_range key, icv, aad, iv;
};

struct pmd_sec_cap {
	uint8_t action;
	uint8_t esp, transport, egress; /* else another protocol, tunnel mode, ingress */
	uint8_t esn, udp_encap, stats, metadata;
	uint32_t replay_max;
	uint32_t aead_count;
	struct pmd_sec_aead aeads[PMD_SEC_AEADS_MAX];
};

/* A session of one SA; the memory of its key is in here, salt right behind the key. */
struct pmd_sec_conf {
	uint8_t action, algorithm, egress, esn, stats, udp_encap, v6;
	uint8_t key_len, icv_len;
	uint32_t spi; /* host order, as rte_security wants it */
	uint32_t replay_window;
	uint64_t sequence;
	uint64_t soft_packets, hard_packets, soft_bytes, hard_bytes;
	uint64_t user_data;
	uint16_t udp_src, udp_dst; /* host order */
	uint8_t src[16], dst[16];
	uint8_t key[PMD_SEC_KEY_MAX + PMD_SEC_SALT];
};

struct pmd_sec_session {
	struct pmd_sec_conf conf; /* C memory: drivers keep a pointer to the key */
	void *session;            /* struct rte_security_session *, opaque since 22.11 */
	void *flow;
};

struct pmd_sec_stats {
	uint64_t in_packets, out_packets, in_bytes, out_bytes, in_errors, out_errors;
};

void *pmd_sec_ctx(uint16_t port, const struct pmd_standin *standin); /* NULL: none */
uint64_t pmd_sec_ctx_flags(void *ctx);
int pmd_sec_caps(void *ctx, struct pmd_sec_cap *caps, int room); /* how many there are */
int pmd_sec_pool_new(
	const char *name, unsigned int sessions, struct rte_mempool **pool, void *ctx);
void pmd_sec_pool_free(struct rte_mempool *pool);
struct pmd_sec_session *pmd_sec_session_new(void);
/* Creates the session and, for ingress, its flow rule; why receives a text of the driver, if it has one. */
int pmd_sec_open(uint16_t port, const struct pmd_standin *standin, void *ctx,
	struct rte_mempool *pool, struct pmd_sec_session *s, char *why, int room);
/* Removes rule and session. The structure stays the caller's to free. */
int pmd_sec_close(uint16_t port, const struct pmd_standin *standin, void *ctx,
	struct pmd_sec_session *s, int *flow_rc);
int pmd_sec_update(void *ctx, struct pmd_sec_session *s);
int pmd_sec_stats(void *ctx, struct pmd_sec_session *s, struct pmd_sec_stats *stats);
void pmd_sec_wipe_key(struct pmd_sec_session *s);
void pmd_sec_session_free(struct pmd_sec_session *s); /* wipes it */

/* Events of a device, from its driver's or stand-in's threads. */
enum { PMD_EVENTS_MAX = 64 };

enum {
	PMD_EVENT_SA_SOFT = 1, /* a soft limit of a session */
	PMD_EVENT_SA_HARD = 2,
	PMD_EVENT_SEQUENCE = 3, /* its sequence numbers are used up */
	PMD_EVENT_RESET = 4,    /* the device wants rte_eth_dev_reset */
	PMD_EVENT_REMOVED = 5,  /* the device is gone */
};

struct pmd_event {
	uint32_t kind;
	uint64_t user_data; /* of the session that it is about */
};

struct pmd_events; /* of one port */

struct pmd_events *pmd_events_new(uint16_t port, struct pmd_standin *standin);
int pmd_events_take(struct pmd_events *events, struct pmd_event *out, int room, uint64_t *lost);
void pmd_events_free(struct pmd_events *events, uint16_t port, struct pmd_standin *standin);

#endif
