/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#include "emu.h"

/* Whether a fault of calls strikes this one: each, or the nth since it was asked for. */
bool
emu_strikes(struct emu_nic *nic, const uint32_t *fault, uint32_t *seen)
{
	uint32_t n = __atomic_load_n(fault, __ATOMIC_RELAXED);

	if (n == 0 || (n != EMU_ALWAYS && __atomic_add_fetch(seen, 1, __ATOMIC_RELAXED) != n))
		return false;
	emu_count(nic, EMU_faults);
	return true;
}

/* Whether a fault that strikes every nth packet strikes this one. */
bool
emu_every(struct emu_nic *nic, uint32_t n, uint32_t *seen)
{
	if (n == 0 || __atomic_add_fetch(seen, 1, __ATOMIC_RELAXED) % n != 0)
		return false;
	emu_count(nic, EMU_faults);
	return true;
}

/* The fault reset: from some packet on the device does nothing and asks for a reset. */
void
emu_stand_still(struct emu_nic *nic, uint32_t packets)
{
	if (nic->faults.reset == 0 || emu_dead(nic))
		return;
	if (__atomic_add_fetch(&nic->seen.reset, packets, __ATOMIC_RELAXED) < nic->faults.reset)
		return;
	if (__atomic_exchange_n(&nic->dead, true, __ATOMIC_RELAXED))
		return; /* another queue was first */
	emu_count(nic, EMU_faults);
	if (nic->standin.event != NULL)
		nic->standin.event(nic->standin.port, RTE_ETH_EVENT_INTR_RESET, nic->standin.event_arg, NULL);
}

static void
lookups_off(struct emu_nic *nic, uint32_t milliseconds)
{
	nic->off_until = 0;
	if (milliseconds == 0)
		return;
	emu_count(nic, EMU_faults);
	if (milliseconds == EMU_ALWAYS)
		nic->lookup_tx = nic->lookup_rx = false; /* until the next addition */
	else
		nic->off_until = rte_rdtsc() + rte_get_tsc_hz() / 1000 * milliseconds;
}

/* Replaces all faults; values are by EMU_FAULT_. */
void
emu_set_faults(struct emu_nic *nic, const uint32_t *values)
{
	RTE_BUILD_BUG_ON(EMU_FAULT_ALWAYS != EMU_ALWAYS);
	emu_lock(nic);
	nic->faults = (struct emu_faults){
		.session = values[EMU_FAULT_SESSION], .flow = values[EMU_FAULT_FLOW],
		.destroy = values[EMU_FAULT_DESTROY], .metadata = values[EMU_FAULT_METADATA],
		.full = values[EMU_FAULT_FULL], .icv = values[EMU_FAULT_ICV],
		.noflag = values[EMU_FAULT_NOFLAG], .txicv = values[EMU_FAULT_TXICV],
		.reset = values[EMU_FAULT_RESET], .slow = values[EMU_FAULT_SLOW],
	};
	memset(&nic->seen, 0, sizeof(nic->seen));
	lookups_off(nic, values[EMU_FAULT_LOOKUPSOFF]);
	if (values[EMU_FAULT_GONE]) {
		__atomic_store_n(&nic->dead, true, __ATOMIC_RELAXED);
		emu_count(nic, EMU_faults);
	}
	emu_unlock(nic);
	if (values[EMU_FAULT_GONE] && nic->standin.event != NULL)
		nic->standin.event(nic->standin.port, RTE_ETH_EVENT_INTR_RMV, nic->standin.event_arg, NULL);
}

#endif
