/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmd.h"

int
pmd_port_next(int after)
{
	uint16_t port = (uint16_t)rte_eth_find_next((uint16_t)(after + 1));
	return port >= RTE_MAX_ETHPORTS ? -1 : port;
}

int
pmd_port_info(uint16_t port, struct pmd_port_info *info)
{
	struct rte_eth_dev_info dev;
	struct rte_ether_addr mac;
	char name[RTE_ETH_NAME_MAX_LEN];
	int rc;

	memset(info, 0, sizeof(*info));
	rc = rte_eth_dev_info_get(port, &dev);
	if (rc != 0)
		return pmd_failed(rc);
	rc = rte_eth_dev_get_name_by_port(port, name);
	if (rc != 0)
		return pmd_failed(rc);
	snprintf(info->device, sizeof(info->device), "%s", name);
	snprintf(info->driver, sizeof(info->driver), "%s",
		dev.driver_name != NULL ? dev.driver_name : "");
	const struct rte_devargs *args = dev.device != NULL ? rte_dev_devargs(dev.device) : NULL;
	if (args != NULL && args->args != NULL)
		snprintf(info->args, sizeof(info->args), "%s", args->args);
	const char *bus = dev.device != NULL ? rte_dev_bus_info(dev.device) : NULL;
	if (bus != NULL)
		snprintf(info->bus, sizeof(info->bus), "%s", bus);
	info->socket = rte_eth_dev_socket_id(port);
	info->if_index = dev.if_index;
	info->max_frame = dev.max_rx_pktlen;
	info->rx_offloads = dev.rx_offload_capa;
	info->tx_offloads = dev.tx_offload_capa;
	info->rss = dev.flow_type_rss_offloads;
	info->max_rx_queues = dev.max_rx_queues;
	info->max_tx_queues = dev.max_tx_queues;
	info->min_mtu = dev.min_mtu;
	info->max_mtu = dev.max_mtu;
	rte_eth_dev_get_mtu(port, &info->mtu);
	if (rte_eth_macaddr_get(port, &mac) == 0)
		memcpy(info->mac, mac.addr_bytes, sizeof(info->mac));
	return 0;
}

static int
setup_queues(uint16_t port, const struct rte_eth_dev_info *dev, const struct pmd_port_conf *conf)
{
	struct rte_eth_rxconf rx = dev->default_rxconf;
	struct rte_eth_txconf tx = dev->default_txconf;
	unsigned int socket = (unsigned int)rte_eth_dev_socket_id(port);
	int rc;

	rx.offloads = conf->rx_offloads;
	tx.offloads = conf->tx_offloads;
	for (uint16_t q = 0; q < conf->rx_queues; q++) {
		rc = rte_eth_rx_queue_setup(port, q, conf->rx_desc, socket, &rx, conf->pool);
		if (rc < 0)
			return pmd_failed(rc);
	}
	for (uint16_t q = 0; q < conf->tx_queues; q++) {
		rc = rte_eth_tx_queue_setup(port, q, conf->tx_desc, socket, &tx);
		if (rc < 0)
			return pmd_failed(rc);
	}
	return 0;
}

int
pmd_port_configure(uint16_t port, struct pmd_port_conf *conf)
{
	struct rte_eth_dev_info dev;
	struct rte_eth_conf eth;
	int rc;

	rc = rte_eth_dev_info_get(port, &dev);
	if (rc != 0)
		return pmd_failed(rc);
	memset(&eth, 0, sizeof(eth));
	if (conf->rss != 0) {
		eth.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		eth.rx_adv_conf.rss_conf.rss_hf = conf->rss;
	}
	eth.rxmode.mtu = conf->mtu;
	eth.rxmode.offloads = conf->rx_offloads;
	eth.txmode.offloads = conf->tx_offloads;
	rc = rte_eth_dev_configure(port, conf->rx_queues, conf->tx_queues, &eth);
	if (rc < 0)
		return pmd_failed(rc);
	rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &conf->rx_desc, &conf->tx_desc);
	if (rc < 0)
		return pmd_failed(rc);
	rc = setup_queues(port, &dev, conf);
	if (rc < 0)
		return rc;
	if (conf->mtu != 0) {
		rc = rte_eth_dev_set_mtu(port, conf->mtu);
		conf->mtu_unset = rc == -ENOTSUP;
		if (rc < 0 && rc != -ENOTSUP)
			return pmd_failed(rc);
	}
	rc = rte_eth_dev_get_mtu(port, &conf->mtu);
	return rc < 0 ? pmd_failed(rc) : 0;
}

static int
result(int rc)
{
	return rc < 0 ? pmd_failed(rc) : 0;
}

int
pmd_port_start(uint16_t port)
{
	return result(rte_eth_dev_start(port));
}

int
pmd_port_stop(uint16_t port)
{
	return result(rte_eth_dev_stop(port));
}

int
pmd_port_close(uint16_t port)
{
	return result(rte_eth_dev_close(port));
}

int
pmd_port_reset(uint16_t port)
{
	return result(rte_eth_dev_reset(port));
}

int
pmd_port_set_promiscuous(uint16_t port, int on)
{
	return result(on ? rte_eth_promiscuous_enable(port) : rte_eth_promiscuous_disable(port));
}

int
pmd_port_set_mtu(uint16_t port, uint16_t mtu)
{
	return result(rte_eth_dev_set_mtu(port, mtu));
}

int
pmd_port_mtu(uint16_t port)
{
	uint16_t mtu;
	int rc = rte_eth_dev_get_mtu(port, &mtu);
	return rc < 0 ? pmd_failed(rc) : mtu;
}

int
pmd_port_set_link(uint16_t port, int up)
{
	return result(up ? rte_eth_dev_set_link_up(port) : rte_eth_dev_set_link_down(port));
}

int
pmd_port_link(uint16_t port, struct pmd_link *link)
{
	struct rte_eth_link now;
	int rc = rte_eth_link_get_nowait(port, &now);

	if (rc < 0)
		return pmd_failed(rc);
	link->speed = now.link_speed;
	link->up = now.link_status == RTE_ETH_LINK_UP;
	link->full_duplex = now.link_duplex == RTE_ETH_LINK_FULL_DUPLEX;
	link->autoneg = now.link_autoneg == RTE_ETH_LINK_AUTONEG;
	return 0;
}

int
pmd_port_stats(uint16_t port, struct pmd_stats *stats)
{
	struct rte_eth_stats now;
	int rc = rte_eth_stats_get(port, &now);

	if (rc < 0)
		return pmd_failed(rc);
	stats->rx_packets = now.ipackets;
	stats->tx_packets = now.opackets;
	stats->rx_bytes = now.ibytes;
	stats->tx_bytes = now.obytes;
	stats->rx_missed = now.imissed;
	stats->rx_errors = now.ierrors;
	stats->tx_errors = now.oerrors;
	stats->rx_no_buffer = now.rx_nombuf;
	return 0;
}

int
pmd_port_stats_reset(uint16_t port)
{
	int rc = rte_eth_stats_reset(port);
	int xrc = rte_eth_xstats_reset(port);

	if (rc < 0)
		return pmd_failed(rc);
	return xrc < 0 && xrc != -ENOTSUP ? pmd_failed(xrc) : 0;
}

int
pmd_port_xstats_count(uint16_t port)
{
	int n = rte_eth_xstats_get(port, NULL, 0);
	return n < 0 ? pmd_failed(n) : n;
}

int
pmd_port_xstats(uint16_t port, int room, char (*names)[64], uint64_t *values)
{
	struct rte_eth_xstat_name *known = calloc(room, sizeof(*known));
	struct rte_eth_xstat *now = calloc(room, sizeof(*now));
	int n = -ENOMEM;

	if (known == NULL || now == NULL)
		goto out;
	n = rte_eth_xstats_get_names(port, known, room);
	if (n >= 0 && n <= room)
		n = rte_eth_xstats_get(port, now, room);
	if (n < 0)
		n = pmd_failed(n);
	else if (n > room) /* another queue was set up since they were counted */
		n = -EAGAIN;
	for (int i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "%s", known[now[i].id].name);
		values[i] = now[i].value;
	}
out:
	free(known);
	free(now);
	return n;
}

int
pmd_vdev_add(const char *name, const char *args)
{
	return result(rte_vdev_init(name, args));
}

int
pmd_vdev_remove(const char *name)
{
	return result(rte_vdev_uninit(name));
}

int
pmd_ring_new(const char *name, unsigned int size, struct rte_ring **ring)
{
	rte_errno = 0;
	*ring = rte_ring_create(
		name, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	return *ring == NULL ? pmd_failed(-1) : 0;
}

void
pmd_ring_free(struct rte_ring *ring)
{
	void *packet;

	while (rte_ring_dequeue(ring, &packet) == 0)
		rte_pktmbuf_free(packet);
	rte_ring_free(ring);
}

int
pmd_port_from_rings(
	const char *name, struct rte_ring **rx, struct rte_ring **tx, unsigned int queues)
{
	rte_errno = 0;
	int port = rte_eth_from_rings(name, rx, queues, tx, queues, (unsigned int)SOCKET_ID_ANY);
	return port < 0 ? pmd_failed(port) : port;
}
