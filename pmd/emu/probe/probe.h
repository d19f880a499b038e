/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Helpers of this package's tests, which cannot use cgo themselves: sessions, rules and
 * marks as package pmd would never ask for them. Nothing else calls them. They go by
 * rte_security and the stand-in's functions alone, so they know no more than a caller.
 */
#ifndef EMU_PROBE_H
#define EMU_PROBE_H

#include <stdbool.h>
#include <stdint.h>

struct emu_nic;

enum {
	EMU_PROBE_KEY = 64,
	EMU_PROBE_ITEMS = 8,

	EMU_PROBE_AES_GCM = 0, /* transforms */
	EMU_PROBE_CHACHA20,
	EMU_PROBE_CIPHER, /* AES-CBC without AEAD */
	EMU_PROBE_NO_TRANSFORM,

	EMU_PROBE_ETH = 0, /* items */
	EMU_PROBE_IPV4,
	EMU_PROBE_IPV6,
	EMU_PROBE_ESP,

	EMU_PROBE_SECURITY = 0, /* actions; END follows the last */
	EMU_PROBE_VOID,
	EMU_PROBE_DROP,

	EMU_PROBE_SESSION = 0, /* arguments of the action */
	EMU_PROBE_STRUCTURE,
	EMU_PROBE_NOTHING,
};

struct emu_probe_conf {
	bool protocol; /* INLINE_PROTOCOL; else INLINE_CRYPTO */
	bool tunnel, ah, egress, esn, udp;
	uint8_t transform;
	uint16_t key_len, icv_len;
	uint32_t spi, window;
	uint64_t sequence, user_data;
	uint8_t salt[4];            /* ipsec.salt */
	uint8_t key[EMU_PROBE_KEY]; /* and what stands behind it */
};

struct emu_probe_item {
	uint8_t type;
	bool spec;
	uint8_t dst[16];
};

struct emu_probe_rule {
	struct emu_probe_item items[EMU_PROBE_ITEMS];
	uint8_t actions[EMU_PROBE_ITEMS];
	int item_count, action_count, argument;
};

struct emu_probe_session;

void *emu_probe_pool(struct emu_nic *nic, const char *name);
void emu_probe_pool_free(void *pool);

/* NULL where the device refuses it. Its key stays where it is until emu_probe_forget. */
struct emu_probe_session *emu_probe_open(
	struct emu_nic *nic, void *pool, const struct emu_probe_conf *conf);
uint8_t *emu_probe_key(struct emu_probe_session *s);
int emu_probe_close(struct emu_probe_session *s); /* may be called again, and after a reset */
void emu_probe_forget(struct emu_probe_session *s);
int emu_probe_metadata(struct emu_probe_session *s, void *mbuf, uint64_t sequence);

/* A rule for s; NULL and a negative errno where it is refused. */
void *emu_probe_flow(struct emu_nic *nic, struct emu_probe_session *s,
	const struct emu_probe_rule *rule, int *rc);
int emu_probe_flow_destroy(struct emu_nic *nic, void *flow);
int emu_probe_validate(struct emu_nic *nic, struct emu_probe_session *s,
	const struct emu_probe_rule *rule);

void emu_probe_mark(void *mbuf, uint64_t flags, uint32_t l2, uint32_t l3);
uint64_t emu_probe_word(void *mbuf);
void emu_probe_set_word(void *mbuf, uint64_t word);
void emu_probe_hold(void *mbuf); /* one user more */
int emu_probe_chain(void *head, void *tail);

#endif
