// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The choice of the local port.
 *
 * libibumad prefers an Active port, and among ports without a link it may take
 * one that is Ethernet. A subnet manager is needed where no port is Active
 * yet, and it must come back to its own fabric after a restart. Each port gets
 * a rank by its link and by the subnet manager that its PortInfo names; the
 * lowest rank wins, and the order of the list decides between equals.
 */
#include "sm/io/local_port.h"

#include <string.h>

#include "topology/each.h"
#include "topology/smp_attr.h"

#define PHYS_DISABLED	3u

enum rank {
	RANK_OURS,
	RANK_UNMANAGED,
	RANK_MANAGED,
	RANK_NO_LINK,
	RANK_DISABLED,
};

/* The SMLID of a port in Init does not count: a subnet manager that manages the
 * port takes it to Armed at once. */
static bool
is_managed(const struct local_port *p)
{
	return p->state >= PORT_STATE_ARMED && p->sm_lid;
}

bool
local_port_obeys_another(const struct local_port *p)
{
	return is_managed(p) && p->sm_lid >> p->lmc != p->lid >> p->lmc;
}

static enum rank
rank_of(const struct local_port *p)
{
	if (is_managed(p))
		return local_port_obeys_another(p) ? RANK_MANAGED : RANK_OURS;
	if (p->state >= PORT_STATE_INIT)
		return RANK_UNMANAGED;
	return p->phys_state == PHYS_DISABLED ? RANK_DISABLED : RANK_NO_LINK;
}

const struct local_port *
local_port_gsi(const GArray *ports, const struct local_port *smi)
{
	EACH_ITEM(const struct local_port, p, ports)
		if (smi->guid && p->guid == smi->guid && p->infiniband &&
		    p->sm_disabled)
			return p;
	return smi;
}

static bool
matches(const struct local_port *p, const struct local_port_wish *wish)
{
	return (!wish->guid || p->guid == wish->guid) &&
		(!wish->num || p->num == wish->num) &&
		(!wish->ca_name || strcmp(p->ca_name, wish->ca_name) == 0);
}

/* NULL: a subnet manager can run on it; else the reason why not. */
static const char *
unfit(const struct local_port *p)
{
	if (!p->infiniband)
		return "is an Ethernet port";
	if (p->sm_disabled)
		return "allows no subnet manager (IsSMdisabled)";
	return NULL;
}

const struct local_port *
local_port_choose(const GArray *ports, const struct local_port_wish *wish)
{
	const struct local_port *best = NULL;

	EACH_ITEM(const struct local_port, p, ports)
		if (!unfit(p) && (matches(p, wish) ||
				  matches(local_port_gsi(ports, p), wish)) &&
		    (!best || rank_of(p) < rank_of(best)))
			best = p;
	return best;
}

/* "mlx5_0 port 1 0x.. Active, subnet manager at LID 3" */
static void
local_port_print(const struct local_port *p, GString *out)
{
	g_string_append_printf(out, "%s port %u " GUID_FORMAT " %s", p->ca_name,
			       p->num, p->guid, port_state_name(p->state));
	if (!p->infiniband)
		g_string_append(out, " (Ethernet)");
	else if (p->sm_disabled)
		g_string_append(out, " (IsSMdisabled)");
	else if (is_managed(p))
		g_string_append_printf(out, ", subnet manager at LID %u",
				       p->sm_lid);
}

/* An HCA with planes has no device for SMPs until one is added. */
static bool
lacks_smi(const GArray *ports, const struct local_port *p)
{
	EACH_ITEM(const struct local_port, other, ports)
		if (other->guid == p->guid && !unfit(other))
			return false;
	return p->infiniband && p->sm_disabled;
}

void
local_port_explain(const GArray *ports, const struct local_port_wish *wish,
		   GString *out)
{
	const struct local_port *meant = NULL;

	EACH_ITEM(const struct local_port, p, ports)
		if (!meant && matches(p, wish))
			meant = p;
	if (meant && (wish->guid || wish->num)) {
		g_string_append_printf(out, "%s port %u %s", meant->ca_name,
				       meant->num, unfit(meant));
	} else {
		g_string_append(out, "no local usable port");
		if (wish->num)
			g_string_append_printf(out, " %u", wish->num);
		if (wish->ca_name)
			g_string_append_printf(out, " of %s", wish->ca_name);
		if (wish->guid)
			g_string_append_printf(out, " with GUID " GUID_FORMAT,
					       wish->guid);
	}
	g_string_append(out, "; local ports:");
	EACH_ITEM(const struct local_port, p, ports) {
		g_string_append_c(out, '\n');
		local_port_print(p, out);
	}
	if (!ports->len)
		g_string_append(out, " none");
	EACH_ITEM(const struct local_port, p, ports) {
		if (!lacks_smi(ports, p))
			continue;
		g_string_append_printf(out, "\nIsSMdisabled: a virtual "
			"function, or an HCA with planes (ConnectX-8) without "
			"its device for SMPs: rdma dev add smi0 type SMI parent "
			"%s", p->ca_name);
		break;
	}
}

bool
local_port_tell_choice(const GArray *ports, const struct local_port_wish *wish,
		       const struct local_port *chosen, GString *out)
{
	unsigned others = 0, planes = 0;

	g_string_append(out, "chosen: ");
	local_port_print(chosen, out);
	EACH_ITEM(const struct local_port, p, ports) {
		if (p == chosen || unfit(p) || !matches(p, wish))
			continue;
		g_string_append(out, others++ ? "; " : "; not chosen: ");
		local_port_print(p, out);
		planes += p->guid == chosen->guid;
	}
	g_string_append(out, planes ? "; -C NAME -p N names one" :
			"; -g GUID names one");
	return others > 0;
}
