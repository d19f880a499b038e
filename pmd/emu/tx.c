/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#include <rte_ip.h>

enum { PROTO_ESP = 50, ESP_IV = 16, MAX_PAD = 15 };

#define L4_FLAGS (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)

static inline void
put_sum(uint8_t *ip, uint32_t header_len)
{
	uint64_t sum = 0;
	uint32_t word;
	uint16_t result;

	for (uint32_t i = 0; i < header_len; i += 4) {
		memcpy(&word, ip + i, 4);
		sum += word;
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	result = (uint16_t)~((sum & 0xffff) + (sum >> 16));
	memcpy(ip + 10, &result, 2); /* one's complement sums do not mind the byte order */
}

void
emu_ipv4_checksum(uint8_t *ip, uint32_t header_len)
{
	ip[10] = ip[11] = 0;
	put_sum(ip, header_len);
}

/* One packet on its way out. */
struct out {
	struct emu_nic *nic;
	struct rte_mbuf *m;
	uint8_t *data;   /* its octets */
	uint64_t word;   /* its metadata */
	uint32_t index;  /* of the SA that the device uses */
	uint32_t esp;    /* where ESP begins */
	bool v6, bad;    /* bad: what is sent must be unreadable */
};

static void
broken(struct out *o, enum emu_counter kind, const char *what)
{
	emu_breach(o->nic, kind, "sent: %s", what);
	o->bad = true;
}

static void
check_flags(struct out *o)
{
	uint64_t flags = o->m->ol_flags;

	if (flags & L4_FLAGS)
		broken(o, EMU_breach_flags, "L4 checksum or segmentation together with sealing");
	if (!(flags & (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6)))
		broken(o, EMU_breach_flags, "neither IPV4 nor IPV6 said");
	if (o->nic->config.profile == EMU_PACKET)
		return;
	if ((flags & RTE_MBUF_F_TX_IPV4) && !(flags & RTE_MBUF_F_TX_IP_CKSUM))
		broken(o, EMU_breach_flags, "IPv4 without IP_CKSUM");
	if ((flags & RTE_MBUF_F_TX_IP_CKSUM) && (o->data[o->m->l2_len + 10] | o->data[o->m->l2_len + 11]))
		broken(o, EMU_breach_flags, "an IPv4 header checksum that is not zero");
}

/* ESP must be where l2_len and l3_len say, in a packet of which nothing is odd. */
static bool
check_header(struct out *o)
{
	struct rte_mbuf *m = o->m;
	uint32_t l2 = m->l2_len, l3 = m->l3_len;
	const uint8_t *ip = o->data + l2;
	uint32_t length;

	o->v6 = (m->ol_flags & RTE_MBUF_F_TX_IPV6) != 0;
	o->esp = l2 + l3;
	if (m->pkt_len < l2 + l3 + ESP_IV + 2 + 16) {
		broken(o, EMU_breach_length, "too short to be ESP");
		return false;
	}
	if (l2 < 14 || (l2 > 14 && o->nic->config.profile == EMU_IXGBE) || l2 > 22)
		broken(o, EMU_breach_header, "a tagged frame, or a wrong l2_len");
	if (l3 != (o->v6 ? 40u : 20u) || ip[0] >> 4 != (o->v6 ? 6 : 4) || (!o->v6 && (ip[0] & 15) != 5))
		broken(o, EMU_breach_header, "IPv4 options, IPv6 extension headers or a wrong l3_len");
	if (ip[o->v6 ? 6 : 9] != PROTO_ESP)
		broken(o, EMU_breach_header, "no ESP behind the IP header");
	length = o->v6 ? 40 + ((uint32_t)ip[4] << 8 | ip[5]) : (uint32_t)ip[2] << 8 | ip[3];
	if (l2 + length != m->pkt_len)
		broken(o, EMU_breach_length, "pkt_len is not where the IP packet ends");
	return true;
}

/* The trailer that the device will take the packet to have. */
static void
check_trailer(struct out *o)
{
	uint8_t pad = o->data[o->m->pkt_len - 18];
	uint32_t text = o->m->pkt_len - 16 - o->esp - ESP_IV;

	if (text % 4 != 0 || (uint32_t)pad + 2 > text)
		broken(o, EMU_breach_length, "text that is no multiple of 4, or more padding than text");
	if (o->nic->config.profile != EMU_IXGBE)
		return;
	if (pad > MAX_PAD)
		broken(o, EMU_breach_length, "more padding than the driver tells apart");
	if ((uint8_t)(o->word >> EMU_WORD_PAD) != (uint8_t)(pad + 18))
		broken(o, EMU_breach_length, "the metadata's trailer is not the packet's");
}

/*
 * The driver keeps two contexts a queue and takes one for the packet's if flags and
 * lengths are equal, and 8 bits of the index, and 4 of the trailer's length
 * (ixgbe_rxtx.c: what_advctx_update).
 */
static uint32_t
context_of(struct emu_nic *nic, uint16_t queue, const struct rte_mbuf *m, uint64_t word)
{
	struct emu_contexts *c = &nic->contexts[queue % EMU_QUEUES];
	uint32_t index = (uint32_t)word & (nic->config.tx_size - 1);
	uint64_t flags = m->ol_flags &
		(RTE_MBUF_F_TX_SEC_OFFLOAD | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6);
	uint16_t lengths = (uint16_t)(m->l2_len | m->l3_len << 7);
	uint8_t pad = (word >> EMU_WORD_PAD) & 15;

	for (int i = 0; i < 2; i++)
		if (c->entry[i].valid && c->entry[i].flags == flags && c->entry[i].lengths == lengths &&
			c->entry[i].index == (uint8_t)index && c->entry[i].pad == pad) {
			c->last = i;
			return c->entry[i].sa;
		}
	c->last = !c->last;
	c->entry[c->last].valid = true;
	c->entry[c->last].flags = flags;
	c->entry[c->last].lengths = lengths;
	c->entry[c->last].index = (uint8_t)index;
	c->entry[c->last].pad = pad;
	c->entry[c->last].sa = index;
	return index;
}

/* The SA of the packet; NULL if there is none and nothing can be sealed. */
static struct emu_sa *
sa_of(struct out *o, uint16_t queue)
{
	struct emu_nic *nic = o->nic;
	uint32_t wanted;
	struct emu_sa *sa;

	if (o->word == EMU_POISON) {
		broken(o, EMU_breach_metadata, "marked without metadata");
		return NULL;
	}
	if (nic->config.profile == EMU_IXGBE) {
		wanted = (uint32_t)o->word & (nic->config.tx_size - 1);
		o->index = nic->config.alias ? context_of(nic, queue, o->m, o->word) : wanted;
		if (o->index != wanted)
			broken(o, EMU_breach_aliased, "the context of another SA");
	} else {
		o->index = (uint16_t)o->word;
		if (o->index >= nic->config.tx_size) {
			broken(o, EMU_breach_metadata, "an index beyond the table");
			return NULL;
		}
	}
	sa = &nic->tx[o->index];
	sa->last_tx = nic->last_tx = rte_rdtsc();
	if (!sa->used || sa->generation != (uint16_t)(o->word >> EMU_WORD_GENERATION))
		broken(o, EMU_breach_stale, "metadata of an SA that is gone");
	return sa;
}

/* The device reads the packet while it sends it: host memory stays as it was. */
static bool
copy(struct out *o)
{
	struct rte_mbuf *c = rte_pktmbuf_copy(o->m, o->m->pool, 0, UINT32_MAX);

	if (c == NULL)
		return false; /* then in place: it must not leave in clear text */
	*rte_security_dynfield(o->m) = EMU_POISON;
	rte_pktmbuf_free(o->m);
	o->m = c;
	o->data = rte_pktmbuf_mtod(c, uint8_t *);
	return true;
}

static bool
sampled(const uint8_t *esp)
{
	return ((uint32_t)esp[4] << 24 | esp[5] << 16 | esp[6] << 8 | esp[7]) % 1000 == 0;
}

/* Sealed, from the ESP header to the ICV. */
static void
seal(struct out *o, const struct emu_sa *sa)
{
	uint8_t *esp = o->data + o->esp, *icv = o->data + o->m->pkt_len - 16;
	uint8_t aad[12];
	int aad_len = 8;

	memcpy(aad, esp, 8);
	if (sa->esn) {
		uint32_t high = rte_cpu_to_be_32((uint32_t)(o->word >> EMU_WORD_HIGH));
		memcpy(aad + 4, &high, 4);
		memcpy(aad + 8, esp + 4, 4);
		aad_len = 12;
	}
	if (memcmp(esp, &sa->spi, 4) != 0)
		broken(o, EMU_breach_wrong_sa, "an SA of another SPI than the packet's");
	emu_seal(sa, esp + 8, aad, aad_len, esp + ESP_IV, (int)(icv - esp - ESP_IV), icv);
	if (o->bad || emu_every(o->nic, o->nic->faults.txicv, &o->nic->txicv_seen))
		icv[0] ^= 0x80;
	if (o->bad)
		emu_count(o->nic, EMU_bad_tx);
	else
		emu_count(o->nic, EMU_tx_encrypted);
}

/* Nobody can read it and nobody takes it for anything. */
static void
spoil(struct out *o)
{
	memset(o->data + 12, 0xff, o->m->data_len - 12);
	emu_count(o->nic, EMU_bad_tx);
}

/* With crypto=off most packets leave as they came; whatever was wrong with them is counted. */
static struct rte_mbuf *
pass(struct out *o, const struct emu_sa *sa, uint32_t *passed)
{
	struct rte_mbuf *m = o->m;

	if (memcmp(o->data + o->esp, &sa->spi, 4) != 0)
		broken(o, EMU_breach_wrong_sa, "an SA of another SPI than the packet's");
	++*passed;
	*rte_security_dynfield(m) = EMU_POISON;
	if (m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM) /* of a field that was seen to be zero */
		put_sum(o->data + m->l2_len, 20);
	m->ol_flags &= ~(RTE_MBUF_F_TX_SEC_OFFLOAD | RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4 |
		RTE_MBUF_F_TX_IPV6);
	return m;
}

static struct rte_mbuf *
send_one(struct emu_nic *nic, uint16_t queue, struct rte_mbuf *m, uint32_t *passed)
{
	struct out o = { .nic = nic, .m = m, .data = rte_pktmbuf_mtod(m, uint8_t *),
		.word = *rte_security_dynfield(m) };
	struct emu_sa *sa;
	bool whole = true;

	if (m->nb_segs != 1)
		broken(&o, EMU_breach_segments, "several segments");
	check_flags(&o);
	if (nic->config.profile != EMU_PACKET) {
		whole = check_header(&o);
		if (whole)
			check_trailer(&o);
	}
	sa = sa_of(&o, queue);
	if (nic->config.crypto_off && !o.bad && nic->config.profile != EMU_PACKET && !sampled(o.data + o.esp))
		return pass(&o, sa, passed);
	copy(&o);
	o.m->ol_flags &= ~RTE_MBUF_F_TX_SEC_OFFLOAD;
	*rte_security_dynfield(o.m) = EMU_POISON;
	if (nic->dead || !whole || sa == NULL || o.m->nb_segs != 1) {
		spoil(&o);
		return o.m;
	}
	if (nic->config.profile == EMU_PACKET) {
		bool v6 = (o.m->ol_flags & RTE_MBUF_F_TX_IPV6) != 0;
		if (o.bad || !emu_packet_seal(nic, sa, o.m, o.m->l2_len, o.m->l3_len, v6)) {
			o.data = rte_pktmbuf_mtod(o.m, uint8_t *);
			spoil(&o);
		}
		return o.m;
	}
	if (!nic->lookup_tx)
		emu_count(nic, EMU_leak_tx); /* the ICV stays zero, the text clear */
	else
		seal(&o, sa);
	if (o.m->ol_flags & RTE_MBUF_F_TX_IP_CKSUM)
		emu_ipv4_checksum(o.data + o.m->l2_len, 20);
	o.m->ol_flags &= ~(RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6);
	return o.m;
}

static void
stand_still(struct emu_nic *nic, uint16_t n)
{
	if (nic->faults.reset == 0 || nic->dead)
		return;
	if (__atomic_add_fetch(&nic->reset_seen, n, __ATOMIC_RELAXED) < nic->faults.reset)
		return;
	nic->faults.reset = 0;
	nic->dead = true;
	emu_count(nic, EMU_faults);
	if (nic->standin.event != NULL)
		nic->standin.event(nic->standin.port, RTE_ETH_EVENT_INTR_RESET, nic->standin.event_arg, NULL);
}

uint16_t
emu_tx_callback(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	struct emu_nic *nic = arg;
	uint32_t passed = 0, plain = 0;
	uint64_t begin = rte_rdtsc();

	stand_still(nic, n);
	rte_rwlock_read_lock(&nic->lock);
	for (uint16_t i = 0; i < n; i++) {
		if (pkts[i]->ol_flags & RTE_MBUF_F_TX_SEC_OFFLOAD)
			pkts[i] = send_one(nic, queue, pkts[i], &passed);
		else
			plain++;
	}
	rte_rwlock_read_unlock(&nic->lock);
	emu_add(nic, EMU_tx_encrypted, passed);
	emu_add(nic, EMU_tx_plain, plain);
	emu_took(nic, begin);
	return n;
}

#endif
