/* SPDX-License-Identifier: BSD-3-Clause */

/* What an emulated NIC counts, and the kinds of breach of its contract among that. */
#ifndef EMU_COUNTERS_H
#define EMU_COUNTERS_H

#define EMU_COUNTERS(X) \
	X(tx_encrypted)      /* packets sealed */ \
	X(tx_plain)          /* packets handed over without a mark; those offered again after a full ring, too */ \
	X(leak_tx)           /* packets that asked to be sealed and left in clear text */ \
	X(bad_tx)            /* packets that left unreadable, because they broke the contract */ \
	X(tx_after_hard)     /* packets that left unreadable: their session had reached a hard limit */ \
	X(tx_exhausted)      /* the same: no sequence number was left */ \
	X(tx_dead)           /* the same: the device stands still */ \
	X(tx_failed)         /* the same: no memory, or the cipher failed */ \
	X(rx_opened)         /* packets opened */ \
	X(rx_bad_icv) \
	X(rx_bad_length) \
	X(rx_bad_trailer)    /* INLINE_PROTOCOL: more padding than text */ \
	X(rx_replayed) \
	X(rx_after_hard)     /* INLINE_PROTOCOL: the session had reached a hard limit */ \
	X(rx_no_session)     /* ESP that no session matched */ \
	X(rx_unprocessed)    /* frames of a kind that the device leaves alone, fragments for one */ \
	X(rx_dead)           /* packets lost: the device stands still */ \
	X(sessions)          /* alive now */ \
	X(sessions_made) \
	X(sessions_refused) \
	X(flows_made) \
	X(faults)            /* times that a fault on demand struck */ \
	X(crypto_off)        /* 1: only each 1,000th packet is really sealed and opened */ \
	X(model_ns)          /* nanoseconds of CPU time that the model itself took on the packet path */ \
	X(breaches)          /* all of the following */ \
	X(breach_metadata)   /* marked, but no metadata was set */ \
	X(breach_stale)      /* metadata of a session that is gone */ \
	X(breach_wrong_sa)   /* the packet's SPI is not its SA's */ \
	X(breach_aliased)    /* the context cache took another SA for it */ \
	X(breach_length)     /* pkt_len does not end at the ICV, or pad length and trailer differ */ \
	X(breach_header)     /* no ESP where l2_len and l3_len say, or options, tags, extensions, fragments */ \
	X(breach_flags)      /* offload flags that do not go with sealing, or the IPv4 ones missing */ \
	X(breach_segments) \
	X(breach_validate)   /* rte_flow_validate with the SECURITY action */ \
	X(breach_same_spi)   /* two SAs of one SPI and direction */ \
	X(breach_index)      /* an egress SA at an index that the driver cannot tell apart */ \
	X(breach_order)      /* sessions before start, alive at stop, or on a context that is gone */ \
	X(breach_key)        /* key memory changed between session and flow, or of a wrong length */ \
	X(breach_settings)   /* an SA that the device cannot do, which its driver would not refuse */ \
	X(breach_removal)    /* a removal that hit another SA, or none */ \
	X(breach_drain)      /* an egress SA removed while packets for it may be in the transmit ring */ \
	X(breach_concurrent) /* two control-plane calls at once */

enum emu_counter {
#define X(name) EMU_##name,
	EMU_COUNTERS(X)
#undef X
	EMU_COUNTER_MAX
};

#endif
