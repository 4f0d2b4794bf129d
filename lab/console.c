// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands of a lab: a table. The usage of a command is also its grammar:
 *
 *	NODE	a NodeDescription or NodeGUID
 *	PORT	NODE/NUMBER or NODE NUMBER, from 1; a CA of one port needs no
 *		number: where another number may come next, the first one is the
 *		port's only if otherwise the line had too many words
 *	END	the same, or port 0 of a switch
 *	WHERE	NODE or NODE/NUMBER; another word is left to what follows
 *	N	a whole number
 *	TIME PERCENT	a number; a time in us, or with ns, us, ms, s
 *	others	a word, in quotes if it has blanks
 *	..	words that the command reads itself
 *
 * What is in brackets, and all behind it, may be missing.
 */
#include "lab/console.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lab/check.h"
#include "lab/sim/sim.h"
#include "topology/text.h"

static int
index_of(const char *const *names, unsigned n, const char *word)
{
	for (unsigned i = 0; word && i < n; i++)
		if (strcmp(names[i], word) == 0)
			return i;
	return -1;
}

/* ------------------------------------------------------------ reading words */

static bool
console_read_node(struct call *c)
{
	uint32_t node = lab_find_node(c->fabric, c->sim, *c->next);

	if (node == SNAPSHOT_NONE)
		return lab_no_node(c->fabric, *c->next, c->out);
	c->id[c->n_ids++] = node;
	c->next++;
	return true;
}

static bool
is_number(const char *word)
{
	return word && *word && !word[strspn(word, "0123456789")];
}

/* A port of the node that was read last. */
static bool
read_port_number(struct call *c, const char *word)
{
	const struct snapshot_node *n = &c->fabric->nodes[c->id[c->n_ids - 1]];
	char *end;
	guint64 num = g_ascii_strtoull(word, &end, 10);

	if (!*word || *end || num > n->info.num_ports ||
	    (!num && !(c->has_zero && snapshot_is_switch(n))))
		return lab_fail(c->out, "%s has no port %s\n", n->desc, word);
	c->id[c->n_ids - 1] = n->first_port + num;
	c->is_port = true;
	return true;
}

/* Is the word behind a CA of one port the number of that port? */
static bool
number_is_port(const struct call *c)
{
	unsigned n = 0;

	for (char **w = c->wanted + 1; *w; w++)
		n += **w != '\0';
	return is_number(*c->next) &&
		(g_strv_length(c->next) > n ||
		 strcmp(c->wanted[1] + (*c->wanted[1] == '['), "N"));
}

static bool
parse_port(struct call *c)
{
	char *slash = strrchr(*c->next, '/');

	if (slash && lab_find_node(c->fabric, c->sim, *c->next) ==
	    SNAPSHOT_NONE) {
		*slash = '\0';
		return console_read_node(c) && read_port_number(c, slash + 1);
	}
	if (!console_read_node(c))
		return false;
	if (c->fabric->nodes[c->id[c->n_ids - 1]].info.num_ports == 1 &&
	    !number_is_port(c))
		return read_port_number(c, "1");
	if (*c->next)
		return read_port_number(c, *c->next++);
	return lab_fail(c->out, "which port of %s?\n", c->next[-1]);
}

static bool
read_end(struct call *c)
{
	c->has_zero = true;
	return parse_port(c);
}

static bool
read_where(struct call *c)
{
	const char *slash = strrchr(*c->next, '/');

	if (slash)
		return parse_port(c);
	return lab_find_node(c->fabric, c->sim, *c->next) == SNAPSHOT_NONE ||
		console_read_node(c);
}

static bool
read_count(struct call *c)
{
	guint64 n = is_number(*c->next) ?
		g_ascii_strtoull(*c->next, NULL, 10) : UINT64_MAX;

	if (n > INT32_MAX)
		return lab_fail(c->out, "%s is no whole number up to %d\n",
				*c->next, INT32_MAX);
	c->number[c->n_numbers++] = n;
	c->next++;
	return true;
}

static bool
console_read_number(struct call *c)
{
	static const struct { const char *unit; double factor; } units[] = {
		{ "", 1 }, { "%", 1 }, { "ns", 1e-3 }, { "us", 1 },
		{ "ms", 1e3 }, { "s", 1e6 },
	};
	char *end;
	double value = g_ascii_strtod(*c->next, &end);

	for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
		if (strcmp(end, units[i].unit) || end == *c->next ||
		    !(value >= 0 && value < 1e12))
			continue;
		c->number[c->n_numbers++] = value * units[i].factor;
		c->next++;
		return true;
	}
	return lab_fail(c->out, "%s is no number or time, such as 50us\n",
			*c->next);
}

static bool
read_words(struct call *c, const char *usage)
{
	static const struct {
		const char *name;
		bool (*read)(struct call *c);
	} kinds[] = {
		{ "NODE", console_read_node }, { "PORT", parse_port },
		{ "END", read_end },
		{ "WHERE", read_where }, { "N", read_count },
		{ "TIME", console_read_number },
		{ "PERCENT", console_read_number },
	};
	g_auto(GStrv) wanted = g_strsplit_set(usage, " ]", -1);
	bool optional = false;
	size_t k;

	for (char **w = wanted; *w; w++) {
		const char *kind = *w + (**w == '[');

		optional |= **w == '[';
		if (!*kind)
			continue;
		if (strcmp(kind, "..") == 0)
			return true;
		c->wanted = w;
		if (!*c->next)
			return optional || lab_fail(c->out, "%s is missing\n",
						     kind);
		for (k = 0; k < G_N_ELEMENTS(kinds); k++)
			if (strcmp(kinds[k].name, kind) == 0)
				break;
		if (k == G_N_ELEMENTS(kinds))
			c->word = *c->next++;
		else if (!kinds[k].read(c))
			return false;
	}
	return !*c->next || lab_fail(c->out, "what is %s?\n", *c->next);
}

/* ------------------------------------------------------------------ faults */

/* Of its port; one that is not plugged in is there. */
static bool
has_cable(const struct call *c)
{
	return sim_peer(c->sim, c->id[0]) != SNAPSHOT_NONE ||
		lab_fail(c->out, "there is no cable\n");
}

/* unplug, plug, swap */
static bool
change_cable(struct call *c)
{
	const uint32_t a = c->id[0], b = c->id[1];

	if (c->n_ids == 1 && !has_cable(c))
		return false;
	if (strcmp(c->name, "swap") == 0) {
		sim_cable_swap(c->sim, a, b);
	} else if (strcmp(c->name, "unplug") == 0) {
		sim_link_cut(c->sim, a);
	} else if (c->n_ids == 1) {
		sim_link_mend(c->sim, a);
	} else {
		if (sim_peer(c->sim, a) != SNAPSHOT_NONE ||
		    sim_peer(c->sim, b) != SNAPSHOT_NONE)
			return lab_fail(c->out, "one of the ports has a cable: "
					"remove it\n");
		sim_cable_plug(c->sim, a, b);
	}
	return true;
}

static bool
flap(struct call *c)
{
	const double *n = c->number;

	if (!has_cable(c))
		return false;
	sim_link_flap(c->sim, c->id[0], c->n_numbers > 0 ? n[0] : 1,
		      c->n_numbers > 1 ? n[1] : 100000,
		      c->n_numbers > 2 ? n[2] : 100000);
	return true;
}

static bool
set_mood(struct call *c)
{
	static const char *const words[] = {
		[SIM_MOOD_OBEDIENT] = "revive",
		[SIM_MOOD_SILENT] = "hang",
		[SIM_MOOD_FORGETFUL] = "forget",
	};
	int mood = index_of(words, G_N_ELEMENTS(words), c->name);

	if (mood == SIM_MOOD_OBEDIENT)
		sim_node_on(c->sim, c->id[0]);
	sim_node_set_mood(c->sim, c->id[0], mood);
	return true;
}

static bool
slow(struct call *c)
{
	double places = c->n_numbers > 1 ? c->number[1] : UINT32_MAX;

	sim_node_set_queue(c->sim, c->id[0],
			   MIN(c->number[0] * 1000, UINT32_MAX),
			   MIN(places, UINT32_MAX));
	return true;
}

/* "4xEDR": by the names of what a port may say. SDR, DDR and QDR are bits of
 * LinkSpeedActive, FDR to NDR of its extension, XDR is in the second one. */
static bool
set_speed(struct call *c)
{
	for (unsigned i = 0; i < 5 * 8; i++) {
		unsigned speed = i % 8;
		const struct port_info info = {
			.width_active = 1u << i / 8,
			.speed_active = 1u << MIN(speed, 2),
			.speed_ext_active = speed < 3 ? 0 : 1u << MIN(speed - 3, 3),
			.speed_ext2_active = speed == 7,
		};
		g_autofree char *name = g_strconcat(port_width(&info)->name,
						    port_speed(&info)->name, NULL);

		if (strcmp(name, c->word))
			continue;
		sim_link_set_speed(c->sim, c->id[0], &info);
		return true;
	}
	return lab_fail(c->out, "which speed? such as 4xEDR\n");
}

/* loss, delay ..: replaces the earlier faults of the node. */
static bool
disturb(struct call *c)
{
	static const char *const kinds[] = {
		"loss", "delay", "reorder", "duplicate", "corrupt",
	};
	struct sim_rule rule = {
		.match.node = c->n_ids && !c->is_port ? c->id[0] : SIM_ANY,
		.kind = index_of(kinds, G_N_ELEMENTS(kinds), c->name),
		.us = c->n_numbers > 1 ? c->number[1] : 1000,
	};

	if (!c->n_numbers || c->number[0] > 100)
		return lab_fail(c->out, "how much? such as 5%%\n");
	rule.per_mille = (unsigned)lrint(c->number[0] * 10);
	if (c->is_port && rule.kind != SIM_FAULT_LOSS)
		return lab_fail(c->out, "a cable knows only loss\n");
	if (c->is_port) {
		sim_link_set_loss(c->sim, c->id[0], rule.per_mille);
		return true;
	}
	sim_rules_clear(c->sim, rule.match.node);
	if (rule.per_mille)
		sim_rule_add(c->sim, &rule);
	return true;
}

static bool
add_errors(struct call *c)
{
	for (unsigned i = 0; i < PERF_COUNTERS; i++) {
		if (c->word && strcmp(c->word, perf_error_fields[i].word))
			continue;
		sim_port_add_errors(c->sim, c->id[0], i,
				    c->n_numbers ? c->number[0] : 1);
		return true;
	}
	g_string_append(c->out, "one of:");
	for (unsigned i = 0; i < PERF_COUNTERS; i++)
		g_string_append_printf(c->out, " %s",
				       perf_error_fields[i].word);
	return lab_fail(c->out, "\n");
}

static bool
trap(struct call *c)
{
	unsigned times = c->n_numbers > 1 ? c->number[1] : 0;

	for (size_t i = 0; i < SIM_N_TRAPS; i++) {
		if (sim_traps[i] != c->number[0])
			continue;
		if (times)
			sim_babble(c->sim, c->id[0], sim_traps[i], times,
				   c->n_numbers > 2 ? c->number[2] : 100000);
		else
			sim_trap_raise(c->sim, c->id[0], sim_traps[i], NULL);
		return true;
	}
	return lab_fail(c->out, "there is no trap %g\n", c->number[0]);
}

static bool
console_set_guid(struct call *c)
{
	char *end;
	uint64_t guid = g_ascii_strtoull(c->word, &end, 16);

	if (!guid || *end)
		return lab_fail(c->out, "%s is no GUID\n", c->word);
	if (strcmp(c->name, "guid") == 0)
		sim_node_replace(c->sim, c->id[0], guid);
	else
		sim_node_set_guid(c->sim, c->id[0], guid);
	return true;
}

static bool
rename_node(struct call *c)
{
	sim_node_describe(c->sim, c->id[0], c->word);
	return true;
}

static bool
change_device(struct call *c)
{
	if (!c->console->device)
		return lab_fail(c->out, "devices are in minism-lab only\n");
	c->console->device(c->console->lab, c->name, c->id[0],
			   c->n_numbers ? (unsigned)c->number[0] : 0);
	return true;
}

/* ------------------------------------------------------------------ output */

/* The ports of a node, or how many of all are in which state. */
static bool
console_show(struct call *c)
{
	const struct snapshot *f = c->fabric;
	const struct snapshot_node *n = &f->nodes[c->id[0]];
	unsigned states[5] = { 0 };

	for (uint32_t i = 0; !c->n_ids && i < f->n_ports; i++)
		if (f->ports[i].num && sim_peer(c->sim, i) != SNAPSHOT_NONE)
			states[MIN(sim_port_info(c->sim, i)->state, 4)]++;
	if (!c->n_ids) {
		text_put_count(c->out, f->n_switches, 0, "switch");
		g_string_append(c->out, ", ");
		text_put_count(c->out, f->n_nodes - f->n_switches, 0, "host");
		g_string_append_printf(c->out, "; cabled ports: %u Active, %u "
				       "Armed, %u Init, %u Down\n", states[4],
				       states[3], states[2],
				       states[1] + states[0]);
		return true;
	}
	g_string_append_printf(c->out, "%s: %s 0x%016" G_GINT64_MODIFIER "x\n",
			       n->desc, node_type_name(n->info.node_type),
			       sim_node_info(c->sim, c->id[0])->node_guid);
	for (unsigned num = !snapshot_is_switch(n); num <= n->info.num_ports;
	     num++) {
		uint32_t port = n->first_port + num;
		const struct port_info *i = sim_port_info(c->sim, port);
		uint32_t peer = sim_peer(c->sim, port);

		g_string_append_printf(c->out, "  %3u  %-7s %-9s %-3s %-5s",
				       i->local_port, port_state_name(i->state),
				       port_phys_name(i->phys_state),
				       port_width(i)->name,
				       port_speed(i)->name);
		if (i->lid)
			g_string_append_printf(c->out, " lid %u", i->lid);
		if (peer != SNAPSHOT_NONE)
			g_string_append_printf(c->out, " -> %s/%u",
					       snapshot_name_of(f, peer),
					       f->ports[peer].num);
		g_string_append_c(c->out, '\n');
	}
	return true;
}

static bool
list(struct call *c)
{
	for (uint32_t i = 0; i < c->fabric->n_nodes; i++)
		g_string_append_printf(c->out, "%s\n",
				       c->fabric->nodes[i].desc);
	return true;
}

/* Runs of LIDs that leave by the same port. */
static bool
show_lft(struct call *c)
{
	const struct snapshot_node *n = &c->fabric->nodes[c->id[0]];
	unsigned port, last, top;

	if (!snapshot_is_switch(n))
		return lab_fail(c->out, "%s is no switch\n", n->desc);
	top = sim_switch_info(c->sim, c->id[0])->linear_fdb_top;
	for (unsigned lid = 1; lid <= top; lid = last + 1) {
		port = sim_lft_entry(c->sim, c->id[0], lid);
		for (last = lid; last < top &&
		     sim_lft_entry(c->sim, c->id[0], last + 1) == port; last++)
			;
		if (port == 255)
			continue;
		g_string_append_printf(c->out, "  %u", lid);
		if (last > lid)
			g_string_append_printf(c->out, "-%u", last);
		g_string_append_printf(c->out, " -> port %u\n", port);
	}
	return true;
}

static bool
show_pkeys(struct call *c)
{
	const struct snapshot_node *n = &c->fabric->nodes[c->id[0]];
	uint32_t first = n->first_port + !snapshot_is_switch(n);
	uint32_t end = n->first_port + n->info.num_ports;
	unsigned most = sim_node_info(c->sim, c->id[0])->partition_cap;

	for (uint32_t port = first; port <= end; port++) {
		g_string_append_printf(c->out, "  %3u ",
				       c->fabric->ports[port].num);
		for (unsigned i = 0; i < most; i++) {
			uint16_t key = sim_port_pkey(c->sim, port, i);

			if (key)
				g_string_append_printf(c->out, " 0x%04x %s",
					key, key & 0x8000 ? "full" : "limited");
		}
		g_string_append_c(c->out, '\n');
		if (snapshot_is_switch(n))
			break;
	}
	return true;
}

static bool
path(struct call *c)
{
	uint32_t from = lab_end_port(c->fabric, c->id[0]);
	uint32_t to = lab_end_port(c->fabric, c->id[1]);
	struct sim_trace trace;
	enum sim_delivery d;

	d = sim_probe(c->sim, from, sim_port_info(c->sim, to)->lid,
		      sim_port_pkey(c->sim, from, 0), 0, &trace);
	for (unsigned i = 0; i < trace.n; i++) {
		uint32_t port = trace.hop[i].port;

		g_string_append_printf(c->out, "%s/%u -> ",
				       snapshot_name_of(c->fabric, port),
				       c->fabric->ports[port].num);
	}
	g_string_append_printf(c->out, "%s: %s\n",
			       snapshot_name_of(c->fabric, trace.end),
			       sim_delivery_name(d));
	return true;
}

static bool
show_stats(struct call *c)
{
	const struct sim_stats *s = sim_stats(c->sim);

	g_string_append_printf(c->out, "%" G_GUINT64_FORMAT " MADs sent, %"
			       G_GUINT64_FORMAT " SMPs served, lost: %"
			       G_GUINT64_FORMAT " by a full queue, %"
			       G_GUINT64_FORMAT " by faults, %"
			       G_GUINT64_FORMAT " at dead nodes, %"
			       G_GUINT64_FORMAT " that no program wanted, %"
			       G_GUINT64_FORMAT " on a wrong QP\n",
			       s->sent, s->served, s->lost_vl15,
			       s->lost_by_fault, s->lost_at_node,
			       s->lost_nobody, s->lost_qp);
	return true;
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

static bool
check_exercise(struct call *c)
{
	unsigned n = (unsigned)c->number[0];
	bool known = false;

	for (size_t i = 0; i < G_N_ELEMENTS(exercises); i++) {
		g_autoptr(GString) why = g_string_new(NULL);
		g_autofree char *line = g_strconcat("expect ",
						    exercises[i].expect, NULL);

		if (exercises[i].n != n)
			continue;
		known = true;
		if (console_command(c->console, line, why))
			return lab_fail(c->out, "%.*s; %s\n",
					(int)strcspn(why->str, "\n"), why->str,
					exercises[i].hint);
	}
	if (!known)
		return lab_fail(c->out, "there is no exercise %u\n", n);
	g_string_append_printf(c->out, "exercise %u: done\n", n);
	return true;
}

/* ------------------------------------------------------------ the commands */

static bool help(struct call *c);

static const struct command {
	const char *name, *usage;
	bool (*fn)(struct call *c);
	/* or at once, with the node or port */
	void (*direct)(struct sim *sim, uint32_t id);
	const char *help;
} commands[] = {
	{ "!", "COMMAND ..", NULL, NULL,
	  "runs a program as the lab's node" },
	{ "check", "N", check_exercise, NULL,
	  "is this exercise of the course done?" },
	{ "clash", "NODE GUID", console_set_guid, NULL,
	  "gives it a duplicate NodeGUID" },
	{ "corrupt", "[WHERE] PERCENT", disturb, NULL,
	  "flips a bit in this share of MADs" },
	{ "delay", "[WHERE] PERCENT [TIME]", disturb, NULL,
	  "delays this share of MADs" },
	{ "duplicate", "[WHERE] PERCENT [TIME]", disturb, NULL,
	  "delivers this share of MADs twice" },
	{ "errors", "END [COUNTER N]", add_errors, NULL,
	  "adds to an error counter" },
	{ "expect active", "", check_active, NULL,
	  "each cable that is up is Active at both ends" },
	{ "expect group", "NODE ..", check_group, NULL,
	  "IPoIB's broadcasts reach exactly these" },
	{ "expect lid", "NODE N", check_lid, NULL, "its LID; 0: none" },
	{ "expect locked", "NODE", check_locked, NULL, "has an M_Key" },
	{ "expect managers", "N", check_managers, NULL,
	  "so many ports have a subnet manager" },
	{ "expect no-path", "NODE NODE", check_path, NULL,
	  "no packet arrives" },
	{ "expect path", "NODE NODE", check_path, NULL,
	  "a packet arrives, by some P_Key" },
	{ "expect reach", "", check_reach, NULL,
	  "each host reaches each other" },
	{ "flap", "PORT [N TIME TIME]", flap, NULL,
	  "unplugs and plugs a cable, N times" },
	{ "forget", "NODE", set_mood, NULL,
	  "its agent accepts Sets but ignores them" },
	{ "guid", "NODE GUID", console_set_guid, NULL,
	  "replaces it by a device with this NodeGUID" },
	{ "hang", "NODE", set_mood, NULL,
	  "its agent stops answering" },
	{ "help", "[COMMAND]", help, NULL, "this list" },
	{ "kill", "NODE", NULL, sim_node_off, "power off" },
	{ "lft", "NODE", show_lft, NULL, "its linear forwarding table" },
	{ "list", "", list, NULL, "the names of all nodes" },
	{ "loss", "[WHERE] PERCENT", disturb, NULL,
	  "loses this share of MADs" },
	{ "on", "NODE COMMAND ..", NULL, NULL,
	  "runs a program as that node" },
	{ "path", "NODE NODE", path, NULL, "the way of a packet" },
	{ "pkeys", "NODE", show_pkeys, NULL, "P_Keys of its end ports" },
	{ "plug", "PORT [PORT]", change_cable, NULL,
	  "plugs a cable back in, or a new one between two free ports" },
	{ "plug-device", "NODE [N]", change_device, NULL,
	  "the HCA is back, as umadN" },
	{ "quit", "", NULL, NULL, "ends the lab, as exit" },
	{ "remove", "PORT", NULL, sim_cable_unplug,
	  "takes a cable out at both ends" },
	{ "rename", "NODE TEXT", rename_node, NULL,
	  "changes its NodeDescription" },
	{ "reorder", "[WHERE] PERCENT [TIME]", disturb, NULL,
	  "delays this share of MADs by random times, up to TIME" },
	{ "reset", "NODE", NULL, sim_node_reset,
	  "reboots; it loses what was set" },
	{ "revive", "NODE", set_mood, NULL, "power on; its agent answers" },
	{ "show", "[NODE]", console_show, NULL, "ports and their states" },
	{ "slow", "NODE TIME [N]", slow, NULL,
	  "its agent's time for an SMP; places of its VL15 queue" },
	{ "speed", "PORT SPEED", set_speed, NULL, "such as 4xEDR" },
	{ "step", "", NULL, NULL,
	  "pauses after each answer of a device: Enter, go, until, break" },
	{ "stats", "", show_stats, NULL, "numbers of MADs sent and lost" },
	{ "swap", "PORT PORT", change_cable, NULL, "two cables change places" },
	{ "trap", "END N [N TIME]", trap, NULL,
	  "sends trap 128, 144, 257 .., N times" },
	{ "unplug", "PORT", change_cable, NULL, "unplugs a cable" },
	{ "unplug-device", "NODE", change_device, NULL,
	  "the HCA goes away under its programs" },
};

static bool
fail_command(const char *word, GString *out)
{
	const char *names[G_N_ELEMENTS(commands)];
	g_autofree char *shown = text_one_line(word), *near = NULL;
	g_autofree char *program = g_find_program_in_path(word);

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		names[i] = commands[i].name;
	near = program ? g_strdup_printf("; a program is run by ! %s", shown) :
		text_nearest(shown, "", names, G_N_ELEMENTS(names));
	return lab_fail(out, "no command is called %s%s; see help\n", shown,
			near);
}

static bool
help(struct call *c)
{
	gsize had = c->out->len;

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		const struct command *k = &commands[i];
		g_autofree char *left = g_strdup_printf("%s %s", k->name,
							k->usage);

		if (!c->word || g_str_has_prefix(left, c->word))
			g_string_append_printf(c->out, "%-32s %s\n", left,
					       k->help);
	}
	if (!c->word)
		g_string_append(c->out, "\nPORT: NODE/NUMBER or NODE NUMBER; "
				"END: also a switch's port 0; "
				"WHERE: NODE or NODE/NUMBER\n");
	return c->out->len > had || fail_command(c->word, c->out);
}

int
console_command(const struct console *console, const char *line, GString *out)
{
	struct call c = {
		.console = console, .sim = console->sim,
		.fabric = console->fabric, .out = out,
	};
	g_autoptr(GError) error = NULL;
	g_autofree char *two = NULL;
	g_auto(GStrv) words = NULL;
	const struct command *k = commands;
	const struct command *end = commands + G_N_ELEMENTS(commands);
	bool is_read;

	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return 0;
	if (!g_shell_parse_argv(line, NULL, &words, &error)) {
		lab_fail(out, "%s\n", error->message);
		return EINVAL;
	}
	two = g_strjoin(" ", words[0], words[1], NULL);
	while (k < end && strcmp(k->name, words[0]) && strcmp(k->name, two))
		k++;
	if (k == end) {
		fail_command(strcmp(words[0], "expect") ? words[0] : two, out);
		return EINVAL;
	}
	if (!k->fn && !k->direct)
		return lab_fail(out, "usage, at a prompt: %s %s%s\n", k->name,
				k->usage, strstr(k->usage, "COMMAND") ?
				"; else: minism-lab --on NODE .. -- COMMAND" :
				"") ? 0 : EINVAL;
	c.name = k->name;
	c.next = words + (strcmp(k->name, words[0]) ? 2 : 1);
	is_read = read_words(&c, k->usage);
	if (is_read && (!k->fn || k->fn(&c))) {
		if (k->direct)
			k->direct(c.sim, c.id[0]);
		return 0;
	}
	/* what an expectation has found is no wrong use */
	if (!is_read || (k->fn != check_exercise &&
			 !g_str_has_prefix(k->name, "expect ")))
		lab_fail(out, "usage: %s%s%s\n", k->name,
			 *k->usage ? " " : "", k->usage);
	return EINVAL;
}

/* The first word, and that of help, is a command; other words are nodes. */
char **
console_complete(const struct console *console, const char *line)
{
	const struct snapshot *fabric = console->fabric;
	GPtrArray *found = g_ptr_array_new();
	const char *last = strrchr(line, ' ');
	bool node = last && !g_str_has_prefix(line, "help ");
	uint32_t n = node ? fabric->n_nodes : G_N_ELEMENTS(commands);

	last = last ? last + 1 : line;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = node ? fabric->nodes[i].desc :
			commands[i].name;

		if (g_str_has_prefix(name, last))
			g_ptr_array_add(found, g_strdup(name));
	}
	g_ptr_array_add(found, NULL);
	return (char **)g_ptr_array_free(found, FALSE);
}
