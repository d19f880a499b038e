/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sessions, rules and marks as package pmd would never ask for them. They go by
 * rte_security and rte_flow, or the stand-in's functions, alone, so they know no more
 * than a caller.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PROBE_KEY = 64,
	PROBE_ITEMS = 8,

	PROBE_AES_GCM = 0, /* transforms */
	PROBE_CHACHA20,
	PROBE_CIPHER, /* AES-CBC without AEAD */
	PROBE_NO_TRANSFORM,

	PROBE_ETH = 0, /* items */
	PROBE_IPV4,
	PROBE_IPV6,
	PROBE_ESP,

	PROBE_SECURITY = 0, /* actions; END follows the last */
	PROBE_VOID,
	PROBE_DROP,

	PROBE_SESSION = 0, /* arguments of the action */
	PROBE_STRUCTURE,
	PROBE_NOTHING,
};

struct probe_conf {
	bool protocol; /* INLINE_PROTOCOL; else INLINE_CRYPTO */
	bool tunnel, ah, egress, esn, udp;
	uint8_t transform;
	uint16_t key_len, icv_len;
	uint32_t spi, window;
	uint64_t sequence, user_data;
	uint8_t salt[4];            /* ipsec.salt */
	uint8_t key[PROBE_KEY]; /* and what stands behind it */
};

struct probe_item {
	uint8_t type;
	bool spec;
	uint8_t dst[16];
};

struct probe_rule {
	struct probe_item items[PROBE_ITEMS];
	uint8_t actions[PROBE_ITEMS];
	int item_count, action_count, argument;
};

/* A port: a driver's own, or one with a stand-in. */
struct probe_device {
	uint16_t port;
	void *standin;  /* struct pmd_standin *, NULL: none */
	void *validate; /* rte_flow_validate of the stand-in's, with its self in place of the port */
};

struct probe_session;

void *probe_pool(const struct probe_device *d, const char *name, unsigned int sessions);
void probe_pool_free(void *pool);

/* NULL where the device refuses it. Its key stays where it is until probe_forget. */
struct probe_session *probe_open(
	const struct probe_device *d, void *pool, const struct probe_conf *conf);
uint8_t *probe_key(struct probe_session *s);
int probe_close(struct probe_session *s); /* may be called again, and after a reset */
void probe_forget(struct probe_session *s);
int probe_metadata(struct probe_session *s, void *mbuf, uint64_t sequence);

/* A rule for s; NULL and a negative errno where it is refused. */
void *probe_flow(const struct probe_device *d, struct probe_session *s,
	const struct probe_rule *rule, int *rc);
int probe_flow_destroy(const struct probe_device *d, void *flow);
int probe_validate(const struct probe_device *d, struct probe_session *s,
	const struct probe_rule *rule);

void probe_mark(void *mbuf, uint64_t flags, uint32_t l2, uint32_t l3);
uint64_t probe_word(void *mbuf);
void probe_set_word(void *mbuf, uint64_t word);
void probe_hold(void *mbuf); /* one user more */
int probe_chain(void *head, void *tail);

#endif
