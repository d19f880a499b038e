/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "nic.h"

#define RANGE(a, b, c) { .min = (a), .max = (b), .increment = (c) }

#define GCM(key_range, icv_range, aad_range, iv_range) \
	{ \
		.op = RTE_CRYPTO_OP_TYPE_SYMMETRIC, \
		.sym = { .xform_type = RTE_CRYPTO_SYM_XFORM_AEAD, \
			.aead = { .algo = RTE_CRYPTO_AEAD_AES_GCM, \
				.block_size = 16, \
				.key_size = key_range, \
				.digest_size = icv_range, \
				.aad_size = aad_range, \
				.iv_size = iv_range } } \
	}

/* As ixgbe_ipsec.c lists it: any additional data, although the device knows 8 octets only. */
static const struct rte_cryptodev_capabilities ixgbe_crypto[] = {
	GCM(RANGE(16, 16, 0), RANGE(16, 16, 0), RANGE(0, 65535, 1), RANGE(12, 12, 0)),
	{ .op = RTE_CRYPTO_OP_TYPE_UNDEFINED },
};

static const struct rte_cryptodev_capabilities modern_crypto[] = {
	GCM(RANGE(16, 32, 8), RANGE(16, 16, 0), RANGE(8, 12, 4), RANGE(12, 12, 0)),
	{ .op = RTE_CRYPTO_OP_TYPE_UNDEFINED },
};

#define ENTRY(action_, mode_, direction_, options_, window, crypto_, flags) \
	{ \
		.action = RTE_SECURITY_ACTION_TYPE_##action_, \
		.protocol = RTE_SECURITY_PROTOCOL_IPSEC, \
		.ipsec = { .proto = RTE_SECURITY_IPSEC_SA_PROTO_ESP, \
			.mode = RTE_SECURITY_IPSEC_SA_MODE_##mode_, \
			.direction = RTE_SECURITY_IPSEC_SA_DIR_##direction_, \
			.options = options_, \
			.replay_win_sz_max = window }, \
		.crypto_capabilities = crypto_, .ol_flags = flags \
	}

#define NONE { 0 }
#define ESN { .esn = 1 }
#define ESN_AND_STATS { .esn = 1, .stats = 1 }
#define END { .action = RTE_SECURITY_ACTION_TYPE_NONE }
#define MDATA RTE_SECURITY_TX_OLOAD_NEED_MDATA

static const struct rte_security_capability ixgbe[] = {
	ENTRY(INLINE_CRYPTO, TRANSPORT, EGRESS, NONE, 0, ixgbe_crypto, MDATA),
	ENTRY(INLINE_CRYPTO, TRANSPORT, INGRESS, NONE, 0, ixgbe_crypto, 0),
	ENTRY(INLINE_CRYPTO, TUNNEL, EGRESS, NONE, 0, ixgbe_crypto, MDATA),
	ENTRY(INLINE_CRYPTO, TUNNEL, INGRESS, NONE, 0, ixgbe_crypto, 0),
	END,
};

static const struct rte_security_capability crypto[] = {
	ENTRY(INLINE_CRYPTO, TRANSPORT, EGRESS, ESN, 0, modern_crypto, MDATA),
	ENTRY(INLINE_CRYPTO, TRANSPORT, INGRESS, ESN, 0, modern_crypto, 0),
	END,
};

static const struct rte_security_capability packet[] = {
	ENTRY(INLINE_PROTOCOL, TRANSPORT, EGRESS, ESN_AND_STATS, 0, modern_crypto, MDATA),
	ENTRY(INLINE_PROTOCOL, TRANSPORT, INGRESS, ESN_AND_STATS, 1024, modern_crypto, 0),
	END,
};

const struct rte_security_capability *
emu_capabilities(void *device)
{
	const struct emu_nic *nic = device;

	switch (nic->config.profile) {
	case EMU_CRYPTO:
		return crypto;
	case EMU_PACKET:
		return packet;
	default:
		return ixgbe;
	}
}

#endif
