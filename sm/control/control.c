// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The commands of minismctl to a running manager.
 *
 * Structs. A `command` is a word and its function; a control_request is one
 * line on its way through, with the answer as far as it is made.
 *
 * Flow of control_answer(): the line is cut into words, the first names the
 * command, the command writes the answer's body and its code, and the head
 * goes before it. Whatever is not understood is answered by what would be, and
 * by the nearest word, for most of these requests are typed by hand.
 *
 * Nothing is done here: the hooks look and do. So the whole is a function from
 * a line to a text, and can be fed with anything.
 */
#include "sm/control/control.h"

#include <string.h>

#include "topology/json.h"
#include "topology/text.h"
#include "topology/partition.h"

#define VERSION	1
#define PORTS_SHOWN	8u	/* of those that a name may mean */
#define GUID_DIGITS	16u

struct control_request {
	const struct control_hooks *hooks;
	char **words;		/* of the line, `json` left out */
	guint n_words;
	bool json;
	bool force;		/* `--force` was said, which is left out, too */
	enum control_code code;
	GString *body;
};

struct command {
	const char *name;
	const char *rest;	/* what follows the name, for help */
	const char *summary;
	guint min, max;		/* words, the name included */
	void (*run)(struct control_request *r);
};

/* A line that says how it went. */
static void G_GNUC_PRINTF(3, 4)
say(struct control_request *r, enum control_code code, const char *format, ...)
{
	struct json j = { .out = r->body };
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	r->code = code;
	if (!r->json) {
		g_string_append_printf(r->body, "%s\n", text);
		return;
	}
	json_open(&j, NULL, '{');
	json_bool(&j, "done", code == CONTROL_DONE);
	json_text(&j, "message", text);
	json_close(&j, '}');
	g_string_append_c(r->body, '\n');
}

static void
request_look(const struct control_request *r, struct control_view *v)
{
	memset(v, 0, sizeof(*v));
	r->hooks->look(v, r->hooks->data);
}

static void
run_status(struct control_request *r)
{
	struct control_view v;

	request_look(r, &v);
	r->code = control_status(&v, r->json, r->body);
}

static void
run_fabric(struct control_request *r)
{
	g_autofree char *fault = NULL;
	struct control_view v;

	if (r->words[0] && strcmp(r->words[0], "path") == 0 &&
	    r->n_words == 4 && strcmp(r->words[3], "--why")) {
		say(r, CONTROL_USAGE, "path: after the two ends only --why "
		    "may follow");
		return;
	}
	request_look(r, &v);
	r->code = control_fabric(&v, r->words, r->json, r->body, &fault);
	if (fault)
		say(r, r->code, "%s", fault);
}

static void
run_metrics(struct control_request *r)
{
	struct control_view v;

	request_look(r, &v);
	control_metrics(&v, r->body);
}

static void
run_sweep(struct control_request *r)
{
	r->hooks->sweep(r->hooks->data);
	say(r, CONTROL_DONE, "a heavy sweep begins");
}

static void
run_reload(struct control_request *r)
{
	g_autoptr(GError) error = NULL;

	if (r->hooks->reload(&error, r->hooks->data))
		say(r, CONTROL_DONE, "read again; a heavy sweep begins");
	else
		say(r, CONTROL_NOT_DONE, "%s\nwhat was in force stays in force",
		    error->message);
}

static void
run_accept(struct control_request *r)
{
	const char *word = r->words[1];
	g_autofree char *shown = word ? text_one_line(word) : NULL;
	unsigned n = r->hooks->accept(word, r->hooks->data);

	if (n || !word)
		say(r, CONTROL_DONE, "%u %s accepted: the fabric is expected "
		    "without %s from now on", n,
		    n == 1 ? "fault is" : "faults are", n == 1 ? "it" : "them");
	else
		say(r, CONTROL_NOT_DONE, "nothing of %s is missing or slow; "
		    "status lists what is", shown);
}

static void
run_loglevel(struct control_request *r)
{
	const char *names[LOG_DEBUG + 1];
	const char *word = r->words[1];
	g_autofree char *shown = word ? text_one_line(word) : NULL;
	g_autofree char *near = NULL;
	struct control_view v;
	uint64_t n;

	if (!word) {
		request_look(r, &v);
		say(r, CONTROL_DONE, "%s", log_level_name(v.level));
		return;
	}
	for (n = 0; n < G_N_ELEMENTS(names); n++)
		names[n] = log_level_name((enum log_level)n);
	if (!text_read_number(word, G_N_ELEMENTS(names) - 1, &n))
		for (n = 0; n < G_N_ELEMENTS(names); n++)
			if (strcmp(names[n], word) == 0)
				break;
	if (n == G_N_ELEMENTS(names)) {
		near = text_nearest(shown, "", names, G_N_ELEMENTS(names));
		say(r, CONTROL_USAGE, "loglevel: %s is not 0 to 4, error, "
		    "warning, info, verbose or debug%s", shown, near);
		return;
	}
	r->hooks->log_level((enum log_level)n, r->hooks->data);
	say(r, CONTROL_DONE, "%s", names[n]);
}

/* --- partitions --- */

static const struct partition *
find_named(const struct partition_rules *rules, const char *word)
{
	for (guint i = 0; i < rules->partitions->len; i++) {
		const struct partition *p = rules->partitions->pdata[i];

		if (p->name && strcmp(p->name, word) == 0)
			return p;
	}
	return NULL;
}

/* A name goes before a number, as in the file. */
static const struct partition *
find_partition(const struct partition_rules *rules, const char *word)
{
	const struct partition *p = find_named(rules, word);
	uint64_t pkey;

	if (!p && text_read_number(word, 0xffff, &pkey))
		p = partition_rules_find(rules, (uint16_t)pkey);
	return p;
}

static void
say_no_partition(struct control_request *r, const struct partition_rules *rules,
		 const char *word)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *shown = text_one_line(word);
	g_autofree char *near = NULL, *shown_near = NULL;

	for (guint i = 0; i < rules->partitions->len; i++) {
		const struct partition *p = rules->partitions->pdata[i];

		if (p->name)
			g_ptr_array_add(names, p->name);
	}
	near = text_nearest(shown, "", (const char *const *)names->pdata,
			    names->len);
	shown_near = text_one_line(near);
	say(r, CONTROL_USAGE, "%s is no partition%s", shown, shown_near);
}

static void
run_partitions(struct control_request *r)
{
	const struct partition *only = NULL;
	struct control_view v;

	request_look(r, &v);
	if (r->words[1]) {
		only = find_partition(v.rules, r->words[1]);
		if (!only) {
			say_no_partition(r, v.rules, r->words[1]);
			return;
		}
	}
	control_partitions(&v, only, r->json, r->body);
}

static const char *const membership_names[] = {
	[PARTITION_LIMITED] = "limited",
	[PARTITION_FULL] = "full",
	[PARTITION_BOTH] = "both",
};

static bool
request_membership(struct control_request *r, const char *word,
		   enum partition_membership *out)
{
	g_autofree char *shown = text_one_line(word);
	g_autofree char *near = NULL;

	for (int i = PARTITION_LIMITED; i <= PARTITION_BOTH; i++)
		if (strcmp(membership_names[i], word) == 0) {
			*out = (enum partition_membership)i;
			return true;
		}
	near = text_nearest(shown, "", membership_names + 1, 3);
	say(r, CONTROL_USAGE, "%s is not full, limited or both%s",
	    *shown ? shown : "\"\"", near);
	return false;
}

/* An end port that a person means; it may be away. */
struct port {
	uint64_t guid;
	uint32_t i; /* of the last sweep's fabric, or SNAPSHOT_NONE */
};

static bool
is_called(const struct snapshot *s, uint32_t port, const char *word,
	  uint64_t guid)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);

	return snapshot_is_end_port(s, port) &&
		(strcmp(n->desc, word) == 0 ||
		 (guid && n->info.node_guid == guid) ||
		 g_strcmp0(n->name, word) == 0);
}

static void
say_no_port(struct control_request *r, const struct snapshot *s,
	    const char *word)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *shown = text_one_line(word);
	g_autofree char *near = NULL, *shown_near = NULL;

	for (uint32_t i = 0; s && i < s->n_ports; i++)
		if (snapshot_is_end_port(s, i))
			g_ptr_array_add(names, (char *)snapshot_name_of(s, i));
	near = text_nearest(shown, "", (const char *const *)names->pdata,
			    names->len);
	shown_near = text_one_line(near);
	say(r, CONTROL_USAGE,
	    "%s is not a GUID of up to 16 hexadecimal digits, "
	    "nor a node of the fabric%s", *shown ? shown : "\"\"", shown_near);
}

/* By PortGUID, by name or NodeGUID of a node with one port; by a GUID of all
 * digits if it is away. False: it was said what is wrong. */
static bool
request_find_port(struct control_request *r, const struct snapshot *s,
		  const char *word, struct port *out)
{
	bool is_guid = text_read_guid(word, &out->guid), whole;
	const char *digits = word;
	g_autofree char *shown = text_one_line(word);
	g_autoptr(GString) found = g_string_new(NULL);
	guint n = 0;

	text_take_0x(&digits);
	whole = is_guid && strlen(digits) == GUID_DIGITS;
	out->i =
		s && is_guid ? snapshot_find_port(s, out->guid) : SNAPSHOT_NONE;
	if (is_guid && (!s || out->i != SNAPSHOT_NONE))
		return true;
	for (uint32_t i = 0; s && i < s->n_ports; i++) {
		g_autofree char *name = NULL;

		if (!is_called(s, i, word, is_guid ? out->guid : 0))
			continue;
		out->i = i;
		if (n++ >= PORTS_SHOWN)
			continue;
		name = text_one_line(snapshot_name_of(s, i));
		g_string_append_printf(found, "\n0x%016" G_GINT64_MODIFIER
				       "x port %u of %s", s->ports[i].guid,
				       s->ports[i].num, name);
	}
	if (n == 1)
		out->guid = s->ports[out->i].guid;
	else if (n > 1)
		say(r, CONTROL_USAGE, "%s means %u ports; say which one by its "
		    "GUID:%s", shown, n, found->str);
	else if (is_guid && !whole)
		say(r, CONTROL_USAGE,
		    "there is no port %s on the fabric; the GUID "
		    "of one that is away is written with all 16 digits", shown);
	else if (!is_guid)
		say_no_port(r, s, word);
	return n == 1 || (n == 0 && whole);
}

/* What a port is in a partition; of one that is away, by its GUID. */
static enum partition_membership
membership_of(const struct partition_rules *rules, const struct snapshot *s,
	      const struct port *port, uint16_t pkey)
{
	const struct partition *p = partition_rules_find(rules, pkey);
	enum partition_membership what = PARTITION_NONE;
	struct memberships *m;

	if (port->i != SNAPSHOT_NONE) {
		m = memberships_new(rules, s, NULL);
		what = memberships_of(m, port->i, pkey);
		memberships_unref(m);
		return what;
	}
	for (guint i = 0; i < p->rules->len; i++) {
		const struct partition_rule *rule =
			&g_array_index(p->rules, struct partition_rule, i);

		if (rule->who == PARTITION_ALL ||
		    (rule->who == PARTITION_GUID && rule->guid == port->guid))
			what = rule->membership;
	}
	return what;
}

/* The rules after a change; -1 takes back one that was made at run time, which
 * is of no line. */
static struct partition_rules *
rules_after(const struct partition_rules *rules, uint16_t pkey, uint64_t guid,
	    int membership)
{
	struct partition_rules *after = partition_rules_copy(rules);
	GArray *list = partition_rules_get(after, pkey)->rules;
	const struct partition_rule rule = {
		.who = PARTITION_GUID,
		.membership = (enum partition_membership)MAX(membership, 0),
		.guid = guid,
	};

	if (membership >= 0) {
		g_array_append_val(list, rule);
		return after;
	}
	for (guint i = list->len; i-- > 0;) {
		const struct partition_rule *old =
			&g_array_index(list, struct partition_rule, i);

		if (old->who == PARTITION_GUID && old->guid == guid &&
		    !old->line)
			g_array_remove_index(list, i);
	}
	return after;
}

/* Is it a full member of the default partition, in which ports reach the SA,
 * and of any at all? Two bits. */
static unsigned
reach_of(const struct partition_rules *rules, const struct snapshot *s,
	 uint32_t port)
{
	struct memberships *m = memberships_new(rules, s, NULL);
	unsigned bits = memberships_of(m, port, PKEY_DEFAULT) &
		PARTITION_FULL ? 1 : 0;

	for (uint32_t i = m->first[port]; i < m->first[port + 1]; i++)
		if (m->pkeys[i] & PKEY_FULL)
			bits |= 2;
	memberships_unref(m);
	return bits;
}

static void
change_member(struct control_request *r, const struct control_view *v,
	      const struct partition *p, const struct port *port,
	      int membership)
{
	const struct snapshot *s = v->status->subnet;
	uint16_t pkey = p->pkey;
	g_autofree char *name = p->name ? text_one_line(p->name) :
		g_strdup("partition");
	g_autofree char *node = text_one_line(port->i == SNAPSHOT_NONE ?
		"port" : snapshot_name_of(s, port->i));
	enum partition_membership was, is;
	struct partition_rules *after = rules_after(v->rules, pkey, port->guid,
						    membership);
	g_autoptr(GError) error = NULL;
	bool own = port->guid == v->port_guid, cut;

	was = membership_of(v->rules, s, port, pkey);
	is = membership_of(after, s, port, pkey);
	cut = own && (port->i == SNAPSHOT_NONE ? is < was :
		      reach_of(v->rules, s, port->i) &
		      ~reach_of(after, s, port->i));
	partition_rules_unref(after);
	if (cut && !r->force) {
		say(r, CONTROL_NOT_DONE,
		    "refused: %s runs this subnet manager, and "
		    "without full membership of %s (0x%04x) other ports lose "
		    "the SA; --force does it nevertheless", node, name, pkey);
		return;
	}
	/* The change ends the rules that `p` is part of. */
	if (!r->hooks->change(pkey, port->guid, membership, &error,
			      r->hooks->data)) {
		say(r, CONTROL_NOT_DONE, "%s", error->message);
		return;
	}
	say(r, CONTROL_DONE,
	    "%s (0x%016" G_GINT64_MODIFIER "x): %s (0x%04x): %s%s%s%s",
	    node, port->guid, name, pkey, partition_membership_name(was),
	    was == is ? ", as before" : " -> ",
	    was == is ? "" : partition_membership_name(is),
	    v->self.state != SM_STATE_MASTER ? "; but this manager is not the "
		      "master, and the master does not hear of it"
	    : s && port->i == SNAPSHOT_NONE ? "; there is no such port on the "
					      "fabric now" : "");
}

/* NODE[=MEMBERSHIP]: the membership is cut off. */
static bool
read_added(struct control_request *r, const struct partition *p, char *word,
	   enum partition_membership *asked)
{
	char *sign = strrchr(word, '=');

	*asked = MAX(p->defmember, PARTITION_LIMITED);
	if (!sign)
		return true;
	*sign = '\0';
	return request_membership(r, sign + 1, asked);
}

static void say_usage(struct control_request *r);

static void
run_partition(struct control_request *r)
{
	static const char *const verbs[] = {
		"add", "set", "remove", "reset", NULL,
	};
	const char *verb = r->words[1];
	bool sets = strcmp(verb, "set") == 0, adds = strcmp(verb, "add") == 0;
	enum partition_membership asked = PARTITION_NONE, now;
	const struct partition *p;
	struct port port;
	struct control_view v;

	if (!g_strv_contains(verbs, verb)) {
		g_autofree char *shown = text_one_line(verb);
		g_autofree char *near = text_nearest(shown, "", verbs, 4);

		say(r, CONTROL_USAGE,
		    "partition: %s is not add, set, remove or reset%s",
		    shown, near);
		return;
	}
	if (sets != (r->n_words == 5)) {
		say_usage(r);
		return;
	}
	request_look(r, &v);
	p = find_partition(v.rules, r->words[2]);
	if (!p) {
		say_no_partition(r, v.rules, r->words[2]);
		return;
	}
	if ((adds && !read_added(r, p, r->words[3], &asked)) ||
	    (sets && !request_membership(r, r->words[4], &asked)) ||
	    !request_find_port(r, v.status->subnet, r->words[3], &port))
		return;
	if (adds) {	/* never less than it is */
		now = membership_of(v.rules, v.status->subnet, &port, p->pkey);
		asked = MAX(asked, now);
	}
	change_member(r, &v, p, &port, strcmp(verb, "reset") == 0 ? -1 :
		      (int)asked);
}

/* --- words --- */

static void run_help(struct control_request *r);

static const struct command commands[] = {
	{ "status", "", "how the subnet is, and what was done lately", 1, 1,
	  run_status },
	{ "path", "A B [--why]", "the way from A to B, what a path there has, "
	  "and why", 3, 4, run_fabric },
	{ "who", "NAME|LID|GUID", "a node: its names, cables, partitions", 2,
	  2, run_fabric },
	{ "nodes", "[TEXT|switch|host]", "all nodes, or some", 1, 2,
	  run_fabric },
	{ "links", "[TEXT|slow|inactive]", "all cables, or some", 1, 2,
	  run_fabric },
	{ "metrics", "", "counters and states as OpenMetrics text", 1, 1,
	  run_metrics },
	{ "sweep", "", "sweep now, and read everything again", 1, 1,
	  run_sweep },
	{ "accept", "[NODE|GUID]", "what is missing or slow, or of one node, "
	  "is so from now on", 1, 2, run_accept },
	{ "reload", "", "read partitions, lists of GUIDs and the QoS policy "
	  "again, then sweep", 1, 1, run_reload },
	{ "partitions", "[NAME|PKEY]", "partitions and their members", 1, 2,
	  run_partitions },
	{ "partition", "add NAME|PKEY NODE|GUID[=full|limited|both]",
	  "let a port in, as defmember of the file says; never lowers", 4, 5,
	  run_partition },
	{ "partition", "set NAME|PKEY NODE|GUID full|limited|both [--force]",
	  "make it this member, also less than it is", 4, 5, run_partition },
	{ "partition", "remove NAME|PKEY NODE|GUID [--force]",
	  "take a port out", 4, 5, run_partition },
	{ "partition", "reset NAME|PKEY NODE|GUID [--force]",
	  "forget what was changed: the file holds again", 4, 5,
	  run_partition },
	{ "loglevel", "[LEVEL]",
	  "what is logged: error, warning, info, verbose, debug", 1, 2,
	  run_loglevel },
	{ "help", "", "these words", 1, 1, run_help },
};

static void
run_help(struct control_request *r)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		g_string_append_printf(text, "%s%s%s%s\n    %s",
				       i ? "\n" : "", commands[i].name,
				       *commands[i].rest ? " " : "",
				       commands[i].rest, commands[i].summary);
	say(r, CONTROL_DONE, "%s", text->str);
}

static const struct command *
find_command(const char *word)
{
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].name, word) == 0)
			return &commands[i];
	return NULL;
}

static void
say_unknown(struct control_request *r)
{
	const char *names[G_N_ELEMENTS(commands)];
	g_autofree char *shown = text_one_line(r->words[0]);
	g_autofree char *near = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		names[i] = commands[i].name;
	near = text_nearest(shown, "", names, G_N_ELEMENTS(names));
	say(r, CONTROL_USAGE, "%s is no command%s, help has all",
	    *shown ? shown : "\"\"", near);
}

static void
say_usage(struct control_request *r)
{
	const struct command *command = find_command(r->words[0]);
	bool is_short = r->n_words < command->min ||
		(r->n_words == 4 && command->max == 5);
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].name, command->name) == 0)
			g_string_append_printf(text, "%s%s%s%s",
					       text->len ? "\n" : "",
					       commands[i].name,
					       *commands[i].rest ? " " : "",
					       commands[i].rest);
	say(r, CONTROL_USAGE, "%s: %s; it goes\n%s", command->name,
	    is_short ? "something is missing" : "that is too much", text->str);
}

static void
run_line(struct control_request *r, const char *line)
{
	const struct command *command;
	g_autoptr(GError) error = NULL;
	gint n;

	if (strlen(line) >= CONTROL_LINE_MAX ||
	    !g_shell_parse_argv(line, &n, &r->words, &error)) {
		say(r, CONTROL_USAGE, "this is no request: %s", error ?
		    "a quote is not closed, or there is nothing in it" :
		    "it is too long");
		return;
	}
	r->n_words = (guint)n;
	if (n > 1 && strcmp(r->words[0], "json") == 0) {
		r->json = true;
		g_free(r->words[0]);
		memmove(r->words, r->words + 1, (size_t)n * sizeof(*r->words));
		r->n_words--;
	}
	if (r->n_words > 4 && strcmp(r->words[0], "partition") == 0 &&
	    strcmp(r->words[r->n_words - 1], "--force") == 0) {
		r->force = true;
		g_clear_pointer(&r->words[--r->n_words], g_free);
	}
	command = find_command(r->words[0]);
	if (!command)
		say_unknown(r);
	else if (r->n_words < command->min || r->n_words > command->max)
		say_usage(r);
	else
		command->run(r);
}

void control_answer(const struct control_hooks *hooks, const char *line,
		    GString *out)
{
	struct control_request r = {
		.hooks = hooks,
		.body = g_string_new(NULL),
	};

	run_line(&r, line);
	g_string_append_printf(out, "minism %d %d\n", VERSION, (int)r.code);
	g_string_append_len(out, r.body->str, (gssize)r.body->len);
	g_string_free(r.body, TRUE);
	g_strfreev(r.words);
}
