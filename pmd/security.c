/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "security.h"
#include "standin.h"

void *
pmd_sec_ctx(uint16_t port, const struct pmd_standin *standin)
{
	return standin != NULL ? standin->ctx : rte_eth_dev_get_sec_ctx(port);
}

uint64_t
pmd_sec_ctx_flags(void *ctx)
{
	return pmd_shim_ctx_flags(ctx);
}

static struct pmd_sec_range
range(const struct rte_crypto_param_range *r)
{
	return (struct pmd_sec_range){ r->min, r->max, r->increment };
}

static void
read_aeads(struct pmd_sec_cap *to, const struct rte_cryptodev_capabilities *from)
{
	for (; from != NULL && from->op != RTE_CRYPTO_OP_TYPE_UNDEFINED; from++) {
		if (from->op != RTE_CRYPTO_OP_TYPE_SYMMETRIC ||
			from->sym.xform_type != RTE_CRYPTO_SYM_XFORM_AEAD ||
			to->aead_count == PMD_SEC_AEADS_MAX)
			continue;
		struct pmd_sec_aead *a = &to->aeads[to->aead_count++];
		a->algorithm = PMD_AEAD_OTHER;
		if (from->sym.aead.algo == RTE_CRYPTO_AEAD_AES_GCM)
			a->algorithm = PMD_AEAD_AES_GCM;
		else if (from->sym.aead.algo == RTE_CRYPTO_AEAD_CHACHA20_POLY1305)
			a->algorithm = PMD_AEAD_CHACHA20_POLY1305;
		a->key = range(&from->sym.aead.key_size);
		a->icv = range(&from->sym.aead.digest_size);
		a->aad = range(&from->sym.aead.aad_size);
		a->iv = range(&from->sym.aead.iv_size);
	}
}

int
pmd_sec_caps(void *ctx, struct pmd_sec_cap *caps, int room)
{
	const struct rte_security_capability *c = rte_security_capabilities_get(ctx);
	int n = 0;

	for (; c != NULL && c->action != RTE_SECURITY_ACTION_TYPE_NONE; c++, n++) {
		if (n >= room)
			continue;
		struct pmd_sec_cap *to = &caps[n];
		memset(to, 0, sizeof(*to));
		if (c->action == RTE_SECURITY_ACTION_TYPE_INLINE_CRYPTO)
			to->action = PMD_SEC_INLINE_CRYPTO;
		else if (c->action == RTE_SECURITY_ACTION_TYPE_INLINE_PROTOCOL)
			to->action = PMD_SEC_INLINE_PROTOCOL;
		if (c->protocol != RTE_SECURITY_PROTOCOL_IPSEC)
			continue;
		to->esp = c->ipsec.proto == RTE_SECURITY_IPSEC_SA_PROTO_ESP;
		to->transport = c->ipsec.mode == RTE_SECURITY_IPSEC_SA_MODE_TRANSPORT;
		to->egress = c->ipsec.direction == RTE_SECURITY_IPSEC_SA_DIR_EGRESS;
		to->esn = c->ipsec.options.esn;
		to->udp_encap = c->ipsec.options.udp_encap;
		to->stats = c->ipsec.options.stats;
		to->replay_max = c->ipsec.replay_win_sz_max;
		to->metadata = (c->ol_flags & RTE_SECURITY_TX_OLOAD_NEED_MDATA) != 0;
		read_aeads(to, c->crypto_capabilities);
	}
	return n;
}

int
pmd_sec_pool_new(const char *name, unsigned int sessions, struct rte_mempool **pool, void *ctx)
{
	rte_errno = 0;
	*pool = rte_mempool_create(name, sessions, rte_security_session_get_size(ctx), 0, 0, NULL,
		NULL, NULL, NULL, SOCKET_ID_ANY, 0);
	return *pool != NULL ? 0 : pmd_failed(-1);
}

void
pmd_sec_pool_free(struct rte_mempool *pool)
{
	rte_mempool_free(pool);
}

struct pmd_sec_session *
pmd_sec_session_new(void)
{
	struct pmd_sec_session *s = aligned_alloc(RTE_CACHE_LINE_SIZE,
		RTE_ALIGN_CEIL(sizeof(struct pmd_sec_session), (size_t)RTE_CACHE_LINE_SIZE));

	if (s != NULL)
		memset(s, 0, sizeof(*s));
	return s;
}

void
pmd_sec_wipe_key(struct pmd_sec_session *s)
{
	explicit_bzero(s->conf.key, sizeof(s->conf.key));
}

void
pmd_sec_session_free(struct pmd_sec_session *s)
{
	pmd_sec_wipe_key(s);
	free(s);
}

/* The terms of rte_security. The crypto transform points to the key in s. */
static void
terms(struct pmd_sec_session *s, struct rte_security_session_conf *conf,
	struct rte_crypto_sym_xform *xform)
{
	struct pmd_sec_conf *c = &s->conf;

	memset(conf, 0, sizeof(*conf));
	memset(xform, 0, sizeof(*xform));
	xform->type = RTE_CRYPTO_SYM_XFORM_AEAD;
	xform->aead.op =
		c->egress ? RTE_CRYPTO_AEAD_OP_ENCRYPT : RTE_CRYPTO_AEAD_OP_DECRYPT;
	xform->aead.algo = c->algorithm == PMD_AEAD_AES_GCM ?
		RTE_CRYPTO_AEAD_AES_GCM : RTE_CRYPTO_AEAD_CHACHA20_POLY1305;
	xform->aead.key.data = c->key;
	xform->aead.key.length = c->key_len;
	xform->aead.digest_length = c->icv_len;
	xform->aead.aad_length = c->esn ? 12 : 8;
	xform->aead.iv.length = 12;

	conf->action_type = c->action == PMD_SEC_INLINE_PROTOCOL ?
		RTE_SECURITY_ACTION_TYPE_INLINE_PROTOCOL : RTE_SECURITY_ACTION_TYPE_INLINE_CRYPTO;
	conf->protocol = RTE_SECURITY_PROTOCOL_IPSEC;
	conf->crypto_xform = xform;
	conf->userdata = (void *)(uintptr_t)c->user_data;
	conf->ipsec.spi = c->spi;
	/* ixgbe takes the salt from behind the key, iavf and others from here. */
	memcpy(&conf->ipsec.salt, &c->key[c->key_len], PMD_SEC_SALT);
	conf->ipsec.options.esn = c->esn;
	conf->ipsec.options.stats = c->stats;
	conf->ipsec.options.udp_encap = c->udp_encap;
	conf->ipsec.udp.sport = c->udp_src;
	conf->ipsec.udp.dport = c->udp_dst;
	conf->ipsec.direction = c->egress ?
		RTE_SECURITY_IPSEC_SA_DIR_EGRESS : RTE_SECURITY_IPSEC_SA_DIR_INGRESS;
	conf->ipsec.proto = RTE_SECURITY_IPSEC_SA_PROTO_ESP;
	conf->ipsec.mode = RTE_SECURITY_IPSEC_SA_MODE_TRANSPORT;
	conf->ipsec.replay_win_sz = c->replay_window;
	conf->ipsec.esn.value = c->sequence;
	conf->ipsec.life.packets_soft_limit = c->soft_packets;
	conf->ipsec.life.packets_hard_limit = c->hard_packets;
	conf->ipsec.life.bytes_soft_limit = c->soft_bytes;
	conf->ipsec.life.bytes_hard_limit = c->hard_bytes;
}

/*
 * The rule that steers a session's packets to the device's IPsec engine: exact
 * addresses, UDP ports where ESP is in UDP, and the SPI. Drivers look at
 * different parts of it; ixgbe only at the destination (ixgbe_flow.c:
 * ntuple_filter_to_5tuple's security branch).
 */
struct rule {
	struct rte_flow_attr attr;
	struct rte_flow_item pattern[5];
	struct rte_flow_action actions[2];
	struct rte_flow_item_ipv4 ip4, ip4_mask;
	struct rte_flow_item_ipv6 ip6, ip6_mask;
	struct rte_flow_item_udp udp, udp_mask;
	struct rte_flow_item_esp esp, esp_mask;
};

static void
add_item(struct rule *r, int *n, enum rte_flow_item_type type, const void *spec, const void *mask)
{
	r->pattern[(*n)++] = (struct rte_flow_item){ .type = type, .spec = spec, .mask = mask };
}

static void
make_rule(struct rule *r, const struct pmd_sec_session *s)
{
	const struct pmd_sec_conf *c = &s->conf;
	int n = 0;

	memset(r, 0, sizeof(*r));
	r->attr.ingress = 1;
	add_item(r, &n, RTE_FLOW_ITEM_TYPE_ETH, NULL, NULL);
	if (c->v6) {
		/* The type of the address is another from 24.11 on; its 16 octets are not. */
		memcpy(&r->ip6.hdr.src_addr, c->src, 16);
		memcpy(&r->ip6.hdr.dst_addr, c->dst, 16);
		memset(&r->ip6_mask.hdr.src_addr, 0xff, 16);
		memset(&r->ip6_mask.hdr.dst_addr, 0xff, 16);
		add_item(r, &n, RTE_FLOW_ITEM_TYPE_IPV6, &r->ip6, &r->ip6_mask);
	} else {
		memcpy(&r->ip4.hdr.src_addr, c->src, 4);
		memcpy(&r->ip4.hdr.dst_addr, c->dst, 4);
		r->ip4_mask.hdr.src_addr = r->ip4_mask.hdr.dst_addr = UINT32_MAX;
		add_item(r, &n, RTE_FLOW_ITEM_TYPE_IPV4, &r->ip4, &r->ip4_mask);
	}
	if (c->udp_encap) {
		r->udp.hdr.src_port = rte_cpu_to_be_16(c->udp_src);
		r->udp.hdr.dst_port = rte_cpu_to_be_16(c->udp_dst);
		r->udp_mask.hdr.src_port = r->udp_mask.hdr.dst_port = UINT16_MAX;
		add_item(r, &n, RTE_FLOW_ITEM_TYPE_UDP, &r->udp, &r->udp_mask);
	}
	r->esp.hdr.spi = rte_cpu_to_be_32(c->spi);
	r->esp_mask.hdr.spi = UINT32_MAX;
	add_item(r, &n, RTE_FLOW_ITEM_TYPE_ESP, &r->esp, &r->esp_mask);
	add_item(r, &n, RTE_FLOW_ITEM_TYPE_END, NULL, NULL);
	/*
	 * Some releases of a driver take the action's argument for the session itself,
	 * others for a struct rte_flow_action_security, whose only word points to the
	 * session. The first word of a session is its opaque data, in which pmd_sec_open
	 * put the session's own address: so the session serves as both.
	 */
	RTE_BUILD_BUG_ON(offsetof(struct rte_flow_action_security, security_session) != 0);
	r->actions[0].type = RTE_FLOW_ACTION_TYPE_SECURITY;
	r->actions[0].conf = s->session;
	r->actions[1].type = RTE_FLOW_ACTION_TYPE_END;
}

static int
flow_error(int rc, const struct rte_flow_error *error, char *why, int room)
{
	snprintf(why, room, "%s", error->message != NULL ? error->message : "");
	return rc < 0 ? rc : -EIO;
}

/* Never asks rte_flow_validate first: on ixgbe that installs the SA, too. */
static int
open_rule(uint16_t port, const struct pmd_standin *standin, struct pmd_sec_session *s, char *why,
	int room)
{
	struct rte_flow_error error = { 0 };
	struct rule r;

	make_rule(&r, s);
	rte_errno = 0;
	if (standin != NULL)
		s->flow = standin->flow_create(
			standin->self, &r.attr, r.pattern, r.actions, &error);
	else
		s->flow = rte_flow_create(port, &r.attr, r.pattern, r.actions, &error);
	if (s->flow != NULL)
		return 0;
	return flow_error(-rte_errno, &error, why, room);
}

int
pmd_sec_open(uint16_t port, const struct pmd_standin *standin, void *ctx, struct rte_mempool *pool,
	struct pmd_sec_session *s, char *why, int room)
{
	struct rte_security_session_conf conf;
	struct rte_crypto_sym_xform xform;
	int rc;

	why[0] = '\0';
	terms(s, &conf, &xform);
	rte_errno = 0;
	s->session = rte_security_session_create(ctx, &conf, pool);
	if (s->session == NULL) /* without a reason: most drivers set none */
		return rte_errno > 0 ? -rte_errno : -EIO;
	rte_security_session_opaque_data_set(s->session, (uint64_t)(uintptr_t)s->session);
	if (s->conf.egress)
		return 0;
	rc = open_rule(port, standin, s, why, room);
	if (rc < 0) {
		/* ixgbe does not find a session without a rule, and then keeps its memory. */
		rte_security_session_destroy(ctx, s->session);
		s->session = NULL;
	}
	return rc;
}

int
pmd_sec_close(uint16_t port, const struct pmd_standin *standin, void *ctx,
	struct pmd_sec_session *s, int *flow_rc)
{
	struct rte_flow_error error = { 0 };
	int rc = 0;

	*flow_rc = 0;
	if (s->flow != NULL) {
		*flow_rc = standin != NULL ?
			standin->flow_destroy(standin->self, s->flow, &error) :
			rte_flow_destroy(port, s->flow, &error);
		s->flow = NULL;
	}
	if (s->session != NULL) {
		rc = rte_security_session_destroy(ctx, s->session);
		s->session = NULL;
	}
	return rc;
}

int
pmd_sec_update(void *ctx, struct pmd_sec_session *s)
{
	struct rte_security_session_conf conf;
	struct rte_crypto_sym_xform xform;

	terms(s, &conf, &xform);
	return rte_security_session_update(ctx, s->session, &conf);
}

int
pmd_sec_stats(void *ctx, struct pmd_sec_session *s, struct pmd_sec_stats *stats)
{
	struct rte_security_stats now;
	int rc;

	memset(&now, 0, sizeof(now));
	rc = rte_security_session_stats_get(ctx, s->session, &now);
	if (rc < 0)
		return rc;
	stats->in_packets = now.ipsec.ipackets;
	stats->out_packets = now.ipsec.opackets;
	stats->in_bytes = now.ipsec.ibytes;
	stats->out_bytes = now.ipsec.obytes;
	stats->in_errors = now.ipsec.ierrors;
	stats->out_errors = now.ipsec.oerrors;
	return 0;
}
