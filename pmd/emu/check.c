/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "out.h"

enum { MAX_PAD = 15, TRAILER = 18 }; /* octets; pad length, next header and ICV */

#define L4_FLAGS (RTE_MBUF_F_TX_L4_MASK | RTE_MBUF_F_TX_TCP_SEG)
#define IP_FLAGS (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IPV6)

void
emu_out_broken(struct emu_out *o, enum emu_counter kind, const char *what)
{
	emu_breach(o->nic, kind, "sent: %s", what);
	o->bad = true;
}

static void
check_flags(struct emu_out *o)
{
	uint64_t flags = o->m->ol_flags;
	const uint8_t *ip = o->data + o->m->l2_len;

	if (flags & L4_FLAGS)
		emu_out_broken(o, EMU_breach_flags, "L4 checksum or segmentation together with sealing");
	if ((flags & IP_FLAGS) != RTE_MBUF_F_TX_IPV4 && (flags & IP_FLAGS) != RTE_MBUF_F_TX_IPV6)
		emu_out_broken(o, EMU_breach_flags, "not one of IPV4 and IPV6 said");
	if (o->nic->config.profile == EMU_PACKET)
		return;
	if ((flags & RTE_MBUF_F_TX_IPV4) && !(flags & RTE_MBUF_F_TX_IP_CKSUM))
		emu_out_broken(o, EMU_breach_flags, "IPv4 without IP_CKSUM");
	if ((flags & RTE_MBUF_F_TX_IP_CKSUM) && (ip[10] | ip[11]))
		emu_out_broken(o, EMU_breach_flags, "an IPv4 header checksum that is not zero");
}

/* An IP header of which nothing is odd must be where l2_len says, of l3_len. */
static void
check_header(struct emu_out *o)
{
	struct rte_mbuf *m = o->m;
	const uint8_t *ip = o->data + m->l2_len, *type = ip - 2;
	bool tags = o->nic->config.profile == EMU_CRYPTO;

	if (m->l2_len != 14 && !(tags && (m->l2_len == 18 || m->l2_len == 22)))
		emu_out_broken(o, EMU_breach_header, "a tagged frame, or a wrong l2_len");
	else if (o->v6 ? type[0] != 0x86 || type[1] != 0xdd : type[0] != 8 || type[1] != 0)
		emu_out_broken(o, EMU_breach_header, "an EtherType that is not IP's, or a wrong l2_len");
	if (m->l3_len != (o->v6 ? 40u : 20u) || ip[0] != (o->v6 ? (ip[0] & 15) | 0x60 : 0x45))
		emu_out_broken(o, EMU_breach_header, "IPv4 options, IPv6 extension headers or a wrong l3_len");
	if (!o->v6 && ((ip[6] & 0x3f) | ip[7]))
		emu_out_broken(o, EMU_breach_header, "a fragment");
	if (m->l2_len + emu_ip_length(ip, o->v6) != m->pkt_len)
		emu_out_broken(o, EMU_breach_length, "pkt_len is not where the IP packet ends");
}

/* The trailer that the device will take the packet to have. */
static void
check_esp(struct emu_out *o)
{
	uint8_t pad = o->data[o->m->pkt_len - TRAILER];
	uint32_t text = o->m->pkt_len - EMU_ICV - o->esp - EMU_ESP_HEAD;

	if (o->data[o->m->l2_len + (o->v6 ? 6 : 9)] != EMU_ESP)
		emu_out_broken(o, EMU_breach_header, "no ESP behind the IP header");
	if (text % 4 != 0 || (uint32_t)pad + 2 > text)
		emu_out_broken(o, EMU_breach_length, "text that is no multiple of 4, or more padding than text");
	if (o->nic->config.profile != EMU_IXGBE)
		return;
	if (pad > MAX_PAD)
		emu_out_broken(o, EMU_breach_length, "more padding than the driver tells apart");
	if ((uint8_t)(o->word >> EMU_WORD_PAD) != (uint8_t)(pad + TRAILER))
		emu_out_broken(o, EMU_breach_length, "the metadata's trailer is not the packet's");
}

bool
emu_check_out(struct emu_out *o)
{
	bool packet = o->nic->config.profile == EMU_PACKET;

	o->v6 = (o->m->ol_flags & RTE_MBUF_F_TX_IPV6) != 0;
	o->esp = o->m->l2_len + o->m->l3_len;
	if (o->m->nb_segs != 1) {
		emu_out_broken(o, EMU_breach_segments, "several segments");
		return false;
	}
	if (o->m->l2_len < 14 || o->m->pkt_len < o->m->l2_len + (o->v6 ? 40u : 20u) ||
		o->m->pkt_len < o->esp + (packet ? 0 : EMU_ESP_HEAD + 2 + EMU_ICV)) {
		emu_out_broken(o, EMU_breach_length, "too short for what it should be");
		return false;
	}
	check_flags(o);
	check_header(o);
	if (!packet)
		check_esp(o);
	return true;
}

/*
 * The driver keeps two contexts a queue and takes one for the packet's if flags and
 * lengths are equal, and 8 bits of the index, and 4 of the trailer's length
 * (ixgbe_rxtx.c: what_advctx_update).
 */
static uint32_t
context_of(struct emu_out *o, uint32_t index)
{
	struct emu_contexts *c = &o->queue->contexts;
	uint64_t flags = o->m->ol_flags & (RTE_MBUF_F_TX_SEC_OFFLOAD | RTE_MBUF_F_TX_IP_CKSUM | IP_FLAGS);
	uint16_t lengths = (uint16_t)(o->m->l2_len | o->m->l3_len << 7);
	uint8_t pad = (o->word >> EMU_WORD_PAD) & 15;

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
struct emu_sa *
emu_out_sa(struct emu_out *o)
{
	struct emu_nic *nic = o->nic;
	uint32_t wanted = (uint16_t)o->word, index;
	uint16_t generation = (uint16_t)(o->word >> EMU_WORD_GENERATION);
	struct emu_sa *sa;

	if (o->word == EMU_POISON) {
		emu_out_broken(o, EMU_breach_metadata, "marked without metadata");
		return NULL;
	}
	if (nic->config.profile == EMU_IXGBE) {
		wanted &= nic->config.tx_size - 1;
	} else if (wanted >= nic->config.tx_size) {
		emu_out_broken(o, EMU_breach_metadata, "an index beyond the table");
		return NULL;
	}
	index = nic->config.alias && nic->config.profile == EMU_IXGBE ? context_of(o, wanted) : wanted;
	if (index != wanted)
		emu_out_broken(o, EMU_breach_aliased, "the context of another SA");
	sa = &nic->tx[index];
	o->queue->last_tx = rte_rdtsc();
	__atomic_store_n(&sa->last_tx, o->queue->last_tx, __ATOMIC_RELAXED);
	/* No session has generation 0, which is what the word of a new buffer says. */
	if (generation == 0)
		emu_out_broken(o, EMU_breach_metadata, "marked without metadata");
	else if (!nic->tx[wanted].used || nic->tx[wanted].generation != generation)
		emu_out_broken(o, EMU_breach_stale, "metadata of an SA that is gone");
	return sa;
}

#endif
