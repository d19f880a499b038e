/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "standin.h"

struct probe_session {
	void *ctx, *session;
	struct probe_conf conf;
};

/* As rte_flow_validate, for a stand-in's device. */
typedef int (*validate_fn)(void *self, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, struct rte_flow_error *error);

static void *
context_of(const struct probe_device *d)
{
	return d->standin != NULL ? ((struct pmd_standin *)d->standin)->ctx :
				    rte_eth_dev_get_sec_ctx(d->port);
}

void *
probe_pool(const struct probe_device *d, const char *name, unsigned int sessions)
{
	return rte_mempool_create(name, sessions, rte_security_session_get_size(context_of(d)), 0,
		0, NULL, NULL, NULL, NULL, SOCKET_ID_ANY, 0);
}

void
probe_pool_free(void *pool)
{
	rte_mempool_free(pool);
}

static void
transform(const struct probe_conf *c, struct rte_crypto_sym_xform *x)
{
	memset(x, 0, sizeof(*x));
	if (c->transform == PROBE_CIPHER) {
		x->type = RTE_CRYPTO_SYM_XFORM_CIPHER;
		x->cipher.algo = RTE_CRYPTO_CIPHER_AES_CBC;
		x->cipher.key.data = c->key;
		x->cipher.key.length = c->key_len;
		return;
	}
	x->type = RTE_CRYPTO_SYM_XFORM_AEAD;
	x->aead.op = c->egress ? RTE_CRYPTO_AEAD_OP_ENCRYPT : RTE_CRYPTO_AEAD_OP_DECRYPT;
	x->aead.algo = c->transform == PROBE_AES_GCM ? RTE_CRYPTO_AEAD_AES_GCM :
							    RTE_CRYPTO_AEAD_CHACHA20_POLY1305;
	x->aead.key.data = c->key;
	x->aead.key.length = c->key_len;
	x->aead.digest_length = c->icv_len;
	x->aead.aad_length = c->esn ? 12 : 8;
	x->aead.iv.length = 12;
}

struct probe_session *
probe_open(const struct probe_device *d, void *pool, const struct probe_conf *conf)
{
	struct probe_session *s = calloc(1, sizeof(*s));
	struct rte_security_session_conf c;
	struct rte_crypto_sym_xform x;

	if (s == NULL)
		return NULL;
	s->conf = *conf;
	s->ctx = context_of(d);
	transform(&s->conf, &x);
	memset(&c, 0, sizeof(c));
	c.action_type = conf->protocol ? RTE_SECURITY_ACTION_TYPE_INLINE_PROTOCOL :
					 RTE_SECURITY_ACTION_TYPE_INLINE_CRYPTO;
	c.protocol = RTE_SECURITY_PROTOCOL_IPSEC;
	c.crypto_xform = conf->transform == PROBE_NO_TRANSFORM ? NULL : &x;
	c.userdata = (void *)(uintptr_t)conf->user_data;
	c.ipsec.spi = conf->spi;
	memcpy(&c.ipsec.salt, conf->salt, sizeof(conf->salt));
	c.ipsec.options.esn = conf->esn;
	c.ipsec.options.udp_encap = conf->udp;
	c.ipsec.direction = conf->egress ? RTE_SECURITY_IPSEC_SA_DIR_EGRESS :
					   RTE_SECURITY_IPSEC_SA_DIR_INGRESS;
	c.ipsec.proto =
		conf->ah ? RTE_SECURITY_IPSEC_SA_PROTO_AH : RTE_SECURITY_IPSEC_SA_PROTO_ESP;
	c.ipsec.mode = conf->tunnel ? RTE_SECURITY_IPSEC_SA_MODE_TUNNEL :
				      RTE_SECURITY_IPSEC_SA_MODE_TRANSPORT;
	c.ipsec.replay_win_sz = conf->window;
	c.ipsec.esn.value = conf->sequence;
	s->session = rte_security_session_create(s->ctx, &c, pool);
	if (s->session == NULL) {
		free(s);
		return NULL;
	}
	return s;
}

uint8_t *
probe_key(struct probe_session *s)
{
	return s->conf.key;
}

int
probe_close(struct probe_session *s)
{
	return rte_security_session_destroy(s->ctx, s->session);
}

void
probe_forget(struct probe_session *s)
{
	free(s);
}

int
probe_metadata(struct probe_session *s, void *mbuf, uint64_t sequence)
{
	return rte_security_set_pkt_metadata(s->ctx, s->session, mbuf, &sequence);
}

/* A rule in the terms of rte_flow, with the memory that it points into. */
struct rule {
	struct rte_flow_action_security security;
	/* Who takes it for a session reads on, and finds an egress session of zeros. */
	uint8_t nothing[1024];
	struct rte_flow_attr attr;
	struct rte_flow_item pattern[PROBE_ITEMS + 1];
	struct rte_flow_action actions[PROBE_ITEMS + 1];
	struct rte_flow_item_ipv4 ip4[PROBE_ITEMS];
	struct rte_flow_item_ipv6 ip6[PROBE_ITEMS];
};

static void
make_item(struct rule *r, int i, const struct probe_item *from)
{
	struct rte_flow_item *item = &r->pattern[i];

	switch (from->type) {
	case PROBE_IPV4:
		item->type = RTE_FLOW_ITEM_TYPE_IPV4;
		memcpy(&r->ip4[i].hdr.dst_addr, from->dst, 4);
		item->spec = from->spec ? &r->ip4[i] : NULL;
		break;
	case PROBE_IPV6:
		item->type = RTE_FLOW_ITEM_TYPE_IPV6;
		memcpy(&r->ip6[i].hdr.dst_addr, from->dst, 16);
		item->spec = from->spec ? &r->ip6[i] : NULL;
		break;
	case PROBE_ESP:
		item->type = RTE_FLOW_ITEM_TYPE_ESP;
		break;
	default:
		item->type = RTE_FLOW_ITEM_TYPE_ETH;
		break;
	}
}

static void
make_rule(struct rule *r, const struct probe_session *s, const struct probe_rule *from)
{
	static const enum rte_flow_action_type types[] = {
		[PROBE_SECURITY] = RTE_FLOW_ACTION_TYPE_SECURITY,
		[PROBE_VOID] = RTE_FLOW_ACTION_TYPE_VOID,
		[PROBE_DROP] = RTE_FLOW_ACTION_TYPE_DROP,
	};

	memset(r, 0, sizeof(*r));
	r->attr.ingress = 1;
	r->security.security_session = s->session;
	for (int i = 0; i < from->item_count; i++)
		make_item(r, i, &from->items[i]);
	r->pattern[from->item_count].type = RTE_FLOW_ITEM_TYPE_END;
	for (int i = 0; i < from->action_count; i++) {
		r->actions[i].type = types[from->actions[i]];
		if (from->actions[i] == PROBE_SECURITY && from->argument != PROBE_NOTHING)
			r->actions[i].conf = from->argument == PROBE_SESSION ?
				s->session : (const void *)&r->security;
	}
	r->actions[from->action_count].type = RTE_FLOW_ACTION_TYPE_END;
}

void *
probe_flow(const struct probe_device *d, struct probe_session *s, const struct probe_rule *rule,
	int *rc)
{
	struct pmd_standin *standin = d->standin;
	struct rte_flow_error error = { 0 };
	struct rte_flow *flow;
	struct rule r;

	make_rule(&r, s, rule);
	rte_errno = 0;
	if (standin != NULL)
		flow = standin->flow_create(standin->self, &r.attr, r.pattern, r.actions, &error);
	else
		flow = rte_flow_create(d->port, &r.attr, r.pattern, r.actions, &error);
	*rc = flow != NULL ? 0 : -rte_errno;
	return flow;
}

int
probe_flow_destroy(const struct probe_device *d, void *flow)
{
	struct pmd_standin *standin = d->standin;
	struct rte_flow_error error = { 0 };

	if (standin != NULL)
		return standin->flow_destroy(standin->self, flow, &error);
	return rte_flow_destroy(d->port, flow, &error);
}

int
probe_validate(const struct probe_device *d, struct probe_session *s, const struct probe_rule *rule)
{
	struct pmd_standin *standin = d->standin;
	struct rte_flow_error error = { 0 };
	struct rule r;

	make_rule(&r, s, rule);
	if (standin != NULL)
		return ((validate_fn)d->validate)(standin->self, r.pattern, r.actions, &error);
	return rte_flow_validate(d->port, &r.attr, r.pattern, r.actions, &error);
}

void
probe_mark(void *mbuf, uint64_t flags, uint32_t l2, uint32_t l3)
{
	struct rte_mbuf *m = mbuf;

	m->ol_flags |= flags;
	m->l2_len = l2;
	m->l3_len = l3;
}

uint64_t
probe_word(void *mbuf)
{
	return *rte_security_dynfield((struct rte_mbuf *)mbuf);
}

void
probe_set_word(void *mbuf, uint64_t word)
{
	*rte_security_dynfield((struct rte_mbuf *)mbuf) = word;
}

void
probe_hold(void *mbuf)
{
	rte_pktmbuf_refcnt_update(mbuf, 1);
}

int
probe_chain(void *head, void *tail)
{
	return rte_pktmbuf_chain(head, tail);
}
