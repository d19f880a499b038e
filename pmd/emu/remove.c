/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

/* The entry that ixgbe's removals take: the first that has the SPI, or ever had it. */
static int
first_of_spi(struct emu_nic *nic, const struct emu_sa *table, uint32_t n, const struct emu_session *s)
{
	for (uint32_t i = 0; i < n; i++) {
		if (table[i].spi != s->spi)
			continue;
		if (table[i].session != s)
			emu_breach(nic, EMU_breach_removal, "the removal of SPI 0x%08x hit another SA",
				rte_be_to_cpu_32(s->spi));
		return (int)i;
	}
	return -EFAULT;
}

/*
 * ixgbe's removal finds an entry by its SPI alone, and writes the index register without
 * the bit that enables lookups (ixgbe_ipsec.c: ixgbe_crypto_remove_sa). A session without
 * an entry is not found, and stays; no contract was broken if its rule was refused.
 */
static int
remove_ixgbe(struct emu_nic *nic, struct emu_session *s)
{
	struct emu_sa *table = s->egress ? nic->tx : nic->rx;
	int at = s->egress ? 0 : emu_find_address(nic, s->dst);
	int i = at < 0 ? at : first_of_spi(nic, table, s->egress ? nic->config.tx_size : nic->config.rx_size, s);

	if (i < 0) {
		if (s->installed || !s->asked)
			emu_breach(nic, EMU_breach_removal, "no SA of SPI 0x%08x to be removed",
				rte_be_to_cpu_32(s->spi));
		return -EFAULT;
	}
	if (!s->egress) {
		emu_unlink_ingress(nic, i);
		if (nic->addresses[at].refs > 0)
			nic->addresses[at].refs--;
		nic->lookup_rx = false;
	} else {
		nic->lookup_tx = false;
	}
	explicit_bzero(table[i].key, sizeof(table[i].key));
	explicit_bzero(table[i].salt, sizeof(table[i].salt));
	table[i].used = false;
	return 0;
}

/* Takes a session's SA out of a device that removes exactly. */
void
emu_uninstall(struct emu_nic *nic, struct emu_session *s)
{
	struct emu_sa *table = s->egress ? nic->tx : nic->rx;

	if (!s->installed || table[s->sa_index].session != s)
		return;
	if (!s->egress)
		emu_unlink_ingress(nic, (int32_t)s->sa_index);
	explicit_bzero(&table[s->sa_index], sizeof(*table));
	s->installed = false;
}

/* What session_destroy does to the tables. */
int
emu_remove(struct emu_nic *nic, struct emu_session *s)
{
	if (nic->config.profile == EMU_IXGBE)
		return remove_ixgbe(nic, s);
	emu_uninstall(nic, s);
	return 0;
}

#endif
