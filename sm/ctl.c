// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a person may ask a running manager.
 *
 * Structs. A `command` is a word and who does it; a `request` is one line on
 * its way through, with the answer as far as it is made.
 *
 * Flow of ctl_answer(): the line is cut into words, the first names the
 * command, the command writes the answer's body and its code, and the head
 * goes before it. Whatever is not understood is answered by what would be, and
 * by the nearest word, for most of these requests are typed by hand.
 *
 * Nothing is done here: the hooks look and do. So the whole is a function from
 * a line to a text, and can be fed with anything.
 */
#include "sm/ctl.h"

#include <string.h>

#include "sm/conf/conf_key.h"
#include "topology/base/json.h"

#define VERSION	1

struct request {
	const struct ctl_hooks *hooks;
	char **words;		/* of the line, `json` left out */
	guint n_words;
	bool json;
	enum ctl_code code;
	GString *body;
};

struct command {
	const char *name;
	const char *rest;	/* what follows the name, for help */
	const char *summary;
	guint min, max;		/* words, the name included */
	void (*run)(struct request *r);
};

/* A line that says how it went. */
static void G_GNUC_PRINTF(3, 4)
say(struct request *r, enum ctl_code code, const char *format, ...)
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
	json_bool(&j, "done", code == CTL_DONE);
	json_text(&j, "message", text);
	json_close(&j, '}');
	g_string_append_c(r->body, '\n');
}

static void
look(const struct request *r, struct ctl_view *v)
{
	memset(v, 0, sizeof(*v));
	r->hooks->look(v, r->hooks->data);
}

static void
run_status(struct request *r)
{
	struct ctl_view v;

	look(r, &v);
	r->code = ctl_status(&v, r->json, r->body);
}

static void
run_sweep(struct request *r)
{
	r->hooks->sweep(r->hooks->data);
	say(r, CTL_DONE, "a heavy sweep begins");
}

static void
run_reload(struct request *r)
{
	g_autoptr(GError) error = NULL;

	if (r->hooks->reload(&error, r->hooks->data))
		say(r, CTL_DONE, "read again; a heavy sweep begins");
	else
		say(r, CTL_NOT_UP, "%s\nwhat was in force stays in force",
		    error->message);
}

static void
run_loglevel(struct request *r)
{
	const char *names[LOG_DEBUG + 1];
	const char *word = r->words[1];
	g_autofree char *shown = word ? conf_one_line(word) : NULL;
	g_autofree char *near = NULL;
	struct ctl_view v;
	uint64_t n;

	if (!word) {
		look(r, &v);
		say(r, CTL_DONE, "%s", log_level_name(v.level));
		return;
	}
	for (n = 0; n < G_N_ELEMENTS(names); n++)
		names[n] = log_level_name((enum log_level)n);
	if (!conf_read_number(word, G_N_ELEMENTS(names) - 1, &n))
		for (n = 0; n < G_N_ELEMENTS(names); n++)
			if (strcmp(names[n], word) == 0)
				break;
	if (n == G_N_ELEMENTS(names)) {
		near = conf_nearest(shown, "", names, G_N_ELEMENTS(names));
		say(r, CTL_USAGE, "loglevel: %s is not 0 to 4, error, "
		    "warning, info, verbose or debug%s", shown, near);
		return;
	}
	r->hooks->log_level((enum log_level)n, r->hooks->data);
	say(r, CTL_DONE, "%s", names[n]);
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

	if (!p && conf_read_number(word, 0xffff, &pkey))
		p = partition_rules_find(rules, (uint16_t)pkey);
	return p;
}

static void
say_no_partition(struct request *r, const struct partition_rules *rules,
		 const char *word)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *shown = conf_one_line(word);
	g_autofree char *near = NULL, *shown_near = NULL;

	for (guint i = 0; i < rules->partitions->len; i++) {
		const struct partition *p = rules->partitions->pdata[i];

		if (p->name)
			g_ptr_array_add(names, p->name);
	}
	near = conf_nearest(shown, "", (const char *const *)names->pdata,
			    names->len);
	shown_near = conf_one_line(near);
	say(r, CTL_USAGE, "%s is no partition%s", shown, shown_near);
}

static void
run_partitions(struct request *r)
{
	const struct partition *only = NULL;
	struct ctl_view v;

	look(r, &v);
	if (r->words[1]) {
		only = find_partition(v.rules, r->words[1]);
		if (!only) {
			say_no_partition(r, v.rules, r->words[1]);
			return;
		}
	}
	ctl_partitions(&v, only, r->json, r->body);
}

static const char *const membership_names[] = {
	[PARTITION_LIMITED] = "limited",
	[PARTITION_FULL] = "full",
	[PARTITION_BOTH] = "both",
};

/* "GUID" or "GUID=full". False: it was said what is wrong. */
static bool
read_member(struct request *r, const char *word, uint64_t *guid,
	    int *membership)
{
	g_auto(GStrv) parts = g_strsplit(word, "=", 2);
	g_autofree char *shown = conf_one_line(parts[0] ? parts[0] : "");
	g_autofree char *what = NULL;
	g_autofree char *near = NULL;

	if (!parts[0] || !conf_read_guid(parts[0], guid)) {
		say(r, CTL_USAGE, "%s is not a GUID of up to 16 hexadecimal "
		    "digits", *shown ? shown : "\"\"");
		return false;
	}
	*membership = PARTITION_LIMITED;
	if (!parts[1])
		return true;
	for (int i = PARTITION_LIMITED; i <= PARTITION_BOTH; i++) {
		*membership = i;
		if (strcmp(membership_names[i], parts[1]) == 0)
			return true;
	}
	what = conf_one_line(parts[1]);
	near = conf_nearest(what, "", membership_names + 1, 3);
	say(r, CTL_USAGE, "%s is not full, limited or both%s",
	    *what ? what : "\"\"", near);
	return false;
}

/* A port that is not there may come; a name that is a node's never will. */
static const char *
remark(const struct ctl_view *v, uint64_t guid)
{
	const struct subnet *s = v->status->subnet;

	if (v->self.state != SM_STATE_MASTER)
		return "; but this manager is not the master, and the "
			"master does not hear of it";
	if (!s || subnet_find_port(s, guid) != SUBNET_NONE)
		return "";
	if (subnet_find_node(s, guid) != SUBNET_NONE)
		return "; but this is a NodeGUID, and a member is named by "
			"its PortGUID";
	return "; there is no such port on the fabric now";
}

static void
change_member(struct request *r, const struct partition *p, uint64_t guid,
	      int membership, const char *done)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *name = p->name ? conf_one_line(p->name) :
		g_strdup_printf("0x%04x", p->pkey);
	uint16_t pkey = p->pkey;
	struct ctl_view v;

	/* The change ends the rules that `p` is part of. */
	if (!r->hooks->change(pkey, guid, membership, &error,
			      r->hooks->data)) {
		say(r, CTL_NOT_UP, "%s", error->message);
		return;
	}
	look(r, &v);
	say(r, CTL_DONE, "0x%016" G_GINT64_MODIFIER "x %s %s (0x%04x)%s",
	    guid, done, name, pkey, remark(&v, guid));
}

static void
run_partition(struct request *r)
{
	static const char *const verbs[] = { "add", "remove", "reset" };
	static const char *const done[] = {
		[PARTITION_LIMITED] = "is a limited member of",
		[PARTITION_FULL] = "is a full member of",
		[PARTITION_BOTH] = "is a limited and a full member of",
	};
	const char *verb = r->words[1];
	g_autofree char *shown = conf_one_line(verb);
	g_autofree char *near = NULL;
	const struct partition *p;
	struct ctl_view v;
	uint64_t guid;
	int membership;

	if (!g_strv_contains((const char *const[]){ "add", "remove", "reset",
						    NULL }, verb)) {
		near = conf_nearest(shown, "", verbs, G_N_ELEMENTS(verbs));
		say(r, CTL_USAGE, "partition: %s is not add, remove or "
		    "reset%s", shown, near);
		return;
	}
	look(r, &v);
	p = find_partition(v.rules, r->words[2]);
	if (!p) {
		say_no_partition(r, v.rules, r->words[2]);
		return;
	}
	if (!read_member(r, r->words[3], &guid, &membership))
		return;
	if (strcmp(verb, "add") == 0)
		change_member(r, p, guid, membership, done[membership]);
	else if (strchr(r->words[3], '='))
		say(r, CTL_USAGE, "partition %s takes a GUID alone", verb);
	else if (strcmp(verb, "remove") == 0)
		change_member(r, p, guid, PARTITION_NONE,
			      "is no member any more of");
	else
		change_member(r, p, guid, -1,
			      "is again what the file says in");
}

/* --- words --- */

static void run_help(struct request *r);

static const struct command commands[] = {
	{ "status", "", "how the subnet is, and what was done lately", 1, 1,
	  run_status },
	{ "sweep", "", "sweep now, and read everything again", 1, 1,
	  run_sweep },
	{ "reload", "", "read partitions, lists of GUIDs and the QoS policy "
	  "again, then sweep", 1, 1, run_reload },
	{ "partitions", "[NAME|PKEY]", "partitions and their members", 1, 2,
	  run_partitions },
	{ "partition", "add NAME|PKEY GUID[=full|limited|both]",
	  "let a port in (limited, unless it is said)", 4, 4, run_partition },
	{ "partition", "remove NAME|PKEY GUID", "take a port out", 4, 4,
	  run_partition },
	{ "partition", "reset NAME|PKEY GUID",
	  "forget what was changed: the file holds again", 4, 4,
	  run_partition },
	{ "loglevel", "[LEVEL]",
	  "what is logged: error, warning, info, verbose, debug", 1, 2,
	  run_loglevel },
	{ "help", "", "these words", 1, 1, run_help },
};

static void
run_help(struct request *r)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		g_string_append_printf(text, "%s%s%s%s\n    %s",
				       i ? "\n" : "", commands[i].name,
				       *commands[i].rest ? " " : "",
				       commands[i].rest, commands[i].summary);
	say(r, CTL_DONE, "%s", text->str);
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
say_unknown(struct request *r)
{
	const char *names[G_N_ELEMENTS(commands)];
	g_autofree char *shown = conf_one_line(r->words[0]);
	g_autofree char *near = NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		names[i] = commands[i].name;
	near = conf_nearest(shown, "", names, G_N_ELEMENTS(names));
	say(r, CTL_USAGE, "%s is no command%s, help has all",
	    *shown ? shown : "\"\"", near);
}

static void
say_usage(struct request *r, const struct command *command)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].name, command->name) == 0)
			g_string_append_printf(text, "%s%s%s%s",
					       text->len ? "\n" : "",
					       commands[i].name,
					       *commands[i].rest ? " " : "",
					       commands[i].rest);
	say(r, CTL_USAGE, "%s: %s; it goes\n%s", command->name,
	    r->n_words < command->min ? "something is missing" :
	    "that is too much", text->str);
}

static void
run_line(struct request *r, const char *line)
{
	const struct command *command;
	g_autoptr(GError) error = NULL;
	gint n;

	if (strlen(line) >= CTL_LINE_MAX ||
	    !g_shell_parse_argv(line, &n, &r->words, &error)) {
		say(r, CTL_USAGE, "this is no request: %s", error ?
		    "a quote is not closed, or there is nothing in it" :
		    "it is too long");
		return;
	}
	r->n_words = (guint)n;
	if (n > 1 && strcmp(r->words[0], "json") == 0) {
		r->json = true;
		g_free(r->words[0]);
		memmove(r->words, r->words + 1,
			(size_t)n * sizeof(*r->words));
		r->n_words--;
	}
	command = find_command(r->words[0]);
	if (!command)
		say_unknown(r);
	else if (r->n_words < command->min || r->n_words > command->max)
		say_usage(r, command);
	else
		command->run(r);
}

void
ctl_answer(const struct ctl_hooks *hooks, const char *line, GString *out)
{
	struct request r = {
		.hooks = hooks,
		.body = g_string_new(NULL),
	};

	run_line(&r, line);
	g_string_append_printf(out, "minism %d %d\n", VERSION, (int)r.code);
	g_string_append_len(out, r.body->str, (gssize)r.body->len);
	g_string_free(r.body, TRUE);
	g_strfreev(r.words);
}
