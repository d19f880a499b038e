/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include "emu.h"
#include "probe.h"
#include "standin.h"

#if PMD_HAS_SECURITY_DRIVER
#include "nic.h"
#endif

enum { POOL_SESSIONS = 255 };

struct emu_probe_session {
	void *ctx, *session;
	struct emu_probe_conf conf;
};

static struct pmd_standin *
standin_of(struct emu_nic *nic)
{
	return emu_standin(nic);
}

void *
emu_probe_pool(struct emu_nic *nic, const char *name)
{
	return rte_mempool_create(name, POOL_SESSIONS,
		rte_security_session_get_size(standin_of(nic)->ctx), 0, 0, NULL, NULL, NULL, NULL,
		SOCKET_ID_ANY, 0);
}

void
emu_probe_pool_free(void *pool)
{
	rte_mempool_free(pool);
}

static void
transform(const struct emu_probe_conf *c, struct rte_crypto_sym_xform *x)
{
	memset(x, 0, sizeof(*x));
	if (c->transform == EMU_PROBE_CIPHER) {
		x->type = RTE_CRYPTO_SYM_XFORM_CIPHER;
		x->cipher.algo = RTE_CRYPTO_CIPHER_AES_CBC;
		x->cipher.key.data = c->key;
		x->cipher.key.length = c->key_len;
		return;
	}
	x->type = RTE_CRYPTO_SYM_XFORM_AEAD;
	x->aead.op = c->egress ? RTE_CRYPTO_AEAD_OP_ENCRYPT : RTE_CRYPTO_AEAD_OP_DECRYPT;
	x->aead.algo = c->transform == EMU_PROBE_AES_GCM ? RTE_CRYPTO_AEAD_AES_GCM :
							    RTE_CRYPTO_AEAD_CHACHA20_POLY1305;
	x->aead.key.data = c->key;
	x->aead.key.length = c->key_len;
	x->aead.digest_length = c->icv_len;
	x->aead.aad_length = c->esn ? 12 : 8;
	x->aead.iv.length = 12;
}

struct emu_probe_session *
emu_probe_open(struct emu_nic *nic, void *pool, const struct emu_probe_conf *conf)
{
	struct emu_probe_session *s = calloc(1, sizeof(*s));
	struct rte_security_session_conf c;
	struct rte_crypto_sym_xform x;

	if (s == NULL)
		return NULL;
	s->conf = *conf;
	s->ctx = standin_of(nic)->ctx;
	transform(&s->conf, &x);
	memset(&c, 0, sizeof(c));
	c.action_type = conf->protocol ? RTE_SECURITY_ACTION_TYPE_INLINE_PROTOCOL :
					 RTE_SECURITY_ACTION_TYPE_INLINE_CRYPTO;
	c.protocol = RTE_SECURITY_PROTOCOL_IPSEC;
	c.crypto_xform = conf->transform == EMU_PROBE_NO_TRANSFORM ? NULL : &x;
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
emu_probe_key(struct emu_probe_session *s)
{
	return s->conf.key;
}

int
emu_probe_close(struct emu_probe_session *s)
{
	return rte_security_session_destroy(s->ctx, s->session);
}

void
emu_probe_forget(struct emu_probe_session *s)
{
	free(s);
}

int
emu_probe_metadata(struct emu_probe_session *s, void *mbuf, uint64_t sequence)
{
	return rte_security_set_pkt_metadata(s->ctx, s->session, mbuf, &sequence);
}

/* A rule in the terms of rte_flow, with the memory that it points into. */
struct rule {
	struct rte_flow_action_security security; /* first: who takes it for a session reads on */
	struct rte_flow_attr attr;
	struct rte_flow_item pattern[EMU_PROBE_ITEMS + 1];
	struct rte_flow_action actions[EMU_PROBE_ITEMS + 1];
	struct rte_flow_item_ipv4 ip4[EMU_PROBE_ITEMS];
	struct rte_flow_item_ipv6 ip6[EMU_PROBE_ITEMS];
};

static void
make_item(struct rule *r, int i, const struct emu_probe_item *from)
{
	struct rte_flow_item *item = &r->pattern[i];

	switch (from->type) {
	case EMU_PROBE_IPV4:
		item->type = RTE_FLOW_ITEM_TYPE_IPV4;
		memcpy(&r->ip4[i].hdr.dst_addr, from->dst, 4);
		item->spec = from->spec ? &r->ip4[i] : NULL;
		break;
	case EMU_PROBE_IPV6:
		item->type = RTE_FLOW_ITEM_TYPE_IPV6;
		memcpy(&r->ip6[i].hdr.dst_addr, from->dst, 16);
		item->spec = from->spec ? &r->ip6[i] : NULL;
		break;
	case EMU_PROBE_ESP:
		item->type = RTE_FLOW_ITEM_TYPE_ESP;
		break;
	default:
		item->type = RTE_FLOW_ITEM_TYPE_ETH;
		break;
	}
}

static void
make_rule(struct rule *r, const struct emu_probe_session *s, const struct emu_probe_rule *from)
{
	static const enum rte_flow_action_type types[] = {
		[EMU_PROBE_SECURITY] = RTE_FLOW_ACTION_TYPE_SECURITY,
		[EMU_PROBE_VOID] = RTE_FLOW_ACTION_TYPE_VOID,
		[EMU_PROBE_DROP] = RTE_FLOW_ACTION_TYPE_DROP,
	};

	memset(r, 0, sizeof(*r));
	r->attr.ingress = 1;
	r->security.security_session = s->session;
	for (int i = 0; i < from->item_count; i++)
		make_item(r, i, &from->items[i]);
	r->pattern[from->item_count].type = RTE_FLOW_ITEM_TYPE_END;
	for (int i = 0; i < from->action_count; i++) {
		r->actions[i].type = types[from->actions[i]];
		if (from->actions[i] == EMU_PROBE_SECURITY && from->argument != EMU_PROBE_NOTHING)
			r->actions[i].conf = from->argument == EMU_PROBE_SESSION ?
				s->session : (const void *)&r->security;
	}
	r->actions[from->action_count].type = RTE_FLOW_ACTION_TYPE_END;
}

void *
emu_probe_flow(struct emu_nic *nic, struct emu_probe_session *s,
	const struct emu_probe_rule *rule, int *rc)
{
	struct pmd_standin *standin = standin_of(nic);
	struct rte_flow_error error = { 0 };
	struct rte_flow *flow;
	struct rule r;

	make_rule(&r, s, rule);
	rte_errno = 0;
	flow = standin->flow_create(standin->self, &r.attr, r.pattern, r.actions, &error);
	*rc = flow != NULL ? 0 : -rte_errno;
	return flow;
}

int
emu_probe_flow_destroy(struct emu_nic *nic, void *flow)
{
	struct pmd_standin *standin = standin_of(nic);
	struct rte_flow_error error = { 0 };

	return standin->flow_destroy(standin->self, flow, &error);
}

int
emu_probe_validate(struct emu_nic *nic, struct emu_probe_session *s,
	const struct emu_probe_rule *rule)
{
#if PMD_HAS_SECURITY_DRIVER
	struct rte_flow_error error = { 0 };
	struct rule r;

	make_rule(&r, s, rule);
	return emu_flow_validate(nic, r.pattern, r.actions, &error);
#else
	return -ENOTSUP;
#endif
}

void
emu_probe_mark(void *mbuf, uint64_t flags, uint32_t l2, uint32_t l3)
{
	struct rte_mbuf *m = mbuf;

	m->ol_flags |= flags;
	m->l2_len = l2;
	m->l3_len = l3;
}

uint64_t
emu_probe_word(void *mbuf)
{
	return *rte_security_dynfield((struct rte_mbuf *)mbuf);
}

void
emu_probe_set_word(void *mbuf, uint64_t word)
{
	*rte_security_dynfield((struct rte_mbuf *)mbuf) = word;
}

void
emu_probe_hold(void *mbuf)
{
	rte_pktmbuf_refcnt_update(mbuf, 1);
}

int
emu_probe_chain(void *head, void *tail)
{
	return rte_pktmbuf_chain(head, tail);
}
