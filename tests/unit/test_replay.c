// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Record and replay: the discovery and programming of a fake fabric, which
 * loses answers now and then, are recorded and played again; what was changed
 * on either side is found at its place, and a record that is cut off or
 * damaged is an error.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <glib/gstdio.h>

#include "routing/engine.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "sm/sweep/discover.h"
#include "sm/io/record.h"
#include "sm/io/replay.h"
#include "sm/io/capture.h"
#include "sm/sweep/program.h"
#include "tests/lib/fake.h"
#include "tests/lib/folder.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

static const struct mad_client_params wire = {
	.timeout_ms = 10, .retries = 3, .max_wire = 16,
};

/* --------------------------------------------- a subnet manager in small */

/* Everything that the runs of one test may differ in. */
struct run {
	struct mad_client_params params;
	struct mkey_db *keys;
	bool discover_only;
	/* results */
	uint32_t nodes, steps, done;
};

/* Lets the transport play until nothing more comes. */
typedef void (*play_fn)(struct transport *carrier);

static void
play_fake(struct transport *carrier)
{
	assert_true(scripted_run_idle(carrier, 600 * G_USEC_PER_SEC));
}

static void
play_replay(struct transport *carrier)
{
	while (replay_step(carrier))
		;
}

static void
on_found(struct snapshot *s, void *data)
{
	*(struct snapshot **)data = s;
}

static void
on_programmed(struct program_result *r, void *data)
{
	((struct run *)data)->done = r->done;
	program_result_clear(r);
}

static void
program_fabric(struct run *run, struct mad_client *x, struct snapshot *s,
	       play_fn play, struct transport *carrier)
{
	AUTO(lid_map) *lids = lid_assign(s, 0, NULL, 0, NULL, NULL);
	AUTO(lft) *lft = engine_tables(&engine_minhop, s, lids);
	AUTO(lft_seen) *seen = lft_seen_new(s->n_switches, lids->top);
	struct desired w = {
		.policy = &policy_default, .lids = lids, .lft = lft,
		.sm_lid = lids->base[s->local_port],
	};
	AUTO(plan) *plan;
	struct program *p;

	plan = plan_diff(s, &w, seen, NULL, NULL);
	run->steps = plan->n_steps;
	run->done = UINT32_MAX;
	p = program_start(x, run->keys, s, &w, plan, seen, NULL, on_programmed,
			  run);
	play(carrier);
	if (run->done == UINT32_MAX)
		program_cancel(p);
}

/* t: what the transactions use; carrier: what is played, t or behind it. */
static void
run_sm(struct run *run, struct transport *t, play_fn play,
       struct transport *carrier)
{
	struct mad_client *x = mad_client_new(t, &run->params);
	struct snapshot *found = NULL;
	struct discover *d = discover_start(x, run->keys, NULL, on_found, &found);

	play(carrier);
	if (!found) {
		discover_cancel(d);
	} else {
		run->nodes = found->n_nodes;
		if (!run->discover_only && found->n_nodes > 0)
			program_fabric(run, x, found, play, carrier);
		snapshot_unref(found);
	}
	mad_client_free(x);
}

/* ------------------------------------------------------------ files on disk */

struct files {
	char *folder, *a, *b;
};

static int
make_files(void **state)
{
	struct files *f = g_new0(struct files, 1);

	f->folder = g_dir_make_tmp("test_replay_XXXXXX", NULL);
	f->a = g_build_filename(f->folder, "a.record", NULL);
	f->b = g_build_filename(f->folder, "b.record", NULL);
	*state = f;
	return f->folder ? 0 : -1;
}

static int
remove_files(void **state)
{
	struct files *f = *state;

	folder_remove(f->folder);
	g_free(f->folder);
	g_free(f->a);
	g_free(f->b);
	g_free(f);
	return 0;
}

/* Loses one answer in n, beginning with the n-th. */
static bool
tamper_lose(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	unsigned *n = data;

	return ++n[1] % n[0] != 0;
}

static void
record_to(const char *path, const char *spec, struct run *run, unsigned lose)
{
	const struct generate_options o = { .seed = 3 };
	AUTO(snapshot) *s = generate_fabric(spec, &o, NULL);
	struct fake *f = fake_new(s);
	unsigned counts[2] = { lose, 0 };
	struct transport *t = f->t;
	struct capture *tap = capture_open(&t, path, "+--once\n", NULL, NULL);

	assert_non_null(tap);
	fake_tamper(f, tamper_lose, counts);
	run_sm(run, t, play_fake, f->t);
	assert_true(capture_close(tap, NULL));
	f->t = NULL;
	fake_free(f);
}

/* The text of the difference, NULL if there was none. */
static char *
replay_from(const char *path, struct run *run, uint64_t *events)
{
	GError *error = NULL;
	struct transport *t = replay_open(path, &error);
	char *text = NULL;

	if (!t)
		fail_msg("%s", error->message);
	run_sm(run, t, play_replay, t);
	if (!replay_finish(t, &error)) {
		assert_gerror(error, REPLAY_ERROR, REPLAY_ERROR_DIFFERENCE);
		text = g_strdup(error->message);
		g_error_free(error);
	}
	if (events)
		*events = replay_events(t);
	transport_free(t);
	return text;
}

static void
expect_difference(const char *path, struct run *run, const char *begin,
		  const char *part)
{
	g_autofree char *text = replay_from(path, run, NULL);

	assert_non_null(text);
	if (!g_str_has_prefix(text, begin) || !strstr(text, part))
		fail_msg("difference is: %s", text);
}

#define FILES_TEST(name) \
	TEST_WITH(name, const struct files *files, make_files, remove_files)

/* ------------------------------------------------------------------- tests */

FILES_TEST(test_replay_takes_the_same_decisions)
{
	static const char *const specs[] = {
		"pair()", "single(5)", "PGFT(4,8;1,4)", "random(10,4,2)",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		struct run then = { .params = wire }, now = then;
		uint64_t events;
		char *text;

		record_to(files->a, specs[i], &then, 7);
		text = replay_from(files->a, &now, &events);
		if (text)
			fail_msg("%s", text);
		assert_true(then.nodes > 1 && then.steps > 1);
		assert_int_equal(now.nodes, then.nodes);
		assert_int_equal(now.steps, then.steps);
		assert_int_equal(now.done, then.done);
		/* of each step: send, answer, clock.. */
		assert_true(events > 3 * then.steps);
	}
}

/* The keys of the fabric are in it: for its owner alone, also if a file was
 * there that anybody could read. */
FILES_TEST(test_record_is_for_its_owner)
{
	struct run run = { .params = wire };
	GStatBuf st;

	for (unsigned i = 0; i < 2; i++) {
		record_to(files->a, "single(4)", &run, 1000);
		assert_int_equal(g_stat(files->a, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		assert_int_equal(g_chmod(files->a, 0644), 0);
	}
}

FILES_TEST(test_same_run_makes_the_same_file)
{
	struct run run = { .params = wire };
	g_autofree char *a = NULL, *b = NULL;
	gsize len_a, len_b;

	record_to(files->a, "ring(6;2)", &run, 5);
	record_to(files->b, "ring(6;2)", &run, 5);
	assert_true(g_file_get_contents(files->a, &a, &len_a, NULL));
	assert_true(g_file_get_contents(files->b, &b, &len_b, NULL));
	assert_int_equal(len_a, len_b);
	assert_memory_equal(a, b, len_a);
}

FILES_TEST(test_port_is_that_of_the_record)
{
	struct transport *t = scripted_new();
	struct capture *c;

	t->port_guid = 0x0123456789abcdef;
	t->port_num = 2;
	c = capture_open(&t, files->a, "+--once\n", NULL, NULL);
	assert_string_equal(t->name, "scripted");
	assert_true(capture_close(c, NULL));
	t = replay_open(files->a, NULL);
	assert_string_equal(t->name, "scripted");
	assert_true(t->port_guid == 0x0123456789abcdef);
	assert_int_equal(t->port_num, 2);
	assert_true(replay_finish(t, NULL));
	transport_free(t);
}

/* What is changed in the run that is replayed is found where it is first seen.
 * Before event 6: looks at the clock and timers, since the first request is
 * sent from the main loop. */
FILES_TEST(test_changed_run_is_found_at_its_place)
{
	AUTO(mkey_db) *keys = mkey_db_new(0xab00000000000000, MKEY_DB_ONE);
	const struct mad_client_params slow = {
		.timeout_ms = 11, .retries = 3, .max_wire = 16,
	}, narrow = {
		.timeout_ms = 10, .retries = 3, .max_wire = 3,
	};
	const struct {
		const char *spec;
		struct run now;
		const char *begin, *part;
	} cases[] = {
		{ "single(4)", { .params = wire, .keys = keys },
		  "event 6 at 0.000000 s: a MAD to LID 65535, QP 0 of class "
		  "0x81 Get(NodeInfo)",
		  "different from byte 24 on\n"
		  "0010 recorded 00 11 00 00 00 00 00 00 "
		  ".. .. .. .. .. .. .. ..\n"
		  "0010 replayed 00 11 00 00 00 00 00 00 "
		  ".. .. .. .. .. .. .. .." },
		{ "single(12)", { .params = slow }, "event 6 at 0.000000 s",
		  "the address differs\n"
		  "recorded LID 65535, QP 0, Q_Key 0x0, P_Key index 0, SL 0, "
		  "timeout 40 ms\n"
		  "replayed LID 65535, QP 0, Q_Key 0x0, P_Key index 0, SL 0, "
		  "timeout 44 ms" },
		{ "single(12)", { .params = narrow }, "event ",
		  "recorded: " },
		{ "pair()", { .params = wire, .discover_only = true },
		  "event ",
		  "recorded: a look at the clock; replayed: nothing" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct run then = { .params = wire }, now = cases[i].now;

		record_to(files->a, cases[i].spec, &then, 1000);
		expect_difference(files->a, &now, cases[i].begin,
				  cases[i].part);
	}
}

/* Copies the record a to b; of the n-th event of a kind one byte of the MAD
 * is changed. Returns the event's number, from 1. */
static uint64_t
change_byte(const struct files *files, enum record_kind kind, unsigned n,
	    unsigned at)
{
	g_autofree char *bytes = NULL;
	g_autoptr(GByteArray) out = g_byte_array_new();
	struct record_writer w;
	struct transport port;
	const char *options;
	struct record_event e;
	struct record_reader *r;
	uint64_t number = 0, events = 0;
	gsize len;

	assert_true(g_file_get_contents(files->a, &bytes, &len, NULL));
	r = record_reader_new((uint8_t *)bytes, len, &port, &options, NULL);
	assert_non_null(r);
	record_begin(&w, out, &port, options);
	while (record_next(r, &e)) {
		uint8_t mad[MAD_SIZE];

		events++;
		if (e.kind == kind && n-- == 1) {
			number = events;
			memcpy(mad, e.mad, MAD_SIZE);
			mad[at] ^= 0x40;
			e.mad = mad;
		}
		record_put(&w, &e);
	}
	record_end(&w);
	record_reader_free(r);
	assert_true(number > 0);
	assert_true(g_file_set_contents(files->b, (char *)out->data, out->len,
					NULL));
	return number;
}

FILES_TEST(test_changed_byte_of_a_send_is_found_at_its_place)
{
	static const struct {
		unsigned n, at;
	} cases[] = { { 1, 0 }, { 2, 130 }, { 17, 255 }, { 40, 64 } };
	struct run run = { .params = wire };

	record_to(files->a, "PGFT(4,4;1,2)", &run, 9);
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		uint64_t number = change_byte(files, RECORD_SEND, cases[i].n,
					      cases[i].at);
		g_autofree char *begin =
			g_strdup_printf("event %u at ", (unsigned)number);
		g_autofree char *part =
			g_strdup_printf("different from byte %u on\n%04x "
					"recorded", cases[i].at,
					cases[i].at & ~15u);

		expect_difference(files->b, &run, begin, part);
	}
}

/* An answer that says something else: what is asked next is another thing. */
FILES_TEST(test_changed_answer_is_found_in_what_follows)
{
	struct run run = { .params = wire };
	g_autofree char *text = NULL;
	uint64_t number, events;

	record_to(files->a, "single(4)", &run, 1000);
	/* the type of the first node */
	number = change_byte(files, RECORD_RECEIVED, 1, 64 + 2);
	text = replay_from(files->b, &run, &events);
	assert_non_null(text);
	assert_true(events >= number);
}

FILES_TEST(test_nothing_happens_after_a_difference)
{
	const struct mad_addr to = { .lid = 1 };
	struct run run = { .params = wire };
	uint8_t mad[MAD_SIZE] = { 0 };
	g_autoptr(GError) error = NULL, again = NULL;
	struct transport *t;
	unsigned id;

	record_to(files->a, "pair()", &run, 1000);
	t = replay_open(files->a, NULL);
	assert_false(transport_send(t, &to, mad, MAD_SIZE, 1, &error));
	assert_gerror(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND);
	assert_true(transport_now(t) == transport_now(t));
	id = transport_timer_start(t, 0, NULL, NULL);
	assert_int_not_equal(id, 0);
	transport_timer_cancel(t, id);
	assert_false(replay_step(t));
	/* it is the first one that is told */
	assert_false(replay_finish(t, &again));
	assert_has(again->message,
		   "event 1 at 0.000000 s: recorded: a look at the clock; "
		   "replayed: a MAD to LID 1");
	assert_int_equal(replay_events(t), 0);
	transport_free(t);
}

FILES_TEST(test_refused_sends_are_refused_again)
{
	const struct mad_addr to = { .lid = 9, .qp = 1, .qkey = 0x80010000 };
	const uint8_t mad[MAD_SIZE] = { 1, 2, 3 };
	struct transport *inner = scripted_new(), *t = inner;
	struct capture *c = capture_open(&t, files->a, "+--once\n", NULL, NULL);

	scripted_refuse(inner, 1, TRANSPORT_ERROR_SEND);
	assert_false(transport_send(t, &to, mad, MAD_SIZE, 5, NULL));
	assert_true(transport_send(t, &to, mad, MAD_SIZE, 5, NULL));
	assert_true(capture_close(c, NULL));

	g_autoptr(GError) error = NULL;

	t = replay_open(files->a, NULL);
	assert_false(transport_send(t, &to, mad, MAD_SIZE, 5, &error));
	assert_gerror(error, TRANSPORT_ERROR, TRANSPORT_ERROR_SEND);
	assert_string_equal(error->message, "refused by script");
	assert_true(transport_send(t, &to, mad, MAD_SIZE, 5, NULL));
	assert_true(replay_finish(t, NULL));
	transport_free(t);
}

TEST(test_all_values_survive_the_record, make_files, remove_files)
{
	static const uint8_t longer[1000] = { [0] = 1, [998] = 2 };
	const struct mad_addr all = {
		UINT32_MAX, UINT32_MAX, UINT16_MAX, UINT16_MAX, UINT8_MAX,
		true, .gid = { 1, 2, [15] = 3 },
	};
	const struct record_event events[] = {
		{ .kind = RECORD_CLOCK, .time = RECORD_TIME_MAX },
		{ .kind = RECORD_CLOCK, .time = 0 },
		{ .kind = RECORD_RECEIVED, .time = 1, .addr = all,
		  .mad = longer, .len = sizeof(longer) },
		{ .kind = RECORD_RETURNED, .time = 0, .mad = longer,
		  .len = 0 },
		{ .kind = RECORD_START, .timer = 1, .when = INT64_MAX },
		{ .kind = RECORD_START, .timer = 2, .when = INT64_MIN },
		{ .kind = RECORD_CANCEL, .timer = UINT_MAX },
		{ .kind = RECORD_RING, .time = 127, .timer = 128 },
		{ .kind = RECORD_SEND, .time = 127, .timeout_ms = UINT_MAX,
		  .addr = all, .mad = longer, .len = 1, .refusal = "" },
		{ .kind = RECORD_SEND, .time = 127, .mad = longer, .len = 2,
		  .refusal = "why not" },
	};
	const struct transport in = {
		.port_guid = UINT64_MAX, .port_num = 255, .rmpp = true,
		.name = "x", .simulated = true,
	};
	g_autoptr(GByteArray) out = g_byte_array_new();
	const char *options;
	struct transport port;
	struct record_writer w;
	struct record_reader *r;
	struct record_event e;

	record_begin(&w, out, &in, "+--once\n");
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
		record_put(&w, &events[i]);
	record_end(&w);
	r = record_reader_new(out->data, out->len, &port, &options, NULL);
	assert_non_null(r);
	assert_true(port.port_guid == in.port_guid);
	assert_int_equal(port.port_num, in.port_num);
	assert_int_equal(port.rmpp, in.rmpp);
	assert_string_equal(port.name, in.name);
	assert_int_equal(port.simulated, in.simulated);
	assert_string_equal(options, "+--once\n");
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
		const struct record_event *was = &events[i];

		assert_true(record_next(r, &e));
		assert_int_equal(e.kind, was->kind);
		if (was->kind != RECORD_START && was->kind != RECORD_CANCEL)
			assert_true(e.time == was->time);
		assert_true(e.when == was->when);
		assert_int_equal(e.timer, was->timer);
		assert_int_equal(e.timeout_ms, was->timeout_ms);
		assert_int_equal(e.addr.qkey, was->addr.qkey);
		assert_int_equal(e.addr.grh, was->addr.grh);
		assert_memory_equal(e.addr.gid, was->addr.gid, 16);
		assert_int_equal(e.len, was->len);
		if (e.len)
			assert_memory_equal(e.mad, was->mad, e.len);
		assert_int_equal(!e.refusal, !was->refusal);
		if (e.refusal)
			assert_string_equal(e.refusal, was->refusal);
	}
	assert_false(record_next(r, &e));
	assert_false(record_next(r, &e));
	record_reader_free(r);
}

static void
expect_bad_record(const uint8_t *bytes, size_t len)
{
	g_autofree uint8_t *exact = g_memdup2(bytes, len);
	g_autoptr(GError) error = NULL;

	assert_null(replay_new(exact, len, &error));
	assert_gerror(error, RECORD_ERROR, RECORD_ERROR_FORMAT);
}

FILES_TEST(test_every_cut_and_every_damaged_byte_is_an_error)
{
	struct run run = { .params = wire, .discover_only = true };
	g_autofree char *bytes = NULL;
	gsize len;

	record_to(files->a, "pair()", &run, 3);
	assert_true(g_file_get_contents(files->a, &bytes, &len, NULL));
	assert_true(len > 500);
	for (gsize i = 0; i < len; i++)
		expect_bad_record((uint8_t *)bytes, i);
	for (gsize i = 0; i < len; i++) {
		uint8_t was = bytes[i];

		bytes[i] = was ^ 1u << i % 8;
		expect_bad_record((uint8_t *)bytes, len);
		bytes[i] = was ^ 0xff;
		expect_bad_record((uint8_t *)bytes, len);
		bytes[i] = was;
	}
	bytes = g_realloc(bytes, len + 1);
	bytes[len] = 0;
	expect_bad_record((uint8_t *)bytes, len + 1);
}

TEST(test_impossible_times_are_an_error, make_files, remove_files)
{
	static const int64_t times[] = {
		-1, RECORD_TIME_MAX + 1, INT64_MAX, INT64_MIN,
	};

	for (size_t i = 0; i < G_N_ELEMENTS(times); i++) {
		const struct transport port = { .port_num = 1 };
		g_autoptr(GByteArray) out = g_byte_array_new();
		struct record_writer w;

		record_begin(&w, out, &port, NULL);
		record_put(&w, &(struct record_event) {
			.kind = RECORD_CLOCK, .time = times[i],
		});
		record_end(&w);
		expect_bad_record(out->data, out->len);
	}
}

TEST(test_timer_that_was_not_started_is_an_error, make_files, remove_files)
{
	const struct transport port = { .port_num = 1 };
	g_autoptr(GByteArray) out = g_byte_array_new();
	g_autoptr(GError) error = NULL;
	struct record_writer w;
	struct transport *t;

	record_begin(&w, out, &port, NULL);
	record_put(&w, &(struct record_event) {
		.kind = RECORD_RING, .timer = 1,
	});
	record_end(&w);
	t = replay_new(out->data, out->len, NULL);
	assert_non_null(t);
	assert_false(replay_finish(t, &error));
	assert_has(error->message, "damaged");
	transport_free(t);
}

FILES_TEST(test_files_that_cannot_be_used_are_named)
{
	g_autofree char *nowhere = g_build_filename(files->folder, "no", "f",
						    NULL);
	struct transport *inner = scripted_new();
	GError *error = NULL;

	assert_null(replay_open(nowhere, &error));
	assert_gerror(error, RECORD_ERROR, RECORD_ERROR_IO);
	assert_has(error->message, nowhere);
	g_clear_error(&error);
	assert_null(capture_open(&inner, nowhere, "+--once\n", NULL,
				 &error));
	assert_gerror(error, RECORD_ERROR, RECORD_ERROR_IO);
	assert_has(error->message, nowhere);
	g_clear_error(&error);
	assert_true(g_file_set_contents(files->a, "minism", -1, NULL));
	assert_null(replay_open(files->a, &error));
	assert_gerror(error, RECORD_ERROR, RECORD_ERROR_FORMAT);
	assert_has(error->message, files->a);
	g_clear_error(&error);
	transport_free(inner);
}

TEST(test_full_disk_is_told_at_the_end, make_files, remove_files)
{
	const struct mad_addr to = { .lid = 9 };
	const uint8_t mad[MAD_SIZE] = { [255] = 1 };
	g_autoptr(GError) error = NULL;
	struct transport *t;
	struct capture *c;

	if (access("/dev/full", W_OK) != 0)
		skip();
	t = scripted_new();
	c = capture_open(&t, "/dev/full", NULL, NULL, NULL);
	assert_non_null(c);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(transport_send(t, &to, mad, MAD_SIZE, 5, NULL));
	assert_false(capture_close(c, &error));
	assert_gerror(error, RECORD_ERROR, RECORD_ERROR_IO);
	assert_has(error->message, "/dev/full");
}

/* Of a pipe that is not read in time, too; what was lost is not made up for. */
FILES_TEST(test_record_ends_at_the_first_loss)
{
	static const struct stream_how how = { .hold = 4096 };
	const struct mad_addr to = { .lid = 9 };
	const uint8_t mad[MAD_SIZE] = { [255] = 1 };
	g_autofree char *path = g_build_filename(files->folder, "pipe", NULL);
	g_autoptr(GError) error = NULL;
	struct transport *t = scripted_new();
	static uint8_t bytes[1 << 17];
	struct capture *c;
	ssize_t before;
	int reader;

	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK);
	c = capture_open(&t, path, NULL, &how, NULL);
	assert_non_null(c);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(transport_send(t, &to, mad, MAD_SIZE, 5, NULL));
	before = read(reader, bytes, sizeof(bytes));
	assert_true(before > 0);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(transport_send(t, &to, mad, MAD_SIZE, 5, NULL));
	assert_false(capture_close(c, &error));
	assert_gerror(error, RECORD_ERROR, RECORD_ERROR_IO);
	assert_has(error->message, path);
	assert_in_range(read(reader, bytes, sizeof(bytes)), 0, 4096);
	close(reader);
	g_unlink(path);
}
