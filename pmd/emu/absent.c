/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if !PMD_HAS_SECURITY_DRIVER

#include "emu.h"

/*
 * This DPDK does not install what a security context is made of (from 25.11 on, only
 * with -Denable_driver_sdk=true), so there is nothing to emulate with.
 */
int
emu_new(const struct emu_options *options, struct emu_nic **nic)
{
	*nic = NULL;
	return -ENOTSUP;
}

void
emu_free(struct emu_nic *nic)
{
}

void *
emu_standin(struct emu_nic *nic)
{
	return NULL;
}

void *
emu_validate(void)
{
	return NULL;
}

int
emu_counter_count(void)
{
	return 0;
}

const char *
emu_counter_name(int i)
{
	return "";
}

uint64_t
emu_counter(const struct emu_nic *nic, int i)
{
	return 0;
}

int
emu_texts(struct emu_nic *nic, char (*out)[EMU_TEXT_LEN], int room)
{
	return 0;
}

void
emu_set_faults(struct emu_nic *nic, const uint32_t *values)
{
}

#endif
