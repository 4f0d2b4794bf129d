// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What a person may ask a running manager: each request and its answer, as
 * text and as JSON, and what is no request at all. The manager is made up: a
 * generated fabric, a sweep's report of it, rules by hand, hooks that note what
 * they were called with.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/control/control.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

#define HOST_GUID	UINT64_C(0x6000000000000101)

struct setup {
	struct snapshot *s;
	struct lid_map *lids;
	struct choice choice;
	struct health verdict;
	struct status *status;
	struct partition_rules *rules;
	struct mad_client_stats wire;
	struct sa_server_stats desk;
	struct mcast_manager_stats multicast;
	GPtrArray *unreached;
	struct expected *expected;
	struct log *log;
	bool paused;
	unsigned priority;
	struct standby_status standby;
	const char *causes;	/* of the next sweep; NULL: as always */

	struct control_hooks hooks;
	enum log_level level;
	enum sm_state role;
	unsigned sweeps, reloads, changes;
	const char *refusal;	/* what reload and change say; NULL: done */
	uint16_t pkey;		/* of the last change */
	uint64_t guid;
	int membership;
	uint64_t own;		/* the port's GUID */

	GString *answer;
	const char *body;
	int code;
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
		.self = { .state = t->role, .priority = (uint8_t)t->priority },
		.level = t->level,
		.log = t->log,
		.paused = t->paused,
		.standby = t->standby,
		.status = t->status,
		.rules = t->rules,
		.wire = &t->wire,
		.desk = &t->desk,
		.multicast = &t->multicast,
		.unreached = t->unreached,
		.faults = t->expected ? expected_faults(t->expected) : NULL,
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

static bool
note_reload(GError **error, void *data)
{
	struct setup *t = data;

	t->reloads++;
	return refuse(t, error);
}

static bool
note_change(uint16_t pkey, uint64_t guid, int membership, GError **error,
	    void *data)
{
	struct setup *t = data;

	t->changes++;
	t->pkey = pkey;
	t->guid = guid;
	t->membership = membership;
	return refuse(t, error);
}

static void
note_level(enum log_level level, void *data)
{
	struct setup *t = data;

	t->level = level;
}

static void
note_pause(bool paused, void *data)
{
	((struct setup *)data)->paused = paused;
}

static void
note_priority(unsigned priority, void *data)
{
	((struct setup *)data)->priority = priority;
}

static unsigned
note_accept(const char *word, void *data)
{
	struct setup *t = data;

	return expected_accept(t->expected, word);
}

/* --- the manager --- */

static void
add_rule(struct setup *t, uint16_t pkey, const char *name, uint64_t guid,
	 enum partition_membership membership)
{
	struct partition *p = partition_rules_get(t->rules, pkey);
	const struct partition_rule rule = {
		.who = guid ? PARTITION_GUID : PARTITION_ALL,
		.membership = membership,
		.guid = guid,
	};

	if (!p->name)
		p->name = g_strdup(name);
	g_array_append_val(p->rules, rule);
}

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
	struct graph *g;

	forget_fabric(t);
	t->s = generate_fabric(spec, NULL, NULL);
	t->lids = lid_assign(t->s, 0, NULL, 0, NULL, NULL);
	g = graph_new(t->s, t->lids);
	in.g = g;
	assert_true(choose_tables(&wish, &in, &t->choice, NULL));
	graph_free(g);
	health_judge(&t->verdict, t->s, &t->choice, NULL);
}

/* A sweep ends; of what make_fabric() made if it reads a fabric. */
static void
end_sweep(struct setup *t, enum sweep_end end)
{
	const struct view view = { .subnet = t->s, .lids = t->lids };
	struct sweep_report r = {
		.end = end, .causes = t->causes ? t->causes : "trap, election",
		.took_us = 1234,
	};

	switch (end) {
	case SWEEP_END_PLANNED:
	case SWEEP_END_UP:
	case SWEEP_END_NOT_UP:
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
}

static int
setup_new(void **state)
{
	struct setup *t = g_new0(struct setup, 1);

	t->status = status_new();
	t->rules = partition_rules_default();
	t->level = LOG_INFO;
	t->priority = 7;
	t->role = SM_STATE_MASTER;
	t->own = HOST_GUID;
	t->answer = g_string_new(NULL);
	t->hooks = (struct control_hooks){
		.look = look, .sweep = note_sweep, .reload = note_reload,
		.change = note_change, .log_level = note_level,
		.accept = note_accept, .pause = note_pause,
		.priority = note_priority, .data = t,
	};
	make_fabric(t, "single(3)", "ftree");
	*state = t;
	return 0;
}

static int
setup_free(void **state)
{
	struct setup *t = *state;

	forget_fabric(t);
	status_free(t->status);
	partition_rules_unref(t->rules);
	g_string_free(t->answer, TRUE);
	g_free(t);
	return 0;
}

/* --- asking --- */

/* Asks in text, and in JSON before that where it does no harm. */
static int
ask(struct setup *t, const char *line)
{
	char *end;

	g_string_truncate(t->answer, 0);
	control_answer(&t->hooks, line, t->answer);
	assert_true(g_str_has_prefix(t->answer->str, "minism 1 "));
	t->code = (int)strtol(t->answer->str + 9, &end, 10);
	assert_int_equal(*end, '\n');
	t->body = end + 1;
	if (g_str_has_prefix(line, "json ") && t->code != CONTROL_AGAIN)
		assert_json(t->body);
	return t->code;
}

/* The answer has this code, and this in it. */
static void
expect(struct setup *t, const char *line, int code, const char *part)
{
	assert_int_equal(ask(t, line), code);
	assert_has(t->body, part);
}

#define assert_lacks(t, text)	assert_null(strstr((t)->body, text))

/* --- status --- */

TEST(test_status_before_the_first_end_is_not_up, setup_new, setup_free)
{
	struct setup *t = *state;

	expect(t, "status", CONTROL_NOT_UP, "subnet:    STARTING\n");
	assert_has(t->body,
		   "mlx5_0 port 1 (0x6000000000000101), running for 1 min 30 "
		   "s");
	assert_has(t->body, "role:      master, priority 7");
	expect(t, "json status", CONTROL_NOT_UP, "\"verdict\":\"starting\"");
}

TEST(test_status_code_follows_the_last_end, setup_new, setup_free)
{
	static const struct {
		enum sweep_end end;
		int code;
		const char *text, *json;
	} cases[] = {
		{ SWEEP_END_UP, CONTROL_DONE,
		  "subnet:    UP: 1 switches, 3 hosts", "\"verdict\":\"up\"" },
		{ SWEEP_END_FAILED, CONTROL_FAILED,
		  "subnet:    FAILED: 1 switches", "\"verdict\":\"failed\"" },
		{ SWEEP_END_UP, CONTROL_DONE, "subnet:    UP",
		  "\"error\":null" },
		{ SWEEP_END_NOT_UP, CONTROL_NOT_UP, "subnet:    NOT UP",
		  "\"verdict\":\"not up\"" },
		{ SWEEP_END_STANDBY, CONTROL_STANDBY,
		  "; the master is on S-1-0 (0x", "\"master\":\"S-1-0 (0x" },
		{ SWEEP_END_UP, CONTROL_DONE, "role:      master, priority 7\n",
		  "\"master\":null" },
	};
	struct setup *t = *state;

	t->s->nodes[0].desc[0] = '\0';
	g_strlcpy(t->s->nodes[0].desc, "S-1-0", NODE_DESC_LEN);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		end_sweep(t, cases[i].end);
		assert_int_equal(ask(t, "status"), cases[i].code);
		assert_has(t->body, cases[i].text);
		assert_int_equal(ask(t, "json status"), cases[i].code);
		assert_has(t->body, cases[i].json);
	}
}

/* Nothing of it for a master. */
TEST(test_status_says_what_a_standby_would_take_over, setup_new, setup_free)
{
	struct setup *t = *state;

	ask(t, "status");
	assert_lacks(t, "warm");
	assert_lacks(t, "WARM");
	ask(t, "json status");
	assert_has(t->body, "\"standby\":{\"warm\":false,\"why\":null}");
	ask(t, "metrics");
	assert_has(t->body, "\nminism_standby_warm 0\n");

	t->standby.follows = true;
	ask(t, "status");
	assert_has(t->body, "\nNOT WARM:  nothing is read yet\n");
	t->standby.why = "its SA does not answer";
	ask(t, "status");
	assert_has(t->body, "\nNOT WARM:  its SA does not answer\n");
	assert_lacks(t, "nothing is read");

	t->standby.warm = t->standby.whole = true;
	t->standby.stats = (struct sa_stats){ 12, 40, 3, 8 };
	t->standby.as_of = 98 * G_USEC_PER_SEC;
	t->standby.why = NULL;
	ask(t, "status");
	assert_has(t->body, "\nwarm:      12 groups with 40 members, 3 services, "
		   "8 subscriptions, as of 2 s ago\nsubnet:");
	ask(t, "json status");
	assert_has(t->body, "\"standby\":{\"warm\":true,\"groups\":12,\"members\":40,"
		   "\"services\":3,\"subscriptions\":8,\"as_of_ms\":2000");
	assert_has(t->body, "\"whole\":true,\"why\":null}");
	ask(t, "metrics");
	assert_has(t->body, "\nminism_standby_warm 1\n");
	assert_has(t->body, "\nminism_standby_age_seconds 2");

	t->standby.whole = false;
	t->standby.why = "its SA does not answer";
	ask(t, "status");
	assert_has(t->body, "\n           the master is no minism: at a takeover "
		   "clients register again\n           WARNING: not read "
		   "since: its SA does not answer\n");
}

/* Something else that is expected than S-1-0 with its hosts. */
TEST(test_status_lists_what_is_missing, setup_new, setup_free)
{
	struct setup *t = *state;

	t->expected = expected_parse("switch 0x77 1700000000 spine-2\n"
				     "host 0x78 0 node-05\n"
				     "link 0x77/3 0x78/1 0 4xEDR 100000\n",
				     "fabric", NULL);
	expected_update(t->expected, t->s, 1700000030);
	end_sweep(t, SWEEP_END_UP);
	expect(t, "status", CONTROL_DEGRADED,
	       "subnet:    DEGRADED: 1 switches, 3 hosts");
	assert_has(t->body,
		   "\n           missing switch spine-2, at node-05, since "
		   "2023-11-");
	assert_has(t->body,
		   "\n           missing host node-05, at spine-2/3, since "
		   "2023-11-");
	expect(t, "json status", CONTROL_DEGRADED, "\"verdict\":\"degraded\"");
	assert_has(t->body,
		   "\"faults\":[{\"kind\":\"switch\",\"name\":\"spine-2\","
		   "\"text\":\"at node-05\",\"guid\":\"0x0000000000000077\","
		   "\"since\":1700000000},{\"kind\":\"host\",");
	expect(t, "accept node-06", CONTROL_NOT_DONE,
	       "nothing of node-06 is missing or slow");
	expect(t, "accept 0x78", CONTROL_DONE, "1 fault is accepted");
	assert_int_equal(ask(t, "status"), CONTROL_DEGRADED);
	assert_int_equal(ask(t, "accept"), CONTROL_DONE);
	assert_int_equal(ask(t, "status"), CONTROL_DONE);
	end_sweep(t, SWEEP_END_NOT_UP);
	assert_int_equal(ask(t, "status"), CONTROL_NOT_UP);
	expected_free(t->expected);
}

TEST(test_maintenance_is_said, setup_new, setup_free)
{
	struct setup *t = *state;

	end_sweep(t, SWEEP_END_UP);
	expect(t, "json status", CONTROL_DONE, "\"paused\":false");
	assert_int_equal(ask(t, "pause"), CONTROL_DONE);
	assert_true(t->paused);
	expect(t, "pause", CONTROL_DONE, "already");
	expect(t, "status", CONTROL_DONE, "\nPAUSED:    no sweeps");
	ask(t, "json status");
	assert_has(t->body, "\"paused\":true");
	assert_int_equal(ask(t, "sweep"), CONTROL_NOT_DONE);
	assert_int_equal(ask(t, "sweep --wait"), CONTROL_NOT_DONE);
	assert_int_equal(t->sweeps, 0);
	assert_int_equal(ask(t, "resume"), CONTROL_DONE);
	assert_false(t->paused);
	assert_int_equal(ask(t, "priority"), CONTROL_DONE);
	assert_string_equal(t->body, "7\n");
	assert_int_equal(ask(t, "priority 15"), CONTROL_DONE);
	assert_string_equal(t->body, "7 -> 15, until a restart\n");
	assert_int_equal(t->priority, 15);
	assert_int_equal(ask(t, "priority 16"), CONTROL_USAGE);
	assert_int_equal(ask(t, "priority -1"), CONTROL_USAGE);
	assert_int_equal(t->priority, 15);
}

/* Each answer names the request that goes on. */
TEST(test_events_are_those_of_the_log, setup_new, setup_free)
{
	struct setup *t = *state;

	t->log = log_open("/dev/null", LOG_ERROR, NULL);
	for (unsigned i = 0; i < LOG_EVENTS + 10; i++)
		log_say(t->log, LOG_INFO, "test", "event %u", i);
	log_say(t->log, LOG_VERBOSE, "test", "detail");
	assert_int_equal(ask(t, "events"), CONTROL_DONE);
	assert_lacks(t, "event 9\n");
	assert_has(t->body, " info test: event 10\n");
	assert_lacks(t, "detail");
	expect(t, "json events 521", CONTROL_DONE,
	       "{\"events\":[{\"time\":\"20");
	assert_has(t->body,
		   "\"level\":\"info\",\"subsystem\":\"test\",\"message\":"
		   "\"event 521\"}]}\n");
	assert_int_equal(ask(t, "events 520 --follow"), CONTROL_AGAIN);
	assert_true(g_str_has_prefix(t->body, "events 522 --follow\n20"));
	assert_has(t->body, "event 521\n");
	assert_int_equal(ask(t, "json events 522 --follow"), CONTROL_AGAIN);
	assert_string_equal(t->body, "json events 522 --follow\n");
	log_say(t->log, LOG_WARNING, "test", "one \"more\"");
	expect(t, "json events 522 --follow", CONTROL_AGAIN,
	       "json events 523 --follow\n{\"time\":\"20");
	assert_has(t->body, "\"message\":\"one \\\"more\\\"\"}\n");
	assert_int_equal(ask(t, "events x"), CONTROL_USAGE);
	log_free(t->log);
}

/* Sweeps for other reasons are not the one that was asked for. */
TEST(test_a_sweep_is_waited_for, setup_new, setup_free)
{
	struct setup *t = *state;

	end_sweep(t, SWEEP_END_UP);
	assert_int_equal(ask(t, "sweep --wait"), CONTROL_AGAIN);
	assert_string_equal(t->body, "sweep 1 --wait\n");
	assert_int_equal(t->sweeps, 1);
	t->causes = "trap";
	end_sweep(t, SWEEP_END_UP);
	assert_int_equal(ask(t, "sweep 1 --wait"), CONTROL_AGAIN);
	assert_int_equal(t->sweeps, 1);
	t->causes = "signal, trap";
	end_sweep(t, SWEEP_END_NOT_UP);
	expect(t, "sweep 1 --wait", CONTROL_NOT_UP, " ms: not up\n");
	end_sweep(t, SWEEP_END_UP);
	expect(t, "json sweep 1 --wait", CONTROL_DONE,
	       "{\"done\":true,\"message\":\"swept in ");
	assert_int_equal(ask(t, "sweep 1"), CONTROL_USAGE);
}

/* A member of a group that no tree reaches: the subnet is not up. */
TEST(test_status_names_members_without_multicast, setup_new, setup_free)
{
	char line[] = "multicast group 0xc000 does not reach node-7 (...)";
	struct setup *t = *state;

	t->unreached = g_ptr_array_new();
	end_sweep(t, SWEEP_END_UP);
	assert_int_equal(ask(t, "status"), CONTROL_DONE);
	g_ptr_array_add(t->unreached, line);
	expect(t, "status", CONTROL_NOT_UP, "subnet:    NOT UP");
	assert_has(t->body, line);
	expect(t, "json status", CONTROL_NOT_UP, "\"verdict\":\"not up\"");
	assert_has(t->body,
		   "\"multicast_unreached\":[\"multicast group 0xc000");
	g_ptr_array_unref(t->unreached);
}

TEST(test_status_has_every_complaint, setup_new, setup_free)
{
	struct setup *t = *state;

	/* none of a generated fabric's ports is Active */
	assert_int_equal(t->verdict.lines->len, 6);
	end_sweep(t, SWEEP_END_NOT_UP);
	ask(t, "status");
	for (guint i = 0; i < t->verdict.lines->len; i++)
		assert_has(t->body, t->verdict.lines->pdata[i]);
	ask(t, "json status");
	for (guint i = 0; i < t->verdict.lines->len; i++)
		assert_has(t->body, t->verdict.lines->pdata[i]);
	end_sweep(t, SWEEP_END_FAILED);
	ask(t, "status");
	assert_has(t->body, "our own port does not answer");
	assert_lacks(t, "not Active");
}

/* Issue of old: a loop must be seen by who looks, not only by the log. */
TEST(test_status_prints_the_circle_of_a_credit_loop, setup_new, setup_free)
{
	struct setup *t = *state;
	const GArray *cycle;
	struct graph *g;

	make_fabric(t, "ring(5;1)", "minhop");
	cycle = t->choice.alone.channels.cycle;
	assert_non_null(cycle);
	assert_int_equal(t->choice.safety, CHOICE_LOOP);
	end_sweep(t, SWEEP_END_UP);
	g = graph_new(t->s, t->lids);
	for (int json = 0; json < 2; json++) {
		assert_int_equal(ask(t, json ? "json status" : "status"),
				 CONTROL_DONE);
		for (guint i = 0; i < cycle->len; i++) {
			const struct channel_turn *turn =
				&g_array_index(cycle, struct channel_turn, i);
			const struct graph_edge *e = &g->edges[turn->edge];
			const struct snapshot_node *n = &t->s->nodes[
				t->s->switches[g->edges[e->back].peer]];
			g_autofree char *line = g_strdup_printf(json ?
				"{\"switch\":\"%s\",\"guid\":\"0x%016"
				G_GINT64_MODIFIER "x\",\"port\":%u,"
				"\"lid\":%u}" : "'%s' (0x%016"
				G_GINT64_MODIFIER "x) port %u, with packets "
				"to LID %u, waits for", n->desc,
				n->info.node_guid, e->port, turn->lid);

			assert_has(t->body, line);
		}
	}
	graph_free(g);
	assert_has(t->body, "\"safety\":\"credit loop\"");
	ask(t, "status");
	assert_has(t->body, "CREDIT LOOP");

	/* and it is gone when the next tables have none */
	make_fabric(t, "ring(5;1)", "updn");
	end_sweep(t, SWEEP_END_UP);
	ask(t, "status");
	assert_lacks(t, "CREDIT LOOP");
}

TEST(test_status_remembers_the_last_sweeps, setup_new, setup_free)
{
	struct setup *t = *state;
	unsigned n = 0;

	for (unsigned i = 0; i < 3 * STATUS_SWEEPS; i++)
		end_sweep(t, i % 2 ? SWEEP_END_UP : SWEEP_END_FAILED);
	ask(t, "status");
	assert_has(t->body, "24 in all, of them repairs 0");
	for (const char *c = t->body; (c = strstr(c, " ago: ")); c++)
		n++;
	assert_int_equal(n, STATUS_SWEEPS);
	assert_has(t->body,
		   "10 s ago: up, took 1.2 ms (trap, election)\n           10 "
		   "s ago: failed");
	ask(t, "json status");
	assert_has(t->body,
		   "{\"ago_ms\":10000.000,\"took_ms\":1.234,\"causes\":\"trap, "
		   "election\",\"end\":\"up\"}");
}

TEST(test_hostile_names_stay_valid_json, setup_new, setup_free)
{
	struct setup *t = *state;

	for (uint32_t i = 0; i < t->s->n_nodes; i++)
		memcpy(t->s->nodes[i].desc, "a\"b\\c\x01\n\xff{]", 11);
	add_rule(t, 5, "x\"\\\n\x80", 0, PARTITION_FULL);
	health_clear(&t->verdict);
	health_judge(&t->verdict, t->s, &t->choice, NULL);
	end_sweep(t, SWEEP_END_NOT_UP);
	ask(t, "json status");
	ask(t, "json partitions");
	ask(t, "json \"\x01\\\"\"");
	ask(t, "json partition add 5 \"\x02\\\\\xfe\"");
}

/* --- partitions --- */

static uint64_t
host(const struct setup *t, unsigned nth)
{
	for (uint32_t port = 0; port < t->s->n_ports; port++)
		if (snapshot_node_of(t->s, port)->info.node_type == NODE_CA &&
		    snapshot_is_end_port(t->s, port) && nth-- == 0)
			return t->s->ports[port].guid;
	return 0;
}

TEST(test_partitions_lists_members_and_who_is_away, setup_new, setup_free)
{
	struct setup *t = *state;
	g_autofree char *line = NULL;

	end_sweep(t, SWEEP_END_UP);
	add_rule(t, 0x10, "Storage", host(t, 0), PARTITION_FULL);
	add_rule(t, 0x10, NULL, host(t, 1), PARTITION_LIMITED);
	add_rule(t, 0x10, NULL, host(t, 2), PARTITION_FULL);
	add_rule(t, 0x10, NULL, host(t, 2), PARTITION_NONE);
	add_rule(t, 0x10, NULL, 0xabc, PARTITION_FULL);
	add_rule(t, 0x10, NULL, 0xabd, PARTITION_FULL);
	add_rule(t, 0x10, NULL, 0xabd, PARTITION_NONE);
	add_rule(t, 0x11, NULL, host(t, 0), PARTITION_BOTH);

	expect(t, "partitions", CONTROL_DONE,
	       "Default 0x7fff: 4 full, 0 limited, 0 both");
	assert_has(t->body,
		   "Storage 0x0010: 1 full, 1 limited, 0 both; SL 0\n");
	assert_has(t->body, "\n0x0011: 0 full, 0 limited, 1 both");
	assert_has(t->body, "  full     0x0000000000000abc (away)\n");
	assert_lacks(t, "abd");

	assert_int_equal(ask(t, "partitions Storage"), CONTROL_DONE);
	line = g_strdup_printf("  limited  0x%016" G_GINT64_MODIFIER "x H-1\n",
			       host(t, 1));
	assert_has(t->body, line);
	assert_lacks(t, "H-2");
	assert_lacks(t, "Default");
	expect(t, "json partitions 0x8011", CONTROL_DONE,
	       "{\"partitions\":[{\"name\":null,\"pkey\":\"0x0011\"");
	assert_has(t->body, "\"membership\":\"both\"");
	assert_int_equal(ask(t, "partitions storage"), CONTROL_USAGE);
	assert_string_equal(t->body, "storage is no partition; the nearest is "
			    "Storage\n");
}

/* As they stand in the map of names, whatever the language. */
TEST(test_nodes_go_by_the_names_of_their_site, setup_new, setup_free)
{
	struct setup *t = *state;

	for (uint32_t i = 0; i < t->s->n_nodes; i++)
		t->s->nodes[i].name = "R\303\244ck 1";
	end_sweep(t, SWEEP_END_UP);
	add_rule(t, 0x10, "Storage", host(t, 0), PARTITION_FULL);
	expect(t, "partitions Storage", CONTROL_DONE, " R\303\244ck 1\n");
	assert_lacks(t, "H-0");
	expect(t, "json partitions 0x10", CONTROL_DONE, "\"R\303\244ck 1\"");
}

TEST(test_partitions_without_a_fabric_has_names_only, setup_new, setup_free)
{
	struct setup *t = *state;

	add_rule(t, 0x10, "Storage", 0xabc, PARTITION_FULL);
	expect(t, "partitions", CONTROL_DONE, "Default 0x7fff: 0 full");
	assert_has(t->body, "0x0000000000000abc (away)");
}

TEST(test_long_partitions_are_cut_unless_named, setup_new, setup_free)
{
	struct setup *t = *state;
	size_t all;

	make_fabric(t, "single(100)", "ftree");
	end_sweep(t, SWEEP_END_UP);
	ask(t, "partitions");
	assert_has(t->body, ": 101 full");
	assert_has(t->body, "  and 37 more: partitions 0x7fff\n");
	all = strlen(t->body);
	ask(t, "json partitions");
	assert_has(t->body, "\"not_listed\":37");
	ask(t, "partitions Default");
	assert_lacks(t, "more");
	assert_true(strlen(t->body) > all);
	ask(t, "json partitions Default");
	assert_has(t->body, "\"not_listed\":0");
}

/* Before the first sweep ends no fabric says what a GUID is. */
TEST(test_partition_passes_changes_on, setup_new, setup_free)
{
	static const struct {
		const char *line;
		uint16_t pkey;
		uint64_t guid;
		int membership;
		const char *says;
	} cases[] = {
		{ "partition add Storage 0xabc=full", 0x10, 0xabc,
		  PARTITION_FULL, "port (0x0000000000000abc): Storage "
		  "(0x0010): none -> full\n" },
		{ "partition add Storage abc", 0x10, 0xabc,
		  PARTITION_LIMITED, "Storage (0x0010): none -> limited\n" },
		{ "partition add 0x10 0xabc=limited", 0x10, 0xabc,
		  PARTITION_LIMITED, "none -> limited" },
		{ "partition add 0x8010 0xabc=both", 0x10, 0xabc,
		  PARTITION_BOTH, "none -> both" },
		{ "partition add 16 0xABC=both", 0x10, 0xabc,
		  PARTITION_BOTH, "Storage (0x0010)" },
		{ "partition add 32767 1=full", 0x7fff, 1, PARTITION_FULL,
		  "Default (0x7fff): full, as before\n" },
		{ "partition add '7' 1=full", 0x12, 1, PARTITION_FULL,
		  "7 (0x0012)" },
		{ "partition add 'two words' 1=full", 0x13, 1,
		  PARTITION_FULL, "two words (0x0013)" },
		{ "partition set Storage abc limited", 0x10, 0xabc,
		  PARTITION_LIMITED, "none -> limited" },
		{ "partition set 7 abc limited", 0x12, 0xabc,
		  PARTITION_LIMITED, "full -> limited" },
		{ "partition remove 7 0xabc", 0x12, 0xabc,
		  PARTITION_NONE, "7 (0x0012): full -> none" },
		{ "partition reset Storage 0xabc", 0x10, 0xabc, -1,
		  "Storage (0x0010): none, as before" },
	};
	struct setup *t = *state;

	add_rule(t, 0x10, "Storage", 1, PARTITION_FULL);
	add_rule(t, 0x12, "7", 0, PARTITION_FULL);
	add_rule(t, 0x13, "two words", 0, PARTITION_FULL);
	add_rule(t, 0x07, "seven", 0, PARTITION_FULL);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		assert_int_equal(ask(t, cases[i].line), CONTROL_DONE);
		assert_int_equal(t->changes, i + 1);
		assert_int_equal(t->pkey, cases[i].pkey);
		assert_int_equal(t->guid, cases[i].guid);
		assert_int_equal(t->membership, cases[i].membership);
		assert_has(t->body, cases[i].says);
	}
	t->refusal = "no space left on the disk";
	assert_int_equal(ask(t, "partition add Storage 1"), CONTROL_NOT_DONE);
	assert_string_equal(t->body, "no space left on the disk\n");
	assert_int_equal(ask(t, "json partition add Storage 1"),
			 CONTROL_NOT_DONE);
	assert_string_equal(t->body, "{\"done\":false,\"message\":\"no space "
			    "left on the disk\"}\n");
}

/* With the GUID of a host for the %: what comes of it, or what is said. */
static void
expect_change(struct setup *t, const char *format, unsigned nth,
	      int membership, const char *says)
{
	g_autofree char *guid = g_strdup_printf("0x%" G_GINT64_MODIFIER "x",
						host(t, nth));
	g_auto(GStrv) parts = g_strsplit(format, "%", 2);
	g_autofree char *line = g_strjoinv(guid, parts);
	unsigned before = t->changes;

	assert_int_equal(ask(t, line), CONTROL_DONE);
	assert_int_equal(t->changes, before + 1);
	assert_int_equal(t->guid, host(t, nth));
	assert_int_equal(t->membership, membership);
	assert_has(t->body, says);
}

TEST(test_add_never_lowers_and_set_does, setup_new, setup_free)
{
	struct setup *t = *state;
	struct partition *p;

	end_sweep(t, SWEEP_END_UP);
	add_rule(t, 0x10, "Red", host(t, 0), PARTITION_FULL);
	add_rule(t, 0x10, NULL, host(t, 1), PARTITION_BOTH);
	add_rule(t, 0x10, NULL, host(t, 2), PARTITION_LIMITED);
	expect_change(t, "partition add Red %", 0, PARTITION_FULL,
		      "full, as before");
	expect_change(t, "partition add Red %=limited", 0, PARTITION_FULL,
		      "full, as before");
	expect_change(t, "partition add Red %=full", 1, PARTITION_BOTH,
		      "both, as before");
	expect_change(t, "partition add Red %=full", 2, PARTITION_FULL,
		      "limited -> full");
	expect_change(t, "partition set Red % limited", 0, PARTITION_LIMITED,
		      "full -> limited");
	expect_change(t, "partition set Red % full", 1, PARTITION_FULL,
		      "both -> full");
	/* and a rule for all ports counts as one for this */
	expect_change(t, "partition add Default %=limited", 2, PARTITION_FULL,
		      "full, as before");

	p = partition_rules_get(t->rules, 0x20);
	p->name = g_strdup("Blue");
	expect_change(t, "partition add Blue %", 2, PARTITION_LIMITED,
		      "none -> limited");
	p->defmember = PARTITION_FULL;
	expect_change(t, "partition add Blue %", 2, PARTITION_FULL,
		      "none -> full");
	expect_change(t, "partition add Blue %=limited", 2, PARTITION_LIMITED,
		      "none -> limited");
}

/* A change that was made at run time is of no line of the file. */
TEST(test_reset_says_what_the_file_has, setup_new, setup_free)
{
	struct setup *t = *state;
	struct partition_rule rule = {
		.who = PARTITION_GUID, .guid = host(t, 0),
		.membership = PARTITION_LIMITED, .line = 3,
	};
	struct partition *p = partition_rules_get(t->rules, 0x10);

	p->name = g_strdup("Red");
	end_sweep(t, SWEEP_END_UP);
	g_array_append_val(p->rules, rule);
	rule.line = 0;
	rule.membership = PARTITION_FULL;
	g_array_append_val(p->rules, rule);
	expect_change(t, "partition reset Red %", 0, -1, "full -> limited\n");
}

TEST(test_ports_go_by_the_names_of_their_nodes, setup_new, setup_free)
{
	struct setup *t = *state;
	uint32_t a, b;
	char name[] = "Rack 7";

	end_sweep(t, SWEEP_END_UP);
	add_rule(t, 0x10, "Red", 1, PARTITION_FULL);
	a = t->s->ports[snapshot_find_port(t->s, host(t, 0))].node;
	b = t->s->ports[snapshot_find_port(t->s, host(t, 1))].node;
	g_strlcpy(t->s->nodes[a].desc, "node-01", NODE_DESC_LEN);
	g_strlcpy(t->s->nodes[b].desc, "node=02", NODE_DESC_LEN);
	expect_change(t, "partition add Red node-01", 0, PARTITION_LIMITED,
		      "node-01 (0x");
	expect_change(t, "partition add Red node-01=full", 0, PARTITION_FULL,
		      "none -> full");
	expect_change(t, "partition set Red node=02 full", 1, PARTITION_FULL,
		      "node=02 (0x");

	/* the name of the site's map, and the description still */
	t->s->nodes[a].name = name;
	expect_change(t, "partition add Red 'Rack 7'", 0, PARTITION_LIMITED,
		      "Rack 7 (0x");
	expect_change(t, "partition add Red node-01", 0, PARTITION_LIMITED,
		      "Rack 7 (0x");
	expect(t, "partition add Red node-1", CONTROL_USAGE,
	       "nothing on the fabric has the name or GUID node-1\n");
	expect(t, "partition add Red 'Rack 8'", CONTROL_USAGE,
	       "; the nearest is Rack 7\n");

	/* of two it is not said which */
	g_strlcpy(t->s->nodes[b].desc, "node-01", NODE_DESC_LEN);
	t->changes = 0;
	expect(t, "partition remove Red node-01", CONTROL_USAGE,
	       "node-01 means 2 ports; say which one by its GUID:\n0x");
	assert_has(t->body, " Rack 7\n");
	assert_has(t->body, " node-01\n");
	assert_int_equal(t->changes, 0);
	t->s->nodes[a].name = NULL;
}

TEST(test_guids_that_are_no_port, setup_new, setup_free)
{
	struct setup *t = *state;
	g_autofree char *node = g_strdup_printf("partition add Default %"
		G_GINT64_MODIFIER "x", host(t, 0) - 1);

	end_sweep(t, SWEEP_END_UP);
	expect_change(t, "partition add Default %", 0, PARTITION_FULL,
		      "Default (0x7fff): full, as before\n");
	/* a NodeGUID means the only port of the node */
	assert_int_equal(ask(t, node), CONTROL_DONE);
	assert_int_equal(t->guid, host(t, 0));
	t->changes = 0;
	expect(t, "partition add Default 0x9999999", CONTROL_USAGE,
	       "there is no port 0x9999999 on the fabric; the GUID of one that "
	       "is away is written with all 16 digits");
	assert_int_equal(ask(t, "partition add Default 00000009999999"),
			 CONTROL_USAGE);
	assert_int_equal(t->changes, 0);
	assert_int_equal(ask(t, "partition add Default 0x0000000009999999"),
			 CONTROL_DONE);
	assert_int_equal(t->guid, 0x9999999);
	assert_has(t->body, "no such port on the fabric now");
	t->role = SM_STATE_STANDBY;
	expect_change(t, "partition add Default %", 0, PARTITION_FULL,
		      "not the master");
}

/* The SA is reached in the default partition, by its full member. */
TEST(test_the_own_port_stays_unless_it_is_forced, setup_new, setup_free)
{
	static const struct {
		const char *line;
		bool refused;
	} cases[] = {
		{ "partition remove Default %", true },
		{ "partition set Default % limited", true },
		{ "partition set Default % both", false },
		{ "partition remove Red %", false },
		{ "partition set Red % limited", false },
		{ "partition add Default %=limited", false },
	};
	struct setup *t = *state;

	t->own = host(t, 1);
	add_rule(t, 0x10, "Red", host(t, 1), PARTITION_FULL);
	end_sweep(t, SWEEP_END_UP);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *guid = g_strdup_printf("%016"
			G_GINT64_MODIFIER "x", host(t, 1));
		g_auto(GStrv) parts = g_strsplit(cases[i].line, "%", 2);
		g_autofree char *line = g_strjoinv(guid, parts);
		g_autofree char *forced = g_strconcat(line, " --force", NULL);

		t->changes = 0;
		assert_int_equal(ask(t, line), cases[i].refused ?
				 CONTROL_NOT_DONE : CONTROL_DONE);
		assert_int_equal(t->changes, !cases[i].refused);
		if (cases[i].refused)
			assert_has(t->body,
				   "runs this subnet manager, and without full "
				   "membership of Default (0x7fff) other ports "
				   "lose the SA; --force");
		assert_int_equal(ask(t, forced), CONTROL_DONE);
		assert_int_equal(t->guid, host(t, 1));
	}
	/* another port may leave */
	expect_change(t, "partition remove Default %", 0, PARTITION_NONE,
		      "full -> none");

	/* where it is a full member of one partition only, that is the one */
	add_rule(t, PKEY_DEFAULT, NULL, host(t, 1), PARTITION_LIMITED);
	t->changes = 0;
	{
		g_autofree char *line = g_strdup_printf("partition remove Red %"
			G_GINT64_MODIFIER "x", host(t, 1));

		assert_int_equal(ask(t, line), CONTROL_NOT_DONE);
		assert_int_equal(t->changes, 0);
	}
}

/* --- what is no request --- */

static const struct {
	const char *line;
	const char *says;
} bad_lines[] = {
	{ "", "a quote is not closed" },
	{ "  ", "a quote is not closed" },
	{ "# status", "a quote is not closed" },
	{ "'status", "a quote is not closed" },
	{ "json", "there is no command json; see help" },
	{ "stauts", "there is no command stauts; the nearest is status; see "
	  "help" },
	{ "partitons", "the nearest is partitions" },
	{ "''", "there is no command \"\"" },
	{ "status now", "status: too many arguments; usage:\nstatus\n" },
	{ "sweep sweep", "too many arguments" },
	{ "reload 1", "too many arguments" },
	{ "partition", "an argument is missing; usage:\npartition add "
	  "NAME|PKEY NODE|GUID[=full|limited|both]\npartition set" },
	{ "partition add Default", "an argument is missing" },
	{ "partition add Default 1 2", "too many arguments" },
	{ "partition ad Default 1", "ad is not add, set, remove or reset; "
	  "the nearest is add" },
	{ "partition add Defualt 1", "Defualt is no partition; the nearest is "
	  "Default" },
	{ "partition add 0x10 1", "0x10 is no partition" },
	{ "partition add 0x8000 1", "0x8000 is no partition" },
	{ "partition add 0x17fff 1", "0x17fff is no partition" },
	{ "partition add Default x",
	  "nothing on the fabric has the name or GUID x" },
	{ "partition add Default ''", "name or GUID \"\"" },
	{ "partition add Default =full", "name or GUID \"\"" },
	{ "partition add Default 12345678123456781",
	  "name or GUID 12345678123456781" },
	{ "partition add Default 1=ful", "ful is not full, limited or both; "
	  "the nearest is full" },
	{ "partition add Default 1=", "\"\" is not full, limited or both" },
	{ "partition add Default 1=full=full", "name or GUID 1=full" },
	{ "partition remove Default 1=full", "name or GUID 1=full" },
	{ "partition set Default 1", "an argument is missing; usage:" },
	{ "partition set Default 1 none", "none is not full, limited or "
	  "both" },
	{ "partition remove Default 1 full", "too many arguments" },
	{ "partition --force", "an argument is missing" },
	{ "status --force", "status does not take that option" },
	{ "path 1 2 --force", "path does not take that option" },
	{ "path 1 2 3", "too many arguments" },
	{ "loglevel 5", "loglevel: 5 is not 0 to 4" },
	{ "loglevel warn", "the nearest is warning" },
	{ "loglevel ''", "is not 0 to 4" },
};

TEST(test_what_is_no_request_does_nothing, setup_new, setup_free)
{
	struct setup *t = *state;

	for (size_t i = 0; i < G_N_ELEMENTS(bad_lines); i++) {
		g_autofree char *json = g_strdup_printf("json %s",
							bad_lines[i].line);

		assert_int_equal(ask(t, bad_lines[i].line), CONTROL_USAGE);
		assert_has(t->body, bad_lines[i].says);
		if (!strchr(bad_lines[i].line, '#') && i > 4)
			assert_int_equal(ask(t, json), CONTROL_USAGE);
	}
	assert_int_equal(t->sweeps + t->reloads + t->changes, 0);
	assert_int_equal(t->level, LOG_INFO);
}

TEST(test_long_lines_are_refused_and_not_repeated, setup_new, setup_free)
{
	struct setup *t = *state;
	g_autofree char *line = g_strnfill(CONTROL_LINE_MAX - 1, 'x');
	g_autofree char *longer = g_strnfill(CONTROL_LINE_MAX, 'x');

	expect(t, line, CONTROL_USAGE, "there is no command");
	assert_true(strlen(t->body) < 200);
	expect(t, longer, CONTROL_USAGE, "too long");
}

/* --- the rest --- */

TEST(test_sweep_and_reload_are_passed_on, setup_new, setup_free)
{
	struct setup *t = *state;

	assert_int_equal(ask(t, "sweep"), CONTROL_DONE);
	assert_int_equal(t->sweeps, 1);
	assert_int_equal(ask(t, "reload"), CONTROL_DONE);
	assert_int_equal(ask(t, "json reload"), CONTROL_DONE);
	assert_string_equal(t->body, "{\"done\":true,\"message\":\"read again; "
			    "a heavy sweep begins\"}\n");
	assert_int_equal(t->reloads, 2);
	t->refusal = "p.conf:3:1: what\np.conf:4:1: else";
	assert_int_equal(ask(t, "reload"), CONTROL_NOT_DONE);
	assert_string_equal(t->body, "p.conf:3:1: what\np.conf:4:1: else\n"
			    "what was in force stays in force\n");
}

TEST(test_loglevel_by_name_and_number, setup_new, setup_free)
{
	struct setup *t = *state;

	assert_int_equal(ask(t, "loglevel"), CONTROL_DONE);
	assert_string_equal(t->body, "info\n");
	assert_int_equal(ask(t, "loglevel debug"), CONTROL_DONE);
	assert_int_equal(t->level, LOG_DEBUG);
	assert_int_equal(ask(t, "loglevel 0"), CONTROL_DONE);
	assert_int_equal(t->level, LOG_ERROR);
	assert_string_equal(t->body, "error\n");
	assert_int_equal(ask(t, "loglevel 4"), CONTROL_DONE);
	assert_int_equal(t->level, LOG_DEBUG);
}

TEST(test_help_has_every_command, setup_new, setup_free)
{
	static const char *const commands[] = {
		"sweep\n", "reload\n", "partitions [NAME|PKEY]\n",
		"partition add", "partition set", "partition remove",
		"partition reset", "loglevel [LEVEL]\n",
	};
	struct setup *t = *state;

	expect(t, "help", CONTROL_DONE, "status\n");
	for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
		assert_has(t->body, commands[i]);
}
