// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks read the data plane and the devices, not the state of a subnet
 * manager.
 */
#include "lab/check.h"

#include <string.h>

#include "topology/text.h"

#define MLID_BROADCAST	0xc000u	/* the first group, IPoIB's in the course */
#define PKEYS_TRIED	32u
#define KEY_DEFAULT	0xffffu

bool
lab_fail(GString *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_append_vprintf(why, format, args);
	va_end(args);
	return false;
}

/* In the net file. */
static uint32_t
find_checked(const struct snapshot *fabric, const char *name, uint64_t guid)
{
	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (strcmp(fabric->nodes[i].desc, name) == 0)
			return i;
	return guid ? snapshot_find_node(fabric, guid) : SNAPSHOT_NONE;
}

uint32_t
lab_find_node(const struct snapshot *fabric, const struct sim *sim,
	      const char *name)
{
	char *end;
	uint64_t guid = g_ascii_strtoull(name, &end, 16);
	uint32_t node = find_checked(fabric, name, *end ? 0 : guid);

	for (uint32_t i = 0; node == SNAPSHOT_NONE && i < fabric->n_nodes; i++)
		if (strcmp(sim_node_desc(sim, i), name) == 0 ||
		    (!*end && guid == sim_node_info(sim, i)->node_guid))
			node = i;
	return node;
}

bool
lab_no_node(const struct snapshot *fabric, const char *name, GString *why)
{
	g_autofree const char **names = g_new(const char *, fabric->n_nodes + 1);
	g_autofree char *shown = text_one_line(name), *near = NULL;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		names[i] = fabric->nodes[i].desc;
	near = text_nearest(shown, "", names, fabric->n_nodes);
	return lab_fail(why, "no node is called %s%s\n", shown, near);
}

char *
lab_name_node(const struct snapshot *fabric, uint32_t node)
{
	const struct snapshot_node *n = &fabric->nodes[node];

	return strlen(n->desc) < NODE_DESC_LEN &&
		find_checked(fabric, n->desc, 0) == node ? g_strdup(n->desc) :
		g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
				n->info.node_guid);
}

uint32_t
lab_end_port(const struct snapshot *fabric, uint32_t node)
{
	const struct snapshot_node *n = &fabric->nodes[node];

	return n->first_port + !snapshot_is_switch(n);
}

static bool
packet_arrives(const struct call *c, uint32_t from, uint32_t to)
{
	uint16_t lid = sim_port_info(c->sim, to)->lid;

	for (unsigned i = 0; lid && i < PKEYS_TRIED; i++) {
		uint16_t key = sim_port_pkey(c->sim, from, i);

		if (key && sim_probe(c->sim, from, lid, key, 0, NULL) ==
		    SIM_DELIVERED)
			return true;
	}
	return false;
}

bool
check_active(struct call *c)
{
	for (uint32_t p = 0; p < c->fabric->n_ports; p++) {
		const struct snapshot_port *port = &c->fabric->ports[p];
		const struct port_info *info;

		if (!port->known || sim_peer(c->sim, p) == SNAPSHOT_NONE)
			continue;
		info = sim_port_info(c->sim, p);
		if (info->state == PORT_STATE_INIT ||
		    info->state == PORT_STATE_ARMED)
			return lab_fail(c->out, "%s/%u is %s\n",
					snapshot_name_of(c->fabric, p),
					port->num,
					port_state_name(info->state));
	}
	return true;
}

static bool
is_host(const struct snapshot *s, uint32_t port)
{
	return s->ports[port].num &&
		!snapshot_is_switch(snapshot_node_of(s, port)) &&
		s->ports[port].guid;
}

bool
check_reach(struct call *c)
{
	const struct snapshot *s = c->fabric;

	for (uint32_t a = 0; a < s->n_ports; a++)
		for (uint32_t b = 0; b < s->n_ports; b++)
			if (a != b && is_host(s, a) && is_host(s, b) &&
			    !packet_arrives(c, a, b))
				return lab_fail(c->out,
						"%s does not reach %s\n",
						snapshot_name_of(s, a),
						snapshot_name_of(s, b));
	return true;
}

bool
check_path(struct call *c)
{
	bool wanted = strcmp(c->name, "expect path") == 0;

	return packet_arrives(c, lab_end_port(c->fabric, c->id[0]),
			      lab_end_port(c->fabric, c->id[1])) == wanted ||
		lab_fail(c->out, "%s %s %s\n", c->next[-2], wanted ?
			 "does not reach" : "reaches", c->next[-1]);
}

bool
check_lid(struct call *c)
{
	unsigned lid = sim_port_info(c->sim, lab_end_port(c->fabric,
							  c->id[0]))->lid;

	return c->number[0] == lid ||
		lab_fail(c->out, "%s has LID %u\n", c->next[-2], lid);
}

bool
check_locked(struct call *c)
{
	return sim_port_info(c->sim, lab_end_port(c->fabric,
						  c->id[0]))->m_key ||
		lab_fail(c->out, "%s has no M_Key\n", c->next[-1]);
}

bool
check_managers(struct call *c)
{
	unsigned n = 0;

	for (uint32_t p = 0; p < c->fabric->n_ports; p++)
		n += is_host(c->fabric, p) && sim_port_info(c->sim, p)->cap_mask
			& PORT_CAP_IS_SM;
	return c->number[0] == n ||
		lab_fail(c->out, "%u ports have a subnet manager\n", n);
}

bool
check_group(struct call *c)
{
	char **names = c->next - 1;
	unsigned n = g_strv_length(names);

	for (unsigned k = 0; k < n; k++) {
		uint32_t node = lab_find_node(c->fabric, c->sim, names[k]);
		struct sim_mcast got;
		bool ok;

		if (node == SNAPSHOT_NONE)
			return lab_no_node(c->fabric, names[k], c->out);
		ok = sim_probe_mcast(c->sim, lab_end_port(c->fabric, node),
				     MLID_BROADCAST, KEY_DEFAULT, 0, &got) ==
			SIM_DELIVERED && got.reached->len == n - 1;
		for (guint i = 0; ok && i < got.reached->len; i++)
			ok = g_strv_contains((const char *const *)names,
				snapshot_name_of(c->fabric, g_array_index(
					got.reached, uint32_t, i)));
		sim_mcast_clear(&got);
		if (!ok)
			return lab_fail(c->out, "a broadcast of %s comes to "
					"others than these\n", names[k]);
	}
	return true;
}
