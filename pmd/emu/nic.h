/* SPDX-License-Identifier: BSD-3-Clause */

/* What the parts of the emulated NIC share. doc.go says how it behaves. */
#ifndef EMU_NIC_H
#define EMU_NIC_H

#include "shim.h"

#include <stdbool.h>
#include <string.h>

#include <rte_spinlock.h>

#include "counters.h"
#include "standin.h"

enum emu_profile { EMU_IXGBE, EMU_CRYPTO, EMU_PACKET };

enum {
	EMU_TEXTS = 16,
	EMU_TEXT = 160,
	EMU_QUEUES = 64, /* each way */
	EMU_SLOTS = 16,  /* sets of counters, by lcore */
	EMU_BUCKETS = 4096,
	EMU_WINDOW = 1024, /* packets, at most */
};

/*
 * Faults on demand; 0: off. Calls: EMU_ALWAYS fails each, n the nth from now. Packets:
 * n strikes each nth.
 */
struct emu_faults {
	uint32_t session, flow, destroy, metadata;
	uint32_t full;   /* tables hold so many */
	uint32_t icv;    /* opened packets are called forged */
	uint32_t noflag; /* packets are left alone */
	uint32_t txicv;  /* sealed packets get a wrong ICV */
	uint32_t reset;  /* after n more packets the device stands still and asks for a reset */
	uint32_t slow;   /* control-plane calls take so many microseconds */
};

#define EMU_ALWAYS UINT32_MAX

struct emu_config {
	enum emu_profile profile;
	uint32_t pci_device;
	uint32_t tx_size, rx_size, address_size;
	bool conf_is_action; /* the SECURITY action's argument is struct rte_flow_action_security */
	bool full_is_told;   /* a full table refuses the flow */
	bool ingress;        /* flows are taken at all */
	bool scalar;         /* receive path: every security error is marked */
	bool alias;
	bool crypto_off;
	bool strict;
	bool abort;
	uint32_t ring_us; /* how long a packet may be in the transmit ring */
};

/* Limits of a session, 0: none; in packets and in octets of IP. */
struct emu_limits {
	uint64_t soft_packets, hard_packets, soft_bytes, hard_bytes;
};

/* Which of its limits an SA was told to have reached. */
enum { EMU_TOLD_SOFT_PACKETS = 1, EMU_TOLD_HARD_PACKETS = 2, EMU_TOLD_SOFT_BYTES = 4,
	EMU_TOLD_HARD_BYTES = 8, EMU_TOLD_EXHAUSTED = 16 };

/* An SA in the device. */
struct emu_sa {
	bool used;
	uint16_t generation;
	uint16_t ip_index; /* ixgbe's ingress */
	uint8_t key_len;
	bool esn;
	uint32_t spi;      /* network order */
	int32_t next;      /* ingress: the next of its bucket, by index; -1: none */
	uint8_t dst[16];   /* ingress; IPv4 in its first 4 octets */
	bool v6;
	uint8_t key[32], salt[4];
	struct emu_session *session;
	uint64_t last_tx; /* TSC when the last packet for it was handed over */
	/* of ESN and INLINE_PROTOCOL; several queues may write them */
	rte_spinlock_t lock;
	uint64_t sequence; /* last sent, or highest accepted */
	uint64_t window[EMU_WINDOW / 64];
	uint32_t window_size;
	uint64_t packets, bytes, errors;
	struct emu_limits limits;
	uint32_t told;
	uint64_t user_data;
};

struct emu_address {
	uint8_t addr[16];
	uint16_t refs;
};

/* A session object's private data. */
struct emu_session {
	uint64_t magic;
	bool egress, installed, v6;
	bool asked; /* a flow rule was asked for, and may have been refused */
	uint32_t spi; /* network order */
	uint32_t sa_index;
	uint16_t generation;
	const uint8_t *key; /* ixgbe: the caller's memory, as its driver keeps it; else own */
	uint8_t own[32];
	uint8_t key_len;
	uint64_t key_hash;
	uint8_t salt[4];
	bool esn;
	uint64_t sequence;
	uint32_t window_size;
	struct emu_limits limits;
	uint64_t user_data;
	uint8_t dst[16]; /* of its flow */
};

/* ixgbe's cache of transmit contexts: two a queue. */
struct emu_contexts {
	struct {
		bool valid;
		uint64_t flags;
		uint16_t lengths;
		uint8_t index, pad; /* as many bits as the driver compares */
		uint32_t sa;        /* the index that the context really has */
	} entry[2];
	int last;
};

/*
 * A queue. Its lock is held while it handles a burst; who changes tables holds those of
 * all queues. So the packet path of one queue never waits for that of another.
 */
struct emu_queue {
	rte_spinlock_t lock;
	const struct rte_eth_rxtx_callback *callback;
	uint64_t last_tx; /* TSC when the last packet for any SA was handed over */
	struct emu_contexts contexts;
} __rte_cache_aligned;

struct emu_flow {
	struct emu_flow *next;
	struct emu_session *session; /* NULL: none any more */
};

/* A security context that a reset took away; its memory stays, so that who uses it is caught. */
struct emu_old_context {
	struct rte_security_ctx *ctx;
	struct emu_old_context *next;
};

struct emu_nic {
	struct pmd_standin standin;
	struct rte_security_ctx *ctx;
	struct emu_old_context *old;
	struct emu_config config;
	struct emu_faults faults;
	struct emu_faults seen; /* how often what a fault may strike was there */

	rte_spinlock_t lock; /* of all that follows, together with the queues' */
	struct emu_sa *tx, *rx;
	int32_t bucket[EMU_BUCKETS]; /* of ingress SAs by SPI: the first's index; -1: none */
	struct emu_address *addresses;
	struct emu_flow *flows;
	bool lookup_tx, lookup_rx;
	uint64_t off_until; /* TSC until which both lookups are off; 0: not */
	bool started;
	bool dead; /* written by any queue */
	uint64_t rx_offloads, tx_offloads;
	uint16_t generation;
	uint16_t rx_queues, tx_queues;
	struct emu_queue rxq[EMU_QUEUES], txq[EMU_QUEUES];

	uint32_t busy; /* control-plane calls that are running */
	struct {
		uint64_t n[EMU_COUNTER_MAX]; /* that of model_ns holds TSC cycles */
	} __rte_cache_aligned counters[EMU_SLOTS];
	rte_spinlock_t text_lock;
	int texts;
	char text[EMU_TEXTS][EMU_TEXT];
};

/* Where the parts of a metadata word are. */
enum { EMU_WORD_HIGH = 16, EMU_WORD_PAD = 32, EMU_WORD_GENERATION = 48 };

/* What a received mbuf's metadata word, or one that was used, holds. */
#define EMU_POISON UINT64_C(0xdbdbdbdbdbdbdbdb)

/* report.c: counters, breaches */
void emu_breach(struct emu_nic *nic, enum emu_counter kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
uint64_t emu_total(const struct emu_nic *nic, enum emu_counter counter);

/* faults.c */
bool emu_strikes(struct emu_nic *nic, const uint32_t *fault, uint32_t *seen);
bool emu_every(struct emu_nic *nic, uint32_t n, uint32_t *seen);
void emu_stand_still(struct emu_nic *nic, uint32_t packets);

/* crypt.c: AES-GCM by OpenSSL, in place; aad is 8 or 12 octets. */
int emu_seal(const struct emu_sa *sa, const uint8_t iv[8], const uint8_t *aad, int aad_len,
	uint8_t *text, int len, uint8_t *icv);
int emu_open(const struct emu_sa *sa, const uint8_t iv[8], const uint8_t *aad, int aad_len,
	uint8_t *text, int len, const uint8_t *icv);

/* tx.c, rx.c */
uint16_t emu_tx_callback(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg);
uint16_t emu_rx_callback(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n,
	uint16_t max, void *arg);

/* packet.c: INLINE_PROTOCOL */
enum emu_counter emu_packet_seal(struct emu_nic *nic, struct emu_sa *sa, struct rte_mbuf *m);
void emu_packet_open(struct emu_nic *nic, struct emu_sa *sa, struct rte_mbuf *m, uint32_t l2, uint32_t l3, bool v6);
void emu_packet_refuse(struct emu_sa *sa, struct rte_mbuf *m);
void emu_window_advance(struct emu_sa *sa, uint64_t seq);

/* sessions.c, services.c, flows.c: the device as rte_security and rte_flow see it */
extern const struct rte_security_ops emu_ops, emu_packet_ops, emu_gone_ops;
struct rte_flow *emu_flow_create(void *self, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
int emu_flow_destroy(void *self, struct rte_flow *flow, struct rte_flow_error *error);
int emu_flow_validate(void *self, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, struct rte_flow_error *error);
void emu_flows_forget(struct emu_nic *nic, const struct emu_session *s, bool told);
struct emu_session *emu_session_of(struct rte_security_session *session);
bool emu_session_lives(const struct emu_session *s);

/* services.c */
void emu_take_limits(struct emu_limits *to, const struct rte_security_ipsec_lifetime *from);
int emu_op_update(void *device, struct rte_security_session *session, struct rte_security_session_conf *conf);
int emu_op_stats(void *device, struct rte_security_session *session, struct rte_security_stats *stats);

/* tables.c, remove.c; the nic is locked */
void emu_lock(struct emu_nic *nic);
void emu_unlock(struct emu_nic *nic);
void emu_enter(struct emu_nic *nic, const char *call);
void emu_leave(struct emu_nic *nic);
int emu_add_egress(struct emu_nic *nic, struct emu_session *s);
int emu_add_ingress(struct emu_nic *nic, struct emu_session *s);
void emu_unlink_ingress(struct emu_nic *nic, int32_t i);
int emu_find_address(const struct emu_nic *nic, const uint8_t addr[16]);
int emu_remove(struct emu_nic *nic, struct emu_session *s);
void emu_uninstall(struct emu_nic *nic, struct emu_session *s);
void emu_clear_tables(struct emu_nic *nic);
uint64_t emu_hash_key(const uint8_t *key, uint32_t len);
uint32_t emu_bucket(uint32_t spi);

/* capabilities.c */
const struct rte_security_capability *emu_capabilities(void *device);

#include "inline.h"

#endif
