/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

void
emu_take_limits(struct emu_limits *to, const struct rte_security_ipsec_lifetime *from)
{
	to->soft_packets = from->packets_soft_limit;
	to->hard_packets = from->packets_hard_limit;
	to->soft_bytes = from->bytes_soft_limit;
	to->hard_bytes = from->bytes_hard_limit;
}

static struct emu_sa *
sa_of(struct emu_nic *nic, const struct emu_session *s)
{
	if (!emu_session_lives(s) || !s->installed)
		return NULL;
	return s->egress ? &nic->tx[s->sa_index] : &nic->rx[s->sa_index];
}

/*
 * Other limits, counted from the session's start; what was told of one that is not
 * reached any more may be told again. The sequence number goes up, never down: no
 * number is used or accepted twice.
 */
int
emu_op_update(void *device, struct rte_security_session *session, struct rte_security_session_conf *conf)
{
	struct emu_nic *nic = device;
	struct emu_sa *sa;

	emu_enter(nic, "session_update");
	sa = sa_of(nic, emu_session_of(session));
	if (sa != NULL) {
		emu_take_limits(&sa->limits, &conf->ipsec.life);
		sa->told &= EMU_TOLD_EXHAUSTED;
		emu_window_advance(sa, conf->ipsec.esn.value);
	}
	emu_leave(nic);
	return sa != NULL ? 0 : -EINVAL;
}

int
emu_op_stats(void *device, struct rte_security_session *session, struct rte_security_stats *stats)
{
	struct emu_nic *nic = device;
	struct emu_session *s = emu_session_of(session);
	const struct emu_sa *sa;

	emu_enter(nic, "session_stats_get");
	sa = sa_of(nic, s);
	if (sa != NULL) {
		stats->protocol = RTE_SECURITY_PROTOCOL_IPSEC;
		*(s->egress ? &stats->ipsec.opackets : &stats->ipsec.ipackets) = sa->packets;
		*(s->egress ? &stats->ipsec.obytes : &stats->ipsec.ibytes) = sa->bytes;
		*(s->egress ? &stats->ipsec.oerrors : &stats->ipsec.ierrors) = sa->errors;
	}
	emu_leave(nic);
	return sa != NULL ? 0 : -EINVAL;
}

/* What calls on a context end in that a reset or a close has freed: on a card, in freed memory. */
static int
gone(struct emu_nic *nic, const char *call)
{
	emu_breach(nic, EMU_breach_order, "%s on a context that is gone", call);
	return -ENODEV;
}

static unsigned int
gone_size(void *device)
{
	return sizeof(struct emu_session);
}

static int
gone_create(void *device, struct rte_security_session_conf *conf, struct rte_security_session *session)
{
	return gone(device, "session_create");
}

static int
gone_destroy(void *device, struct rte_security_session *session)
{
	return gone(device, "session_destroy");
}

static int
gone_metadata(void *device, struct rte_security_session *session, struct rte_mbuf *m, void *params)
{
	return gone(device, "set_pkt_metadata");
}

const struct rte_security_ops emu_gone_ops = {
	.session_create = gone_create,
	.session_get_size = gone_size,
	.session_destroy = gone_destroy,
	.set_pkt_metadata = gone_metadata,
};

#endif
