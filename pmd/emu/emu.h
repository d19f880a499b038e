/* SPDX-License-Identifier: BSD-3-Clause */

/* What Go calls; no DPDK header is needed to read this one. */
#ifndef EMU_H
#define EMU_H

#include <stdbool.h>
#include <stdint.h>

enum {
	EMU_OPT_IXGBE = 0, /* enum emu_profile */
	EMU_OPT_CRYPTO = 1,
	EMU_OPT_PACKET = 2,

	EMU_TEXT_LEN = 160,

	EMU_FAULT_SESSION = 0,
	EMU_FAULT_FLOW,
	EMU_FAULT_DESTROY,
	EMU_FAULT_METADATA,
	EMU_FAULT_FULL,
	EMU_FAULT_ICV,
	EMU_FAULT_NOFLAG,
	EMU_FAULT_TXICV,
	EMU_FAULT_RESET,
	EMU_FAULT_SLOW,
	EMU_FAULT_LOOKUPSOFF,
	EMU_FAULT_GONE,
	EMU_FAULTS,
};

/* The number of a fault of calls that strikes each, and of lookupsoff without a time. */
#define EMU_FAULT_ALWAYS UINT32_MAX

struct emu_options {
	uint32_t profile;
	uint32_t pci_device;
	uint32_t tx_size, rx_size, address_size;
	uint32_t ring_us;
	bool conf_is_action, full_is_told, ingress, scalar, alias, crypto_off, strict, abort;
};

struct emu_nic;

int emu_new(const struct emu_options *options, struct emu_nic **nic);
void emu_free(struct emu_nic *nic);
void *emu_standin(struct emu_nic *nic);
void *emu_validate(void); /* a function: rte_flow_validate without attr, for the stand-in's self */
int emu_counter_count(void);
const char *emu_counter_name(int i);
uint64_t emu_counter(const struct emu_nic *nic, int i);
int emu_texts(struct emu_nic *nic, char (*out)[EMU_TEXT_LEN], int room);
void emu_set_faults(struct emu_nic *nic, const uint32_t *values);

#endif
