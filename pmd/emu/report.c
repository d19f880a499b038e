/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu.h"

/* Counts a breach of the contract and keeps its text; strict=off passes over it. */
void
emu_breach(struct emu_nic *nic, enum emu_counter kind, const char *format, ...)
{
	va_list args;

	if (!nic->config.strict)
		return;
	emu_count(nic, EMU_breaches);
	emu_count(nic, kind);
	rte_spinlock_lock(&nic->text_lock);
	if (nic->texts < EMU_TEXTS) {
		va_start(args, format);
		vsnprintf(nic->text[nic->texts++], EMU_TEXT, format, args);
		va_end(args);
	}
	rte_spinlock_unlock(&nic->text_lock);
	if (nic->config.abort)
		abort();
}

/* The sum of all lcores' counts. One that also goes down is right modulo 2^64. */
uint64_t
emu_total(const struct emu_nic *nic, enum emu_counter counter)
{
	uint64_t sum = 0;

	for (int i = 0; i < EMU_SLOTS; i++)
		sum += __atomic_load_n(&nic->counters[i].n[counter], __ATOMIC_RELAXED);
	return sum;
}

int
emu_counter_count(void)
{
	return EMU_COUNTER_MAX;
}

const char *
emu_counter_name(int i)
{
	static const char *const names[] = {
#define X(name) #name,
		EMU_COUNTERS(X)
#undef X
	};
	return names[i];
}

uint64_t
emu_counter(const struct emu_nic *nic, int i)
{
	uint64_t n = emu_total(nic, (enum emu_counter)i);

	return i == EMU_model_ns ? (uint64_t)((double)n / rte_get_tsc_hz() * 1e9) : n;
}

int
emu_texts(struct emu_nic *nic, char (*out)[EMU_TEXT_LEN], int room)
{
	int n;

	RTE_BUILD_BUG_ON((int)EMU_TEXT_LEN != (int)EMU_TEXT);
	rte_spinlock_lock(&nic->text_lock);
	n = RTE_MIN(nic->texts, room);
	memcpy(out, nic->text, n * sizeof(*out));
	rte_spinlock_unlock(&nic->text_lock);
	return n;
}

#endif
