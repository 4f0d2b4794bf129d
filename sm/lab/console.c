// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Commands of a lab.
 *
 * A command is a line of words: its name and what it works on. A node is named
 * by its NodeDescription or NodeGUID, a port by "NODE PORT" or "NODE/PORT". A
 * word in quotes may have blanks.
 */
#include "sm/lab/console.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sm/sim/fault.h"

#define WORDS_MAX	16

struct state_words {
	struct lab *lab;
	struct sim *sim;
	const struct snapshot *fabric;
	GString *out;
	char **word;		/* without the command */
	int n, at;		/* how many, and the next one */
	uint32_t node, port;	/* as they were read last */
};

static int fail(struct state_words *w, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

static int
fail(struct state_words *w, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_string_append_vprintf(w->out, format, args);
	va_end(args);
	g_string_append_c(w->out, '\n');
	return EINVAL;
}

/* ------------------------------------------------------------------- words */

static const char *
name_of(const struct state_words *w, uint32_t node)
{
	return w->fabric->nodes[node].desc;
}

static bool
find_node(struct state_words *w, const char *name)
{
	w->node = lab_find_node(w->lab, name);
	return w->node != SNAPSHOT_NONE;
}

static bool
read_node(struct state_words *w)
{
	if (w->at < w->n && find_node(w, w->word[w->at])) {
		w->at++;
		return true;
	}
	fail(w, w->at < w->n ? "no node is called %s" :
	     "the name of a node is missing%s",
	     w->at < w->n ? w->word[w->at] : "");
	return false;
}

static bool
set_port(struct state_words *w, const char *num)
{
	char *end;
	guint64 n = g_ascii_strtoull(num, &end, 10);

	if (*num && !*end && n <= w->fabric->nodes[w->node].info.num_ports) {
		w->port = w->fabric->nodes[w->node].first_port + n;
		return true;
	}
	fail(w, "%s has no port %s", name_of(w, w->node), num);
	return false;
}

/* NODE/PORT or NODE PORT; a CA of one port needs none. */
static bool
read_port(struct state_words *w)
{
	const char *slash = w->at < w->n ? strrchr(w->word[w->at], '/') : NULL;
	g_autofree char *name = NULL;

	if (slash) {
		name = g_strndup(w->word[w->at], slash - w->word[w->at]);
		if (find_node(w, name)) {
			w->at++;
			return set_port(w, slash + 1);
		}
	}
	if (!read_node(w))
		return false;
	if (w->at < w->n)
		return set_port(w, w->word[w->at++]);
	if (w->fabric->nodes[w->node].info.num_ports == 1)
		return set_port(w, "1");
	fail(w, "which port of %s?", name_of(w, w->node));
	return false;
}

static const char *
next_word(struct state_words *w)
{
	return w->at < w->n ? w->word[w->at++] : NULL;
}

/* "50us", "2ms", "1.5s", "7": us */
static bool
read_time(struct state_words *w, double *us)
{
	const char *text = next_word(w);
	char *end = NULL;

	*us = text ? g_ascii_strtod(text, &end) : -1;
	if (text && end > text && *us >= 0) {
		if (strcmp(end, "ns") == 0)
			*us /= 1000;
		else if (strcmp(end, "ms") == 0)
			*us *= 1000;
		else if (strcmp(end, "s") == 0)
			*us *= 1000000;
		else if (*end && strcmp(end, "us"))
			end = NULL;
		if (end && *us < 1e12)
			return true;
	}
	fail(w, "%s is no time, such as 50us", text ? text : "nothing");
	return false;
}

static bool
read_number(struct state_words *w, uint64_t *n)
{
	const char *text = next_word(w);
	char *end = NULL;

	*n = text ? g_ascii_strtoull(text, &end, 0) : 0;
	if (text && *text && !*end)
		return true;
	fail(w, "%s is no number", text ? text : "nothing");
	return false;
}

/* ------------------------------------------------------------------ faults */

static int
cmd_unplug(struct state_words *w)
{
	if (!read_port(w))
		return EINVAL;
	if (sim_peer(w->sim, w->port) == SNAPSHOT_NONE)
		return fail(w, "there is no cable");
	sim_link_cut(w->sim, w->port);
	return 0;
}

static int
cmd_plug(struct state_words *w)
{
	uint32_t first;

	if (!read_port(w))
		return EINVAL;
	first = w->port;
	if (w->at == w->n) {
		sim_link_mend(w->sim, first);
		return 0;
	}
	if (!read_port(w))
		return EINVAL;
	if (sim_peer(w->sim, first) != SNAPSHOT_NONE ||
	    sim_peer(w->sim, w->port) != SNAPSHOT_NONE)
		return fail(w, "one of the ports has a cable: remove it");
	sim_cable_plug(w->sim, first, w->port);
	return 0;
}

static int
cmd_remove(struct state_words *w)
{
	if (!read_port(w))
		return EINVAL;
	sim_cable_unplug(w->sim, w->port);
	return 0;
}

static int
cmd_swap(struct state_words *w)
{
	uint32_t first;

	if (!read_port(w))
		return EINVAL;
	first = w->port;
	if (!read_port(w))
		return EINVAL;
	sim_cable_swap(w->sim, first, w->port);
	return 0;
}

static int
cmd_flap(struct state_words *w)
{
	double down = 100000, up = 100000;
	uint64_t times = 1;

	if (!read_port(w) || (w->at < w->n && !read_number(w, &times)) ||
	    (w->at < w->n && !read_time(w, &down)) ||
	    (w->at < w->n && !read_time(w, &up)))
		return EINVAL;
	sim_link_flap(w->sim, w->port, times, down, up);
	return 0;
}

static int
cmd_kill(struct state_words *w)
{
	if (!read_node(w))
		return EINVAL;
	sim_node_off(w->sim, w->node);
	return 0;
}

static int
cmd_revive(struct state_words *w)
{
	if (!read_node(w))
		return EINVAL;
	sim_node_on(w->sim, w->node);
	sim_node_set_mood(w->sim, w->node, SIM_MOOD_OBEDIENT);
	return 0;
}

static int
cmd_reset(struct state_words *w)
{
	if (!read_node(w))
		return EINVAL;
	sim_node_reset(w->sim, w->node);
	return 0;
}

static int
cmd_hang(struct state_words *w)
{
	if (!read_node(w))
		return EINVAL;
	sim_node_set_mood(w->sim, w->node, SIM_MOOD_SILENT);
	return 0;
}

static int
cmd_slow(struct state_words *w)
{
	uint64_t places = UINT32_MAX;
	double us;

	if (!read_node(w) || !read_time(w, &us) ||
	    (w->at < w->n && !read_number(w, &places)))
		return EINVAL;
	sim_node_set_queue(w->sim, w->node, MIN(us * 1000, UINT32_MAX),
			   MIN(places, UINT32_MAX));
	return 0;
}

/* "4xEDR" */
static int
cmd_speed(struct state_words *w)
{
	static const struct {
		const char *name;
		uint8_t speed, ext;
	} speeds[] = {
		{ "SDR", 1, 0 }, { "DDR", 2, 0 }, { "QDR", 4, 0 },
		{ "FDR", 4, 1 }, { "EDR", 4, 2 }, { "HDR", 4, 4 },
		{ "NDR", 4, 8 },
	};
	static const struct { const char *name; uint8_t code; } widths[] = {
		{ "1x", 1 }, { "2x", 16 }, { "4x", 2 }, { "8x", 4 },
		{ "12x", 8 },
	};
	const char *text;

	if (!read_port(w))
		return EINVAL;
	text = next_word(w);
	for (size_t i = 0; text && i < G_N_ELEMENTS(widths); i++)
		for (size_t n = 0; n < G_N_ELEMENTS(speeds); n++) {
			if (!g_str_has_prefix(text, widths[i].name) ||
			    strcmp(text + strlen(widths[i].name),
				   speeds[n].name))
				continue;
			sim_link_set_speed(w->sim, w->port, widths[i].code,
					   speeds[n].speed, speeds[n].ext);
			return 0;
		}
	return fail(w, "which speed? such as 4xEDR");
}

static bool
is_port(const char *word)
{
	const char *slash = strrchr(word, '/');

	return slash && slash[1] && !slash[1 + strspn(slash + 1, "0123456789")];
}

static int
cmd_loss(struct state_words *w)
{
	bool of_port = w->n && is_port(w->word[0]);
	struct sim_rule rule = {
		.match.node = SIM_ANY, .kind = SIM_FAULT_LOSS,
	};
	const char *text;
	double percent;
	char *end;

	if (of_port && !read_port(w))
		return EINVAL;
	if (w->at + 1 < w->n) {
		if (!read_node(w))
			return EINVAL;
		rule.match.node = w->node;
	}
	text = next_word(w);
	percent = text ? g_ascii_strtod(text, &end) : -1;
	if (!text || end == text || percent < 0 || percent > 100)
		return fail(w, "how much? such as 5%%");
	rule.per_mille = (unsigned)lrint(percent * 10);
	if (of_port) {
		sim_link_set_loss(w->sim, w->port, rule.per_mille);
		return 0;
	}
	sim_rules_clear(w->sim, rule.match.node);
	if (rule.per_mille)
		sim_rule_add(w->sim, &rule);
	return 0;
}

static int
cmd_errors(struct state_words *w)
{
	static const char *const names[SIM_N_ERRORS] = {
		"symbol", "recovery", "downed", "rcv", "remote", "relay",
		"discards", "xmit-constraint", "rcv-constraint", "integrity",
		"overrun", "vl15",
	};
	uint64_t n = 1;
	const char *name;

	if (!read_port(w))
		return EINVAL;
	name = w->at < w->n ? next_word(w) : names[0];
	if (w->at < w->n && !read_number(w, &n))
		return EINVAL;
	for (unsigned i = 0; i < SIM_N_ERRORS; i++) {
		if (strcmp(names[i], name))
			continue;
		sim_port_add_errors(w->sim, w->port, i, n);
		return 0;
	}
	g_string_append(w->out, "one of:");
	for (unsigned i = 0; i < SIM_N_ERRORS; i++)
		g_string_append_printf(w->out, " %s", names[i]);
	return fail(w, "%s", "");
}

static int
cmd_trap(struct state_words *w)
{
	static const uint16_t known[] = {
		128, 129, 130, 131, 144, 145, 256, 257, 258, 259,
	};
	uint64_t n;

	if (!read_port(w) || !read_number(w, &n))
		return EINVAL;
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		if (known[i] != n)
			continue;
		sim_trap(w->sim, w->port, n);
		return 0;
	}
	return fail(w, "there is no trap %" G_GUINT64_FORMAT, n);
}

static int
cmd_guid(struct state_words *w)
{
	uint64_t guid;

	if (!read_node(w) || !read_number(w, &guid))
		return EINVAL;
	sim_node_replace(w->sim, w->node, guid);
	return 0;
}

static int
cmd_rename(struct state_words *w)
{
	if (!read_node(w) || w->at == w->n)
		return fail(w, "to what?");
	sim_node_describe(w->sim, w->node, next_word(w));
	return 0;
}

/* ----------------------------------------------------------------- devices */

static int
cmd_unplug_device(struct state_words *w)
{
	if (!read_node(w))
		return EINVAL;
	lab_unplug_device(w->lab, w->node);
	return 0;
}

static int
cmd_plug_device(struct state_words *w)
{
	uint64_t umad = 0;

	if (!read_node(w) || (w->at < w->n && !read_number(w, &umad)))
		return EINVAL;
	lab_plug_device(w->lab, w->node, umad);
	return 0;
}

static int
cmd_refuse_issm(struct state_words *w)
{
	const char *word;

	if (!read_node(w))
		return EINVAL;
	word = next_word(w);
	lab_refuse_issm(w->lab, w->node,
			word && strcmp(word, "off") == 0 ? 0 : EPERM);
	return 0;
}

/* ------------------------------------------------------------- what there
 * is */

static void
show_port(struct state_words *w, uint32_t port)
{
	const struct port_info *i = sim_port_info(w->sim, port);
	uint32_t peer = sim_peer(w->sim, port);

	g_string_append_printf(w->out, "  %3u  %-7s %-9s %-3s %-5s",
			       i->local_port, port_state_name(i->state),
			       port_phys_name(i->phys_state),
			       port_width_name(i), port_speed(i)->name);
	if (i->lid)
		g_string_append_printf(w->out, " lid %u", i->lid);
	if (peer != SNAPSHOT_NONE)
		g_string_append_printf(w->out, " -> %s/%u",
				       name_of(w, w->fabric->ports[peer].node),
				       w->fabric->ports[peer].num);
	g_string_append_c(w->out, '\n');
}

static void
show_summary(struct state_words *w)
{
	unsigned states[5] = { 0 };
	uint32_t hosts = 0;

	for (uint32_t i = 0; i < w->fabric->n_nodes; i++)
		hosts += !snapshot_is_switch(&w->fabric->nodes[i]);
	for (uint32_t i = 0; i < w->fabric->n_ports; i++)
		if (w->fabric->ports[i].num &&
		    sim_peer(w->sim, i) != SNAPSHOT_NONE)
			states[MIN(sim_port_info(w->sim, i)->state, 4)]++;
	g_string_append_printf(w->out, "%u switches, %u hosts; cabled ports: "
			       "%u Active, %u Armed, %u Init, %u Down\n",
			       w->fabric->n_switches, hosts, states[4],
			       states[3], states[2], states[1] + states[0]);
}

static int
cmd_show(struct state_words *w)
{
	const struct snapshot_node *n;

	if (w->at == w->n) {
		show_summary(w);
		return 0;
	}
	if (!read_node(w))
		return EINVAL;
	n = &w->fabric->nodes[w->node];
	g_string_append_printf(w->out, "%s: %s 0x%016" G_GINT64_MODIFIER "x\n",
			       n->desc, node_type_name(n->info.node_type),
			       sim_node_info(w->sim, w->node)->node_guid);
	for (unsigned num = !snapshot_is_switch(n); num <= n->info.num_ports;
	     num++)
		show_port(w, n->first_port + num);
	return 0;
}

static int
cmd_list(struct state_words *w)
{
	for (uint32_t i = 0; i < w->fabric->n_nodes; i++)
		g_string_append_printf(w->out, "%s\n", name_of(w, i));
	return 0;
}

/* Runs of LIDs that leave by the same port. */
static int
cmd_lft(struct state_words *w)
{
	unsigned first = 1, port = 255, top;

	if (!read_node(w))
		return EINVAL;
	if (!snapshot_is_switch(&w->fabric->nodes[w->node]))
		return fail(w, "%s is no switch", name_of(w, w->node));
	top = sim_switch_info(w->sim, w->node)->linear_fdb_top;
	for (unsigned lid = 1; lid <= top + 1; lid++) {
		unsigned out = lid > top ? 255 :
			sim_lft_entry(w->sim, w->node, lid);

		if (out == port && lid <= top)
			continue;
		if (port != 255 && first == lid - 1)
			g_string_append_printf(w->out, "  %u -> port %u\n",
					       first, port);
		else if (port != 255)
			g_string_append_printf(w->out, "  %u-%u -> port %u\n",
					       first, lid - 1, port);
		first = lid;
		port = out;
	}
	return 0;
}

static uint32_t
first_end_port(const struct state_words *w, uint32_t node)
{
	const struct snapshot_node *n = &w->fabric->nodes[node];

	return n->first_port + !snapshot_is_switch(n);
}

static int
cmd_path(struct state_words *w)
{
	uint32_t from, to;
	struct sim_trace trace;
	enum sim_delivery d;

	if (!read_node(w))
		return EINVAL;
	from = first_end_port(w, w->node);
	if (!read_node(w))
		return EINVAL;
	to = first_end_port(w, w->node);
	d = sim_probe(w->sim, from, sim_port_info(w->sim, to)->lid,
		      sim_port_pkey(w->sim, from, 0), 0, &trace);
	for (unsigned i = 0; i < trace.n; i++) {
		const struct snapshot_port *p =
			&w->fabric->ports[trace.hop[i].port];

		g_string_append_printf(w->out, "%s/%u -> ",
				       name_of(w, p->node), p->num);
	}
	g_string_append_printf(w->out, "%s: %s\n",
			       name_of(w, w->fabric->ports[trace.end].node),
			       sim_delivery_name(d));
	return 0;
}

static int
cmd_stats(struct state_words *w)
{
	const struct sim_stats *s = sim_stats(w->sim);

	g_string_append_printf(w->out, "%" G_GUINT64_FORMAT " MADs sent, %"
			       G_GUINT64_FORMAT " SMPs served, lost: %"
			       G_GUINT64_FORMAT " by a full queue, %"
			       G_GUINT64_FORMAT " by faults, %"
			       G_GUINT64_FORMAT " at dead nodes, %"
			       G_GUINT64_FORMAT " that no program wanted\n",
			       s->sent, s->served, s->lost_vl15,
			       s->lost_by_fault, s->lost_at_node,
			       s->lost_nobody);
	return 0;
}

/* ------------------------------------------------------------ the commands */

static int cmd_help(struct state_words *w);
static int cmd_script(struct state_words *w);

static const struct command {
	const char *name;
	int (*fn)(struct state_words *w);
	const char *usage, *help;
} commands[] = {
	{ "errors", cmd_errors, "PORT [COUNTER [N]]",
	  "adds to an error counter" },
	{ "flap", cmd_flap, "PORT [TIMES [DOWN [UP]]]",
	  "cuts a cable and mends it, so many times" },
	{ "guid", cmd_guid, "NODE GUID",
	  "another device with this NodeGUID takes its place" },
	{ "hang", cmd_hang, "NODE", "its agent does not answer any more" },
	{ "help", cmd_help, "[COMMAND]", "this list" },
	{ "kill", cmd_kill, "NODE", "power off" },
	{ "lft", cmd_lft, "SWITCH", "its linear forwarding table" },
	{ "list", cmd_list, "", "the names of all nodes" },
	{ "loss", cmd_loss, "[NODE|NODE/PORT] PERCENT",
	  "of all MADs, of a node's, or on a cable" },
	{ "path", cmd_path, "NODE NODE", "the way of a packet" },
	{ "plug", cmd_plug, "PORT [PORT]",
	  "mends a cable; or puts one between two free ports" },
	{ "plug-device", cmd_plug_device, "NODE [N]",
	  "the HCA is back, as umadN" },
	{ "quit", NULL, "", "ends the lab" },
	{ "refuse-issm", cmd_refuse_issm, "NODE [off]",
	  "issm cannot be opened (EPERM)" },
	{ "remove", cmd_remove, "PORT", "takes a cable out at both ends" },
	{ "rename", cmd_rename, "NODE TEXT", "another NodeDescription" },
	{ "reset", cmd_reset, "NODE", "reboots; it loses what was set" },
	{ "revive", cmd_revive, "NODE", "power on; its agent answers" },
	{ "script", cmd_script, "FILE", "the commands of a file" },
	{ "show", cmd_show, "[NODE]", "ports and their states" },
	{ "slow", cmd_slow, "NODE TIME [PLACES]",
	  "its agent takes so long for an SMP; VL15 has so many places" },
	{ "speed", cmd_speed, "PORT SPEED", "such as 4xEDR" },
	{ "stats", cmd_stats, "", "MADs that were sent and lost" },
	{ "swap", cmd_swap, "PORT PORT", "two cables change places" },
	{ "trap", cmd_trap, "PORT NUMBER", "a trap (128, 144, 257 ..)" },
	{ "unplug", cmd_unplug, "PORT", "cuts a cable" },
	{ "unplug-device", cmd_unplug_device, "NODE",
	  "the HCA goes away under its programs" },
};

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int
cmd_help(struct state_words *w)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
		const struct command *c = &commands[i];
		g_autofree char *left = g_strdup_printf("%s %s", c->name,
							c->usage);

		if (w->n && strcmp(c->name, w->word[0]))
			continue;
		g_string_append_printf(w->out, "%-32s %s\n", left, c->help);
	}
	if (!w->n)
		g_string_append(w->out, "on NODE COMMAND ..               "
				"runs a program as that node\n"
				"! COMMAND ..                     "
				"runs a program as the lab's node\n\n"
				"PORT: NODE/PORT or NODE PORT\n");
	return 0;
}

static int
cmd_script(struct state_words *w)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) lines = NULL;

	if (w->n != 1)
		return fail(w, "which file?");
	if (!g_file_get_contents(w->word[0], &text, NULL, &error))
		return fail(w, "%s", error->message);
	lines = g_strsplit(text, "\n", -1);
	for (unsigned i = 0; lines[i]; i++) {
		if (console_command(w->lab, lines[i], w->out) == 0)
			continue;
		return fail(w, "%s:%u: %s", w->word[0], i + 1, lines[i]);
	}
	return 0;
}

int
console_command(struct lab *lab, const char *line, GString *out)
{
	struct state_words w = {
		.lab = lab, .sim = lab_sim(lab), .fabric = lab_fabric(lab),
		.out = out,
	};
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) words = NULL;
	const struct command *c;
	int n;

	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return 0;
	if (!g_shell_parse_argv(line, &n, &words, &error))
		return fail(&w, "%s", error->message);
	c = find_command(words[0]);
	if (!c || !c->fn)
		return fail(&w, "no command is called %s; see help", words[0]);
	w.word = words + 1;
	w.n = n - 1;
	if (c->fn(&w))
		return fail(&w, "usage: %s %s", c->name, c->usage);
	return 0;
}

/* The first word is a command, the others are nodes. */
char **
console_complete(struct lab *lab, const char *line)
{
	const struct snapshot *fabric = lab_fabric(lab);
	GPtrArray *found = g_ptr_array_new();
	const char *last = strrchr(line, ' ');
	bool first = !last;

	last = last ? last + 1 : line;
	for (size_t i = 0; first && i < G_N_ELEMENTS(commands); i++)
		if (g_str_has_prefix(commands[i].name, last))
			g_ptr_array_add(found, g_strdup(commands[i].name));
	if (first && g_str_has_prefix("on", last))
		g_ptr_array_add(found, g_strdup("on"));
	for (uint32_t i = 0; !first && i < fabric->n_nodes; i++)
		if (g_str_has_prefix(fabric->nodes[i].desc, last))
			g_ptr_array_add(found,
					g_strdup(fabric->nodes[i].desc));
	g_ptr_array_add(found, NULL);
	return (char **)g_ptr_array_free(found, FALSE);
}
