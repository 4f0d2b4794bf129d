// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks read the data plane and the devices, not the state of a subnet
 * manager.
 */
#include "lab/check.h"

#include <limits.h>
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

char *
lab_no_node(const struct snapshot *fabric, const char *name)
{
	g_autofree const char **names = g_new(const char *, fabric->n_nodes + 1);
	g_autofree char *shown = text_one_line(name), *near = NULL;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		names[i] = fabric->nodes[i].desc;
	near = text_nearest(shown, "", names, fabric->n_nodes);
	return g_strdup_printf("no node is called %s%s", shown, near);
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

/* The port with the LID of a node: its first one. */
static bool
find_end(const struct lab_check *c, const char *name, uint32_t *port,
	 GString *why)
{
	uint32_t node = lab_find_node(c->fabric, c->sim, name);
	g_autofree char *wrong = NULL;

	if (node == SNAPSHOT_NONE) {
		wrong = lab_no_node(c->fabric, name);
		return lab_fail(why, "%s", wrong);
	}
	*port = c->fabric->nodes[node].first_port +
		!snapshot_is_switch(&c->fabric->nodes[node]);
	return true;
}

static bool
packet_arrives(const struct lab_check *c, uint32_t from, uint32_t to)
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

static bool
expect_active(const struct lab_check *c, char **args, GString *why)
{
	(void)args;
	for (uint32_t p = 0; p < c->fabric->n_ports; p++) {
		const struct snapshot_port *port = &c->fabric->ports[p];
		const struct port_info *info;

		if (!port->known || sim_peer(c->sim, p) == SNAPSHOT_NONE)
			continue;
		info = sim_port_info(c->sim, p);
		if (info->state == PORT_STATE_INIT ||
		    info->state == PORT_STATE_ARMED)
			return lab_fail(why, "%s/%u is %s",
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

static bool
expect_reach(const struct lab_check *c, char **args, GString *why)
{
	const struct snapshot *s = c->fabric;

	(void)args;
	for (uint32_t a = 0; a < s->n_ports; a++)
		for (uint32_t b = 0; b < s->n_ports; b++)
			if (a != b && is_host(s, a) && is_host(s, b) &&
			    !packet_arrives(c, a, b))
				return lab_fail(why, "%s does not reach %s",
						snapshot_name_of(s, a),
						snapshot_name_of(s, b));
	return true;
}

static bool
expect_path(const struct lab_check *c, char **args, GString *why)
{
	bool wanted = strcmp(args[-1], "path") == 0;
	uint32_t a, b;

	if (!find_end(c, args[0], &a, why) || !find_end(c, args[1], &b, why))
		return false;
	return packet_arrives(c, a, b) == wanted ||
		lab_fail(why, "%s %s %s", args[0], wanted ? "does not reach" :
			 "reaches", args[1]);
}

static bool
expect_lid(const struct lab_check *c, char **args, GString *why)
{
	unsigned lid;
	uint32_t port = SNAPSHOT_NONE;

	if (!find_end(c, args[0], &port, why))
		return false;
	lid = sim_port_info(c->sim, port)->lid;
	return g_ascii_strtoull(args[1], NULL, 10) == lid ||
		lab_fail(why, "%s has LID %u", args[0], lid);
}

static bool
expect_locked(const struct lab_check *c, char **args, GString *why)
{
	uint32_t port = SNAPSHOT_NONE;

	return find_end(c, args[0], &port, why) &&
		(sim_port_info(c->sim, port)->m_key ||
		 lab_fail(why, "%s has no M_Key", args[0]));
}

static bool
expect_managers(const struct lab_check *c, char **args, GString *why)
{
	unsigned n = 0;

	for (uint32_t p = 0; p < c->fabric->n_ports; p++)
		n += is_host(c->fabric, p) && sim_port_info(c->sim, p)->cap_mask
			& PORT_CAP_IS_SM;
	return g_ascii_strtoull(args[0], NULL, 10) == n ||
		lab_fail(why, "%u ports have a subnet manager", n);
}

static bool
expect_group(const struct lab_check *c, char **args, GString *why)
{
	unsigned n = g_strv_length(args);

	for (unsigned k = 0; k < n; k++) {
		struct sim_mcast got;
		uint32_t from;
		bool ok;

		if (!find_end(c, args[k], &from, why))
			return false;
		ok = sim_probe_mcast(c->sim, from, MLID_BROADCAST, KEY_DEFAULT,
				     0, &got) == SIM_DELIVERED &&
			got.reached->len == n - 1;
		for (guint i = 0; ok && i < got.reached->len; i++)
			ok = g_strv_contains((const char *const *)args,
				snapshot_name_of(c->fabric, g_array_index(
					got.reached, uint32_t, i)));
		sim_mcast_clear(&got);
		if (!ok)
			return lab_fail(why, "a broadcast of %s comes to "
					"others than these", args[k]);
	}
	return true;
}

static const struct {
	const char *word;
	unsigned least, most;		/* words behind it, */
	const char *usage;		/* which are these */
	bool (*fn)(const struct lab_check *c, char **args, GString *why);
} expects[] = {
	{ "active", 0, 0, "", expect_active },
	{ "reach", 0, 0, "", expect_reach },
	{ "path", 2, 2, " A B", expect_path },
	{ "no-path", 2, 2, " A B", expect_path },
	{ "lid", 2, 2, " NODE N", expect_lid },
	{ "locked", 1, 1, " NODE", expect_locked },
	{ "managers", 1, 1, " N", expect_managers },
	{ "group", 1, UINT_MAX, " NODE ..", expect_group },
};

bool
check_expect(const struct lab_check *c, char **words, GString *why)
{
	for (size_t i = 0; words[0] && i < G_N_ELEMENTS(expects); i++) {
		unsigned n = g_strv_length(words + 1);

		if (strcmp(expects[i].word, words[0]))
			continue;
		if (n < expects[i].least || n > expects[i].most)
			return lab_fail(why, "usage: expect %s%s", words[0],
					expects[i].usage);
		return expects[i].fn(c, words + 1, why);
	}
	return lab_fail(why, "expect active, reach, path, no-path, lid, "
			"locked, managers or group");
}

/* -------------------------------------------------------------- the course */

static const struct {
	unsigned n;
	const char *expect, *hint;
} exercises[] = {
	{ 1, "lid leaf-1 0", "a subnet manager has run here: begin anew" },
	{ 2, "lid node-16 16", "run minism --once" },
	{ 2, "lid spine-4 24", "run minism --once" },
	{ 2, "active", "run minism --once" },
	{ 3, "path node-01 node-16", "there are no tables: run minism --once" },
	{ 4, "no-path node-01 spine-2", "spine-2 is alive: kill it" },
	{ 4, "reach", "no manager has routed around it" },
	{ 5, "reach", "program the fabric with one of the engines" },
	{ 6, "reach", "program the ring with up/down" },
	{ 7, "path node-01 node-02", "the partitions are not in force" },
	{ 7, "path node-02 node-04", "the partitions are not in force" },
	{ 7, "no-path node-02 node-03", "two limited members still talk" },
	{ 8, "locked node-05", "run minism with the M_Key" },
	{ 8, "locked leaf-1", "run minism with the M_Key" },
	{ 9, "group node-02 node-05 node-16", "have exactly these three join" },
	{ 10, "managers 2", "run the two managers" },
	{ 10, "reach", "no manager is the master" },
};

bool
check_exercise(const struct lab_check *c, unsigned n, GString *out)
{
	bool known = false;

	for (size_t i = 0; i < G_N_ELEMENTS(exercises); i++) {
		g_auto(GStrv) words = NULL;

		if (exercises[i].n != n)
			continue;
		known = true;
		words = g_strsplit(exercises[i].expect, " ", -1);
		if (!check_expect(c, words, out))
			return lab_fail(out, "; %s\n", exercises[i].hint);
	}
	if (!known)
		return lab_fail(out, "there is no exercise %u\n", n);
	g_string_append_printf(out, "exercise %u: done\n", n);
	return true;
}
