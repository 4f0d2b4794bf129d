// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scenarios: devices that are changed behind the manager's back, answers that
 * are not what the device holds, and what happens at a certain SMP.
 */
#include "tests/lib/play.h"

#include <stdlib.h>
#include <string.h>

#include "sm/mad/sa_mad.h"
#include "lab/sim/state.h"
#include "topology/each.h"
#include "topology/member.h"
#include "topology/prng.h"

struct play_word play_device_words[16];
#define PLAYS(names, name)	PLAY_WORDS(play_device_words, names, name)

/* ---- fields ---- */

bool
play_read_field(struct play *p, const char *word, struct play_field *f)
{
	static const struct {
		unsigned attr_id, record;
	} tables[] = {
		/* LocalPortNum is NodeInfo's, not PortInfo's */
		{ MAD_ATTR_NODE_INFO, SA_ATTR_NODE },
		{ MAD_ATTR_PORT_INFO, SA_ATTR_PORT_INFO },
		{ MAD_ATTR_SWITCH_INFO, SA_ATTR_SWITCH_INFO },
	};
	g_auto(GStrv) parts = g_strsplit(word, "=", 2);
	char *to = parts[1] ? strchr(parts[1], '>') : NULL;

	for (size_t i = 0; parts[1] && i < G_N_ELEMENTS(tables); i++) {
		const struct mad_attr_table *t =
			mad_attr_table(tables[i].record);

		for (unsigned k = 0; k < t->n_fields; k++) {
			if (!t->fields[k].size ||
			    strcmp(t->fields[k].name, parts[0]))
				continue;
			*f = (struct play_field){
				tables[i].attr_id, &t->fields[k], !to,
				g_ascii_strtoull(parts[1], NULL, 0),
				g_ascii_strtoull(to ? to + 1 : parts[1], NULL,
						 0),
			};
			return true;
		}
	}
	return play_fail(p, "%s is no FIELD=VALUE", word);
}

void *
play_field_host(struct play *p, const struct play_field *f, uint32_t port)
{
	if (f->attr_id == MAD_ATTR_NODE_INFO)
		return &sim_node_of(p->w.sim, port)->info;
	return f->attr_id == MAD_ATTR_PORT_INFO ?
		(void *)&p->w.sim->ports[port].info :
		(void *)&sim_node_of(p->w.sim, port)->sw;
}

uint64_t
play_field_get(const struct play_field *f, const void *host)
{
	return member_load((const uint8_t *)host + f->field->member,
			   f->field->size);
}

static void
field_set(const struct play_field *f, void *host)
{
	if (f->any || play_field_get(f, host) == f->from)
		member_store((uint8_t *)host + f->field->member,
			     f->field->size, f->to);
}

/* ---- devices ---- */

/* WHERE: NODE, NODE/PORT or all */
PLAYS("poke", do_poke)
{
	bool all = g_strcmp0(args[0], "all") == 0;
	uint32_t port = 0;

	if (!all && !play_read_port(p, args[0], &port))
		return false;
	for (char **word = args + 1; *word; word++) {
		struct play_field f;

		if (!play_read_field(p, *word, &f))
			return false;
		if (strcmp(f.field->name, "M_Key") == 0)
			play_add_secret(p, f.to);
		for (uint32_t i = all ? 0 : port;
		     i <= (all ? p->w.s->n_ports - 1 : port); i++)
			field_set(&f, play_field_host(p, &f, i));
	}
	return true;
}

/* SWITCH NODE: its table has no path to that one; SWITCH groups: nor to any group */
PLAYS("unroute", do_unroute)
{
	uint32_t sw, to;

	if (!play_read_node(p, args[0], &sw))
		return false;
	if (g_strcmp0(args[1], "groups") == 0) {
		g_clear_pointer(&p->w.sim->nodes[sw].mft, g_ptr_array_unref);
		return true;
	}
	if (!play_read_port(p, args[1], &to) || !p->w.sim->nodes[sw].lft)
		return false;
	p->w.sim->nodes[sw].lft[p->w.sim->ports[to].info.lid] = LFT_NO_PATH;
	return true;
}

/* NODE: its P_Key table is empty */
PLAYS("unkey", do_unkey)
{
	struct sim_port *port;
	uint32_t i;

	if (!play_read_port(p, args[0], &i))
		return false;
	port = &p->w.sim->ports[i];
	sim_table_clear_port(p->w.sim, i);
	port->tables = g_new0(struct sim_tables, 1);
	port->tables->pkeys = g_malloc0_n(UINT16_MAX / 32 + 1, SIM_TABLE_BLOCK);
	return true;
}

/* TIME: so long all nodes acknowledge Sets and do none */
PLAYS("forget-sets", do_forget_sets)
{
	int64_t us;

	if (!play_read_time(p, args[0], &us))
		return false;
	sim_forget_sets(p->w.sim, us);
	return true;
}

/* Some cables of hosts, and now and then one between switches. */
PLAYS("damage", do_damage)
{
	unsigned per_cent = 10 + prng_below(&p->rng, 80);
	const struct snapshot *s = p->w.s;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;
		bool is_host;

		if (peer == SNAPSHOT_NONE || port == p->w.m.port ||
		    peer == p->w.m.port || peer < port)
			continue;
		is_host = !snapshot_is_switch(snapshot_node_of(s, port)) ||
			!snapshot_is_switch(snapshot_node_of(s, peer));
		if (prng_below(&p->rng, 100) >= (is_host ? per_cent : 8))
			continue;
		p->cut[port] = true;
		sim_link_cut(p->w.sim, port);
	}
	return true;
}

PLAYS("heal", do_heal)
{
	for (uint32_t port = 0; port < p->w.s->n_ports; port++) {
		if (p->cut[port])
			sim_link_mend(p->w.sim, port);
		p->cut[port] = false;
	}
	return true;
}

/* NODE: the first manager's port asks it with a key that it has not */
PLAYS("wrong-key", do_wrong_key)
{
	static const struct mad_addr to = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct transport *t;
	struct dr_path path;
	uint32_t port;

	if (!play_read_port(p, args[0], &port) ||
	    !snapshot_path(p->w.s, port, &path))
		return false;
	play_add_secret(p, UINT64_C(0xbad0bad0bad));
	t = sim_attach(p->w.sim, p->w.s->local_port, SIM_ROLE_CLIENT);
	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0,
			 UINT64_C(0xbad0bad0bad), &path);
	transport_send(t, &to, mad, MAD_SIZE, 100, NULL);
	sim_run(p->w.sim, sim_now(p->w.sim) + 1000);
	transport_free(t);
	return true;
}

/* ---- answers ---- */

static void
tell_lie(const struct play_lie *l, const struct mad_header *h, uint8_t *answer)
{
	union {
		struct port_info port;
		struct switch_info sw;
		struct node_info node;
	} info;

	if (l->is_refused) {
		answer[5] = MAD_STATUS_BAD_VALUE;
	} else if (l->is_other) {
		smp_data(answer)[0] ^= 0x40;
	} else if (h->status == 0 && l->attr_id == MAD_ATTR_PORT_INFO) {
		port_info_decode(smp_data(answer), &info.port);
		field_set(&l->f, &info);
		port_info_encode(smp_data(answer), &info.port);
	} else if (h->status == 0 && l->attr_id == MAD_ATTR_NODE_INFO) {
		node_info_decode(smp_data(answer), &info.node);
		field_set(&l->f, &info);
		node_info_encode(smp_data(answer), &info.node);
	} else if (h->status == 0) {
		switch_info_decode(smp_data(answer), &info.sw);
		field_set(&l->f, &info);
		switch_info_encode(smp_data(answer), &info.sw);
	}
}

static bool
lie(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	const struct play *p = data;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	EACH_ITEM(const struct play_lie, l, p->lies) {
		if (l->attr_id != h.attr_id ||
		    (l->node != SIM_ANY && l->node != node))
			continue;
		if (l->is_lost)
			return false;
		tell_lie(l, &h, answer);
	}
	return true;
}

/* NODE|all FIELD=VALUE ..; or ATTRIBUTE lost|refused|other: so are its answers,
 * the last with another content */
PLAYS("lie", do_lie)
{
	struct play_lie l = { .node = SIM_ANY };

	if (g_strcmp0(args[0], "all") && !play_read_node(p, args[0], &l.node))
		return false;
	sim_set_liar(p->w.sim, lie, p);
	l.attr_id = args[1] ? play_read_attr(args[1]) : 0;
	if (l.attr_id) {
		l.is_lost = g_strcmp0(args[2], "lost") == 0;
		l.is_other = g_strcmp0(args[2], "other") == 0;
		l.is_refused = !l.is_lost && !l.is_other;
		g_array_append_val(p->lies, l);
		return true;
	}
	for (char **word = args + 1; *word; word++) {
		if (!play_read_field(p, *word, &l.f))
			return false;
		l.attr_id = l.f.attr_id;
		g_array_append_val(p->lies, l);
	}
	return true;
}

/* METHOD ATTRIBUTE N [NODE]: so many MADs of this kind are lost */
PLAYS("lose", do_lose)
{
	struct sim_rule rule = {
		.match = { .node = SIM_ANY }, .kind = SIM_FAULT_LOSS,
		.per_mille = 1000,
	};
	unsigned method = 0xff;

	while (args[0] && method && strcmp(mad_method_name(method), args[0]))
		method--;
	if (!method || !args[1] || !args[2])
		return play_fail(p, "lose METHOD ATTRIBUTE N [NODE]");
	if (args[3] && !play_read_node(p, args[3], &rule.match.node))
		return false;
	rule.match.method = (uint8_t)method;
	rule.match.attr_id = (uint16_t)play_read_attr(args[1]);
	if (!rule.match.attr_id) {
		rule.match.mgmt_class = MAD_CLASS_SA;
		while (++rule.match.attr_id &&
		       strcmp(sa_attr_name(rule.match.attr_id), args[1]))
			;
	}
	if (!rule.match.attr_id)
		return play_fail(p, "no attribute %s", args[1]);
	rule.times = (unsigned)strtoul(args[2], NULL, 10);
	sim_rule_add(p->w.sim, &rule);
	return true;
}

/* ---- at an SMP ---- */

struct cue {
	struct play *p;
	char *line;		/* NULL: `until` waits for it */
	bool has_come;
};

static void
on_cue(struct sim *sim, void *data)
{
	struct cue *c = data;

	c->has_come = true;
	if (c->line && !play_line(c->p, c->line + (*c->line == '?')) &&
	    *c->line != '?')
		g_error("%s: %s", c->line, c->p->said->str);
}

static void
cue_free(gpointer data)
{
	struct cue *c = data;

	g_free(c->line);
	g_free(c);
}

static struct cue *
add_cue(struct play *p, char **args)
{
	struct sim_match match = { .node = SIM_ANY };
	struct cue *c = g_new0(struct cue, 1);

	c->p = p;
	c->line = args[3] ? g_strjoinv(" ", args + 3) : NULL;
	match.method = strcmp(args[1], "Set") ? MAD_METHOD_GET :
		MAD_METHOD_SET;
	match.attr_id = (uint16_t)play_read_attr(args[2]);
	g_ptr_array_add(p->cues, c);
	sim_at_mad(p->w.sim, &match,
		   (unsigned)strtoul(args[0], NULL, 10), on_cue, c);
	return c;
}

/* No more lies, and what was to happen at an SMP does not. */
PLAYS("truth", do_truth)
{
	g_array_set_size(p->lies, 0);
	EACH_PTR(struct cue, c, p->cues)
		g_clear_pointer(&c->line, g_free);
	return true;
}

/* N Get|Set ATTRIBUTE LINE: before the Nth one from now on is served */
PLAYS("at", do_at)
{
	if (g_strv_length(args) < 4)
		return play_fail(p, "at N Get|Set ATTRIBUTE LINE");
	add_cue(p, args);
	return true;
}

/* N Get|Set ATTRIBUTE: until that is about to be served */
PLAYS("until", do_until)
{
	int64_t end = sim_now(p->w.sim) + 10 * SECOND;
	struct cue *c;

	if (g_strv_length(args) != 3)
		return play_fail(p, "until N Get|Set ATTRIBUTE");
	c = add_cue(p, args);
	while (!c->has_come && sim_now(p->w.sim) < end)
		sim_step(p->w.sim);
	return c->has_come || play_fail(p, "it was not sent");
}

void
play_clear_devices(struct play *p)
{
	g_array_set_size(p->lies, 0);
	if (p->cues)
		g_ptr_array_unref(p->cues);
	p->cues = g_ptr_array_new_with_free_func(cue_free);
}
