/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#include <rte_jhash.h>

/* The driver's transmit path tells so many egress SAs apart (ixgbe_rxtx.h: union ixgbe_tx_offload). */
#define DISTINCT_SAS 256

/* Stops all queues between two bursts. All of the array: queues may be added meanwhile. */
void
emu_lock(struct emu_nic *nic)
{
	rte_spinlock_lock(&nic->lock);
	for (int q = 0; q < EMU_QUEUES; q++) {
		rte_spinlock_lock(&nic->rxq[q].lock);
		rte_spinlock_lock(&nic->txq[q].lock);
	}
}

void
emu_unlock(struct emu_nic *nic)
{
	for (int q = EMU_QUEUES - 1; q >= 0; q--) {
		rte_spinlock_unlock(&nic->txq[q].lock);
		rte_spinlock_unlock(&nic->rxq[q].lock);
	}
	rte_spinlock_unlock(&nic->lock);
}

/* One control-plane call at a time: a driver's tables have no lock. */
void
emu_enter(struct emu_nic *nic, const char *call)
{
	uint32_t slow = __atomic_load_n(&nic->faults.slow, __ATOMIC_RELAXED);

	if (__atomic_fetch_add(&nic->busy, 1, __ATOMIC_ACQ_REL) != 0)
		emu_breach(nic, EMU_breach_concurrent, "%s while another call was running", call);
	if (slow > 0)
		rte_delay_us_sleep(slow);
	emu_lock(nic);
}

void
emu_leave(struct emu_nic *nic)
{
	emu_unlock(nic);
	__atomic_fetch_sub(&nic->busy, 1, __ATOMIC_ACQ_REL);
}

void
emu_clear_tables(struct emu_nic *nic)
{
	explicit_bzero(nic->tx, nic->config.tx_size * sizeof(*nic->tx));
	explicit_bzero(nic->rx, nic->config.rx_size * sizeof(*nic->rx));
	memset(nic->addresses, 0, nic->config.address_size * sizeof(*nic->addresses));
	memset(nic->bucket, 0xff, sizeof(nic->bucket));
	for (int q = 0; q < EMU_QUEUES; q++)
		memset(&nic->txq[q].contexts, 0, sizeof(nic->txq[q].contexts));
	nic->lookup_tx = nic->lookup_rx = false;
}

uint64_t
emu_hash_key(const uint8_t *key, uint32_t len)
{
	return (uint64_t)rte_jhash(key, len, 1) << 32 | rte_jhash(key, len, 2);
}

uint32_t
emu_bucket(uint32_t spi)
{
	return rte_jhash_1word(spi, 0) % EMU_BUCKETS;
}

/* Of entries that are equal the one with the lowest index is found first, so buckets are in that order. */
static void
link_ingress(struct emu_nic *nic, int32_t i)
{
	int32_t *at = &nic->bucket[emu_bucket(nic->rx[i].spi)];

	while (*at >= 0 && *at < i)
		at = &nic->rx[*at].next;
	nic->rx[i].next = *at;
	*at = i;
}

void
emu_unlink_ingress(struct emu_nic *nic, int32_t i)
{
	int32_t *at = &nic->bucket[emu_bucket(nic->rx[i].spi)];

	while (*at >= 0 && *at != i)
		at = &nic->rx[*at].next;
	if (*at == i)
		*at = nic->rx[i].next;
}

static uint32_t
room(const struct emu_nic *nic, uint32_t size)
{
	uint32_t full = nic->faults.full;

	return full > 0 && full < size ? full : size;
}

static int
free_slot(const struct emu_sa *table, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!table[i].used)
			return (int)i;
	return -ENOSPC;
}

/* Copies an SA's terms into a slot of a table. */
static void
program(struct emu_nic *nic, struct emu_sa *sa, struct emu_session *s)
{
	memset(sa, 0, sizeof(*sa));
	sa->used = true;
	sa->generation = s->generation;
	sa->spi = s->spi;
	sa->session = s;
	sa->esn = s->esn;
	sa->v6 = s->v6;
	memcpy(sa->dst, s->dst, sizeof(sa->dst));
	if (nic->config.profile == EMU_IXGBE) {
		/* 16 octets, whatever the length says. */
		sa->key_len = 16;
		sa->esn = false;
		memcpy(sa->key, s->key, 16);
	} else {
		sa->key_len = s->key_len;
		memcpy(sa->key, s->key, s->key_len);
	}
	memcpy(sa->salt, s->salt, 4);
	sa->sequence = s->sequence;
	sa->window_size = s->window_size;
	sa->limits = s->limits;
	sa->user_data = s->user_data;
}

static void
check_same_spi(struct emu_nic *nic, const struct emu_sa *table, uint32_t n, uint32_t spi)
{
	if (nic->config.profile != EMU_IXGBE)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (table[i].used && table[i].spi == spi)
			emu_breach(nic, EMU_breach_same_spi, "a second SA of SPI 0x%08x",
				rte_be_to_cpu_32(spi));
}

int
emu_add_egress(struct emu_nic *nic, struct emu_session *s)
{
	int i = free_slot(nic->tx, room(nic, nic->config.tx_size));

	if (i < 0)
		return i;
	check_same_spi(nic, nic->tx, nic->config.tx_size, s->spi);
	if (nic->config.profile == EMU_IXGBE && i >= DISTINCT_SAS)
		emu_breach(nic, EMU_breach_index, "egress SA at index %d of %d", i, DISTINCT_SAS);
	program(nic, &nic->tx[i], s);
	s->sa_index = (uint32_t)i;
	s->installed = true;
	nic->lookup_tx = true;
	return 0;
}

int
emu_find_address(const struct emu_nic *nic, const uint8_t addr[16])
{
	/* The family is not compared (ixgbe_ipsec.c: CMP_IP), nor whether anybody uses it. */
	for (uint32_t i = 0; i < nic->config.address_size; i++)
		if (memcmp(nic->addresses[i].addr, addr, 16) == 0)
			return (int)i;
	return -ENOSPC;
}

static int
take_address(struct emu_nic *nic, const uint8_t addr[16])
{
	int at = emu_find_address(nic, addr);

	for (uint32_t i = 0; at < 0 && i < nic->config.address_size; i++)
		if (nic->addresses[i].refs == 0)
			at = (int)i;
	return at;
}

/* Installs an SA for packets to s->dst. */
int
emu_add_ingress(struct emu_nic *nic, struct emu_session *s)
{
	bool ixgbe = nic->config.profile == EMU_IXGBE;
	int at = ixgbe ? take_address(nic, s->dst) : 0;
	int i = free_slot(nic->rx, room(nic, nic->config.rx_size));

	if (at < 0 || i < 0)
		return -ENOSPC;
	check_same_spi(nic, nic->rx, nic->config.rx_size, s->spi);
	if (ixgbe && emu_hash_key(s->key, s->key_len + 4) != s->key_hash)
		emu_breach(nic, EMU_breach_key, "the key changed between session and flow");
	program(nic, &nic->rx[i], s);
	if (ixgbe) {
		memcpy(nic->addresses[at].addr, s->dst, 16);
		nic->addresses[at].refs++;
		nic->rx[i].ip_index = (uint16_t)at;
	}
	link_ingress(nic, i);
	s->sa_index = (uint32_t)i;
	s->installed = true;
	nic->lookup_rx = true;
	return 0;
}

#endif
