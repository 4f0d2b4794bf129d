// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The words of tests/scripts/control.scn: what a person may ask a running
 * manager. The manager is made up: a generated fabric, a sweep's report of it,
 * rules by hand, hooks that note what they were called with.
 */

#include "sm/config/command.h"
#include "sm/control/control.h"
#include "tests/lib/state_text.h"
#include "tests/lib/unit.h"
#include "tools/show.h"

static struct unit_word all_words[40];

#define HOST_GUID	UINT64_C(0x6000000000000101)

struct setup {
	struct snapshot *s;
	struct lid_map *lids;
	struct choice choice;
	struct health verdict;
	struct status *status;
	struct partition_rules *rules;
	struct mad_client client;
	struct sa_server_stats desk;
	struct mcast_manager mcast;
	struct sweep sweep;
	struct expected *expected;
	struct sa_db db;
	struct sa sa;
	struct log *log;
	struct standby_status standby;
	struct options *conf;

	struct control_hooks hooks;
	unsigned sweeps, reloads, changes;
	char *refusal;		/* what reload and change say; NULL: done, */
	char *warning;		/* and what reload says then */
	uint16_t pkey;		/* of the last change */
	uint64_t guid;
	int membership;
	bool is_writing;	/* no change ends */
	char *told;		/* what is said at its end */
	uint64_t own;		/* the port's GUID */

	GString *answer;
	const char *body;
};

/* --- hooks --- */

static void
look(struct control_view *out, void *data)
{
	struct setup *t = data;

	*out = (struct control_view){
		.port_name = "mlx5_0 port 1",
		.port_guid = t->own,
		.ms = "ms",
		.now = 100 * G_USEC_PER_SEC,
		.since = 10 * G_USEC_PER_SEC,
		.log = t->log,
		.conf = t->conf,
		.standby = t->standby,
		.status = t->status,
		.rules = t->rules,
		.desk = &t->desk,
		.mcast = &t->mcast,
		.sweep = &t->sweep,
		.expected = t->expected,
		.sa = t->sa.view ? &t->sa : NULL,
	};
}

static void
note_sweep(void *data)
{
	struct setup *t = data;

	t->sweeps++;
}

static bool
refuse(struct setup *t, GError **error)
{
	if (t->refusal)
		g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_IO,
				    t->refusal);
	return !t->refusal;
}

/* The disk answers when it is asked again. */
static enum control_code
note_reload(uint64_t *number, GPtrArray *lines, void *data)
{
	struct setup *t = data;

	if (!*number) {
		*number = ++t->reloads;
		return CONTROL_AGAIN;
	}
	if (t->refusal || t->warning)
		g_ptr_array_add(lines, g_strdup(t->refusal ?: t->warning));
	return t->refusal ? CONTROL_NOT_DONE : CONTROL_DONE;
}

static uint64_t
note_change(uint16_t pkey, uint64_t guid, int membership, const char *answer,
	    GError **error, void *data)
{
	struct setup *t = data;

	g_free(t->told);
	t->told = g_strdup(answer);
	t->changes++;
	t->pkey = pkey;
	t->guid = guid;
	t->membership = membership;
	return refuse(t, error) ? 7 : 0;
}

static bool
note_changed(uint64_t number, const char **answer, GError **error, void *data)
{
	struct setup *t = data;

	*answer = t->told;
	assert_int_equal(number, 7);
	if (!t->is_writing)
		refuse(t, error);
	return !t->is_writing;
}

static unsigned
note_accept(const char *word, void *data)
{
	struct setup *t = data;

	return expected_accept(t->expected, word);
}

/* --- the manager --- */

static void
forget_fabric(struct setup *t)
{
	health_clear(&t->verdict);
	choice_clear(&t->choice);
	g_clear_pointer(&t->lids, lid_map_free);
	g_clear_pointer(&t->s, snapshot_unref);
}

static void
make_fabric(struct setup *t, const char *spec, const char *engine)
{
	const struct choice_wish wish = {
		.engine = engine_by_name(engine, NULL),
	};
	struct engine_input in = { .n_threads = 1 };
	AUTO(graph) *g = NULL;

	forget_fabric(t);
	t->s = generate_fabric(spec, NULL, NULL);
	t->lids = lid_assign(t->s, 0, NULL, 0, NULL, NULL);
	g = graph_new(t->s, t->lids);
	in.g = g;
	assert_true(choose_tables(&wish, &in, &t->choice, NULL));
	health_judge(&t->verdict, t->s, &t->choice, NULL, NULL, true);
}

/* A sweep ends; of what make_fabric() made if it reads a fabric. */
static void
end_sweep(struct setup *t, enum sweep_end end, const char *causes)
{
	const struct view view = { .subnet = t->s, .lids = t->lids };
	struct sweep_report r = {
		.end = end, .causes = causes, .took_us = 1234,
	};
	struct control_view v;
	const char *verdict;

	switch (end) {
	case SWEEP_END_PLANNED:
	case SWEEP_END_UP:
	case SWEEP_END_NOT_UP:
		health_clear(&t->verdict);
		health_judge(&t->verdict, t->s, &t->choice, NULL, NULL, true);
		r.view = &view;
		r.choice = &t->choice;
		r.verdict = &t->verdict;
		break;
	case SWEEP_END_STANDBY:
		r.master = &t->s->nodes[0];
		break;
	case SWEEP_END_FAILED:
		r.error = "our own port does not answer";
		break;
	}
	status_note(t->status, &r, 90 * G_USEC_PER_SEC);
	look(&v, t);
	control_verdict(&v, &verdict);
	status_judge(t->status, verdict);
}

static void
setup_open(struct setup *t)
{
	t->status = status_new();
	t->rules = partition_rules_default();
	t->conf = options_new();
	t->log = log_open("/dev/null", LOG_INFO, NULL);
	t->sweep.flaps = flaps_new(&t->sweep.params.flaps);
	t->mcast.lost = g_ptr_array_new_with_free_func(g_free);
	t->sweep.self = (struct sm_info){
		.state = SM_STATE_MASTER, .priority = 7,
	};
	t->sweep.log = t->log;
	t->sweep.x = &t->client;
	t->sweep.over = true;	/* it is asked, and does nothing */
	t->own = HOST_GUID;
	t->answer = g_string_new(NULL);
	t->hooks = (struct control_hooks){
		.look = look, .sweep = note_sweep, .reload = note_reload,
		.change = note_change, .changed = note_changed,
		.accept = note_accept,
		.data = t,
	};
	make_fabric(t, "single(3)", "ftree");
}

static void
setup_close(struct setup *t)
{
	status_free(t->status);
	partition_rules_unref(t->rules);
	options_free(t->conf);
	g_string_free(t->answer, TRUE);
	g_clear_pointer(&t->expected, expected_free);
	g_ptr_array_unref(t->mcast.lost);
	flaps_free(t->sweep.flaps);
	log_free(t->log);
	g_free(t->refusal);
	g_free(t->warning);
	g_free(t->told);
	g_free((char *)t->standby.why);
	for (uint32_t i = 0; t->s && i < t->s->n_nodes; i++)
		t->s->nodes[i].name = NULL;
	forget_fabric(t);
}

FIXTURE(setup)

/* --- words: of names and texts --- */

static const struct {
	const char *name;
	int value;
} values[] = {
	{ "done", CONTROL_DONE }, { "failed", CONTROL_FAILED },
	{ "not-up", CONTROL_NOT_UP }, { "standby", CONTROL_STANDBY },
	{ "degraded", CONTROL_DEGRADED }, { "usage", CONTROL_USAGE },
	{ "not-done", CONTROL_NOT_DONE }, { "again", CONTROL_AGAIN },
}, ends[] = {
	{ "up", SWEEP_END_UP }, { "not-up", SWEEP_END_NOT_UP },
	{ "failed", SWEEP_END_FAILED }, { "standby", SWEEP_END_STANDBY },
}, memberships[] = {
	{ "none", PARTITION_NONE }, { "limited", PARTITION_LIMITED },
	{ "full", PARTITION_FULL }, { "both", PARTITION_BOTH },
	{ "reset", -1 },
};

#define value_of(list, name)	find_value(list, G_N_ELEMENTS(list), name)
static int
find_value(const __typeof__(values[0]) *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].name, name) == 0)
			return list[i].value;
	fail_msg("what is %s?", name);
	return 0;
}

static uint32_t
host_port(const struct setup *t, unsigned nth)
{
	for (uint32_t port = 0; port < t->s->n_ports; port++)
		if (snapshot_node_of(t->s, port)->info.node_type == NODE_CA &&
		    snapshot_is_end_port(t->s, port) && nth-- == 0)
			return port;
	return 0;
}

/* "H-1", or a number. */
static uint64_t
guid_of(const struct setup *t, const char *name)
{
	return g_str_has_prefix(name, "H-") ?
		t->s->ports[host_port(t, (unsigned)atoi(name + 2))].guid :
		g_ascii_strtoull(name, NULL, 0);
}

/* With escapes of C, and GUIDs of hosts in place of %, %1, %2 and %node. */
static char *
fill_in(const struct setup *t, const char *text)
{
	g_autofree char *plain = g_strcompress(text);
	g_auto(GStrv) parts = g_strsplit(plain, "%", -1);
	GString *out = g_string_new(parts[0]);

	for (char **part = parts + 1; parts[0] && *part; part++) {
		bool is_node = g_str_has_prefix(*part, "node");
		unsigned nth = g_ascii_isdigit(**part) ? **part - '0' : 0;

		g_string_append_printf(out, is_node ?
				       "%" G_GINT64_MODIFIER "x%s" :
				       "0x%016" G_GINT64_MODIFIER "x%s",
				       t->s->ports[host_port(t, nth)].guid -
				       is_node, *part + (is_node ? 4 :
				       g_ascii_isdigit(**part)));
	}
	return g_string_free(out, FALSE);
}

/* A text in quotes is what they hold. */
static char *
unquote(const struct setup *t, char **words, const char *text)
{
	bool is_quoted = (*text == '"' || *text == '\'') && words[0] &&
		!words[1];

	return fill_in(t, is_quoted ? words[0] : text);
}

/* --- asking --- */

static void
ask(struct setup *t, const char *line, int code)
{
	size_t len;
	char *end;

	g_string_truncate(t->answer, 0);
	assert_null(control_answer(&t->hooks, line, t->answer));
	assert_true(g_str_has_prefix(t->answer->str, "minism 2 "));
	assert_int_equal((int)strtol(t->answer->str + 9, &end, 10), code);
	len = strtoul(end, &end, 10);
	assert_int_equal(*end, '\n');
	t->body = end + 1;
	assert_int_equal(strlen(t->body), len);
	if (g_str_has_prefix(line, "json ") && code != CONTROL_AGAIN)
		assert_json(t->body);
}

/* What minismctl makes of the text of a view. */
static int
ask_view(struct setup *t, const char *view, bool as_json, const char *command)
{
	g_auto(GStrv) words = g_strsplit(command, " ", -1);
	struct show q = {
		.v = tool_view_read(view, "v", NULL), .words = words,
		.out = { .out = t->answer, .as_json = as_json },
	};
	int code;

	assert_non_null(q.v);
	g_string_truncate(t->answer, 0);
	code = show_run(&q, NULL);
	t->body = t->answer->str;
	tool_view_free(q.v);
	if (as_json)
		assert_json(t->body);
	return code;
}

/* Of the manager's lines: status, metrics. */
static int
ask_status(struct setup *t, bool as_json, const char *command)
{
	ask(t, "view status", CONTROL_DONE);
	return ask_view(t, t->body, as_json, command);
}

/* Of the view: partitions. */
static int
ask_partitions(struct setup *t, bool as_json, const char *command)
{
	struct view_values made = {
		.s = t->s, .lids = t->lids, .rules = t->rules,
		.memberships = memberships_new(t->rules, t->s, NULL),
		.before = g_string_new(NULL),
	};
	g_autoptr(GString) text = g_string_new(NULL);

	view_write(&made, text);
	memberships_unref(made.memberships);
	g_string_free(made.before, TRUE);
	return ask_view(t, text->str, as_json, command);
}

/* CODE LINE */
WORDS(">", do_ask, void *fixture)
{
	size_t len = strcspn(text, " ");
	g_autofree char *code = g_strndup(text, len);
	g_autofree char *line = fill_in(fixture, text + len +
					(text[len] == ' '));

	bool as_json = g_str_has_prefix(line, "json ");
	const char *command = line + (as_json ? strlen("json ") : 0);

	if (!strcmp(command, "metrics") || !strcmp(command, "status") ||
	    !strcmp(command, "sms"))
		assert_int_equal(ask_status(fixture, as_json, command),
				 value_of(values, code));
	else if (g_str_has_prefix(command, "partitions"))
		assert_int_equal(ask_partitions(fixture, as_json, command),
				 value_of(values, code));
	else
		ask(fixture, line, value_of(values, code));
}

WORDS("has", do_has, struct setup *t)
{
	g_autofree char *part = unquote(t, words, text);

	assert_has(t->body, part);
}

WORDS("lacks", do_lacks, struct setup *t)
{
	g_autofree char *part = unquote(t, words, text);

	if (strstr(t->body, part))
		fail_msg("\"%s\" is in:\n%s", part, t->body);
}

WORDS("is begins", do_is, struct setup *t)
{
	g_autofree char *whole = unquote(t, words, text);

	if (strcmp(words[-1], "begins") == 0)
		assert_true(g_str_has_prefix(t->body, whole));
	else
		assert_string_equal(t->body, whole);
}

/* N TEXT: so many times */
WORDS("times", do_times, struct setup *t)
{
	g_autofree char *part = fill_in(t, words[1]);
	unsigned n = 0;

	for (const char *c = t->body; (c = strstr(c, part)); c++)
		n++;
	assert_range(words[0], n);
}

WORDS("has-problems", do_has_problems, const struct setup *t)
{
	for (guint i = 0; i < t->verdict.lines->len; i++)
		assert_has(t->body, t->verdict.lines->pdata[i]);
}

/* [json]: each channel of the credit loop, with what waits there */
WORDS("has-cycle", do_has_cycle, struct setup *t)
{
	const GArray *cycle = t->choice.alone.channels.cycle;
	AUTO(graph) *g = graph_new(t->s, t->lids);

	assert_int_equal(t->choice.safety, CHOICE_LOOP);
	EACH_ITEM(const struct channel_turn, turn, cycle) {
		const struct graph_edge *e = &g->edges[turn->edge];
		const struct snapshot_node *n =
			&t->s->nodes[t->s->switches[g->edges[e->back].peer]];
		g_autofree char *line = g_strdup_printf(words[0] ?
			"{\"switch\":\"%s\",\"guid\":\"0x%016"
			G_GINT64_MODIFIER "x\",\"port\":%u,\"lid\":%u}" :
			"'%s' (0x%016" G_GINT64_MODIFIER "x) port %u, with "
			"packets to LID %u, waits for", n->desc,
			n->info.node_guid, e->port, turn->lid);

		assert_has(t->body, line);
	}
	assert_true(cycle->len > 0);
}

/* N [PREFIX]: a line, behind the prefix, that is so much longer than the longest;
 * it is not repeated */
WORDS("long", do_long, struct setup *t)
{
	g_autofree char *rest = g_strnfill((gsize)((int)CONTROL_LINE_MAX +
						   atoi(words[0])), 'x');
	g_autofree char *line = g_strconcat(words[1] ?: "", rest, NULL);

	ask(t, line, CONTROL_USAGE);
	assert_true(strlen(t->body) < 200);
}

WORDS("every-command", do_every_command, struct setup *t)
{
	for (size_t i = 0; i < n_commands; i++) {
		const struct command *c = &commands[i];
		g_autoptr(GString) line = g_string_new(c->name);
		g_autofree char *says = g_strdup_printf(
			"%s is answered by minismctl\n", c->name);

		for (guint k = 1; k < c->min; k++)
			g_string_append(line, " x");
		g_string_truncate(t->answer, 0);
		control_answer(&t->hooks, line->str, t->answer);
		assert_int_equal(c->place == COMMAND_OF_VIEW,
				 g_str_has_suffix(t->answer->str, says));
	}
}

/* --- what the hooks noted --- */

/* sweeps, reloads, problems N */
WORDS("sweeps reloads problems", do_count, const struct setup *t)
{
	assert_range(words[0], *words[-1] == 's' ? t->sweeps :
		     *words[-1] == 'r' ? t->reloads : t->verdict.lines->len);
}

WORDS("level", do_level, struct setup *t)
{
	assert_string_equal(log_level_names[t->log->level], words[0]);
}

/* P_KEY GUID [MEMBERSHIP]: one change */
WORDS("changed", do_changed, struct setup *t)
{
	g_autofree char *guid = fill_in(t, words[1]);

	assert_int_equal(t->changes, 1);
	t->changes = 0;
	assert_range(words[0], t->pkey);
	assert_int_equal(t->guid, g_ascii_strtoull(guid, NULL, 16));
	if (words[2])
		assert_int_equal(t->membership,
				 value_of(memberships, words[2]));
}

WORDS("unchanged", do_unchanged, struct setup *t)
{
	assert_int_equal(t->changes, 0);
}

/* --- what there is --- */

/* SPEC ENGINE */
WORDS("fabric", do_fabric, void *fixture)
{
	make_fabric(fixture, words[0], words[1]);
}

/* END [CAUSES] */
WORDS("sweep-ends", do_sweep_ends, void *fixture)
{
	end_sweep(fixture, (enum sweep_end)value_of(ends, words[0]),
		  words[1] ?: "trap, election");
}

/* requests are about this fabric */
WORDS("publish", do_publish, struct setup *t)
{
	t->db.subnet = t->s;
	t->sa.view = &t->db;
}

/* what the daemon logs, and tells systemd */
WORDS("headline", do_headline, struct setup *t)
{
	struct control_view v;
	g_autofree char *line = NULL;

	look(&v, t);
	line = control_headline(&v);
	assert_has(line, words[0]);
}

/* all|N|H-N TEXT: NodeDescription */
WORDS("describe", do_describe, struct setup *t)
{
	g_autofree char *desc = g_strcompress(words[1]);
	uint32_t node = *words[0] == 'H' ?
		t->s->ports[host_port(t, (unsigned)atoi(words[0] + 2))].node :
		(uint32_t)atoi(words[0]);

	for (uint32_t i = 0; i < t->s->n_nodes; i++)
		if (i == node || strcmp(words[0], "all") == 0)
			g_strlcpy(t->s->nodes[i].desc, desc, NODE_DESC_LEN);
}

/* ATTRIBUTE N: answers of the SA */
WORDS("answered", do_answered, struct setup *t)
{
	t->desk.records[word_number(words[0])] = word_number(words[1]);
}

/* TEXT [H-N]: what the site calls it, or all */
WORDS("name", do_name, struct setup *t)
{
	g_autofree char *name = g_strcompress(words[0]);

	for (uint32_t i = 0; i < t->s->n_nodes; i++)
		if (!words[1] || i == t->s->ports[host_port(t,
				(unsigned)atoi(words[1] + 2))].node)
			t->s->nodes[i].name = (char *)g_intern_string(name);
}

/* P_KEY NAME H-N|GUID|all MEMBERSHIP [LINE] */
WORDS("rule", do_rule, struct setup *t)
{
	g_autofree char *name = g_strcompress(words[1]);
	struct partition *p = partition_rules_get(t->rules,
			word_number(words[0]));
	const struct partition_rule rule = {
		.who = strcmp(words[2], "all") ? PARTITION_GUID :
			PARTITION_ALL,
		.membership = value_of(memberships, words[3]),
		.guid = guid_of(t, words[2]),
		.line = words[4] ? (unsigned)atoi(words[4]) : 0,
	};

	if (!p->name && *name)
		p->name = g_strdup(name);
	g_array_append_val(p->rules, rule);
}

/* P_KEY NAME [defmember] */
WORDS("partition", do_partition, struct setup *t)
{
	struct partition *p = partition_rules_get(t->rules,
						  word_number(words[0]));

	if (!p->name)
		p->name = g_strdup(words[1]);
	if (words[2])
		p->defmember = value_of(memberships, words[2]);
}

/* until `refuse` or `written`: the change has not ended */
WORDS("writing written", do_writing, struct setup *t)
{
	t->is_writing = !strcmp(words[-1], "writing");
}

WORDS("refuse", do_refuse, struct setup *t)
{
	t->refusal = g_strcompress(words[0]);
}

WORDS("warn-at-reload", do_warn_at_reload, struct setup *t)
{
	t->warning = g_strdup(words[0]);
}

WORDS("own", do_own, struct setup *t)
{
	t->own = guid_of(t, words[0]);
}

WORDS("role", do_role, struct setup *t)
{
	t->sweep.self.state = SM_STATE_STANDBY;
}

/* cold|warm [WHY] */
WORDS("guest", do_guest, struct setup *t)
{
	t->sweep.params.guest = true;
}

WORDS("standby", do_standby, struct setup *t)
{
	t->standby.follows = true;
	t->standby.warm = strcmp(words[0], "cold");
	t->standby.stats = (struct sa_stats){ 12, 40, 3, 8 };
	t->standby.as_of = 98 * G_USEC_PER_SEC;
	g_free((char *)t->standby.why);
	t->standby.why = g_strdup(words[1]);
}

/* Something else than S-1-0 with its hosts. */
WORDS("expected", do_expected, struct setup *t)
{
	t->expected = expected_new();
	assert_true(state_load(&expected_part, t->expected,
			       "switch 0x77 1700000000 spine-2\n"
			       "host 0x78 0 node-05\n"
			       "link 0x77 3 0x78 1 0 4xEDR 100000\n"
			       "former 0x77 4 0x78 2 1700000000 4xEDR 1\n", 0, NULL));
	assert_int_equal(expected_accept(t->expected, NULL), 0); /* not yet */
	expected_update(t->expected, t->s, NULL, 1700000030, 0);
}

WORDS("unreached", do_unreached, struct setup *t)
{
	g_ptr_array_add(t->mcast.lost, g_strdup(words[0]));
}

/* N events, and one that is none of them */
WORDS("log", do_log, struct setup *t)
{
	for (unsigned i = 0; i < word_number(words[0]); i++) {
		t->log->generation = i / 2;
		log_say(t->log, LOG_INFO, "test", "event %u", i);
	}
	log_say(t->log, LOG_VERBOSE, "test", "detail");
}

WORDS("warn", do_warn, struct setup *t)
{
	log_say(t->log, LOG_WARNING, "test", "%s", words[0]);
}

SCRIPT(control, "control.scn", all_words, setup_new, setup_free)
