// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writing a view.
 *
 * Order: the first line of a net file, the head and the lines that are about the
 * whole fabric, the net file, then what it cannot say of nodes and ports, the
 * tables if they are asked for, and #end. Of ports only what differs from most
 * is written. Tables are by far the largest part: 46 MB at 11,664 hosts, where
 * the rest is 7 MB.
 */
#include "sm/view.h"

#include <string.h>

#include "config.h"
#include "topology/net_file.h"

#define SHARE		20
#define FRESH_US	G_USEC_PER_SEC	/* at the least */

/* ---------------------------------------------------------- nodes and ports */

struct usual {
	uint8_t state, mtu, vls, phys;
};

static struct usual
usual_of(const struct port_info *p)
{
	return (struct usual){
		p->state, p->neighbor_mtu, p->oper_vls, p->phys_state,
	};
}

/* Port 0 of a switch has no cable, but a link. */
static bool
has_link(const struct snapshot *s, uint32_t port)
{
	return s->ports[port].peer != SNAPSHOT_NONE || !s->ports[port].num;
}

/* What most ports with a link have, or those without: by voting, which finds it
 * if more than half have it. */
static struct usual
find_usual(const struct snapshot *s, bool linked)
{
	struct usual u = { 0, 0, 0, 0 }, other;
	uint32_t votes = 0;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (!s->ports[i].known || has_link(s, i) != linked)
			continue;
		other = usual_of(&s->ports[i].info);
		if (!votes)
			u = other;
		votes += memcmp(&u, &other, sizeof(u)) ? UINT32_MAX : 1;
	}
	return u;
}

/* g_free. */
static char *
speed_text(const struct port_info *info)
{
	return g_strconcat(port_width(info)->name, port_speed(info)->name,
			   NULL);
}

/* u: of ports without and with a link; a port is left out if it is as its net
 * file and they say. The net file has no speed without a cable. NULL: none is
 * left out. */
static void
put_port(const struct view_values *v, uint32_t port, const struct usual *u,
	 GString *out)
{
	const struct snapshot_port *p = &v->s->ports[port];
	const struct snapshot_node *n = snapshot_node_of(v->s, port);
	bool linked = has_link(v->s, port);
	struct usual is = p->known ? usual_of(&p->info) : (struct usual){ 0 };
	g_autofree char *speed = NULL;

	if (!p->known && !linked && !snapshot_is_switch(n))
		return;		/* of a CA: a reader has not seen it, too */
	if (p->known && p->peer == SNAPSHOT_NONE &&
	    p->info.state >= PORT_STATE_INIT) {
		speed = speed_text(&p->info);
		if (!p->num && strcmp(speed, VIEW_PORT0_SPEED) == 0)
			g_clear_pointer(&speed, g_free);
	}
	if (!u || speed || memcmp(&is, &u[linked], sizeof(is)) ||
	    (!linked && !snapshot_is_switch(n)))
		VIEW_PUT(VIEW_PORT, speed, out, [PORT_GUID] = n->info.node_guid,
			 [PORT_NUMBER] = p->num, [PORT_STATE] = is.state,
			 [PORT_MTU] = is.mtu, [PORT_VLS] = is.vls,
			 [PORT_PHYS] = is.phys);
}

/* Among them the SLs of a port, a VL each in hexadecimal, if they are not on VL 0
 * nor on VL SL modulo VLs, as they are in a port that was not told otherwise. */
static void
put_trait(const struct view_values *v, uint32_t port, GString *out)
{
	static const uint8_t data_vls[] = { 1, 1, 2, 4, 8, 15 };
	const struct port_info *i = &v->s->ports[port].info;
	const union port_block *b = v->held ? port_tables_get(v->held,
		PORT_TABLE_SL2VL, port, 0) : NULL;
	unsigned n_vls = i->oper_vls < G_N_ELEMENTS(data_vls) ?
		data_vls[i->oper_vls] : 1, zero = 0, usual = 0;
	uint64_t n[VIEW_WORDS] = {
		[TRAIT_GUID] = snapshot_node_of(v->s, port)->info.node_guid,
		[TRAIT_PORT] = v->s->ports[port].num,
		[TRAIT_SM] = i->cap_mask & PORT_CAP_IS_SM ? 1 : 0,
		[TRAIT_VIRTUAL] = i->cap_mask & PORT_CAP_HAS_CAP_MASK2 &&
			i->cap_mask2 & PORT_CAP2_HAS_VIRTUALIZATION,
		[TRAIT_KEY] = i->m_key || i->m_key_protect ?
			1 + i->m_key_protect : 0,
	};
	char sl2vl[SL_COUNT + 1] = "";
	bool odd;

	for (unsigned sl = 0; b && sl < SL_COUNT; sl++) {
		zero += b->vl[sl] == 0;
		usual += b->vl[sl] == sl % n_vls;
		sl2vl[sl] = "0123456789abcdef"[b->vl[sl] & 15];
	}
	odd = b && zero < SL_COUNT && usual < SL_COUNT;
	if (snapshot_is_end_port(v->s, port) && v->s->ports[port].known &&
	    (n[TRAIT_SM] || n[TRAIT_VIRTUAL] || n[TRAIT_KEY] || odd))
		view_line_put(VIEW_TRAIT, n, odd ? sl2vl : NULL, out);
}

/* shared: as of snapshot_full_name(). */
static void
put_name(const struct snapshot_node *n, GHashTable *shared, GString *out)
{
	g_autofree char *name = snapshot_full_name(n, shared);

	if (strcmp(name, n->desc))
		VIEW_PUT(VIEW_NAME, name, out, [NAME_GUID] = n->info.node_guid);
}

static void
put_node(const struct view_values *v, uint32_t node, const struct usual *u,
	 GString *out)
{
	const struct snapshot_node *n = &v->s->nodes[node];
	uint64_t guid = n->info.node_guid;
	struct port_info best;

	put_name(n, NULL, out);
	if (n->info.revision)
		VIEW_PUT(VIEW_NODE, NULL, out, [NODE_GUID] = guid,
			 [NODE_REVISION] = n->info.revision);
	for (unsigned num = !snapshot_is_switch(n); num <= n->info.num_ports;
	     num++) {
		uint32_t port = n->first_port + num;
		g_autofree char *could = NULL;

		put_port(v, port, u, out);
		put_trait(v, port, out);
		if (v->s->ports[port].peer < port ||
		    !link_is_slow(v->s, port, &best))
			continue;
		could = speed_text(&best);
		VIEW_PUT(VIEW_SLOW, could, out, [SLOW_GUID] = guid,
			 [SLOW_PORT] = num);
	}
}

static void
put_pkeys(const struct view_values *v, uint32_t port, GString *out)
{
	const struct memberships *m = v->memberships;

	if (!m || port >= m->n_ports)
		return;
	for (uint32_t i = m->first[port]; i < m->first[port + 1]; i++)
		VIEW_PUT(VIEW_PKEY, NULL, out, [PKEY_KEY] = m->pkeys[i],
			 [PKEY_PORT] = v->s->ports[port].guid);
}

/* The PortGUIDs of all end ports; made when the first is asked for. */
static bool
is_here(const struct snapshot *s, GHashTable **here, uint64_t *guid)
{
	if (*here)
		return g_hash_table_contains(*here, guid);
	*here = g_hash_table_new(g_int64_hash, g_int64_equal);
	for (uint32_t port = 0; port < s->n_ports; port++)
		if (snapshot_is_end_port(s, port))
			g_hash_table_add(*here, &s->ports[port].guid);
	return g_hash_table_contains(*here, guid);
}

/* With members by GUID that are not on the fabric. Of several rules for one port
 * the last one holds. */
static void
put_partitions(const struct view_values *v, GString *out)
{
	g_autoptr(GHashTable) here = NULL;

	for (guint i = 0; v->rules && i < v->rules->partitions->len; i++) {
		const struct partition *p = v->rules->partitions->pdata[i];
		g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash,
							      g_int64_equal);

		VIEW_PUT(VIEW_PARTITION, p->name, out,
			 [PARTITION_KEY] = p->pkey, [PARTITION_SL] = p->sl);
		for (guint k = p->rules->len; k-- > 0; ) {
			struct partition_rule *rule = &g_array_index(p->rules,
				struct partition_rule, k);

			if (rule->who == PARTITION_GUID &&
			    !is_here(v->s, &here, &rule->guid) &&
			    g_hash_table_add(seen, &rule->guid) &&
			    rule->membership != PARTITION_NONE)
				VIEW_PUT(VIEW_AWAY, NULL, out,
					 [AWAY_KEY] = p->pkey,
					 [AWAY_GUID] = rule->guid,
					 [AWAY_WHAT] = rule->membership);
		}
	}
}

/* ------------------------------------------------------------------- tables */

/* By hand: there may be hundreds of thousands. No line is too long. */
static void
put_table(const struct view_values *v, uint32_t node, GString *out)
{
	static const char hex[] = "0123456789abcdef";
	const struct snapshot_node *n = &v->s->nodes[node];
	const uint8_t *row;

	if (!v->lft || n->sw_index >= v->lft->n_switches)
		return;
	row = lft_row(v->lft, n->sw_index);
	for (uint32_t at = 0; at <= v->lft->top; at += VIEW_LFT_BLOCK) {
		char text[2 * VIEW_LFT_BLOCK + 1];
		bool used = false;

		for (unsigned i = 0; i < VIEW_LFT_BLOCK; i++) {
			text[2 * i] = hex[row[at + i] >> 4];
			text[2 * i + 1] = hex[row[at + i] & 15];
			used |= row[at + i] != LFT_NO_PATH;
		}
		text[2 * VIEW_LFT_BLOCK] = '\0';
		if (used)
			VIEW_PUT(VIEW_LFT, text, out,
				 [LFT_GUID] = n->info.node_guid,
				 [LFT_NUMBER] = at / VIEW_LFT_BLOCK);
	}
}

/* -------------------------------------------------------------------- texts */

static void
put_head(const struct view_values *v, GString *out)
{
	VIEW_PUT(VIEW_HEAD, PACKAGE_STRING, out, [HEAD_VERSION] = VIEW_VERSION,
		 [HEAD_GEN] = v->generation, [HEAD_SA] = v->sa_version,
		 [HEAD_AT] = (uint64_t)v->at, [HEAD_PORT] = v->port_guid);
}

static void
put_end(const struct view_values *v, GString *out)
{
	g_string_append_c(out, '\n');
	VIEW_PUT(VIEW_END, NULL, out, [END_GEN] = v->generation);
}

void
view_write(const struct view_values *v, GString *out)
{
	const struct snapshot *s = v->s;
	const struct usual u[] = { find_usual(s, false), find_usual(s, true) };
	g_autoptr(GString) net = g_string_new(NULL);
	gsize begin = out->len, first;

	net_file_write(s, net);
	first = (gsize)(strchr(net->str, '\n') + 1 - net->str);
	g_string_append_len(out, net->str, (gssize)first);
	put_head(v, out);
	g_string_append_len(out, v->before->str, (gssize)v->before->len);
	put_partitions(v, out);
	for (unsigned i = !u[0].state; i < G_N_ELEMENTS(u); i++)
		VIEW_PUT(i ? VIEW_USUAL : VIEW_IDLE, NULL, out,
			 [USUAL_STATE] = u[i].state, [USUAL_MTU] = u[i].mtu,
			 [USUAL_VLS] = u[i].vls, [USUAL_PHYS] = u[i].phys);
	g_string_append_len(out, net->str + first, (gssize)(net->len - first));
	g_string_append_c(out, '\n');
	for (uint32_t n = 0; n < s->n_nodes; n++)
		put_node(v, n, u, out);
	for (uint32_t i = 0; i < s->n_ports; i++)
		put_pkeys(v, i, out);
	view_lines_wrap(out, begin);
	for (uint32_t i = 0; v->tables && i < s->n_switches; i++)
		put_table(v, s->switches[i], out);
	put_end(v, out);
}

void
view_write_node(const struct view_values *v, uint32_t node, GString *out)
{
	/* a part does not tell which names others have as well */
	g_autoptr(GHashTable) shared = snapshot_shared_names(v->s);
	const struct snapshot_node *n = &v->s->nodes[node];
	gsize begin = out->len;

	put_head(v, out);
	g_string_append_len(out, v->before->str, (gssize)v->before->len);
	put_partitions(v, out);
	net_file_write_around(v->s, node, out);
	g_string_append_c(out, '\n');
	put_node(v, node, NULL, out);
	for (unsigned num = 0; num <= n->info.num_ports; num++) {
		uint32_t peer = v->s->ports[n->first_port + num].peer;

		put_pkeys(v, n->first_port + num, out);
		if (peer != SNAPSHOT_NONE)
			put_name(snapshot_node_of(v->s, peer), shared, out);
	}
	if (snapshot_is_switch(n))
		put_table(v, node, out);
	view_lines_wrap(out, begin);
	put_end(v, out);
}

void
view_write_lid(const struct view_values *v, uint16_t lid, GString *out)
{
	const struct snapshot *s = v->s;

	put_head(v, out);
	for (uint32_t i = 0; v->lft && lid <= v->lft->top &&
	     i < v->lft->n_switches; i++)
		VIEW_PUT(VIEW_HOP, NULL, out,
			 [HOP_GUID] = s->nodes[s->switches[i]].info.node_guid,
			 [HOP_PORT] = lft_row(v->lft, i)[lid], [HOP_LID] = lid);
	put_end(v, out);
}

void
view_write_status(const struct view_values *v, GString *out)
{
	put_head(v, out);
	g_string_append_len(out, v->before->str, (gssize)v->before->len);
	if (v->s)
		put_partitions(v, out);
	put_end(v, out);
}

/* ---------------------------------------------------------- beside the loop */

struct views {
	struct beside *beside;
	views_fn fn;
	void *data;
	struct beside_job *job;		/* NULL: none is being made */
	struct view_values *next;	/* to be made then; NULL: none */
	uint64_t n_begun;
	GBytes *text;		/* NULL: none was made */
	uint64_t number;	/* its */
	int64_t until;		/* us, of the monotonic clock */
};

void
view_values_free(void *values)
{
	struct view_values *v = values;

	snapshot_unref(v->s);
	lid_map_free(v->lids);
	lft_free(v->lft);
	memberships_unref(v->memberships);
	port_tables_unref(v->held);
	partition_rules_unref(v->rules);
	g_string_free(v->before, TRUE);
	if (v->text)
		g_string_free(v->text, TRUE);
	g_free(v);
}

static void
views_work(void *values)
{
	struct view_values *v = values;
	int64_t begin = g_get_monotonic_time();

	v->text = g_string_new(NULL);
	view_write(v, v->text);
	v->took_us = g_get_monotonic_time() - begin;
}

static void views_begin(struct views *v, struct view_values *values);

static void
views_done(void *values, void *data)
{
	struct view_values *made = values;
	struct views *v = data;

	v->job = NULL;
	v->number = made->number;
	v->until = g_get_monotonic_time() +
		MAX(SHARE * made->took_us, FRESH_US);
	g_clear_pointer(&v->text, g_bytes_unref);
	if (v->fn)
		v->fn(g_steal_pointer(&made->text), v->data);
	else
		v->text = g_string_free_to_bytes(g_steal_pointer(&made->text));
	if (v->next)
		views_begin(v, g_steal_pointer(&v->next));
}

static void
views_begin(struct views *v, struct view_values *values)
{
	static const struct beside_task task = {
		views_work, views_done, view_values_free,
	};

	v->job = beside_run(v->beside, &task, values, v);
}

struct views *
views_new(struct beside *beside, views_fn fn, void *data)
{
	struct views *v = g_new(struct views, 1);

	*v = (struct views){ .beside = beside, .fn = fn, .data = data };
	return v;
}

void
views_free(struct views *v)
{
	if (v->job)
		beside_cancel(v->job);
	if (v->next)
		view_values_free(v->next);
	g_bytes_unref(v->text);
	g_free(v);
}

uint64_t
views_make(struct views *v, struct view_values *values)
{
	values->number = ++v->n_begun;
	if (v->next)
		view_values_free(v->next);
	v->next = v->job ? values : NULL;
	if (!v->job)
		views_begin(v, values);
	return v->n_begun;
}

GBytes *
views_get(const struct views *v, uint64_t *number)
{
	if (v->text && (g_get_monotonic_time() < v->until ||
			(*number && *number <= v->number)))
		return v->text;
	*number = v->job ? v->n_begun : 0;
	return NULL;
}

void
views_expire(struct views *v)
{
	v->until = 0;
}
