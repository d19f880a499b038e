/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

enum { PROTO_ESP = 50, HEAD = 16, ICV = 16 };

#define MARKS (RTE_MBUF_F_RX_SEC_OFFLOAD | RTE_MBUF_F_RX_SEC_OFFLOAD_FAILED)

static void
tell(struct emu_nic *nic, const struct emu_sa *sa, enum rte_eth_event_ipsec_subtype what)
{
	struct rte_eth_event_ipsec_desc desc = { .subtype = what, .metadata = sa->user_data };

	if (nic->standin.event != NULL)
		nic->standin.event(nic->standin.port, RTE_ETH_EVENT_IPSEC, nic->standin.event_arg, &desc);
}

static bool
over(uint64_t limit, uint64_t n)
{
	return limit > 0 && n >= limit;
}

/*
 * Whether the SA may carry one packet more; counts it. A hard limit is reached by its
 * last packet, and each limit is told once. The SA's lock is held.
 */
static bool
carry(struct emu_nic *nic, struct emu_sa *sa, uint32_t octets)
{
	if (over(sa->hard_packets, sa->packets) || over(sa->hard_bytes, sa->bytes))
		return false;
	sa->packets++;
	sa->bytes += octets;
	if (!sa->soft_told && (over(sa->soft_packets, sa->packets) || over(sa->soft_bytes, sa->bytes))) {
		sa->soft_told = true;
		tell(nic, sa, over(sa->soft_packets, sa->packets) ? RTE_ETH_EVENT_IPSEC_SA_PKT_EXPIRY :
								    RTE_ETH_EVENT_IPSEC_SA_BYTE_EXPIRY);
	}
	if (!sa->hard_told && (over(sa->hard_packets, sa->packets) || over(sa->hard_bytes, sa->bytes))) {
		sa->hard_told = true;
		tell(nic, sa, over(sa->hard_packets, sa->packets) ? RTE_ETH_EVENT_IPSEC_SA_PKT_HARD_EXPIRY :
								    RTE_ETH_EVENT_IPSEC_SA_BYTE_HARD_EXPIRY);
	}
	return true;
}

static void
put_length(uint8_t *ip, bool v6, uint32_t length)
{
	uint32_t n = v6 ? length - 40 : length;
	uint8_t *at = ip + (v6 ? 4 : 2);

	at[0] = (uint8_t)(n >> 8);
	at[1] = (uint8_t)n;
}

static int
additional_data(const struct emu_sa *sa, const uint8_t *esp, uint64_t seq, uint8_t aad[12])
{
	uint32_t high = rte_cpu_to_be_32((uint32_t)(seq >> 32));

	memcpy(aad, esp, 8);
	if (!sa->esn)
		return 8;
	memcpy(aad + 4, &high, 4);
	memcpy(aad + 8, esp + 4, 4);
	return 12;
}

/* The number of the next packet, 0 when there is none any more. */
static uint64_t
next_number(struct emu_nic *nic, struct emu_sa *sa, uint32_t octets)
{
	uint64_t seq = 0;

	rte_spinlock_lock(&sa->lock);
	if (!sa->esn && sa->sequence >= UINT32_MAX) {
		sa->errors++;
		tell(nic, sa, RTE_ETH_EVENT_IPSEC_ESN_OVERFLOW);
	} else if (carry(nic, sa, octets)) {
		seq = ++sa->sequence;
	} else {
		sa->errors++;
		emu_count(nic, EMU_tx_after_hard);
	}
	rte_spinlock_unlock(&sa->lock);
	return seq;
}

/* Makes ESP of a plain packet. false: nothing may be sent that anybody can read. */
bool
emu_packet_seal(struct emu_nic *nic, struct emu_sa *sa, struct rte_mbuf *m, uint32_t l2, uint32_t l3, bool v6)
{
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *), *ip = data + l2, *esp, *end;
	uint32_t length, payload, pad, be;
	uint8_t next, aad[12];
	uint64_t seq, iv;

	if (l2 < 14 || l2 + (v6 ? 40u : 20u) > m->pkt_len || l3 != (v6 ? 40u : 20u)) {
		emu_breach(nic, EMU_breach_header, "sent: options, extensions or wrong lengths");
		return false;
	}
	length = v6 ? 40 + ((uint32_t)ip[4] << 8 | ip[5]) : (uint32_t)ip[2] << 8 | ip[3];
	if (l2 + length != m->pkt_len) {
		emu_breach(nic, EMU_breach_length, "sent: pkt_len is not where the IP packet ends");
		return false;
	}
	payload = length - l3;
	pad = -(payload + 2) & 3;
	next = ip[v6 ? 6 : 9];
	seq = next_number(nic, sa, length);
	if (seq == 0)
		return false;
	data = (uint8_t *)rte_pktmbuf_prepend(m, HEAD);
	end = (uint8_t *)rte_pktmbuf_append(m, pad + 2 + ICV);
	if (data == NULL || end == NULL)
		return false;
	memmove(data, data + HEAD, l2 + l3);
	ip = data + l2;
	esp = ip + l3;
	memcpy(esp, &sa->spi, 4);
	be = rte_cpu_to_be_32((uint32_t)seq);
	memcpy(esp + 4, &be, 4);
	iv = rte_cpu_to_be_64(seq);
	memcpy(esp + 8, &iv, 8);
	for (uint32_t i = 0; i < pad; i++)
		end[i] = (uint8_t)(i + 1);
	end[pad] = (uint8_t)pad;
	end[pad + 1] = next;
	ip[v6 ? 6 : 9] = PROTO_ESP;
	put_length(ip, v6, length + HEAD + pad + 2 + ICV);
	emu_seal(sa, esp + 8, aad, additional_data(sa, esp, seq, aad), esp + HEAD, (int)(payload + pad + 2),
		end + pad + 2);
	if (!v6)
		emu_ipv4_checksum(ip, l3);
	if (emu_every(nic, nic->faults.txicv, &nic->txicv_seen))
		end[pad + 2] ^= 0x80;
	emu_count(nic, EMU_tx_encrypted);
	return true;
}

/* The device's window: a bit for each of the last numbers. */
static bool
seen(const struct emu_sa *sa, uint64_t seq)
{
	if (sa->window_size == 0 || seq > sa->sequence)
		return false;
	if (sa->sequence - seq >= sa->window_size)
		return true;
	return sa->window[seq / 64 % 16] >> seq % 64 & 1;
}

static void
mark_seen(struct emu_sa *sa, uint64_t seq)
{
	for (; sa->sequence < seq; sa->sequence++) {
		if (seq - sa->sequence > 1024)
			sa->sequence = seq - 1024;
		uint64_t n = sa->sequence + 1;
		sa->window[n / 64 % 16] &= ~(UINT64_C(1) << n % 64);
	}
	sa->window[seq / 64 % 16] |= UINT64_C(1) << seq % 64;
}

static uint64_t
whole(const struct emu_sa *sa, uint32_t low)
{
	uint64_t top = sa->sequence, seq = (top & ~UINT64_C(0xffffffff)) | low;

	if (!sa->esn)
		return low;
	if (seq + (UINT64_C(1) << 31) < top)
		return seq + (UINT64_C(1) << 32);
	if (seq > top + (UINT64_C(1) << 31) && seq >= UINT64_C(1) << 32)
		return seq - (UINT64_C(1) << 32);
	return seq;
}

static void
refuse(struct emu_sa *sa, struct rte_mbuf *m)
{
	m->ol_flags |= MARKS;
	*rte_security_dynfield(m) = sa->user_data;
	rte_spinlock_lock(&sa->lock);
	sa->errors++;
	rte_spinlock_unlock(&sa->lock);
}

/* Verifies, decrypts and takes ESP away; what fails is delivered as it came, marked. */
void
emu_packet_open(struct emu_nic *nic, struct emu_sa *sa, struct rte_mbuf *m, uint32_t l2, uint32_t l3, bool v6)
{
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *), *ip = data + l2, *esp = ip + l3, *icv;
	uint32_t length = v6 ? 40 + ((uint32_t)ip[4] << 8 | ip[5]) : (uint32_t)ip[2] << 8 | ip[3];
	uint32_t low = (uint32_t)esp[4] << 24 | esp[5] << 16 | esp[6] << 8 | esp[7];
	uint32_t text = length - l3 - HEAD - ICV;
	uint8_t aad[12], pad, next, kept[16384];
	uint64_t seq = whole(sa, low);
	bool good;

	icv = esp + HEAD + text;
	if (seq == 0 || seen(sa, seq) || text > sizeof(kept)) {
		emu_count(nic, EMU_rx_replayed);
		refuse(sa, m);
		return;
	}
	memcpy(kept, esp + HEAD, text);
	if (emu_open(sa, esp + 8, aad, additional_data(sa, esp, seq, aad), esp + HEAD, (int)text, icv) != 0 ||
		emu_every(nic, nic->faults.icv, &nic->icv_seen)) {
		memcpy(esp + HEAD, kept, text);
		emu_count(nic, EMU_rx_bad_icv);
		refuse(sa, m);
		return;
	}
	pad = icv[-2];
	next = icv[-1];
	rte_spinlock_lock(&sa->lock);
	good = !seen(sa, seq) && (uint32_t)pad + 2 <= text && carry(nic, sa, length - HEAD - ICV - pad - 2);
	if (good)
		mark_seen(sa, seq);
	rte_spinlock_unlock(&sa->lock);
	if (!good) {
		refuse(sa, m);
		return;
	}
	/* Headers move up to the payload; trailer, ICV and Ethernet padding go. */
	rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - (l2 + length - ICV - pad - 2)));
	memmove(data + HEAD, data, l2 + l3);
	rte_pktmbuf_adj(m, HEAD);
	ip = rte_pktmbuf_mtod_offset(m, uint8_t *, l2);
	ip[v6 ? 6 : 9] = next;
	put_length(ip, v6, length - HEAD - ICV - pad - 2);
	if (!v6)
		emu_ipv4_checksum(ip, l3);
	*rte_security_dynfield(m) = sa->user_data;
	m->ol_flags |= RTE_MBUF_F_RX_SEC_OFFLOAD;
	emu_count(nic, EMU_rx_opened);
}

#endif
