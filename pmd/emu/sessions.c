/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#define SESSION_MAGIC UINT64_C(0x656d752d73657373)

struct emu_session *
emu_session_of(struct rte_security_session *session)
{
	return (struct emu_session *)SECURITY_GET_SESS_PRIV(session);
}

bool
emu_session_lives(const struct emu_session *s)
{
	return s->magic == SESSION_MAGIC;
}

/* What the device could not do although its driver lets it be asked. */
static void
check_settings(struct emu_nic *nic, const struct rte_security_session_conf *conf)
{
	const struct rte_crypto_aead_xform *a = &conf->crypto_xform->aead;

	if (nic->config.profile != EMU_IXGBE)
		return;
	if (conf->action_type != RTE_SECURITY_ACTION_TYPE_INLINE_CRYPTO)
		emu_breach(nic, EMU_breach_settings, "an action that is not inline crypto");
	if (conf->protocol != RTE_SECURITY_PROTOCOL_IPSEC || conf->ipsec.proto != RTE_SECURITY_IPSEC_SA_PROTO_ESP)
		emu_breach(nic, EMU_breach_settings, "a protocol that is not ESP");
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

/* Whether the driver takes it: ixgbe's looks at the algorithm only, the others' at all. */
static bool
acceptable(const struct emu_nic *nic, const struct rte_security_session_conf *conf)
{
	enum rte_security_session_action_type action = nic->config.profile == EMU_PACKET ?
		RTE_SECURITY_ACTION_TYPE_INLINE_PROTOCOL : RTE_SECURITY_ACTION_TYPE_INLINE_CRYPTO;
	const struct rte_crypto_sym_xform *x = conf->crypto_xform;

	if (nic->config.profile != EMU_IXGBE &&
		(conf->action_type != action || conf->protocol != RTE_SECURITY_PROTOCOL_IPSEC ||
			conf->ipsec.proto != RTE_SECURITY_IPSEC_SA_PROTO_ESP))
		return false;
	if (x == NULL || x->type != RTE_CRYPTO_SYM_XFORM_AEAD ||
		x->aead.algo != RTE_CRYPTO_AEAD_AES_GCM)
		return false;
	if (nic->config.profile == EMU_IXGBE)
		return x->aead.key.length <= 32; /* longer ones do not exist */
	return (x->aead.key.length == 16 || x->aead.key.length == 24 || x->aead.key.length == 32) &&
		x->aead.digest_length == 16 && !conf->ipsec.options.udp_encap &&
		conf->ipsec.mode == RTE_SECURITY_IPSEC_SA_MODE_TRANSPORT &&
		conf->ipsec.replay_win_sz <= EMU_WINDOW;
}

/* The key: for ixgbe a pointer into the caller's memory, and the salt behind it, now; otherwise a copy. */
static void
take_key(const struct emu_nic *nic, struct emu_session *s, const struct rte_security_session_conf *conf)
{
	const struct rte_crypto_aead_xform *a = &conf->crypto_xform->aead;

	s->key_len = (uint8_t)a->key.length;
	if (nic->config.profile == EMU_IXGBE) {
		s->key = a->key.data;
		s->key_hash = emu_hash_key(s->key, s->key_len + 4);
		memcpy(s->salt, s->key + s->key_len, 4);
		return;
	}
	memcpy(s->own, a->key.data, s->key_len);
	s->key = s->own;
	memcpy(s->salt, &conf->ipsec.salt, 4);
}

static int
create(struct emu_nic *nic, struct rte_security_session_conf *conf, struct emu_session *s)
{
	bool egress = conf->ipsec.direction == RTE_SECURITY_IPSEC_SA_DIR_EGRESS;

	if (emu_strikes(nic, &nic->faults.session, &nic->seen.session))
		return -EIO;
	if (!acceptable(nic, conf))
		return -ENOTSUP;
	if (egress ? !(nic->tx_offloads & RTE_ETH_TX_OFFLOAD_SECURITY) :
			   !(nic->rx_offloads & RTE_ETH_RX_OFFLOAD_SECURITY))
		return -ENOTSUP;
	if (!nic->started)
		emu_breach(nic, EMU_breach_order, "a session before the port was started");
	check_settings(nic, conf);
	memset(s, 0, sizeof(*s));
	s->magic = SESSION_MAGIC;
	s->egress = egress;
	s->spi = rte_cpu_to_be_32(conf->ipsec.spi);
	take_key(nic, s, conf);
	s->esn = conf->ipsec.options.esn;
	s->sequence = conf->ipsec.esn.value;
	s->window_size = conf->ipsec.replay_win_sz;
	emu_take_limits(&s->limits, &conf->ipsec.life);
	s->user_data = (uint64_t)(uintptr_t)conf->userdata;
	if (++nic->generation == 0) /* the metadata word of a new buffer is zero */
		nic->generation = 1;
	s->generation = nic->generation;
	return egress ? emu_add_egress(nic, s) : 0;
}

static int
op_create(void *device, struct rte_security_session_conf *conf, struct rte_security_session *session)
{
	struct emu_nic *nic = device;
	int rc;

	emu_enter(nic, "session_create");
	rc = create(nic, conf, emu_session_of(session));
	emu_count(nic, rc == 0 ? EMU_sessions_made : EMU_sessions_refused);
	emu_add(nic, EMU_sessions, rc == 0);
	emu_leave(nic);
	return rc;
}

/*
 * A packet that was handed over is fetched from the ring later. One whose SA goes
 * meanwhile leaves in clear text, or under another key; with ixgbe, those of every
 * SA, since lookups go off.
 */
static void
check_drained(struct emu_nic *nic, const struct emu_session *s)
{
	uint64_t last = 0;

	if (!s->egress)
		return;
	if (nic->config.profile == EMU_IXGBE) {
		for (int q = 0; q < EMU_QUEUES; q++)
			last = RTE_MAX(last, nic->txq[q].last_tx);
	} else if (s->installed) {
		last = nic->tx[s->sa_index].last_tx;
	}
	if (last != 0 && rte_rdtsc() - last < rte_get_tsc_hz() / 1000000 * nic->config.ring_us)
		emu_breach(nic, EMU_breach_drain, "SPI 0x%08x removed while packets may be in the ring",
			rte_be_to_cpu_32(s->spi));
}

static int
destroy(struct emu_nic *nic, struct emu_session *s)
{
	if (!emu_session_lives(s)) {
		emu_breach(nic, EMU_breach_removal, "a session that is closed");
		return -EINVAL;
	}
	check_drained(nic, s);
	emu_flows_forget(nic, s, nic->config.profile != EMU_IXGBE);
	emu_add(nic, EMU_sessions, -(uint64_t)1); /* found or not, its owner has let it go */
	if (emu_strikes(nic, &nic->faults.destroy, &nic->seen.destroy))
		return -EFAULT;
	return emu_remove(nic, s);
}

static int
op_destroy(void *device, struct rte_security_session *session)
{
	struct emu_nic *nic = device;
	struct emu_session *s = emu_session_of(session);
	int rc;

	emu_enter(nic, "session_destroy");
	rc = destroy(nic, s);
	if (rc == 0)
		explicit_bzero(s, sizeof(*s)); /* the key, and what says that it lives */
	emu_leave(nic);
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
	struct emu_session *s = emu_session_of(session);
	uint64_t word;

	if (emu_strikes(nic, &nic->faults.metadata, &nic->seen.metadata))
		return -EIO;
	if (!emu_session_lives(s)) {
		emu_breach(nic, EMU_breach_stale, "metadata of a session that is closed");
		return -EINVAL;
	}
	if (!s->egress)
		return 0;
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
	.session_update = emu_op_update,
	.session_stats_get = emu_op_stats,
};

#endif
