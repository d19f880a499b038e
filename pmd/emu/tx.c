/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "out.h"

#define IP_FLAGS (RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6)

/*
 * The device reads the packet while it sends it: host memory stays as it was, so a copy
 * takes its place. Without a buffer for that it is changed where it is: it must not
 * leave in clear text.
 */
static void
copy(struct emu_out *o)
{
	struct rte_mbuf *c = rte_pktmbuf_copy(o->m, o->m->pool, 0, UINT32_MAX);

	*rte_security_dynfield(o->m) = EMU_POISON;
	if (c == NULL)
		return;
	*rte_security_dynfield(c) = EMU_POISON;
	rte_pktmbuf_free(o->m);
	o->m = c;
	o->data = rte_pktmbuf_mtod(c, uint8_t *);
}

/* A callback cannot drop: what must not leave becomes a frame that nobody takes for anything. */
static void
spoil(struct emu_out *o, enum emu_counter why)
{
	uint16_t skip = 12; /* the addresses */

	for (struct rte_mbuf *s = o->m; s != NULL; s = s->next) {
		if (s->data_len > skip)
			memset(rte_pktmbuf_mtod_offset(s, uint8_t *, skip), 0xff, s->data_len - skip);
		skip = 0;
	}
	emu_count(o->nic, why);
}

/* Sealed, from the ESP header to the ICV. */
static void
seal(struct emu_out *o, const struct emu_sa *sa)
{
	uint8_t *esp = o->data + o->esp, *icv = o->data + o->m->pkt_len - EMU_ICV, aad[12];
	int aad_len = emu_aad(sa, esp, (uint32_t)(o->word >> EMU_WORD_HIGH), aad);

	if (emu_seal(sa, esp + 8, aad, aad_len, esp + EMU_ESP_HEAD, (int)(icv - esp - EMU_ESP_HEAD), icv) != 0) {
		spoil(o, EMU_tx_failed);
		return;
	}
	if (o->bad || emu_every(o->nic, o->nic->faults.txicv, &o->nic->seen.txicv))
		icv[0] ^= 0x80;
	emu_count(o->nic, o->bad ? EMU_bad_tx : EMU_tx_encrypted);
}

static void
check_spi(struct emu_out *o, const struct emu_sa *sa)
{
	if (sa->used && memcmp(o->data + o->esp, &sa->spi, 4) != 0)
		emu_out_broken(o, EMU_breach_wrong_sa, "an SA of another SPI than the packet's");
}

/* INLINE_CRYPTO: a whole ESP packet in clear text. */
static void
send_esp(struct emu_out *o, const struct emu_sa *sa)
{
	/* Where lookups are off, nothing is looked up: the ICV stays what it is, the text clear. */
	if (emu_looks_up(o->nic, o->nic->lookup_tx))
		seal(o, sa);
	else
		emu_count(o->nic, EMU_leak_tx);
	if (o->m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		emu_ipv4_checksum(o->data + o->m->l2_len, 20);
	o->m->ol_flags &= ~IP_FLAGS;
}

/* INLINE_PROTOCOL: a plain packet. */
static void
send_plain(struct emu_out *o, struct emu_sa *sa)
{
	enum emu_counter what = EMU_leak_tx;

	o->m->ol_flags &= ~IP_FLAGS;
	if (o->bad)
		what = EMU_bad_tx;
	else if (emu_looks_up(o->nic, o->nic->lookup_tx))
		what = emu_packet_seal(o->nic, sa, o->m);
	if (what == EMU_tx_encrypted || what == EMU_leak_tx)
		emu_count(o->nic, what);
	else
		spoil(o, what);
}

/* With crypto=off a packet leaves as it came, where it is; it kept the contract. */
static struct rte_mbuf *
pass(struct emu_out *o)
{
	struct rte_mbuf *m = o->m;

	*rte_security_dynfield(m) = EMU_POISON;
	if (m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		emu_put_sum(o->data + m->l2_len, 20); /* of a field that was seen to be zero */
	m->ol_flags &= ~(RTE_MBUF_F_TX_SEC_OFFLOAD | IP_FLAGS);
	return m;
}

static struct rte_mbuf *
send_one(struct emu_nic *nic, struct emu_queue *queue, struct rte_mbuf *m, uint32_t *passed)
{
	struct emu_out o = { .nic = nic, .queue = queue, .m = m, .data = rte_pktmbuf_mtod(m, uint8_t *),
		.word = *rte_security_dynfield(m) };
	bool packet = nic->config.profile == EMU_PACKET;
	bool whole = emu_check_out(&o);
	struct emu_sa *sa = emu_out_sa(&o);

	bool idle;

	if (whole && sa != NULL && !packet)
		check_spi(&o, sa);
	idle = nic->config.crypto_off && !o.bad && !emu_dead(nic);
	if (idle && !packet && !emu_sampled(emu_low(o.data + o.esp))) {
		++*passed;
		return pass(&o);
	}
	if (!idle || !packet)
		copy(&o);
	o.m->ol_flags &= ~RTE_MBUF_F_TX_SEC_OFFLOAD; /* or it would be sealed again when it is offered again */
	if (emu_dead(nic))
		spoil(&o, EMU_tx_dead);
	else if (!whole || sa == NULL)
		spoil(&o, EMU_bad_tx);
	else if (packet)
		send_plain(&o, sa);
	else
		send_esp(&o, sa);
	return o.m;
}

/* A device that stands still sends nothing at all. */
static struct rte_mbuf *
send_nothing(struct emu_nic *nic, struct rte_mbuf *m)
{
	struct emu_out o = { .nic = nic, .m = m };

	copy(&o);
	spoil(&o, EMU_tx_dead);
	return o.m;
}

uint16_t
emu_tx_callback(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	struct emu_nic *nic = arg;
	struct emu_queue *q = &nic->txq[queue];
	uint32_t passed = 0, plain = 0;
	uint64_t begin = rte_rdtsc();

	rte_spinlock_lock(&q->lock);
	emu_stand_still(nic, n);
	for (uint16_t i = 0; i < n; i++) {
		if (pkts[i]->ol_flags & RTE_MBUF_F_TX_SEC_OFFLOAD)
			pkts[i] = send_one(nic, q, pkts[i], &passed);
		else if (unlikely(emu_dead(nic)))
			pkts[i] = send_nothing(nic, pkts[i]);
		else
			plain++;
	}
	rte_spinlock_unlock(&q->lock);
	emu_add(nic, EMU_tx_encrypted, passed);
	emu_add(nic, EMU_tx_plain, plain);
	emu_took(nic, begin);
	return n;
}

#endif
