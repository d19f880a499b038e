/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_jhash.h>

#define SESSION_MAGIC UINT64_C(0x656d752d73657373)

/* The driver's transmit path tells so many egress SAs apart (ixgbe_rxtx.h: union ixgbe_tx_offload). */
#define DISTINCT_SAS 256

void
emu_breach(struct emu_nic *nic, enum emu_counter kind, const char *format, ...)
{
	va_list args;

	emu_count(nic, EMU_breaches);
	emu_count(nic, kind);
	rte_spinlock_lock(&nic->text_lock);
	if (nic->texts < EMU_TEXTS) {
		va_start(args, format);
		vsnprintf(nic->text[nic->texts++], EMU_TEXT, format, args);
		va_end(args);
	}
	rte_spinlock_unlock(&nic->text_lock);
	if (nic->config.abort)
		abort();
}

/* One control-plane call at a time: the driver's tables have no lock. */
static void
enter(struct emu_nic *nic, const char *call)
{
	if (__atomic_fetch_add(&nic->busy, 1, __ATOMIC_ACQ_REL) != 0)
		emu_breach(nic, EMU_breach_concurrent, "%s while another call was running", call);
	if (nic->faults.slow > 0)
		rte_delay_us_sleep(nic->faults.slow);
	rte_rwlock_write_lock(&nic->lock);
}

static void
leave(struct emu_nic *nic)
{
	rte_rwlock_write_unlock(&nic->lock);
	__atomic_fetch_sub(&nic->busy, 1, __ATOMIC_ACQ_REL);
}

static uint32_t
room(const struct emu_nic *nic, uint32_t size)
{
	uint32_t full = nic->faults.full;

	return full > 0 && full < size ? full : size;
}

void
emu_clear_tables(struct emu_nic *nic)
{
	memset(nic->tx, 0, nic->config.tx_size * sizeof(*nic->tx));
	memset(nic->rx, 0, nic->config.rx_size * sizeof(*nic->rx));
	memset(nic->addresses, 0, nic->config.address_size * sizeof(*nic->addresses));
	memset(nic->contexts, 0, sizeof(nic->contexts));
	nic->lookup_tx = nic->lookup_rx = false;
	nic->rx_top = 0;
}

static uint64_t
hash_key(const uint8_t *key, uint8_t len)
{
	return (uint64_t)rte_jhash(key, len, 1) << 32 | rte_jhash(key, len, 2);
}

/* Copies an SA's terms into a slot of a table. */
static void
program(struct emu_nic *nic, struct emu_sa *sa, struct emu_session *s)
{
	memset(sa, 0, sizeof(*sa));
	sa->used = true;
	sa->generation = s->generation;
	sa->spi = s->spi;
	sa->session = s;
	sa->icv_len = s->icv_len;
	sa->esn = s->esn;
	sa->v6 = s->v6;
	memcpy(sa->dst, s->dst, sizeof(sa->dst));
	if (nic->config.profile == EMU_IXGBE) {
		/* 16 octets, whatever the length says, and the salt behind the key. */
		sa->key_len = 16;
		sa->icv_len = 16;
		sa->esn = false; /* nor is there a place for the high half of a number */
		memcpy(sa->key, s->key, 16);
		memcpy(sa->salt, s->key + s->key_len, 4);
	} else {
		sa->key_len = s->key_len;
		memcpy(sa->key, s->key, s->key_len);
		memcpy(sa->salt, s->salt, 4);
	}
	sa->sequence = s->sequence;
	sa->window_size = s->window_size;
	sa->soft_packets = s->soft_packets;
	sa->hard_packets = s->hard_packets;
	sa->soft_bytes = s->soft_bytes;
	sa->hard_bytes = s->hard_bytes;
	sa->user_data = s->user_data;
}

static int
free_slot(const struct emu_sa *table, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!table[i].used)
			return (int)i;
	return -1;
}

static void
check_same_spi(struct emu_nic *nic, const struct emu_sa *table, uint32_t n, uint32_t spi)
{
	if (nic->config.profile != EMU_IXGBE)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (table[i].used && table[i].spi == spi)
			emu_breach(nic, EMU_breach_same_spi, "a second SA of SPI 0x%08x",
				rte_be_to_cpu_32(spi));
}

static int
add_egress(struct emu_nic *nic, struct emu_session *s)
{
	int i = free_slot(nic->tx, room(nic, nic->config.tx_size));

	if (i < 0)
		return -ENOSPC;
	check_same_spi(nic, nic->tx, nic->config.tx_size, s->spi);
	if (nic->config.profile == EMU_IXGBE && i >= DISTINCT_SAS)
		emu_breach(nic, EMU_breach_index, "egress SA at index %d of %d", i, DISTINCT_SAS);
	program(nic, &nic->tx[i], s);
	s->sa_index = (uint32_t)i;
	s->installed = true;
	nic->lookup_tx = true;
	return 0;
}

/* What the device could not do although its driver lets it be asked. */
static void
check_settings(struct emu_nic *nic, const struct rte_security_session_conf *conf)
{
	const struct rte_crypto_aead_xform *a = &conf->crypto_xform->aead;

	if (nic->config.profile != EMU_IXGBE)
		return;
	if (a->key.length != 16)
		emu_breach(nic, EMU_breach_key, "a key of %u octets", a->key.length);
	if (a->digest_length != 16)
		emu_breach(nic, EMU_breach_settings, "an ICV of %u octets", a->digest_length);
	if (conf->ipsec.options.esn)
		emu_breach(nic, EMU_breach_settings, "ESN");
	if (conf->ipsec.options.udp_encap)
		emu_breach(nic, EMU_breach_settings, "UDP encapsulation");
	if (conf->ipsec.mode != RTE_SECURITY_IPSEC_SA_MODE_TRANSPORT)
		emu_breach(nic, EMU_breach_settings, "tunnel mode");
}

/* What every driver refuses. */
static bool
acceptable(const struct emu_nic *nic, const struct rte_security_session_conf *conf)
{
	enum rte_security_session_action_type action = nic->config.profile == EMU_PACKET ?
		RTE_SECURITY_ACTION_TYPE_INLINE_PROTOCOL : RTE_SECURITY_ACTION_TYPE_INLINE_CRYPTO;
	const struct rte_crypto_sym_xform *x = conf->crypto_xform;

	if (conf->action_type != action || conf->protocol != RTE_SECURITY_PROTOCOL_IPSEC ||
		conf->ipsec.proto != RTE_SECURITY_IPSEC_SA_PROTO_ESP)
		return false;
	if (x == NULL || x->type != RTE_CRYPTO_SYM_XFORM_AEAD ||
		x->aead.algo != RTE_CRYPTO_AEAD_AES_GCM)
		return false;
	if (nic->config.profile == EMU_IXGBE)
		return true; /* nothing else is looked at */
	return (x->aead.key.length == 16 || x->aead.key.length == 24 || x->aead.key.length == 32) &&
		x->aead.digest_length == 16 && !conf->ipsec.options.udp_encap &&
		conf->ipsec.mode == RTE_SECURITY_IPSEC_SA_MODE_TRANSPORT &&
		conf->ipsec.replay_win_sz <= 1024;
}

static int
create(struct emu_nic *nic, struct rte_security_session_conf *conf, struct emu_session *s)
{
	bool egress = conf->ipsec.direction == RTE_SECURITY_IPSEC_SA_DIR_EGRESS;
	const struct rte_crypto_aead_xform *a;

	if (nic->faults.session) {
		emu_count(nic, EMU_faults);
		return -EIO;
	}
	if (!acceptable(nic, conf))
		return -ENOTSUP;
	if (egress ? !(nic->tx_offloads & RTE_ETH_TX_OFFLOAD_SECURITY) :
			   !(nic->rx_offloads & RTE_ETH_RX_OFFLOAD_SECURITY))
		return -ENOTSUP;
	if (!nic->started)
		emu_breach(nic, EMU_breach_order, "a session before the port was started");
	check_settings(nic, conf);
	a = &conf->crypto_xform->aead;
	memset(s, 0, sizeof(*s));
	s->magic = SESSION_MAGIC;
	s->egress = egress;
	s->spi = rte_cpu_to_be_32(conf->ipsec.spi);
	s->key = a->key.data;
	s->key_len = (uint8_t)a->key.length;
	s->icv_len = (uint8_t)a->digest_length;
	s->key_hash = hash_key(s->key, s->key_len + 4);
	memcpy(s->salt, &conf->ipsec.salt, 4);
	s->esn = conf->ipsec.options.esn;
	s->sequence = conf->ipsec.esn.value;
	s->window_size = conf->ipsec.replay_win_sz;
	s->soft_packets = conf->ipsec.life.packets_soft_limit;
	s->hard_packets = conf->ipsec.life.packets_hard_limit;
	s->soft_bytes = conf->ipsec.life.bytes_soft_limit;
	s->hard_bytes = conf->ipsec.life.bytes_hard_limit;
	s->user_data = (uint64_t)(uintptr_t)conf->userdata;
	s->generation = ++nic->generation;
	return egress ? add_egress(nic, s) : 0;
}

static struct emu_session *
session_of(struct rte_security_session *session)
{
	return (struct emu_session *)SECURITY_GET_SESS_PRIV(session);
}

static int
op_create(void *device, struct rte_security_session_conf *conf, struct rte_security_session *session)
{
	struct emu_nic *nic = device;
	int rc;

	enter(nic, "session_create");
	rc = create(nic, conf, session_of(session));
	if (rc == 0) {
		emu_count(nic, EMU_sessions_made);
		emu_count(nic, EMU_sessions);
	} else {
		emu_count(nic, EMU_sessions_refused);
	}
	leave(nic);
	return rc;
}

/*
 * ixgbe's removals find an entry by its SPI alone, the first that ever had it, and
 * write the index register without the bit that enables lookups (ixgbe_ipsec.c:
 * ixgbe_crypto_remove_sa).
 */
static int
remove_ixgbe_egress(struct emu_nic *nic, struct emu_session *s)
{
	for (uint32_t i = 0; i < nic->config.tx_size; i++) {
		if (nic->tx[i].spi != s->spi)
			continue;
		if (nic->tx[i].session != s)
			emu_breach(nic, EMU_breach_removal, "the removal of SPI 0x%08x hit another SA",
				rte_be_to_cpu_32(s->spi));
		memset(nic->tx[i].key, 0, sizeof(nic->tx[i].key));
		memset(nic->tx[i].salt, 0, sizeof(nic->tx[i].salt));
		nic->tx[i].used = false;
		nic->lookup_tx = false;
		return 0;
	}
	emu_breach(nic, EMU_breach_removal, "no egress SA of SPI 0x%08x to be removed",
		rte_be_to_cpu_32(s->spi));
	return -EFAULT;
}

static int
find_address(const struct emu_nic *nic, const uint8_t addr[16])
{
	/* The family is not compared (ixgbe_ipsec.c: CMP_IP). */
	for (uint32_t i = 0; i < nic->config.address_size; i++)
		if (memcmp(nic->addresses[i].addr, addr, 16) == 0)
			return (int)i;
	return -1;
}

static int
remove_ixgbe_ingress(struct emu_nic *nic, struct emu_session *s)
{
	int at = find_address(nic, s->dst);

	for (uint32_t i = 0; at >= 0 && i < nic->config.rx_size; i++) {
		if (nic->rx[i].spi != s->spi)
			continue;
		if (nic->rx[i].session != s)
			emu_breach(nic, EMU_breach_removal, "the removal of SPI 0x%08x hit another SA",
				rte_be_to_cpu_32(s->spi));
		memset(nic->rx[i].key, 0, sizeof(nic->rx[i].key));
		nic->rx[i].used = false;
		nic->addresses[at].refs--;
		nic->lookup_rx = false;
		return 0;
	}
	emu_breach(nic, EMU_breach_removal, "no ingress SA of SPI 0x%08x to be removed",
		rte_be_to_cpu_32(s->spi));
	return -EFAULT;
}

static int
remove_exactly(struct emu_nic *nic, struct emu_session *s)
{
	struct emu_sa *table = s->egress ? nic->tx : nic->rx;

	if (!s->installed || table[s->sa_index].session != s) {
		emu_breach(nic, EMU_breach_removal, "a session that is not in the device");
		return -EFAULT;
	}
	memset(&table[s->sa_index], 0, sizeof(*table));
	return 0;
}

/*
 * A packet that was handed over is fetched from the ring later. One whose SA goes
 * meanwhile leaves in clear text, or under another key; with ixgbe, those of every
 * SA, since lookups go off.
 */
static void
check_drained(struct emu_nic *nic, const struct emu_session *s)
{
	uint64_t last = nic->config.profile == EMU_IXGBE ? nic->last_tx : nic->tx[s->sa_index].last_tx;

	if (s->egress && last != 0 &&
		rte_rdtsc() - last < rte_get_tsc_hz() / 1000000 * nic->config.ring_us)
		emu_breach(nic, EMU_breach_drain, "SPI 0x%08x removed while packets may be in the ring",
			rte_be_to_cpu_32(s->spi));
}

static int
op_destroy(void *device, struct rte_security_session *session)
{
	struct emu_nic *nic = device;
	struct emu_session *s = session_of(session);
	int rc;

	enter(nic, "session_destroy");
	check_drained(nic, s);
	if (nic->faults.destroy) {
		emu_count(nic, EMU_faults);
		rc = -EFAULT;
	} else if (nic->config.profile != EMU_IXGBE) {
		rc = s->egress || s->installed ? remove_exactly(nic, s) : 0;
	} else if (s->egress) {
		rc = remove_ixgbe_egress(nic, s);
	} else {
		rc = remove_ixgbe_ingress(nic, s);
	}
	if (rc == 0)
		s->magic = 0;
	__atomic_fetch_sub(&nic->counters[EMU_sessions], 1, __ATOMIC_RELAXED);
	leave(nic);
	return rc;
}

static unsigned int
op_size(void *device)
{
	return sizeof(struct emu_session);
}

/*
 * The metadata word: ixgbe's has the SA's index, the trailer's length (as the packet's
 * own pad length says now) and a flag; the spare bits hold the session's generation,
 * so that a packet is known whose session has gone. The other profiles' have the high
 * half of the sequence number behind 16 bits of index.
 */
static int
op_metadata(void *device, struct rte_security_session *session, struct rte_mbuf *m, void *params)
{
	struct emu_nic *nic = device;
	struct emu_session *s = session_of(session);
	uint64_t word;

	if (nic->faults.metadata) {
		emu_count(nic, EMU_faults);
		return -EIO;
	}
	if (!s->egress)
		return 0;
	if (s->magic != SESSION_MAGIC) {
		emu_breach(nic, EMU_breach_stale, "metadata of a session that is closed");
		return -EINVAL;
	}
	word = s->sa_index | (uint64_t)s->generation << EMU_WORD_GENERATION;
	if (nic->config.profile == EMU_IXGBE) {
		uint8_t pad = 0;
		if (m->nb_segs == 1 && m->pkt_len >= 18)
			pad = *rte_pktmbuf_mtod_offset(m, uint8_t *, m->pkt_len - 18) + 18;
		word |= (uint64_t)pad << EMU_WORD_PAD;
	} else if (s->esn && params != NULL) {
		word |= (*(uint64_t *)params >> 32) << EMU_WORD_HIGH;
	}
	*rte_security_dynfield(m) = word;
	return 0;
}

static int
op_update(void *device, struct rte_security_session *session, struct rte_security_session_conf *conf)
{
	struct emu_nic *nic = device;
	struct emu_session *s = session_of(session);
	struct emu_sa *sa;

	enter(nic, "session_update");
	if (!s->installed) {
		leave(nic);
		return -EINVAL;
	}
	sa = s->egress ? &nic->tx[s->sa_index] : &nic->rx[s->sa_index];
	sa->soft_packets = conf->ipsec.life.packets_soft_limit;
	sa->hard_packets = conf->ipsec.life.packets_hard_limit;
	sa->soft_bytes = conf->ipsec.life.bytes_soft_limit;
	sa->hard_bytes = conf->ipsec.life.bytes_hard_limit;
	sa->soft_told = sa->hard_told = false;
	leave(nic);
	return 0;
}

static int
op_stats(void *device, struct rte_security_session *session, struct rte_security_stats *stats)
{
	struct emu_nic *nic = device;
	struct emu_session *s = session_of(session);
	const struct emu_sa *sa = s->egress ? &nic->tx[s->sa_index] : &nic->rx[s->sa_index];

	enter(nic, "session_stats_get");
	stats->protocol = RTE_SECURITY_PROTOCOL_IPSEC;
	if (s->egress) {
		stats->ipsec.opackets = sa->packets;
		stats->ipsec.obytes = sa->bytes;
		stats->ipsec.oerrors = sa->errors;
	} else {
		stats->ipsec.ipackets = sa->packets;
		stats->ipsec.ibytes = sa->bytes;
		stats->ipsec.ierrors = sa->errors;
	}
	leave(nic);
	return 0;
}

const struct rte_security_ops emu_ops = {
	.session_create = op_create,
	.session_get_size = op_size,
	.session_destroy = op_destroy,
	.set_pkt_metadata = op_metadata,
	.capabilities_get = emu_capabilities,
};

const struct rte_security_ops emu_packet_ops = {
	.session_create = op_create,
	.session_get_size = op_size,
	.session_destroy = op_destroy,
	.set_pkt_metadata = op_metadata,
	.capabilities_get = emu_capabilities,
	.session_update = op_update,
	.session_stats_get = op_stats,
};

/* The first IP item that has a spec decides; everything else of the pattern is passed over. */
static int
destination(const struct rte_flow_item *item, uint8_t dst[16], bool *v6)
{
	memset(dst, 0, 16);
	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		if (item->type == RTE_FLOW_ITEM_TYPE_IPV4 && item->spec != NULL) {
			const struct rte_flow_item_ipv4 *ip = item->spec;
			memcpy(dst, &ip->hdr.dst_addr, 4);
			*v6 = false;
			return 0;
		}
		if (item->type == RTE_FLOW_ITEM_TYPE_IPV6 && item->spec != NULL) {
			const struct rte_flow_item_ipv6 *ip = item->spec;
			memcpy(dst, &ip->hdr.dst_addr, 16);
			*v6 = true;
			return 0;
		}
	}
	return -EINVAL;
}

static struct rte_security_session *
session_in(const struct emu_nic *nic, const struct rte_flow_action *action)
{
	if (nic->config.conf_is_action)
		return ((const struct rte_flow_action_security *)action->conf)->security_session;
	return (void *)(uintptr_t)action->conf;
}

static int
add_ingress(struct emu_nic *nic, struct emu_session *s)
{
	int at = find_address(nic, s->dst), i;

	if (nic->config.profile == EMU_IXGBE) {
		for (uint32_t k = 0; at < 0 && k < nic->config.address_size; k++)
			if (nic->addresses[k].refs == 0)
				at = (int)k;
		if (at < 0)
			return -ENOSPC;
	}
	i = free_slot(nic->rx, room(nic, nic->config.rx_size));
	if (i < 0)
		return -ENOSPC;
	check_same_spi(nic, nic->rx, nic->config.rx_size, s->spi);
	if (hash_key(s->key, s->key_len + 4) != s->key_hash)
		emu_breach(nic, EMU_breach_key, "the key changed between session and flow");
	program(nic, &nic->rx[i], s);
	if (nic->config.profile == EMU_IXGBE) {
		memcpy(nic->addresses[at].addr, s->dst, 16);
		nic->addresses[at].v6 = s->v6;
		nic->addresses[at].refs++;
		nic->rx[i].ip_index = (uint16_t)at;
	}
	s->sa_index = (uint32_t)i;
	s->installed = true;
	nic->rx_top = RTE_MAX(nic->rx_top, (uint32_t)i + 1);
	nic->lookup_rx = true;
	return 0;
}

/* What rte_flow_create and rte_flow_validate of the driver have in common. */
static int
parse_flow(struct emu_nic *nic, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, const char **why)
{
	struct rte_security_session *session;
	struct emu_session *s;
	int rc;

	while (actions->type == RTE_FLOW_ACTION_TYPE_VOID)
		actions++;
	*why = "SECURITY and END are the only actions";
	if (actions[0].type != RTE_FLOW_ACTION_TYPE_SECURITY ||
		actions[1].type != RTE_FLOW_ACTION_TYPE_END || actions[0].conf == NULL)
		return -EINVAL;
	*why = "ingress rules are not supported";
	if (!nic->config.ingress)
		return -ENOTSUP;
	session = session_in(nic, &actions[0]);
	s = session_of(session);
	*why = "this is no ingress session";
	if (s->magic != SESSION_MAGIC || s->egress) {
		emu_breach(nic, EMU_breach_order, "a flow rule for what is no ingress session");
		return -EINVAL;
	}
	*why = "no IP address to match";
	rc = destination(pattern, s->dst, &s->v6);
	if (rc < 0)
		return rc;
	*why = "the table is full";
	return add_ingress(nic, s);
}

/* A rule has nothing of its own: the SA stays until its session goes. */
struct flow {
	struct emu_nic *nic;
};

struct rte_flow *
emu_flow_create(void *self, const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	struct emu_nic *nic = self;
	struct flow *flow = NULL;
	const char *why = "a fault on demand";
	int rc = -EIO;

	enter(nic, "flow_create");
	if (nic->faults.flow)
		emu_count(nic, EMU_faults);
	else
		rc = parse_flow(nic, pattern, actions, &why);
	/* Up to 24.11.4 ixgbe's result of the table is not looked at (ixgbe_flow.c). */
	if (rc == 0 || (rc == -ENOSPC && !nic->config.full_is_told))
		flow = calloc(1, sizeof(*flow));
	if (flow != NULL) {
		flow->nic = nic;
		emu_count(nic, EMU_flows_made);
	} else {
		rte_flow_error_set(error, -rc, RTE_FLOW_ERROR_TYPE_ACTION, NULL, why);
		rte_errno = -rc;
	}
	leave(nic);
	return (struct rte_flow *)flow;
}

int
emu_flow_destroy(void *self, struct rte_flow *rule, struct rte_flow_error *error)
{
	struct emu_nic *nic = self;
	int rc = 0;

	enter(nic, "flow_destroy");
	if (nic->config.profile == EMU_IXGBE && !nic->config.full_is_told)
		rc = -EINVAL; /* it cannot, and the SA stays in any case */
	free(rule);
	leave(nic);
	return rc;
}

int
emu_flow_validate(struct emu_nic *nic, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	const char *why;
	int rc;

	enter(nic, "flow_validate");
	emu_breach(nic, EMU_breach_validate, "rte_flow_validate with the SECURITY action");
	rc = parse_flow(nic, pattern, actions, &why); /* it installs the SA */
	leave(nic);
	return rc;
}

#endif
