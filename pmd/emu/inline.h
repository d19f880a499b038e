/* SPDX-License-Identifier: BSD-3-Clause */

/* The small things of the packet path. Included by nic.h. */
#ifndef EMU_INLINE_H
#define EMU_INLINE_H

static inline void
emu_add(struct emu_nic *nic, enum emu_counter counter, uint64_t n)
{
	if (n > 0)
		__atomic_fetch_add(&nic->counters[rte_lcore_id() % EMU_SLOTS].n[counter], n,
			__ATOMIC_RELAXED);
}

static inline void
emu_count(struct emu_nic *nic, enum emu_counter counter)
{
	emu_add(nic, counter, 1);
}

/* The model's own time since begin; not that of a thread that was stopped meanwhile. */
static inline void
emu_took(struct emu_nic *nic, uint64_t begin)
{
	uint64_t cycles = rte_rdtsc() - begin;

	if (cycles < 1000000)
		emu_add(nic, EMU_model_ns, cycles);
}

static inline bool
emu_dead(const struct emu_nic *nic)
{
	return __atomic_load_n(&nic->dead, __ATOMIC_RELAXED);
}

static inline bool
emu_looks_up(const struct emu_nic *nic, bool lookup)
{
	return lookup && (nic->off_until == 0 || rte_rdtsc() >= nic->off_until);
}

/*
 * The 64-bit number whose low half came with a packet: the one nearest to the highest
 * number accepted (RFC 4303, appendix A2, with half the space as window).
 */
static inline uint64_t
emu_whole(const struct emu_sa *sa, uint32_t low)
{
	uint64_t top = __atomic_load_n(&sa->sequence, __ATOMIC_RELAXED);
	uint64_t seq = (top & ~UINT64_C(0xffffffff)) | low;

	if (!sa->esn)
		return low;
	if (seq < top && top - seq > UINT64_C(1) << 31 && seq <= UINT64_MAX - (UINT64_C(1) << 32))
		return seq + (UINT64_C(1) << 32);
	if (seq > top && seq - top > UINT64_C(1) << 31 && seq >= UINT64_C(1) << 32)
		return seq - (UINT64_C(1) << 32);
	return seq;
}

/* The additional data of a packet: its ESP header, with all 64 bits of its number for ESN. */
static inline int
emu_aad(const struct emu_sa *sa, const uint8_t *esp, uint32_t high, uint8_t aad[12])
{
	uint32_t be = rte_cpu_to_be_32(high);

	memcpy(aad, esp, 8);
	if (!sa->esn)
		return 8;
	memcpy(aad + 4, &be, 4);
	memcpy(aad + 8, esp + 4, 4);
	return 12;
}

static inline uint32_t
emu_low(const uint8_t *esp)
{
	return (uint32_t)esp[4] << 24 | (uint32_t)esp[5] << 16 | (uint32_t)esp[6] << 8 | esp[7];
}

/* crypto=off: which packets are sealed and opened nevertheless. */
static inline bool
emu_sampled(uint32_t low)
{
	return low % 1000 == 0;
}

/* Octets of an IP packet, from its header on, as its header says. */
static inline uint32_t
emu_ip_length(const uint8_t *ip, bool v6)
{
	return v6 ? 40 + ((uint32_t)ip[4] << 8 | ip[5]) : (uint32_t)ip[2] << 8 | ip[3];
}

/* Adds the checksum of an IPv4 header in whose field zero stands. */
static inline void
emu_put_sum(uint8_t *ip, uint32_t header_len)
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

static inline void
emu_ipv4_checksum(uint8_t *ip, uint32_t header_len)
{
	ip[10] = ip[11] = 0;
	emu_put_sum(ip, header_len);
}

#endif
