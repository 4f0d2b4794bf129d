// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A batch of SMPs: how many are in flight, how it ends, and which nodes are
 * not queried after a time-out; on a chain of switches
 *
 *	H-0, the SM's -- S-1-0 -- S-1-1 -- S-1-2	two hosts at each
 *
 * where a switch that does not answer hides the nodes to its right. The steps
 * and what comes of them: tests/golden/smp_batch.
 */

#include "sm/sweep/smp_batch.h"
#include "tests/lib/scripted.h"
#include "tests/lib/unit.h"

struct bench {
	struct snapshot *s;
	struct transport *t;
	struct mad_client *x;
	struct smp_batch *batch;
	uint32_t ports[32];	/* to be queried; the tag is the index */
	unsigned n, next;	/* of them */
	bool is_silent;		/* the first one's node is unreachable after a
				   time-out */
	unsigned max_in_flight;
	bool (*again)(void *data, const struct smp_request *r);
	unsigned replies, done;
	GString *out;		/* the text of a step; NULL: none is wanted */
	enum smp_outcome last;
};

static bool
bench_next(void *data, struct smp_request *r)
{
	struct bench *b = data;

	assert_int_equal(r->tag, 0);
	assert_false(r->set);
	if (b->next == b->n)
		return false;
	r->tag = b->next;
	r->port = b->ports[b->next++];
	r->attr = MAD_ATTR_PORT_INFO;
	return true;
}

static void
put_port(const struct bench *b, uint32_t port)
{
	g_string_append_printf(b->out, " %s/%u",
			       snapshot_node_of(b->s, port)->desc,
			       b->s->ports[port].num);
}

static void
bench_reply(void *data, const struct smp_request *r,
	    const struct smp_reply *a)
{
	static const char *const names[] = {
		[SMP_ANSWERED] = "", [SMP_TIMED_OUT] = " timed out,",
		[SMP_CANCELLED] = " cancelled,",
		[SMP_UNREACHABLE] = " unreachable,",
	};
	struct bench *b = data;

	assert_int_equal(r->port, b->ports[r->tag]);
	assert_int_equal(a->data != NULL, a->outcome == SMP_ANSWERED);
	b->replies++;
	b->last = a->outcome;
	if (b->out) {
		put_port(b, r->port);
		g_string_append(b->out, names[a->outcome]);
	}
	if (a->outcome == SMP_TIMED_OUT && b->is_silent && r->tag == 0)
		smp_batch_set_unreachable(b->batch, r->port);
}

static bool
bench_done(void *data)
{
	struct bench *b = data;

	assert_int_equal(b->next, b->n);
	assert_int_equal(b->replies, b->n);
	b->done++;
	return false;
}

static void
bench_open(struct bench *b)
{
	const struct mad_client_params wire = {
		.timeout_ms = 10, .retries = 0, .max_wire = 16,
	};

	memset(b, 0, sizeof(*b));
	b->s = generate_fabric("mesh(3,1;2)", NULL, NULL);
	b->t = scripted_new();
	b->x = mad_client_new(b->t, &wire);
}

static void
bench_close(struct bench *b)
{
	smp_batch_free(b->batch);
	mad_client_free(b->x);
	transport_free(b->t);
	snapshot_unref(b->s);
}

static struct smp_batch *
start(struct bench *b, bool is_alone)
{
	const struct smp_stage stage = {
		.next = bench_next, .reply = bench_reply,
		.done = is_alone ? bench_done : NULL, .data = b,
		.again = b->again,
		.max_in_flight = b->max_in_flight,
	};

	return smp_batch_start(b->x, b->s, NULL, &stage);
}

static void
run(struct bench *b)
{
	assert_true(scripted_run_idle(b->t, transport_now(b->t) +
				      600 * G_USEC_PER_SEC));
}

static void
peer(struct transport *t, const struct scripted_sent *sent, void *data)
{
	scripted_reply(t, sent, 100);
}

static void
ignore(const struct mad_client_answer *a, void *data, uint64_t tag)
{
}

/* Requests of others hold all of the window. */
static void
fill(const struct bench *b)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct dr_path own = { .hops = 0 };
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &own);
	while (mad_client_room(b->x))
		mad_client_start(b->x, &direct, mad, ignore, NULL, 0);
	scripted_forget(b->t);
}

/* NODE/PORT .., each so many times, in turns. */
static void
choose(struct bench *b, char **words, unsigned times)
{
	b->n = b->next = b->replies = 0;
	for (unsigned i = 0; i < times; i++)
		for (char **word = words; *word; word++) {
			g_auto(GStrv) name = g_strsplit(*word, "/", 2);
			uint32_t p = 0;

			while (strcmp(snapshot_node_of(b->s, p)->desc,
				      name[0]) ||
			       b->s->ports[p].num != atoi(name[1]))
				assert_true(++p < b->s->n_ports);
			assert_true(b->n < G_N_ELEMENTS(b->ports));
			b->ports[b->n++] = p;
		}
}

/* All ports there are, one by one: those that are not asked. */
static void
ask_each(struct bench *b)
{
	GString *out = g_steal_pointer(&b->out);

	b->is_silent = false;
	for (uint32_t p = 0; p < b->s->n_ports; p++) {
		struct dr_path path;

		if (!b->s->ports[p].known || !snapshot_path(b->s, p, &path))
			continue;
		b->ports[0] = p;
		b->n = 1;
		b->next = b->replies = 0;
		smp_batch_wake(b->batch);
		run(b);
		b->out = out;
		if (b->last == SMP_UNREACHABLE)
			put_port(b, p);
		else
			assert_int_equal(b->last, SMP_TIMED_OUT);
		b->out = NULL;
	}
	b->out = out;
}

/* A batch of these ports that has 1 ms; or all its time; or two of them, one of
 * which is given up. */
static void
begin(struct bench *b, char **words)
{
	bool is_alone = !g_str_equal(*words, "two");
	struct smp_batch *first = NULL;

	choose(b, words + 2, word_number(words[1]));
	if (!is_alone)
		first = start(b, false);
	b->batch = start(b, is_alone);
	scripted_run(b->t, transport_now(b->t) +
		     (g_str_equal(*words, "begin") ? 1000 : 0));
	smp_batch_free(first);
	if (!g_str_equal(*words, "begin"))
		run(b);
	g_string_append_printf(b->out, "; %u of %u begun, %u sent, %u at once",
			       b->next, b->n, scripted_count(b->t),
			       scripted_most_flying(b->t));
}

static void
play(void *of, const char *step, GString *out)
{
	g_auto(GStrv) words = g_strsplit(step, " ", -1);
	struct bench *b = of;

	b->out = out;
	if (g_str_equal(*words, "answers")) {
		scripted_set_peer(b->t, peer, NULL);
	} else if (g_str_equal(*words, "silent")) {
		b->is_silent = true;
	} else if (g_str_equal(*words, "again")) {
		b->again = smp_batch_again;
	} else if (g_str_equal(*words, "at-once")) {
		b->max_in_flight = word_number(words[1]);
	} else if (g_str_equal(*words, "fill")) {
		fill(b);
	} else if (g_str_equal(*words, "run")) {
		run(b);
	} else if (g_str_equal(*words, "each")) {
		ask_each(b);
	} else {
		begin(b, words);
	}
	if (b->done)
		g_string_append_printf(b->out, ", done %u", b->done);
	b->done = 0;
	b->out = NULL;
}

GOLDEN("smp_batch", transcript)
{
	AUTO_VALUE(bench_close) struct bench b;

	bench_open(&b);
	golden_play(text, play, &b, out);
}
