/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The only file that includes DPDK's headers. What differs between DPDK
 * releases is levelled here, so that the C files are the same for all.
 */
#ifndef PMD_SHIM_H
#define PMD_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <stdint.h>

#include <rte_bus_vdev.h>
#include <rte_cryptodev.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_flow.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>
#include <rte_prefetch.h>
#include <rte_ring.h>
#include <rte_security.h>
#include <rte_version.h>

/*
 * What makes a security context, for package emu. Not installed from 25.11 on,
 * unless DPDK was built with -Denable_driver_sdk=true.
 */
#if __has_include(<rte_security_driver.h>)
#include <rte_security_driver.h>
#define PMD_HAS_SECURITY_DRIVER 1
#else
#define PMD_HAS_SECURITY_DRIVER 0
#endif

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "DPDK 22.11 or newer is needed"
#endif

/*
 * A failing call leaves its reason either in its result or in rte_errno; this
 * makes a negative errno of both, never 0.
 */
static inline int
pmd_failed(int rc)
{
	if (rc < -1)
		return rc;
	return rte_errno > 0 ? -rte_errno : -EIO;
}

/*
 * From 23.11 on a security context is opaque to applications, and its flags are
 * read by a call. The functions of rte_security take it as struct
 * rte_security_ctx * before, as void * since: C converts one to the other.
 */
static inline uint64_t
pmd_shim_ctx_flags(void *ctx)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	return rte_security_ctx_flags_get(ctx);
#else
	return ((struct rte_security_ctx *)ctx)->flags;
#endif
}

#endif
