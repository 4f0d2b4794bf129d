// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The fabric in files: OpenSM's dumps, which ibutils and scripts read.
 *
 * Purpose: a site that moves here from OpenSM keeps its tools: ibdmchk checks
 * every path and looks for credit loops in opensm-subnet.lst and opensm.fdbs,
 * scripts parse opensm-lfts.dump, ibsim reads minism.net.
 *
 * Structs: `dump_of` is the input of all formatters: the snapshot and tables,
 * and for every pair of switches the hops of a shortest path.
 *
 * Method: each file is a sequence of sections (a node's cable ends, a switch's
 * table). dump_all() writes section by section, since a file of a large fabric
 * has hundreds of megabytes. Shortest paths are one breadth first search for each
 * destination switch.
 *
 * Source: the syntax is that of the files OpenSM 3.3.23 writes, observed with
 * `opensm -D 0x43` over ibsim, including its columns of differing width.
 * Braces in a node's name become parentheses, as ibdmchk cannot read
 * a line that has them.
 */
#include "tools/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "routing/graph.h"
#include "topology/state_file.h"
#include "topology/net_file.h"

#define HOPS_UNKNOWN	UINT32_MAX	/* in a loop, wrong end or no entry */

struct dump_of {
	const struct snapshot *s;
	const struct lid_map *lids;
	const struct lft *lft;
	struct graph *g;
	uint32_t *shortest;	/* [destination switch][switch] */
	GPtrArray *lines;	/* of opensm-lfts.dump, see make_lines() */
};

typedef void (*section_fn)(const struct dump_of *v, uint32_t i, GString *out);

/* opensm-subnet.lst */

static void
put_lst_end(const struct snapshot *s, uint32_t port, int vendor_width,
	    GString *out)
{
	static const char *const types[] = {
		"??", [NODE_CA] = "CA", [NODE_SWITCH] = "SW",
		[NODE_ROUTER] = "RT",
	};
	const struct snapshot_port *p = &s->ports[port];
	const struct snapshot_node *n = &s->nodes[p->node];
	const struct snapshot_port *owner = snapshot_is_switch(n) ?
		&s->ports[n->first_port] : p;
	bool has_sm = s->local_port != SNAPSHOT_NONE &&
		      s->ports[s->local_port].node == p->node;
	g_autofree char *name = g_strdup(snapshot_node_name(n));
	unsigned type = n->info.node_type;

	g_strdelimit(name, "{", '(');
	g_strdelimit(name, "}", ')');
	g_string_append_printf(out, "{ %s%s Ports:%02X SystemGUID:%016" PRIx64
			       " NodeGUID:%016" PRIx64 " PortGUID:%016" PRIx64
			       " VenID:%0*X DevID:%04X Rev:%08X {%s} LID:%04X"
			       " PN:%02X }",
			       types[type < G_N_ELEMENTS(types) ? type : 0],
			       has_sm ? "-SM" : "", n->info.num_ports,
			       n->info.system_guid, n->info.node_guid,
			       owner->guid, vendor_width,
			       n->info.vendor_id, n->info.device_id,
			       n->info.revision, name, owner->info.lid,
			       p->num);
}

static void
put_lst_node(const struct dump_of *v, uint32_t node, GString *out)
{
	static const char *const states[] = {
		[PORT_STATE_NOP] = "??", [PORT_STATE_DOWN] = "DWN",
		[PORT_STATE_INIT] = "INI", [PORT_STATE_ARMED] = "ARM",
		[PORT_STATE_ACTIVE] = "ACT", [PORT_STATE_ACTIVE_DEFER] = "ACT",
	};
	const struct snapshot *s = v->s;
	const struct snapshot_node *n = &s->nodes[node];

	for (unsigned num = 1; num <= n->info.num_ports; num++) {
		uint32_t port = n->first_port + num;
		const struct snapshot_port *p = &s->ports[port];

		if (!p->known || p->peer == SNAPSHOT_NONE ||
		    !s->ports[p->peer].known)
			continue;
		put_lst_end(s, port, 6, out);
		g_string_append_c(out, ' ');
		put_lst_end(s, p->peer, 8, out);
		g_string_append_printf(out, " PHY=%s LOG=%s SPD=%s\n",
				       port_width(&p->info)->name,
				       states[p->info.state <
					      G_N_ELEMENTS(states) ?
					      p->info.state : PORT_STATE_NOP],
				       port_speed(&p->info)->gbps);
	}
}

/* opensm.fdbs */

/* By the tables to the LID, which is the target's. */
static uint32_t
count_hops(const struct dump_of *v, uint32_t sw, uint32_t lid,
	   const struct graph_target *t)
{
	for (uint32_t n = 0; n < v->g->n_switches; n++) {
		uint8_t port = lft_row(v->lft, sw)[lid];
		uint32_t e = graph_edge_at(v->g, sw, port);

		if (sw == t->sw && port == t->port)
			return n + (port != 0);
		if (e == SNAPSHOT_NONE)
			break;
		sw = v->g->edges[e].peer;
	}
	return HOPS_UNKNOWN;
}

/* The lowest port of a shortest path from `sw` to the target. */
static unsigned
best_port(const struct dump_of *v, uint32_t sw, const struct graph_target *t)
{
	const struct graph *g = v->g;
	const uint32_t *dist = v->shortest + (size_t)t->sw * g->n_switches;
	unsigned best = LFT_NO_PATH;
	uint32_t e;

	if (sw == t->sw)
		return t->port;
	for_each_edge(g, sw, e)
		if (dist[g->edges[e].peer] + 1 == dist[sw])
			best = MIN(best, g->edges[e].port);
	return best;
}

static void
put_digits(char *to, unsigned n, unsigned base, unsigned value)
{
	for (; n-- > 0; value /= base)
		to[n] = "0123456789ABCDEF"[value % base];
}

/* Tens of millions of lines in a large fabric: no printf for a usual one. */
static void
put_fdb_line(const struct dump_of *v, uint32_t sw, uint32_t lid, GString *out)
{
	char line[] = "0x0000 : 000  : 00   : yes\n";
	uint8_t port = lft_row(v->lft, sw)[lid];
	const struct graph_target *t = graph_target_at(v->g, lid);
	uint32_t hops, best;

	put_digits(line + 2, 4, 16, lid);
	if (port == LFT_NO_PATH || !t) {
		g_string_append_len(out, line, strlen("0x0000 : "));
		g_string_append(out, "UNREACHABLE\n");
		return;
	}
	put_digits(line + 9, 3, 10, port);
	hops = count_hops(v, sw, lid, t);
	best = v->shortest[(size_t)t->sw * v->g->n_switches + sw] +
		(t->port > 0);
	if (hops <= MIN(best, 99) && best >= (t->port > 0) &&
	    best != GRAPH_FAR) {
		put_digits(line + 16, 2, 10, hops);
		g_string_append(out, line);
		return;
	}
	g_string_append_len(out, line, strlen("0x0000 : 000  : "));
	if (hops == HOPS_UNKNOWN || best < (t->port > 0) || best == GRAPH_FAR)
		g_string_append(out, "HOPS UNKNOWN\n");
	else if (hops > best)
		g_string_append_printf(out, "%02u   : No %u hop path possible "
				       "via port %u!\n", hops, best,
				       best_port(v, sw, t));
	else
		g_string_append_printf(out, "%02u   : yes\n", hops);
}

static void
put_fdb_switch(const struct dump_of *v, uint32_t sw, GString *out)
{
	const struct snapshot_node *n = &v->s->nodes[v->s->switches[sw]];

	g_string_append_printf(out, "dump_ucast_routes: Switch 0x%016" PRIx64
			       "\nLID    : Port : Hops : Optimal\n",
			       n->info.node_guid);
	for (uint32_t lid = 1; lid <= v->lft->top; lid++)
		put_fdb_line(v, sw, lid, out);
}

/* opensm-lfts.dump */

/* Tens of millions of lines in a large fabric: the line of each LID, but for its
 * port. */
static GPtrArray *
make_lines(const struct snapshot *s, const struct lid_map *lids, uint32_t top)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	for (uint32_t lid = 0; lid <= top; lid++) {
		uint32_t port = lid_map_owner(lids, (uint16_t)lid);
		const struct snapshot_node *n = port == SNAPSHOT_NONE ? NULL :
			snapshot_node_of(s, port);

		g_ptr_array_add(lines, n ? g_strdup_printf("0x%04x 000 # %s "
			"portguid 0x%016" PRIx64 ": '%s'\n", lid,
			node_type_name(n->info.node_type), s->ports[port].guid,
			snapshot_node_name(n)) :
			g_strdup_printf("0x%04x 000 # unknown node and type\n",
					lid));
	}
	return lines;
}

static void
put_lft_switch(const struct dump_of *v, uint32_t sw, GString *out)
{
	const struct snapshot_node *n = &v->s->nodes[v->s->switches[sw]];
	const uint8_t *row = lft_row(v->lft, sw);
	uint32_t n_lines = 0;

	g_string_append_printf(out, "Unicast lids [0-%u] of switch Lid %u "
			       "guid 0x%016" PRIx64 " ('%s'):\n", v->lft->top,
			       v->lids->base[n->first_port], n->info.node_guid,
			       snapshot_node_name(n));
	for (uint32_t lid = LID_UNICAST_MIN; lid <= v->lft->top; lid++) {
		gsize at = out->len + strlen("0x0000 ");

		if (row[lid] == LFT_NO_PATH)
			continue;
		g_string_append(out, v->lines->pdata[lid]);
		put_digits(out->str + at, 3, 10, row[lid]);
		n_lines++;
	}
	g_string_append_printf(out, "%u lids dumped\n", n_lines);
}

void
dump_tables(const struct snapshot *s, const struct lid_map *lids,
	    const struct lft *lft, GString *out)
{
	g_autoptr(GPtrArray) lines = make_lines(s, lids, lft->top);
	const struct dump_of v = {
		.s = s, .lids = lids, .lft = lft, .lines = lines,
	};

	for (uint32_t sw = 0; sw < lft->n_switches; sw++)
		put_lft_switch(&v, sw, out);
}

static void
put_net(const struct dump_of *v, uint32_t i, GString *out)
{
	net_file_write(v->s, out);
}

/* Under another name first: a reader sees the old file or the new one, never
 * a half. */
static bool
write_file(const char *dir, const char *name, const struct dump_of *v,
	   section_fn put, uint32_t n, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autofree char *temporary = g_strconcat(path, ".XXXXXX", NULL);
	g_autoptr(GString) section = g_string_new(NULL);
	bool written = true;
	FILE *out;
	int fd;

	if (!state_file_is_ours(path, error))
		return false;
	fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return state_file_fail(path, errno, error);
	state_file_give(fd, temporary);
	out = fdopen(fd, "w");
	g_assert(out);	/* memory only, as for g_malloc() */
	for (uint32_t i = 0; written && i < n; i++) {
		g_string_truncate(section, 0);
		put(v, i, section);
		written = fwrite(section->str, 1, section->len, out) ==
			section->len;
	}
	written = fclose(out) == 0 && written &&
		g_rename(temporary, path) == 0;
	if (written)
		return true;
	state_file_fail(path, errno, error);
	g_unlink(temporary);
	return false;
}

bool
dump_all(const char *dir, const struct snapshot *s, const struct lid_map *lids,
	 const struct lft *lft, GError **error)
{
	struct dump_of v = { .s = s, .lids = lids, .lft = lft };
	const struct {
		const char *name;
		section_fn put;
		uint32_t n;
	} files[] = {
		{ "opensm-subnet.lst", put_lst_node, s->n_nodes },
		{ "opensm.fdbs", put_fdb_switch, s->n_switches },
		{ "opensm-lfts.dump", put_lft_switch, s->n_switches },
		{ "minism.net", put_net, 1 },
	};
	g_autofree uint32_t *queue = NULL;
	bool ok = true;

	if (!state_file_make_folder(dir, error))
		return false;
	v.g = graph_new(s, lids);
	v.shortest = g_new(uint32_t, s->n_switches * (size_t)s->n_switches);
	queue = g_new(uint32_t, s->n_switches);
	for (uint32_t to = 0; to < s->n_switches; to++)
		graph_hops(v.g, to, v.shortest + (size_t)to * s->n_switches,
			   queue);
	v.lines = make_lines(s, lids, lft->top);
	for (unsigned i = 0; ok && i < G_N_ELEMENTS(files); i++)
		ok = write_file(dir, files[i].name, &v, files[i].put,
				files[i].n, error);
	graph_free(v.g);
	g_free(v.shortest);
	g_ptr_array_unref(v.lines);
	return ok;
}
