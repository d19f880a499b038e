/* SPDX-License-Identifier: BSD-3-Clause */

/* A packet on its way out, between tx.c and check.c. */
#ifndef EMU_OUT_H
#define EMU_OUT_H

#include "nic.h"

enum { EMU_ESP = 50, EMU_ESP_HEAD = 16, EMU_ICV = 16 }; /* protocol; header and IV; octets */

struct emu_out {
	struct emu_nic *nic;
	struct emu_queue *queue;
	struct rte_mbuf *m;
	uint8_t *data; /* its octets */
	uint64_t word; /* its metadata */
	uint32_t esp;  /* where ESP begins */
	bool v6;
	bool bad; /* it broke the contract: what is sent must be unreadable */
};

/* check.c: whether the contract is kept; false: the device cannot even try. */
bool emu_check_out(struct emu_out *o);
struct emu_sa *emu_out_sa(struct emu_out *o);
void emu_out_broken(struct emu_out *o, enum emu_counter kind, const char *what);

#endif
