/* SPDX-License-Identifier: BSD-3-Clause */

/* What the parts of the emulated NIC share. doc.go says how it behaves. */
#ifndef EMU_NIC_H
#define EMU_NIC_H

#include "shim.h"

#include <stdbool.h>
#include <string.h>

#include <rte_rwlock.h>
#include <rte_spinlock.h>

#include "standin.h"

enum emu_profile { EMU_IXGBE, EMU_CRYPTO, EMU_PACKET };

/* Counters, and the kinds of breach of the device's contract among them. */
#define EMU_COUNTERS(X) \
	X(tx_encrypted)      /* packets sealed */ \
	X(tx_plain)          /* packets that asked for nothing */ \
	X(leak_tx)           /* packets that asked to be sealed and left in clear text */ \
	X(bad_tx)            /* packets that left unreadable, because they broke the contract */ \
	X(tx_after_hard)     /* packets that left unreadable: their session had reached a hard limit */ \
	X(rx_opened)         /* packets opened */ \
	X(rx_bad_icv)        \
	X(rx_bad_length)     \
	X(rx_replayed)       \
	X(rx_no_session)     /* ESP that no session matched */ \
	X(rx_unprocessed)    /* ESP of a kind that the device leaves alone */ \
	X(sessions)          /* alive now */ \
	X(sessions_made)     \
	X(sessions_refused)  \
	X(flows_made)        \
	X(faults)            /* times that a fault on demand struck */ \
	X(crypto_off)        /* 1: only each 1,000th packet is really sealed and opened */ \
	X(model_ns)          /* nanoseconds of CPU time that the model itself took on the packet path */ \
	X(breaches)          /* all of the following */ \
	X(breach_metadata)   /* marked, but no metadata was set */ \
	X(breach_stale)      /* metadata of a session that is gone */ \
	X(breach_wrong_sa)   /* the packet's SPI is not its SA's */ \
	X(breach_aliased)    /* the context cache took another SA for it */ \
	X(breach_length)     /* pkt_len does not end at the ICV, or pad length and trailer differ */ \
	X(breach_header)     /* no ESP where l2_len and l3_len say, or options, tags, extensions */ \
	X(breach_flags)      /* offload flags that do not go with sealing, or the IPv4 ones missing */ \
	X(breach_segments)   \
	X(breach_validate)   /* rte_flow_validate with the SECURITY action */ \
	X(breach_same_spi)   /* two SAs of one SPI and direction */ \
	X(breach_index)      /* an egress SA at an index that the driver cannot tell apart */ \
	X(breach_order)      /* sessions before start, alive at stop, or on a context that is gone */ \
	X(breach_key)        /* key memory changed between session and flow, or of a wrong length */ \
	X(breach_settings)   /* an SA that the device cannot do, which its driver would not refuse */ \
	X(breach_removal)    /* a removal that hit another SA, or none */ \
	X(breach_drain)      /* an egress SA removed while packets for it may be in the transmit ring */ \
	X(breach_concurrent) /* two control-plane calls at once */

enum emu_counter {
#define X(name) EMU_##name,
	EMU_COUNTERS(X)
#undef X
	EMU_COUNTER_MAX
};

enum { EMU_TEXTS = 16, EMU_TEXT = 160, EMU_QUEUES = 64 };

/* Faults on demand; 0: off. "every" strikes each so many. */
struct emu_faults {
	uint32_t session; /* every session is refused */
	uint32_t flow;
	uint32_t destroy;  /* every removal fails */
	uint32_t metadata; /* every set_pkt_metadata fails */
	uint32_t full;     /* tables hold so many */
	uint32_t icv;      /* every nth opened packet is called forged */
	uint32_t noflag;   /* every nth packet is left alone */
	uint32_t txicv;    /* every nth sealed packet gets a wrong ICV */
	uint32_t reset;    /* after n more packets the device stands still and asks for a reset */
	uint32_t slow;     /* control-plane calls take so many microseconds */
	uint32_t lookupsoff; /* both lookups off, now */
};

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
	bool abort;
	uint32_t ring_us; /* how long a packet may be in the transmit ring */
};

/* An SA in the device. */
struct emu_sa {
	bool used;
	uint16_t generation;
	uint16_t ip_index; /* ixgbe's ingress */
	uint8_t key_len, icv_len;
	bool esn;
	uint32_t spi;      /* network order */
	uint8_t dst[16];   /* ingress; IPv4 in its first 4 octets */
	bool v6;
	uint8_t key[32], salt[4];
	struct emu_session *session;
	/* of ESN and INLINE_PROTOCOL */
	rte_spinlock_t lock;
	uint64_t sequence; /* last sent, or highest accepted */
	uint64_t window[1024 / 64];
	uint32_t window_size;
	uint64_t last_tx; /* TSC when the last packet for it was handed over */
	uint64_t packets, bytes, errors;
	uint64_t soft_packets, hard_packets, soft_bytes, hard_bytes;
	bool soft_told, hard_told;
	uint64_t user_data;
};

struct emu_address {
	uint8_t addr[16];
	bool v6;
	uint16_t refs;
};

/* A session object's private data. */
struct emu_session {
	uint64_t magic;
	bool egress, installed, v6;
	uint32_t spi; /* network order */
	uint32_t sa_index;
	uint16_t generation;
	const uint8_t *key; /* the caller's memory, as ixgbe keeps it */
	uint8_t key_len, icv_len;
	uint64_t key_hash;
	uint8_t salt[4];
	bool esn;
	uint64_t sequence;
	uint32_t window_size;
	uint64_t soft_packets, hard_packets, soft_bytes, hard_bytes;
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

struct emu_nic {
	struct pmd_standin standin;
	struct rte_security_ctx *ctx;
	struct emu_config config;
	struct emu_faults faults;

	rte_rwlock_t lock; /* the packet path reads, the control plane writes */
	struct emu_sa *tx, *rx;
	uint32_t rx_top; /* no ingress SA at or above it */
	struct emu_address *addresses;
	bool lookup_tx, lookup_rx;
	bool started, dead;
	uint64_t last_tx; /* TSC when the last packet for any SA was handed over */
	uint64_t rx_offloads, tx_offloads;
	uint16_t generation;
	uint16_t rx_queues, tx_queues;
	const struct rte_eth_rxtx_callback *rx_callback[EMU_QUEUES], *tx_callback[EMU_QUEUES];
	struct emu_contexts contexts[EMU_QUEUES];

	uint64_t counters[EMU_COUNTER_MAX]; /* that of model_ns holds TSC cycles */
	uint32_t busy; /* control-plane calls that are running */
	uint32_t icv_seen, noflag_seen, txicv_seen, reset_seen;
	rte_spinlock_t text_lock;
	int texts;
	char text[EMU_TEXTS][EMU_TEXT];
};

/* Where the parts of a metadata word are. */
enum { EMU_WORD_HIGH = 16, EMU_WORD_PAD = 32, EMU_WORD_GENERATION = 48 };

/* What a received mbuf's metadata word, or one that was used, holds. */
#define EMU_POISON UINT64_C(0xdbdbdbdbdbdbdbdb)

static inline void
emu_add(struct emu_nic *nic, enum emu_counter counter, uint32_t n)
{
	if (n > 0)
		__atomic_fetch_add(&nic->counters[counter], n, __ATOMIC_RELAXED);
}

/* The model's own time since begin; not that of a thread that was stopped meanwhile. */
static inline void
emu_took(struct emu_nic *nic, uint64_t begin)
{
	uint64_t cycles = rte_rdtsc() - begin;

	if (cycles < 1000000)
		emu_add(nic, EMU_model_ns, (uint32_t)cycles);
}

static inline void
emu_count(struct emu_nic *nic, enum emu_counter counter)
{
	__atomic_fetch_add(&nic->counters[counter], 1, __ATOMIC_RELAXED);
}

void emu_breach(struct emu_nic *nic, enum emu_counter kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* every: whether a fault that strikes every nth time strikes now. */
static inline bool
emu_every(struct emu_nic *nic, uint32_t n, uint32_t *seen)
{
	if (n == 0 || __atomic_add_fetch(seen, 1, __ATOMIC_RELAXED) % n != 0)
		return false;
	emu_count(nic, EMU_faults);
	return true;
}

/* crypt.c: AES-GCM by OpenSSL, in place; aad is 8 or 12 octets. */
int emu_seal(const struct emu_sa *sa, const uint8_t iv[8], const uint8_t *aad, int aad_len,
	uint8_t *text, int len, uint8_t *icv);
int emu_open(const struct emu_sa *sa, const uint8_t iv[8], const uint8_t *aad, int aad_len,
	uint8_t *text, int len, const uint8_t *icv);

/* tx.c, rx.c */
uint16_t emu_tx_callback(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg);
uint16_t emu_rx_callback(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n,
	uint16_t max, void *arg);

void emu_ipv4_checksum(uint8_t *ip, uint32_t header_len);
bool emu_header(const struct emu_nic *nic, const struct rte_mbuf *m, uint32_t *l2, uint32_t *l3, bool *v6);

/* packet.c: INLINE_PROTOCOL */
bool emu_packet_seal(struct emu_nic *nic, struct emu_sa *sa, struct rte_mbuf *m, uint32_t l2, uint32_t l3, bool v6);
void emu_packet_open(struct emu_nic *nic, struct emu_sa *sa, struct rte_mbuf *m, uint32_t l2, uint32_t l3, bool v6);

/* sessions.c */
extern const struct rte_security_ops emu_ops, emu_packet_ops;
struct rte_flow *emu_flow_create(void *self, const struct rte_flow_attr *attr,
	const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct rte_flow_error *error);
int emu_flow_destroy(void *self, struct rte_flow *flow, struct rte_flow_error *error);
int emu_flow_validate(struct emu_nic *nic, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, struct rte_flow_error *error);
void emu_clear_tables(struct emu_nic *nic);

/* capabilities.c */
const struct rte_security_capability *emu_capabilities(void *device);

#endif
