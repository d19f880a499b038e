/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

enum { ESP = 50, HEAD = 16, ICV = 16, MAX_TEXT = 16384 }; /* protocol; ESP header and IV; octets */

#define MARKS (RTE_MBUF_F_RX_SEC_OFFLOAD | RTE_MBUF_F_RX_SEC_OFFLOAD_FAILED)

/* Tells once that an SA reached something. Its lock is held. */
static void
tell(struct emu_nic *nic, struct emu_sa *sa, uint32_t once, enum rte_eth_event_ipsec_subtype what)
{
	/* The user data of the session, not the session: struct rte_eth_event_ipsec_desc, rte_ethdev.h. */
	struct rte_eth_event_ipsec_desc desc = { .subtype = what, .metadata = sa->user_data };

	if (sa->told & once)
		return;
	sa->told |= once;
	if (nic->standin.event != NULL)
		nic->standin.event(nic->standin.port, RTE_ETH_EVENT_IPSEC, nic->standin.event_arg, &desc);
}

static bool
reached(uint64_t limit, uint64_t n)
{
	return limit > 0 && n >= limit;
}

/*
 * Whether the SA may carry one packet more; counts it. A hard limit is reached by its
 * last packet. The SA's lock is held.
 */
static bool
carry(struct emu_nic *nic, struct emu_sa *sa, uint32_t octets)
{
	const struct emu_limits *l = &sa->limits;

	if (reached(l->hard_packets, sa->packets) || reached(l->hard_bytes, sa->bytes))
		return false;
	sa->packets++;
	sa->bytes += octets;
	if (reached(l->soft_packets, sa->packets))
		tell(nic, sa, EMU_TOLD_SOFT_PACKETS, RTE_ETH_EVENT_IPSEC_SA_PKT_EXPIRY);
	if (reached(l->soft_bytes, sa->bytes))
		tell(nic, sa, EMU_TOLD_SOFT_BYTES, RTE_ETH_EVENT_IPSEC_SA_BYTE_EXPIRY);
	if (reached(l->hard_packets, sa->packets))
		tell(nic, sa, EMU_TOLD_HARD_PACKETS, RTE_ETH_EVENT_IPSEC_SA_PKT_HARD_EXPIRY);
	if (reached(l->hard_bytes, sa->bytes))
		tell(nic, sa, EMU_TOLD_HARD_BYTES, RTE_ETH_EVENT_IPSEC_SA_BYTE_HARD_EXPIRY);
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

/* Takes the number of the next packet; 0 with the reason when there is none any more. */
static uint64_t
next_number(struct emu_nic *nic, struct emu_sa *sa, uint32_t octets, enum emu_counter *why)
{
	uint64_t seq = 0;

	rte_spinlock_lock(&sa->lock);
	if (sa->sequence >= (sa->esn ? UINT64_MAX : UINT32_MAX)) {
		*why = EMU_tx_exhausted;
		tell(nic, sa, EMU_TOLD_EXHAUSTED, RTE_ETH_EVENT_IPSEC_ESN_OVERFLOW);
	} else if (!carry(nic, sa, octets)) {
		*why = EMU_tx_after_hard;
	} else {
		seq = ++sa->sequence;
	}
	sa->errors += seq == 0;
	rte_spinlock_unlock(&sa->lock);
	return seq;
}

/* The ESP header and the IV, which is the number: unique under the key. */
static void
put_esp(uint8_t *esp, const struct emu_sa *sa, uint64_t seq)
{
	uint32_t low = rte_cpu_to_be_32((uint32_t)seq);
	uint64_t iv = rte_cpu_to_be_64(seq);

	memcpy(esp, &sa->spi, 4);
	memcpy(esp + 4, &low, 4);
	memcpy(esp + 8, &iv, 8);
}

/*
 * Makes ESP of a plain packet whose lengths were checked. EMU_tx_encrypted, or why not:
 * then nothing may be sent that anybody can read.
 */
enum emu_counter
emu_packet_seal(struct emu_nic *nic, struct emu_sa *sa, struct rte_mbuf *m)
{
	bool v6 = m->l3_len == 40;
	uint32_t headers = m->l2_len + m->l3_len, payload = m->pkt_len - headers, pad = -(payload + 2) & 3;
	uint8_t *data, *ip, *esp, *end, aad[12];
	enum emu_counter why = EMU_tx_failed;
	uint64_t seq;

	if (rte_pktmbuf_headroom(m) < HEAD || rte_pktmbuf_tailroom(m) < pad + 2 + ICV)
		return EMU_tx_failed;
	seq = next_number(nic, sa, m->l3_len + payload, &why);
	if (seq == 0)
		return why;
	data = (uint8_t *)rte_pktmbuf_prepend(m, HEAD);
	end = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)(pad + 2 + ICV));
	memmove(data, data + HEAD, headers);
	ip = data + m->l2_len;
	esp = data + headers;
	put_esp(esp, sa, seq);
	for (uint32_t i = 0; i < pad; i++)
		end[i] = (uint8_t)(i + 1);
	end[pad] = (uint8_t)pad;
	end[pad + 1] = ip[v6 ? 6 : 9];
	ip[v6 ? 6 : 9] = ESP;
	put_length(ip, v6, m->l3_len + HEAD + payload + pad + 2 + ICV);
	if (!v6)
		emu_ipv4_checksum(ip, 20);
	if (nic->config.crypto_off && !emu_sampled((uint32_t)seq))
		return EMU_tx_encrypted;
	if (emu_seal(sa, esp + 8, aad, emu_aad(sa, esp, (uint32_t)(seq >> 32), aad), esp + HEAD,
		    (int)(payload + pad + 2), end + pad + 2) != 0)
		return EMU_tx_failed;
	if (emu_every(nic, nic->faults.txicv, &nic->seen.txicv))
		end[pad + 2] ^= 0x80;
	return EMU_tx_encrypted;
}

/* The device's window: a bit for each of the last numbers. */
static bool
seen(const struct emu_sa *sa, uint64_t seq)
{
	if (sa->window_size == 0 || seq > sa->sequence)
		return false;
	if (sa->sequence - seq >= sa->window_size)
		return true;
	return sa->window[seq / 64 % RTE_DIM(sa->window)] >> seq % 64 & 1;
}

/* Moves the highest number up to seq; not down. The SA's lock, or the device's, is held. */
void
emu_window_advance(struct emu_sa *sa, uint64_t seq)
{
	uint64_t n = sa->sequence;

	if (seq <= n)
		return;
	if (seq - n > EMU_WINDOW)
		n = seq - EMU_WINDOW;
	while (n < seq) {
		n++;
		sa->window[n / 64 % RTE_DIM(sa->window)] &= ~(UINT64_C(1) << n % 64);
	}
	__atomic_store_n(&sa->sequence, seq, __ATOMIC_RELAXED);
}

/* Marks a packet of the SA as failed. */
void
emu_packet_refuse(struct emu_sa *sa, struct rte_mbuf *m)
{
	m->ol_flags |= MARKS;
	*rte_security_dynfield(m) = sa->user_data;
	rte_spinlock_lock(&sa->lock);
	sa->errors++;
	rte_spinlock_unlock(&sa->lock);
}

/* The last word on a verified packet, under the SA's lock: EMU_rx_opened, or why not. */
static enum emu_counter
accept_packet(struct emu_nic *nic, struct emu_sa *sa, uint64_t seq, uint32_t text, uint32_t pad, uint32_t header)
{
	enum emu_counter what = EMU_rx_opened;

	rte_spinlock_lock(&sa->lock);
	if (seen(sa, seq))
		what = EMU_rx_replayed;
	else if (pad + 2 > text)
		what = EMU_rx_bad_trailer;
	else if (!carry(nic, sa, header + text - pad - 2))
		what = EMU_rx_after_hard;
	if (what == EMU_rx_opened) {
		emu_window_advance(sa, seq);
		sa->window[seq / 64 % RTE_DIM(sa->window)] |= UINT64_C(1) << seq % 64;
	}
	rte_spinlock_unlock(&sa->lock);
	return what;
}

/* Takes ESP away: headers move up to the payload; trailer, ICV and Ethernet padding go. */
static void
strip(struct rte_mbuf *m, uint32_t l2, uint32_t l3, uint32_t payload, uint8_t next)
{
	uint8_t *data = rte_pktmbuf_mtod(m, uint8_t *), *ip = data + HEAD + l2;
	bool v6 = l3 == 40;

	rte_pktmbuf_trim(m, (uint16_t)(m->pkt_len - (l2 + l3 + HEAD + payload)));
	memmove(data + HEAD, data, l2 + l3);
	rte_pktmbuf_adj(m, HEAD);
	ip[v6 ? 6 : 9] = next;
	put_length(ip, v6, l3 + payload);
	if (!v6)
		emu_ipv4_checksum(ip, l3);
}

static enum emu_counter
verify(struct emu_nic *nic, struct emu_sa *sa, uint8_t *esp, uint64_t seq, uint32_t text)
{
	uint8_t aad[12];

	if (nic->config.crypto_off && !emu_sampled((uint32_t)seq))
		return EMU_rx_opened;
	if (emu_open(sa, esp + 8, aad, emu_aad(sa, esp, (uint32_t)(seq >> 32), aad), esp + HEAD, (int)text,
		    esp + HEAD + text) != 0 ||
		emu_every(nic, nic->faults.icv, &nic->seen.icv))
		return EMU_rx_bad_icv;
	return EMU_rx_opened;
}

/* Whether a packet need not be verified: its number is 0, or was seen, or lies before the window. */
static bool
too_late(struct emu_sa *sa, uint64_t seq)
{
	bool late;

	rte_spinlock_lock(&sa->lock);
	late = seq == 0 || seen(sa, seq);
	rte_spinlock_unlock(&sa->lock);
	return late;
}

/* Verifies, decrypts and takes ESP away; what fails is delivered as it came, marked. */
void
emu_packet_open(struct emu_nic *nic, struct emu_sa *sa, struct rte_mbuf *m, uint32_t l2, uint32_t l3, bool v6)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, l2), *esp = ip + l3, kept[MAX_TEXT];
	uint32_t text = emu_ip_length(ip, v6) - l3 - HEAD - ICV;
	uint64_t seq = emu_whole(sa, emu_low(esp));
	enum emu_counter what;

	if (text > sizeof(kept)) {
		what = EMU_rx_bad_length;
	} else if (too_late(sa, seq)) {
		what = EMU_rx_replayed;
	} else {
		memcpy(kept, esp + HEAD, text);
		what = verify(nic, sa, esp, seq, text);
		if (what == EMU_rx_opened)
			what = accept_packet(nic, sa, seq, text, esp[HEAD + text - 2], l3);
		if (what != EMU_rx_opened)
			memcpy(esp + HEAD, kept, text);
	}
	emu_count(nic, what);
	if (what != EMU_rx_opened) {
		emu_packet_refuse(sa, m);
		return;
	}
	strip(m, l2, l3, text - 2 - esp[HEAD + text - 2], esp[HEAD + text - 1]);
	*rte_security_dynfield(m) = sa->user_data;
	m->ol_flags |= RTE_MBUF_F_RX_SEC_OFFLOAD;
}

#endif
