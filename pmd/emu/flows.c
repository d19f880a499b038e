/* SPDX-License-Identifier: BSD-3-Clause */

#include "shim.h"

#if PMD_HAS_SECURITY_DRIVER /* otherwise: absent.c */

#include "emu.h"
#include "nic.h"

#include <stdlib.h>

/* The first IP item that has a spec decides; everything else of the pattern is passed over. */
static int
destination(const struct rte_flow_item *item, uint8_t dst[16], bool *v6)
{
	memset(dst, 0, 16);
	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		if (item->type == RTE_FLOW_ITEM_TYPE_IPV4 && item->spec != NULL) {
			const struct rte_flow_item_ipv4 *ip = item->spec;
			memcpy(dst, &ip->hdr.dst_addr, 4);
			*v6 = false;
			return 0;
		}
		if (item->type == RTE_FLOW_ITEM_TYPE_IPV6 && item->spec != NULL) {
			const struct rte_flow_item_ipv6 *ip = item->spec;
			memcpy(dst, &ip->hdr.dst_addr, 16);
			*v6 = true;
			return 0;
		}
	}
	return -EINVAL;
}

static struct rte_security_session *
session_in(const struct emu_nic *nic, const struct rte_flow_action *action)
{
	if (nic->config.conf_is_action)
		return ((const struct rte_flow_action_security *)action->conf)->security_session;
	return (void *)(uintptr_t)action->conf;
}

/* What rte_flow_create and rte_flow_validate of the driver have in common: the SA is installed. */
static int
parse(struct emu_nic *nic, const struct rte_flow_item *pattern, const struct rte_flow_action *actions,
	struct emu_session **session, const char **why)
{
	const struct rte_flow_action *next;
	struct emu_session *s;
	int rc;

	while (actions->type == RTE_FLOW_ACTION_TYPE_VOID)
		actions++;
	*why = "SECURITY and END are the only actions";
	if (actions->type != RTE_FLOW_ACTION_TYPE_SECURITY || actions->conf == NULL)
		return -EINVAL;
	for (next = actions + 1; next->type == RTE_FLOW_ACTION_TYPE_VOID; next++)
		;
	if (next->type != RTE_FLOW_ACTION_TYPE_END)
		return -EINVAL;
	s = emu_session_of(session_in(nic, actions));
	*why = "this is no ingress session";
	if (!emu_session_lives(s) || s->egress) {
		emu_breach(nic, EMU_breach_order, "a flow rule for what is no ingress session");
		return -EINVAL;
	}
	s->asked = true;
	*why = "a fault on demand";
	if (emu_strikes(nic, &nic->faults.flow, &nic->seen.flow))
		return -EIO;
	*why = "ingress rules are not supported";
	if (!nic->config.ingress)
		return -ENOTSUP;
	*why = "no IP address to match";
	rc = destination(pattern, s->dst, &s->v6);
	if (rc < 0)
		return rc;
	*session = s;
	*why = "the table is full";
	return emu_add_ingress(nic, s);
}

static struct emu_flow *
add_flow(struct emu_nic *nic, struct emu_session *s)
{
	struct emu_flow *flow = calloc(1, sizeof(*flow));

	if (flow == NULL)
		return NULL;
	flow->session = s;
	flow->next = nic->flows;
	nic->flows = flow;
	emu_count(nic, EMU_flows_made);
	return flow;
}

struct rte_flow *
emu_flow_create(void *self, const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	struct emu_nic *nic = self;
	struct emu_session *s = NULL;
	struct emu_flow *flow = NULL;
	const char *why;
	int rc;

	emu_enter(nic, "flow_create");
	rc = parse(nic, pattern, actions, &s, &why);
	/* Up to 24.11.4 ixgbe's result of the table is not looked at (ixgbe_flow.c). */
	if (rc == 0 || (rc == -ENOSPC && !nic->config.full_is_told))
		flow = add_flow(nic, s);
	if (flow == NULL) {
		rc = rc < 0 ? rc : -ENOMEM;
		rte_flow_error_set(error, -rc, RTE_FLOW_ERROR_TYPE_ACTION, NULL, why);
		rte_errno = -rc;
	}
	emu_leave(nic);
	return (struct rte_flow *)flow;
}

static struct emu_flow **
find(struct emu_nic *nic, const void *rule)
{
	struct emu_flow **at = &nic->flows;

	while (*at != NULL && *at != rule)
		at = &(*at)->next;
	return at;
}

/* 22.11's ixgbe cannot, and the handle stays; later ones free the handle, and its SA stays. */
static int
destroy(struct emu_nic *nic, void *rule, const char **why)
{
	struct emu_flow **at = find(nic, rule), *flow = *at;

	*why = "no such rule";
	if (flow == NULL) {
		emu_breach(nic, EMU_breach_order, "a removal of a rule that the device does not have");
		return -EINVAL;
	}
	*why = "rules of this type cannot be removed";
	if (nic->config.profile == EMU_IXGBE && !nic->config.full_is_told)
		return -EINVAL;
	if (nic->config.profile != EMU_IXGBE && flow->session != NULL)
		emu_uninstall(nic, flow->session);
	*at = flow->next;
	free(flow);
	return 0;
}

int
emu_flow_destroy(void *self, struct rte_flow *rule, struct rte_flow_error *error)
{
	struct emu_nic *nic = self;
	const char *why;
	int rc;

	emu_enter(nic, "flow_destroy");
	rc = destroy(nic, rule, &why);
	emu_leave(nic);
	if (rc < 0)
		rte_flow_error_set(error, -rc, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, why);
	return rc;
}

/* pmd never calls it: a breach in itself, because it installs the SA. */
int
emu_flow_validate(void *self, const struct rte_flow_item *pattern,
	const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	struct emu_nic *nic = self;
	struct emu_session *s = NULL;
	const char *why;
	int rc;

	emu_enter(nic, "flow_validate");
	emu_breach(nic, EMU_breach_validate, "rte_flow_validate with the SECURITY action");
	rc = parse(nic, pattern, actions, &s, &why);
	emu_leave(nic);
	if (rc < 0)
		rte_flow_error_set(error, -rc, RTE_FLOW_ERROR_TYPE_ACTION, NULL, why);
	return rc;
}

void *
emu_validate(void)
{
	return (void *)(uintptr_t)emu_flow_validate;
}

/* A session goes, NULL: all do. told: its rules should have gone before. */
void
emu_flows_forget(struct emu_nic *nic, const struct emu_session *s, bool told)
{
	for (struct emu_flow *flow = nic->flows; flow != NULL; flow = flow->next) {
		if (flow->session == NULL || (s != NULL && flow->session != s))
			continue;
		flow->session = NULL;
		if (told)
			emu_breach(nic, EMU_breach_order, "a session removed before its flow rule");
	}
}

#endif
