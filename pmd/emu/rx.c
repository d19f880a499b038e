/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

enum { ESP = 50, HEAD = 16, ICV = 16 }; /* protocol; ESP header and IV; octets */

#define MARKS (RTE_MBUF_F_RX_SEC_OFFLOAD | RTE_MBUF_F_RX_SEC_OFFLOAD_FAILED)

/* One packet on its way in. */
struct in {
	struct emu_nic *nic;
	struct rte_mbuf *m;
	uint8_t *ip;
	uint32_t l2, l3, end; /* end of the IP packet in the frame */
	bool v6;
};

static bool
is_tag(const uint8_t *type)
{
	return (type[0] == 0x81 && type[1] == 0) || (type[0] == 0x88 && type[1] == 0xa8);
}

/*
 * Finds the IP header of a packet that the device can process: no fragment, no IPv4
 * options, no IPv6 extension header, and for all but the profile crypto no VLAN tag
 * (of the 82599 Linux says so, ixgbe_ipsec.c; the datasheet does not).
 */
static bool
find_header(struct in *p)
{
	const uint8_t *data = rte_pktmbuf_mtod(p->m, const uint8_t *), *ip;
	uint32_t at = 12, octets = p->m->pkt_len;

	if (p->m->nb_segs != 1)
		return false;
	for (; at < 20 && at + 4 <= octets && is_tag(data + at); at += 4)
		if (p->nic->config.profile != EMU_CRYPTO)
			return false;
	p->l2 = at + 2;
	if (p->l2 + 20 > octets)
		return false;
	ip = data + p->l2;
	p->ip = rte_pktmbuf_mtod_offset(p->m, uint8_t *, p->l2);
	if (data[at] == 0x08 && data[at + 1] == 0x00) {
		p->v6 = false;
		p->l3 = 20;
		return ip[0] == 0x45 && (ip[6] & 0x3f) == 0 && ip[7] == 0;
	}
	p->v6 = true;
	p->l3 = 40;
	return data[at] == 0x86 && data[at + 1] == 0xdd && p->l2 + 40 <= octets && ip[0] >> 4 == 6;
}

/* The first SA, by index, of the packet's SPI and destination. */
static struct emu_sa *
match(const struct in *p)
{
	struct emu_nic *nic = p->nic;
	uint8_t dst[16] = { 0 };
	uint32_t spi;

	memcpy(&spi, p->ip + p->l3, 4);
	memcpy(dst, p->ip + (p->v6 ? 24 : 16), p->v6 ? 16 : 4);
	for (int32_t i = nic->bucket[emu_bucket(spi)]; i >= 0; i = nic->rx[i].next) {
		struct emu_sa *sa = &nic->rx[i];
		const uint8_t *its = nic->config.profile == EMU_IXGBE ? nic->addresses[sa->ip_index].addr : sa->dst;
		if (sa->used && sa->spi == spi && sa->v6 == p->v6 && memcmp(its, dst, 16) == 0)
			return sa;
	}
	return NULL;
}

static void
forged(struct in *p, uint8_t *text, uint32_t len)
{
	memset(text, 0xdb, len); /* what a card leaves there is not known */
	p->m->ol_flags |= MARKS;
}

/* INLINE_CRYPTO: decrypted where it is; everything else stays. */
static void
open_packet(struct in *p, struct emu_sa *sa, uint32_t *passed)
{
	struct emu_nic *nic = p->nic;
	uint8_t *esp = p->ip + p->l3, *icv = rte_pktmbuf_mtod(p->m, uint8_t *) + p->end - ICV, aad[12];
	uint32_t low = emu_low(esp), len = (uint32_t)(icv - esp - HEAD);
	uint64_t seq = emu_whole(sa, low);

	if (nic->config.crypto_off && !emu_sampled(low)) {
		++*passed;
		p->m->ol_flags |= RTE_MBUF_F_RX_SEC_OFFLOAD;
		return;
	}
	if (emu_open(sa, esp + 8, aad, emu_aad(sa, esp, (uint32_t)(seq >> 32), aad), esp + HEAD, (int)len, icv) != 0) {
		emu_count(nic, EMU_rx_bad_icv);
		forged(p, esp + HEAD, len);
		return;
	}
	if (emu_every(nic, nic->faults.icv, &nic->seen.icv)) {
		forged(p, esp + HEAD, len);
		return;
	}
	rte_spinlock_lock(&sa->lock);
	if (seq > sa->sequence)
		__atomic_store_n(&sa->sequence, seq, __ATOMIC_RELAXED);
	rte_spinlock_unlock(&sa->lock);
	emu_count(nic, EMU_rx_opened);
	p->m->ol_flags |= RTE_MBUF_F_RX_SEC_OFFLOAD;
}

/* Whether the length can be ESP's; if not, it is marked, except by ixgbe's vector path. */
static bool
check_length(struct in *p, struct emu_sa *sa)
{
	uint32_t len = p->end - p->l2 - p->l3;
	const struct emu_config *config = &p->nic->config;

	if (len % 4 == 0 && len >= HEAD + 4 + ICV)
		return true;
	emu_count(p->nic, EMU_rx_bad_length);
	if (config->profile != EMU_IXGBE || config->scalar)
		p->m->ol_flags |= MARKS;
	if (config->profile == EMU_PACKET)
		emu_packet_refuse(sa, p->m);
	return false;
}

static void
receive_one(struct emu_nic *nic, struct rte_mbuf *m, uint32_t *passed)
{
	struct in p = { .nic = nic, .m = m };
	struct emu_sa *sa;

	m->ol_flags &= ~MARKS;
	*rte_security_dynfield(m) = EMU_POISON;
	if (!find_header(&p)) {
		emu_count(nic, EMU_rx_unprocessed);
		return;
	}
	if (p.ip[p.v6 ? 6 : 9] != ESP)
		return;
	/* Whatever was looked at or not: "good" means no more than that no error bit is set. */
	m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	p.end = p.l2 + emu_ip_length(p.ip, p.v6);
	if (!emu_looks_up(nic, nic->lookup_rx) || p.end < p.l2 + p.l3 + 8 || p.end > m->pkt_len)
		return;
	sa = match(&p);
	if (sa == NULL) {
		emu_count(nic, EMU_rx_no_session);
		return;
	}
	if (emu_every(nic, nic->faults.noflag, &nic->seen.noflag))
		return;
	if (!check_length(&p, sa))
		return;
	if (nic->config.profile == EMU_PACKET)
		emu_packet_open(nic, sa, m, p.l2, p.l3, p.v6);
	else
		open_packet(&p, sa, passed);
}

uint16_t
emu_rx_callback(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max, void *arg)
{
	struct emu_nic *nic = arg;
	struct emu_queue *q = &nic->rxq[queue];
	uint32_t passed = 0;
	uint64_t begin = rte_rdtsc();

	if (n == 0)
		return 0;
	rte_spinlock_lock(&q->lock);
	emu_stand_still(nic, n);
	if (emu_dead(nic)) {
		emu_add(nic, EMU_rx_dead, n);
		rte_pktmbuf_free_bulk(pkts, n);
		n = 0;
	}
	for (uint16_t i = 0; i < n; i++)
		receive_one(nic, pkts[i], &passed);
	rte_spinlock_unlock(&q->lock);
	emu_add(nic, EMU_rx_opened, passed);
	emu_took(nic, begin);
	return n;
}

#endif
