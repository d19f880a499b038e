/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

enum { PROTO_ESP = 50, ESP_IV = 16, ICV = 16 };

#define MARKS (RTE_MBUF_F_RX_SEC_OFFLOAD | RTE_MBUF_F_RX_SEC_OFFLOAD_FAILED)

/*
 * Finds the IP header of a packet that the device can process: no fragment, no IPv4
 * options, no IPv6 extension header, and for an 82599 no VLAN tag (Linux,
 * ixgbe_ipsec.c, says so; the datasheet does not). l2 and l3 are lengths.
 */
bool
emu_header(const struct emu_nic *nic, const struct rte_mbuf *m, uint32_t *l2, uint32_t *l3, bool *v6)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t at = 12;

	if (m->nb_segs != 1)
		return false;
	while (at + 4 <= m->pkt_len && data[at] == 0x81 && data[at + 1] == 0 && at < 20) {
		if (nic->config.profile != EMU_CRYPTO)
			return false;
		at += 4;
	}
	*l2 = at + 2;
	if (*l2 + 20 > m->pkt_len)
		return false;
	if (data[at] == 0x08 && data[at + 1] == 0x00) {
		*v6 = false;
		*l3 = 20;
		return data[*l2] == 0x45 && (data[*l2 + 6] & 0x3f) == 0 && data[*l2 + 7] == 0;
	}
	*v6 = true;
	*l3 = 40;
	return data[at] == 0x86 && data[at + 1] == 0xdd && *l2 + 40 <= m->pkt_len && data[*l2] >> 4 == 6;
}

/* One packet on its way in. */
struct in {
	struct emu_nic *nic;
	struct rte_mbuf *m;
	uint8_t *ip;
	uint32_t l2, l3, end; /* end of the IP packet in the frame */
	bool v6;
};

static void
destination(const struct in *p, uint8_t dst[16])
{
	memset(dst, 0, 16);
	if (p->v6)
		memcpy(dst, p->ip + 24, 16);
	else
		memcpy(dst, p->ip + 16, 4);
}

static struct emu_sa *
match(struct in *p, uint32_t spi)
{
	struct emu_nic *nic = p->nic;
	uint8_t dst[16];

	destination(p, dst);
	for (uint32_t i = 0; i < nic->rx_top; i++) {
		struct emu_sa *sa = &nic->rx[i];
		if (!sa->used || sa->spi != spi || sa->v6 != p->v6)
			continue;
		if (nic->config.profile == EMU_IXGBE ?
				memcmp(nic->addresses[sa->ip_index].addr, dst, 16) == 0 :
				memcmp(sa->dst, dst, 16) == 0)
			return sa;
	}
	return NULL;
}

/* RFC 4303, appendix A2, with a window of half the space: the high half that brings
 * the number nearest to the highest one. */
static uint64_t
whole(const struct emu_sa *sa, uint32_t low)
{
	uint64_t top = sa->sequence, seq = (top & ~UINT64_C(0xffffffff)) | low;

	if (seq + (UINT64_C(1) << 31) < top)
		return seq + (UINT64_C(1) << 32);
	if (seq > top + (UINT64_C(1) << 31) && seq >= UINT64_C(1) << 32)
		return seq - (UINT64_C(1) << 32);
	return seq;
}

static void
failed(struct in *p)
{
	p->m->ol_flags |= MARKS;
}

static void
open_packet(struct in *p, struct emu_sa *sa, uint32_t *passed)
{
	struct emu_nic *nic = p->nic;
	uint8_t *esp = p->ip + p->l3, *icv = rte_pktmbuf_mtod(p->m, uint8_t *) + p->end - ICV;
	uint32_t low = (uint32_t)esp[4] << 24 | esp[5] << 16 | esp[6] << 8 | esp[7];
	uint8_t aad[12];
	int aad_len = 8;
	uint64_t seq = low;

	if (nic->config.crypto_off && low % 1000 != 0) {
		++*passed;
		p->m->ol_flags |= RTE_MBUF_F_RX_SEC_OFFLOAD;
		return;
	}
	memcpy(aad, esp, 8);
	if (sa->esn) {
		seq = whole(sa, low);
		uint32_t high = rte_cpu_to_be_32((uint32_t)(seq >> 32));
		memcpy(aad + 4, &high, 4);
		memcpy(aad + 8, esp + 4, 4);
		aad_len = 12;
	}
	if (emu_open(sa, esp + 8, aad, aad_len, esp + ESP_IV, (int)(icv - esp - ESP_IV), icv) != 0) {
		memset(esp + ESP_IV, 0xdb, icv - esp - ESP_IV);
		emu_count(nic, EMU_rx_bad_icv);
		failed(p);
		return;
	}
	if (emu_every(nic, nic->faults.icv, &nic->icv_seen)) {
		memset(esp + ESP_IV, 0xdb, icv - esp - ESP_IV);
		failed(p);
		return;
	}
	rte_spinlock_lock(&sa->lock);
	sa->sequence = RTE_MAX(sa->sequence, seq);
	rte_spinlock_unlock(&sa->lock);
	emu_count(nic, EMU_rx_opened);
	p->m->ol_flags |= RTE_MBUF_F_RX_SEC_OFFLOAD;
}

static void
receive_one(struct emu_nic *nic, struct rte_mbuf *m, uint32_t *passed)
{
	struct in p = { .nic = nic, .m = m };
	struct emu_sa *sa;
	uint32_t spi, length, esp_len;

	m->ol_flags &= ~MARKS;
	*rte_security_dynfield(m) = EMU_POISON;
	if (!emu_header(nic, m, &p.l2, &p.l3, &p.v6)) {
		emu_count(nic, EMU_rx_unprocessed);
		return;
	}
	p.ip = rte_pktmbuf_mtod_offset(m, uint8_t *, p.l2);
	if (p.ip[p.v6 ? 6 : 9] != PROTO_ESP)
		return;
	/* Whatever was looked at or not: "good" means no more than that no error bit is set. */
	m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;
	length = p.v6 ? 40 + ((uint32_t)p.ip[4] << 8 | p.ip[5]) : (uint32_t)p.ip[2] << 8 | p.ip[3];
	p.end = p.l2 + length;
	if (!nic->lookup_rx || length < p.l3 + 8 || p.end > m->pkt_len)
		return;
	memcpy(&spi, p.ip + p.l3, 4);
	sa = match(&p, spi);
	if (sa == NULL) {
		emu_count(nic, EMU_rx_no_session);
		return;
	}
	if (emu_every(nic, nic->faults.noflag, &nic->noflag_seen))
		return;
	esp_len = length - p.l3;
	if (esp_len % 4 != 0 || esp_len < ESP_IV + 4 + ICV) {
		emu_count(nic, EMU_rx_bad_length);
		if (nic->config.scalar) /* the vector path marks wrong ICVs only */
			failed(&p);
		return;
	}
	if (nic->config.profile == EMU_PACKET)
		emu_packet_open(nic, sa, m, p.l2, p.l3, p.v6);
	else
		open_packet(&p, sa, passed);
}

uint16_t
emu_rx_callback(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max, void *arg)
{
	struct emu_nic *nic = arg;
	uint32_t passed = 0;
	uint64_t begin = rte_rdtsc();

	if (n == 0)
		return 0;
	if (nic->dead) { /* it stands still until it is reset */
		rte_pktmbuf_free_bulk(pkts, n);
		return 0;
	}
	rte_rwlock_read_lock(&nic->lock);
	for (uint16_t i = 0; i < n; i++)
		receive_one(nic, pkts[i], &passed);
	rte_rwlock_read_unlock(&nic->lock);
	emu_add(nic, EMU_rx_opened, passed);
	emu_took(nic, begin);
	return n;
}

#endif
