/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#include "pmd.h"

int
pmd_pool_new(const char *name, unsigned int mbufs, unsigned int cache, uint16_t room, int socket,
	struct rte_mempool **pool)
{
	rte_errno = 0;
	*pool = rte_pktmbuf_pool_create(name, mbufs, cache, 0, room, socket);
	if (*pool != NULL)
		return 0;
	/* ENOBUFS: some of the memory was there, but not all */
	return rte_errno == ENOBUFS ? -ENOMEM : pmd_failed(-1);
}

void
pmd_pool_free(struct rte_mempool *pool)
{
	rte_mempool_free(pool);
}

unsigned int
pmd_pool_in_use(struct rte_mempool *pool)
{
	return rte_mempool_in_use_count(pool);
}

struct rte_mbuf *
pmd_mbuf_alloc(struct rte_mempool *pool)
{
	return rte_pktmbuf_alloc(pool);
}

void
pmd_mbuf_free(struct rte_mbuf *mbuf)
{
	rte_pktmbuf_free(mbuf);
}

int
pmd_mbuf_linearize(struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_linearize(mbuf);
}
