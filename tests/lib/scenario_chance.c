// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Scenarios: what happens to a fabric by chance, and whether the manager has
 * noticed all of it, held against a heavy sweep of its own.
 */
#include "tests/lib/play.h"

#include <stdio.h>

#include "sm/mad/sa_record.h"
#include "tests/lib/seed.h"
#include "topology/prng.h"

struct play_word play_chance_words[8];
#define PLAYS(names, name)	PLAY_WORDS(play_chance_words, names, name)

/* Two switch ports with cables; not where the (first) manager is, or was. */
static bool
pick_ports(struct play *p, uint32_t port[2])
{
	const struct snapshot *s = p->w.s;

	for (unsigned i = 0; i < 2; i++) {
		unsigned tries = 0;

		do
			port[i] = prng_below(&p->rng, s->n_ports);
		while (tries++ < 1000 &&
		       (!snapshot_is_switch(snapshot_node_of(s, port[i])) ||
			sim_peer(p->w.sim, port[i]) == SNAPSHOT_NONE ||
			sim_peer(p->w.sim, port[i]) == p->w.s->local_port));
		if (tries > 1000)
			return false;
	}
	return true;
}

/* All nodes are on and answer, all cables good, no MAD is lost. */
PLAYS("mend", do_mend)
{
	for (uint32_t node = 0; node < p->w.s->n_nodes; node++) {
		sim_node_on(p->w.sim, node);
		sim_node_set_mood(p->w.sim, node, SIM_MOOD_OBEDIENT);
		sim_node_set_queue(p->w.sim, node, p->params.smp_ns,
				   p->params.vl15_depth);
		sim_rules_clear(p->w.sim, node);
	}
	sim_rules_clear(p->w.sim, SIM_ANY);
	for (uint32_t port = 0; port < p->w.s->n_ports; port++)
		if (sim_peer(p->w.sim, port) != SNAPSHOT_NONE) {
			sim_link_mend(p->w.sim, port);
			sim_link_set_loss(p->w.sim, port, 0);
		}
	return true;
}

/* ---- any lines ---- */

/* What may happen to a fabric and its managers besides `upset`: %n a node, %h a
 * host, %N, %H one without the first manager, %F nor its switch, %S a switch but
 * this, %p an end of a cable at a switch, %d a small number, %t a trap, %s a time.
 * Left out are changes that cannot be undone, and copies of Sets that arrive after
 * later Sets. */
static const char *const chances[] = {
	"upset", "upset", "upset", "upset", "mend",
	"unplug %p", "plug %p", "flap %p %d %s %s", "loss %p %d",
	"loss %d", "delay 20 1ms",
	"hang %n", "slow %n %s %d", "revive %n",
	"lose Get NodeInfo %d", "lose Get PortInfo %d", "lose Get SwitchInfo %d",
	"lose Set PortInfo %d", "lose Set LinearForwardingTable %d",
	"lose Set MulticastForwardingTable %d", "lose Set P_KeyTable %d",
	"lose Get MulticastForwardingTable %d", "lose Get SMInfo %d",
	"lie %n PortInfo lost", "lie %n PortInfo refused",
	"lie %n SwitchInfo refused", "lie %n NodeInfo lost",
	"lie %n LinearForwardingTable refused", "lie %n SMInfo lost",
	"lie %n P_KeyTable refused", "lie %n PortState=1",
	"lie %n PhysState=3", "lie %n M_Key=0x77", "lie %n LID=1", "truth",
	"at %d Set PortInfo upset", "at %d Get PortInfo upset",
	"at %d Set LinearForwardingTable upset",
	"at %d Set PortInfo reset %n", "at %d Set PortInfo truth",
	"avoid %p %d", "trap %p %t", "trap %p %t %d %s",
	"trap %h %t %d %s", "forge %h %h %t %d %s", "forge %h %p %t %d %s",
	"unkey %h", "unroute %n %h", "wrong-key %h",
	"avoid %p 0", "speed %p 4xQDR", "rename %h web-%d",
	"join %h %h %h", "leave %h", "subscribe %h", "serve %h", "serve %h %d",
	"babble %h %d", "keep %h",
	"sm %h sweep_s=1 priority=%d", "sm %h sweep_s=2 guest=1", "stop %h",
	"retire %h", "priority %d", "priority %d %h", "takeover",
	"takeover %h", "control %h handover", "control %h discover",
	"pause", "resume", "sweep", "sweep light", "sweep trap", "accept",
	"avoid %p", "use %p", "partitions default", "partitions \"\"",
	"partitions 'Red=1: %h=full, %h=full, %h=limited;'",
	"partitions 'Red=2, ipoib: %h=full, %h; Blue=1: %h, %h=full;'",
	"name %n spine-%d",
};

static char *
pick_name(struct play *p, char kind)
{
	const struct snapshot *s = p->w.s;
	const struct snapshot_node *n;
	uint32_t port[2];

	if (kind == 'p' && pick_ports(p, port))
		return g_strdup_printf("0x%" G_GINT64_MODIFIER "x/%u",
			snapshot_node_of(s, port[0])->info.node_guid,
			s->ports[port[0]].num);
	do
		n = &s->nodes[prng_below(&p->rng, s->n_nodes)];
	while ((g_ascii_tolower(kind) == 'h' && snapshot_is_switch(n)) ||
	       (g_ascii_isupper(kind) &&
		n == snapshot_node_of(s, s->local_port)) ||
	       (kind == 'S' && !snapshot_is_switch(n)) ||
	       (strchr("FS", kind) && s->n_nodes > 2 &&
		n == snapshot_node_of(s, s->ports[s->local_port].peer)));
	return g_strdup(n->desc);
}

/* A line with its places filled in. */
static char *
draw_line(struct play *p, const char *c)
{
	static const unsigned traps[] = {
		64, 65, 66, 128, 129, 130, 131, 144, 145, 256, 257, 258, 259,
	};
	static const char *const times[] = { "20us", "1ms", "30ms", "400ms" };
	GString *line = g_string_new(NULL);

	for (; *c; c++) {
		g_autofree char *name = NULL;

		if (*c != '%') {
			g_string_append_c(line, *c);
			continue;
		}
		switch (*++c) {
		case 'd':
			g_string_append_printf(line, "%u", 1 +
					       prng_below(&p->rng, 14));
			break;
		case 't':
			g_string_append_printf(line, "%u", traps[
				prng_below(&p->rng, G_N_ELEMENTS(traps))]);
			break;
		case 's':
			g_string_append(line, times[prng_below(&p->rng,
						G_N_ELEMENTS(times))]);
			break;
		default:
			name = pick_name(p, *c);
			g_string_append(line, name);
		}
	}
	return g_string_free(line, FALSE);
}

/* One thing; when it is undone, as `mend` does, the fabric is whole again. */
PLAYS("upset", do_upset)
{
	static const char *const upsets[] = {
		"unplug %p", "unplug %p", "plug %p", "swap %p %p", "kill %F",
		"revive %F", "reset %F",
	};
	g_autofree char *line = NULL;
	uint32_t port[2];

	if (!pick_ports(p, port))
		return true;
	line = draw_line(p, upsets[prng_below(&p->rng, G_N_ELEMENTS(upsets))]);
	/* a repeated Set may reach another switch then */
	p->may_loop |= g_str_has_prefix(line, "swap");
	return play_line(p, line);
}

/* N: so many lines by chance, one after another or with some time between. What
 * a line cannot do is not done. MINISM_CHANCE=file: there they can be read. */
PLAYS("chance", do_chance)
{
	unsigned n = args[0] ? (unsigned)strtoul(args[0], NULL, 10) : 0;
	const char *path = g_getenv("MINISM_CHANCE");
	FILE *tell = path ? fopen(path, "w") : NULL;

	/* two masters at once, and devices that lie, make loops */
	p->may_loop = true;
	while (n--) {
		g_autofree char *line = NULL;
		uint32_t ms = 1u << prng_below(&p->rng, 13);

		line = p->w.m.t ? draw_line(p, chances[prng_below(
			&p->rng, G_N_ELEMENTS(chances))]) :
			g_strdup("sm sweep_s=2");
		if (tell) {
			fprintf(tell, "%s\nrun %ums\n", line, ms);
			fflush(tell);
		}
		play_line(p, line);
		if (prng_below(&p->rng, 3))
			sim_run(p->w.sim, sim_now(p->w.sim) + ms * 1000);
	}
	if (tell)
		fclose(tell);
	p->astray = sim_stats(p->w.sim)->reserved;	/* see do_storm() */
	g_string_truncate(p->said, 0);
	return true;
}

/* [KEY]: the first manager is killed, unless it was stopped before, and starts
 * again; with other keys */
PLAYS("again", do_again)
{
	uint32_t port = p->w.m.t ? p->w.m.port : p->w.s->local_port;

	p->sm.sweep.isolation.rules = p->rules;
	if (args[0]) {
		p->sm.m_key = p->policy.m_key = prng_next(&p->rng) | 1;
		p->sm.key_mode = prng_below(&p->rng, 3) ? MKEY_DB_PER_PORT :
			MKEY_DB_ONE;
	}
	if (p->w.m.t)
		manager_close(&p->w.m);
	manager_open(&p->w.m, p->w.sim, port, &p->sm, NULL);
	return true;
}

/* At rest, whatever was lost on the way; a fault that spoils each sweep ends. */
static bool
come_to_rest(struct play *p)
{
	for (unsigned i = 0; i < 2; i++) {
		sim_run(p->w.sim, sim_now(p->w.sim) + 5 * SECOND);
		if (!world_settle(&p->w, 120 * SECOND))
			return play_fail(p, "it does not come to rest");
		if (p->w.m.last == SWEEP_END_UP)
			break;
		sim_rules_clear(p->w.sim, SIM_ANY);
	}
	return true;
}

/* Each end port that is alive has LIDs of its own, and those of before. */
static bool
lids_stay(struct play *p, uint16_t *lids)
{
	g_autofree uint8_t *alive = world_alive(&p->w);
	g_autofree uint32_t *owner = g_new0(uint32_t, 0x10000);

	for (uint32_t port = 0; port < p->w.s->n_ports; port++) {
		const struct port_info *i = sim_port_info(p->w.sim, port);

		if (!alive[port] || (port == p->w.m.port && !i->lid))
			continue;	/* the manager's may have no link */
		for (unsigned k = 0; k < 1u << i->lmc; k++)
			if (!i->lid || owner[i->lid + k]++)
				return play_fail(p, "LID %u is there twice",
						 i->lid + k);
		if (lids[port] && lids[port] != i->lid)
			return play_fail(p, "LID %u became %u", lids[port],
					 i->lid);
		lids[port] = i->lid;
	}
	return true;
}

/* Soon all ports have their keys and LIDs and reach each other as far as the
 * partitions let them; pairs that are left out are few, and told. Now and then:
 * a sweep sends nothing. */
static bool
is_whole(struct play *p, unsigned event, uint16_t *lids, bool may_loop)
{
	g_autofree uint8_t *alive = NULL;
	unsigned pairs = 0, mixed = 0, wrong = 0, lost = 0, misled, asked;
	bool is_up = false;

	for (unsigned i = 0; !is_up && i < 60; i++) {
		if (!come_to_rest(p))
			return false;
		wrong = world_wrong_keys(&p->w, &p->sm, SNAPSHOT_NONE);
		lost = world_unreached(&p->w, SNAPSHOT_NONE, &pairs, &mixed);
		is_up = !wrong && !lost && (p->w.m.last == SWEEP_END_UP ?
			!mixed : !pairs ||
			(mixed && mixed <= MAX(pairs / 5, 5)));
	}
	if (!is_up)
		return play_fail(p, "%u ports have another key, %u and %u "
				 "pairs of %u are lost: %s", wrong, lost, mixed,
				 pairs, p->w.m.problems->str);
	alive = world_alive(&p->w);
	if (!may_loop && (p->loop || world_has_loop(&p->w, alive)))
		return play_fail(p, "%s", p->loop ?: "a credit loop at rest");
	misled = event % 8 || !p->rules ? 0 :
		world_misled(&p->w, p->rules, &asked);
	if (misled)
		return play_fail(p, "%u packets do not do what the partitions "
				 "say", misled);
	/* a node that lost SMPs made silent is found by the next sweep */
	if (event % 16 || p->w.m.last != SWEEP_END_UP ||
	    p->w.m.sweep->view.silent->len)
		return lids_stay(p, lids);
	sim_rules_clear(p->w.sim, SIM_ANY);
	return lids_stay(p, lids) && play_line(p, "expect quiet");
}

/* N "LINE; LINE .." ..: so many of these events by chance, after each of which
 * the fabric is whole. A line that begins with ? may be one that cannot be done
 * now. */
PLAYS("storm", do_storm)
{
	unsigned n = seed_events((unsigned)strtoul(args[0], NULL, 10));
	g_autofree uint16_t *lids = g_new0(uint16_t, p->w.s->n_ports);
	uint32_t n_kinds = g_strv_length(args + 1);
	bool may_loop = p->may_loop;

	for (unsigned event = 0; event < n; event++) {
		const char *kind = args[1 + prng_below(&p->rng, n_kinds)];
		g_auto(GStrv) steps = g_strsplit(kind, "; ", -1);
		uint64_t astray = sim_stats(p->w.sim)->reserved - p->astray;

		p->may_loop = may_loop;
		for (char **step = steps; *step; step++) {
			bool may_fail = **step == '?';
			g_autofree char *line = draw_line(p, *step + may_fail);

			if (!play_line(p, line) && !may_fail)
				return false;
		}
		if (!(p->has_members ? play_are_grouped(p) :
		      is_whole(p, event, lids, may_loop))) {
			g_autofree char *why = g_strdup(p->said->str);

			return play_fail(p, "event %u, %s: %s", event, kind,
					 why);
		}
		/* so may any SMP reach another node */
		if (p->may_loop)
			p->astray = sim_stats(p->w.sim)->reserved - astray;
	}
	return true;
}

/* Each cable is where it was at the start. */
static void
restore_cables(struct play *p)
{
	const struct snapshot *s = p->w.s;

	for (uint32_t port = 0; port < s->n_ports; port++) {
		uint32_t peer = s->ports[port].peer;

		if (peer == SNAPSHOT_NONE || peer < port ||
		    sim_peer(p->w.sim, port) == peer)
			continue;
		if (sim_peer(p->w.sim, port) != SNAPSHOT_NONE)
			sim_cable_unplug(p->w.sim, port);
		if (sim_peer(p->w.sim, peer) != SNAPSHOT_NONE)
			sim_cable_unplug(p->w.sim, peer);
		sim_cable_plug(p->w.sim, port, peer);
	}
}

/* Everything is as it should be, and one manager is there. */
PLAYS("calm", do_calm)
{
	static const char *const lines[] = {
		"truth", "mend", "heal", "resume", "partitions default",
		"sweep",
	};
	bool has_first = p->w.m.t != NULL;

	restore_cables(p);
	for (unsigned i = has_first; i < MANAGERS_MAX; i++)
		if (play_manager(p, i)->t)
			manager_close(play_manager(p, i));
	/* their last Sets may be under way */
	sim_run(p->w.sim, sim_now(p->w.sim) + SECOND);
	if (!has_first && !play_line(p, "sm sweep_s=2"))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		if (!play_line(p, lines[i]))
			return false;
	for (uint32_t i = 0; i < p->w.s->n_ports; i++)
		if (snapshot_is_switch(snapshot_node_of(p->w.s, i)))
			sweep_use(p->w.m.sweep,
				  snapshot_node_of(p->w.s, i)->info.node_guid,
				  p->w.s->ports[i].num, false);
	sweep_take_over(p->w.m.sweep);
	/* SMPs were under way while cables were moved, see do_storm() */
	p->astray = sim_stats(p->w.sim)->reserved;
	return true;
}

/* ---- what the manager published, a line a fact ---- */

/* But for what counts or depends on the way of the SMP. */
static void
print_fields(GString *out, unsigned record, const void *host)
{
	static const char *const skipped[] = {
		"LocalPortNum", "M_KeyViolations", "P_KeyViolations",
		"Q_KeyViolations", "LinkRoundTripLatency", "PortStateChange",
		"ClientReregister", NULL,
	};
	const struct mad_attr_table *t = mad_attr_table(record);

	for (unsigned k = 0; k < t->n_fields; k++) {
		const struct play_field f = { .field = &t->fields[k] };

		if (f.field->size && !g_strv_contains(skipped, f.field->name))
			g_string_append_printf(out, " %s=%" G_GINT64_MODIFIER
					       "x", f.field->name,
					       play_field_get(&f, host));
	}
}

static void
print_node(GString *out, const struct view *v, const struct snapshot_node *n,
	   bool tables)
{
	const struct snapshot *s = v->subnet;

	g_string_append_printf(out, "%s: %016" G_GINT64_MODIFIER "x, entry %d",
			       n->desc, n->info.node_guid, (int)n->entry);
	if (n->sw_known)
		print_fields(out, SA_ATTR_SWITCH_INFO, &n->sw);
	if (snapshot_is_switch(n) && tables) {
		g_string_append(out, ", LFT");
		for (unsigned lid = 0; lid <= v->lft->top; lid++)
			g_string_append_printf(out, " %u",
				lft_row(v->lft, n->sw_index)[lid]);
	}
	g_string_append_c(out, '\n');
	for (unsigned num = 0; num <= n->info.num_ports; num++) {
		uint32_t i = n->first_port + num;
		const struct snapshot_port *port = &s->ports[i];

		g_string_append_printf(out, "%s/%u: %016" G_GINT64_MODIFIER
				       "x, peer %d, LID %u", n->desc, num,
				       port->guid, (int)port->peer,
				       v->lids->base[i]);
		if (port->known)
			print_fields(out, SA_ATTR_PORT_INFO, &port->info);
		g_string_append_c(out, '\n');
	}
}

static char **
print_view(const struct view *v, bool tables)
{
	g_autoptr(GString) out = g_string_new(NULL);

	for (uint32_t n = 0; v->subnet && n < v->subnet->n_nodes; n++)
		print_node(out, v, &v->subnet->nodes[n], tables);
	for (uint32_t i = 0; v->subnet && i < v->subnet->n_faults; i++)
		g_string_append_printf(out, "%s\n", v->subnet->faults[i].text);
	return g_strsplit(out->str, "\n", -1);
}

/* The first words that differ, with the name of the object. */
static bool
fail_at(struct play *p, const char *before, const char *after)
{
	g_auto(GStrv) a = g_strsplit(before ?: "nothing", " ", -1);
	g_auto(GStrv) b = g_strsplit(after ?: "nothing", " ", -1);
	guint i = 0;

	while (a[i] && g_strcmp0(a[i], b[i]) == 0)
		i++;
	return play_fail(p, "%s: word %u was %s, is %s", a[0], i, a[i], b[i]);
}

/* [but tables]: a heavy sweep that reads all again finds and routes what is
 * believed. The tables may become better, since the routing begins with those
 * in force. */
EXPECTS("fresh", expect_fresh)
{
	const struct view *v = &p->w.m.sweep->view;
	bool tables = g_strcmp0(args[0], "but");
	g_auto(GStrv) before = print_view(v, tables), after = NULL;
	guint i = 0;

	sweep_request(p->w.m.sweep, SWEEP_CAUSE_SIGNAL);
	if (!world_settle(&p->w, 60 * SECOND))
		return play_fail(p, "it does not come to rest");
	after = print_view(v, tables);
	while (before[i] && g_strcmp0(before[i], after[i]) == 0)
		i++;
	return (!before[i] && !after[i]) || fail_at(p, before[i], after[i]);
}
