// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What does a repair cost? A whole subnet manager with its SA on a simulated
 * fabric; events one after the other, each until the manager rests.
 *
 *	bench_repair_sim [-n CABLES] [SPEC]
 *
 * For each kind of event the medians of: Gets and LFT Sets; virtual time from
 * the first trap to the last answer of programming; CPU time of the manager, by
 * phase. The simulator's CPU time is told apart: whatever passes the transport
 * in either direction changes whose time it is.
 *
 * "read": the manager's part of SMPs before routing. "decide": LIDs and tables
 * read; "route": engines, verification, steps in between; "plan": isolation,
 * the plan, what is remembered; "program": its part of the Sets; "publish": from
 * the last answer to the end of the sweep, the SA's view and files;
 * "after": multicast, timers.
 */
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/lib/world.h"
#include "topology/prng.h"

#define QUIET_US	(G_USEC_PER_SEC / 2)
#define LIMIT_US	(60 * G_USEC_PER_SEC)
#define MAX_RUNS	64u
#define METHOD_TRAP	0x05

enum phase {
	PHASE_SIMULATOR, PHASE_READ, PHASE_DECIDE, PHASE_ROUTE, PHASE_PLAN,
	PHASE_PROGRAM, PHASE_PUBLISH, PHASE_AFTER, N_PHASES,
};
static const char *const phase_names[] = {
	"simulator", "read", "decide", "route", "plan", "program", "publish",
	"after",
};

struct figures {
	double ms[N_PHASES];
	double gets, lft_sets, sets, virtual_ms, sweeps;
};

struct bench {
	struct transport_ops ops;	/* begin it: before those below */
	const struct transport_ops *below;
	transport_recv_fn on_recv;	/* of the manager */
	void *recv_data;
	struct snapshot *s;
	struct sim *sim;
	struct transport *t;
	struct sm_instance *sm;
	enum phase phase;	/* of the manager */
	bool in_manager;
	double since;		/* CPU ms */
	struct figures now;	/* of the event at hand */
	int64_t trap, answer;	/* virtual us; trap 0: none yet */
	bool is_up;
};

struct bench_timer {
	struct bench *b;
	transport_timer_fn fn;
	void *data;
};

/* Whose time it was so far. */
static void
bench_book(struct bench *b)
{
	double now = bench_cpu_ms();

	b->now.ms[b->in_manager ? b->phase : PHASE_SIMULATOR] +=
		now - b->since;
	b->since = now;
}

static bool
bench_switch(struct bench *b, bool to_manager)
{
	bool was = b->in_manager;

	bench_book(b);
	b->in_manager = to_manager;
	return was;
}

static void
bench_set_phase(struct bench *b, enum phase phase)
{
	bench_book(b);
	b->phase = phase;
}

/* ------------------------------------------------- the transport in between */

static bool
outer_send(struct transport *t, const struct mad_addr *to, const uint8_t *mad,
	   size_t len, unsigned timeout_ms, GError **error)
{
	struct bench *b = (struct bench *)t->ops;
	bool was = bench_switch(b, false);
	bool sent = b->below->send(t, to, mad, len, timeout_ms, error);

	bench_switch(b, was);
	return sent;
}

static void
outer_on_ring(void *data)
{
	struct bench_timer timer = *(struct bench_timer *)data;
	bool was = bench_switch(timer.b, true);

	g_free(data);
	timer.fn(timer.data);
	bench_switch(timer.b, was);
}

/* The struct of one that is cancelled is left: they are few. */
static unsigned
outer_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		  void *data)
{
	struct bench_timer *timer = g_new(struct bench_timer, 1);

	*timer = (struct bench_timer){ (struct bench *)t->ops, fn, data };
	return timer->b->below->timer_start(t, when, outer_on_ring, timer);
}

static void
outer_on_recv(const struct transport_mad *m, void *data)
{
	struct bench *b = data;
	struct mad_header h;
	bool was;

	mad_header_read(m->mad, MAD_SIZE, &h);
	if (h.method == METHOD_TRAP && !b->trap)
		b->trap = sim_now(b->sim);
	else if (b->phase > PHASE_READ && b->phase < PHASE_AFTER)
		b->answer = sim_now(b->sim);
	was = bench_switch(b, true);
	b->on_recv(m, b->recv_data);
	bench_switch(b, was);
}

/* ------------------------------------------------------------------ phases */

static void
bench_on_note(enum sweep_note note, const struct sweep *s, void *data)
{
	struct bench *b = data;

	if (note == SWEEP_NOTE_ROUTED)
		bench_set_phase(b, PHASE_PLAN);
	else if (note == SWEEP_NOTE_STATE && s->state == SWEEP_READING)
		bench_set_phase(b, PHASE_ROUTE);
	else if (note == SWEEP_NOTE_STATE && s->state == SWEEP_PROGRAMMING)
		bench_set_phase(b, PHASE_PROGRAM);
	else if (note == SWEEP_NOTE_STATE && s->state == SWEEP_ELECTING)
		bench_set_phase(b, PHASE_DECIDE);
	else if (note == SWEEP_NOTE_STATE && (s->state == SWEEP_REREADING ||
					      s->state == SWEEP_DISCOVERING))
		bench_set_phase(b, PHASE_READ);
}

static void
bench_on_end(const struct sweep_report *r, void *data)
{
	struct bench *b = data;

	b->is_up = r->end == SWEEP_END_UP;
	b->now.sweeps++;
	bench_set_phase(b, PHASE_AFTER);
}

static void
bench_settle(struct bench *b)
{
	int64_t end = sim_now(b->sim) + LIMIT_US, quiet = 0;
	double sweeps = -1;

	while (sim_now(b->sim) < quiet || b->now.sweeps != sweeps ||
	       b->sm->sweep->state != SWEEP_IDLE) {
		if (b->now.sweeps != sweeps) {
			sweeps = b->now.sweeps;
			quiet = sim_now(b->sim) + QUIET_US;
		}
		if (!sim_step(b->sim) || sim_now(b->sim) > end) {
			fprintf(stderr, "bench_repair_sim: it does not end\n");
			exit(1);
		}
	}
}

static void
bench_open(struct bench *b, const char *spec, const char *cache)
{
	struct sm_instance_params params = manager_defaults;

	b->s = bench_fabric(spec);
	b->sim = sim_new(b->s, NULL);
	b->t = sim_attach(b->sim, b->s->local_port, SIM_ROLE_MANAGER);
	b->below = b->t->ops;
	b->ops = *b->below;
	b->ops.send = outer_send;
	b->ops.timer_start = outer_timer_start;
	b->t->ops = &b->ops;
	params.sa = &manager_sa;
	params.cache_dir = cache;
	params.sweep.sweep_s = 0;
	params.sweep.note = bench_on_note;
	params.sweep.note_data = b;
	b->sm = sm_instance_new(b->t, &params,
				log_open(g_getenv("BENCH_LOG") ?: "/dev/null",
					 LOG_VERBOSE, NULL), bench_on_end, b);
	b->on_recv = b->t->on_recv;
	b->recv_data = b->t->recv_data;
	transport_set_receiver(b->t, outer_on_recv, b);
	b->since = bench_cpu_ms();
	sweep_request(b->sm->sweep, SWEEP_CAUSE_START);
	bench_settle(b);
	if (!b->is_up) {
		fprintf(stderr, "bench_repair_sim: the fabric is not up\n");
		exit(1);
	}
}

/* ------------------------------------------------------------------ events */

typedef void (*bench_event_fn)(struct sim *sim, uint32_t which);

static struct figures
bench_event(struct bench *b, bench_event_fn fn, uint32_t which)
{
	const struct mad_client_stats *x = &b->sm->x->stats;
	struct mad_client_stats before = *x;

	bench_book(b);
	b->now = (struct figures){ 0 };
	b->trap = b->answer = 0;
	b->phase = PHASE_AFTER;
	fn(b->sim, which);
	bench_settle(b);
	bench_book(b);
	for (unsigned i = 0; i < MAD_CLIENT_ATTRS; i++) {
		b->now.gets += (double)(x->gets[i] - before.gets[i]);
		b->now.sets += (double)(x->sets[i] - before.sets[i]);
	}
	b->now.lft_sets = (double)(x->sets[MAD_ATTR_LINEAR_FT] -
				   before.sets[MAD_ATTR_LINEAR_FT]);
	if (b->trap && b->answer > b->trap)
		b->now.virtual_ms = (double)(b->answer - b->trap) / 1000;
	return b->now;
}

/* Of the double at this offset in each. */
static double
median(const struct figures *f, unsigned n, size_t offset)
{
	double v[MAX_RUNS];

	for (unsigned i = 0; i < n; i++)
		v[i] = *(const double *)((const char *)&f[i] + offset);
	return bench_median(v, n);
}

static void
print_row(const char *what, const struct figures *f, unsigned n)
{
	double total[MAX_RUNS];

	for (unsigned i = 0; i < n; i++) {
		total[i] = 0;
		for (unsigned p = PHASE_READ; p < N_PHASES; p++)
			total[i] += f[i].ms[p];
	}
	printf("%-14s %6.0f %6.0f %6.0f %6.0f %8.2f %8.1f", what,
	       median(f, n, offsetof(struct figures, sweeps)),
	       median(f, n, offsetof(struct figures, gets)),
	       median(f, n, offsetof(struct figures, lft_sets)),
	       median(f, n, offsetof(struct figures, sets)),
	       median(f, n, offsetof(struct figures, virtual_ms)),
	       bench_median(total, n));
	for (unsigned p = PHASE_READ; p < N_PHASES; p++)
		printf(" %8.1f", median(f, n, offsetof(struct figures, ms) +
					p * sizeof(double)));
	printf(" %8.1f\n", median(f, n, offsetof(struct figures, ms)));
	fflush(stdout);
}

/* Ports of switches with a cable to another one, and the like. */
static uint32_t
pick(const struct bench *b, uint64_t *random, bool to_switch)
{
	const struct snapshot *s = b->s;

	for (;;) {
		uint32_t port = (uint32_t)prng_below(random, s->n_ports);
		uint32_t peer = s->ports[port].peer;

		if (peer != SNAPSHOT_NONE && peer != s->local_port &&
		    snapshot_is_switch(snapshot_node_of(s, port)) &&
		    snapshot_is_switch(snapshot_node_of(s, peer)) == to_switch)
			return port;
	}
}

static bool
has_hosts(const struct snapshot *s, uint32_t node)
{
	const struct snapshot_node *n = &s->nodes[node];

	for (unsigned i = 1; i <= n->info.num_ports; i++) {
		uint32_t peer = s->ports[n->first_port + i].peer;

		if (peer != SNAPSHOT_NONE &&
		    !snapshot_is_switch(snapshot_node_of(s, peer)))
			return true;
	}
	return false;
}

/* A switch without hosts. */
static uint32_t
pick_spine(const struct bench *b, uint64_t *random)
{
	uint32_t node;

	do
		node = b->s->ports[pick(b, random, true)].node;
	while (has_hosts(b->s, node));
	return node;
}

int
main(int argc, char **argv)
{
	static struct figures f[7][MAX_RUNS];
	static const char *const rows[] = {
		"cable lost", "cable back", "host off", "host on",
		"leaf reset", "spine lost", "spine back",
	};
	static struct bench b;
	uint64_t random = 1;
	g_autofree char *cache = g_dir_make_tmp("bench-repair-XXXXXX", NULL);
	g_autofree char *clean = g_strdup_printf("rm -r '%s'", cache);
	unsigned n = 9, k = 0;

	if (argc > 2 && strcmp(argv[1], "-n") == 0) {
		n = CLAMP((unsigned)atoi(argv[2]), 1, MAX_RUNS);
		argv += 2;
		argc -= 2;
	}
	bench_open(&b, argc > 1 ? argv[1] : BENCH_FABRIC, cache);
	printf("%u switches, %u nodes; medians of %u; ms of CPU, but for "
	       "\"virtual\"\n", b.s->n_switches, b.s->n_nodes, n);
	printf("%-14s %6s %6s %6s %6s %8s %8s", "", "sweeps", "Gets",
	       "LFT", "Sets", "virtual", "manager");
	for (unsigned p = PHASE_READ; p < N_PHASES; p++)
		printf(" %8s", phase_names[p]);
	printf(" %8s\n", phase_names[PHASE_SIMULATOR]);
	for (unsigned i = 0; i < n; i++) {
		uint32_t port = pick(&b, &random, true);
		uint32_t host = b.s->ports[b.s->ports[pick(&b, &random,
							   false)].peer].node;
		uint32_t leaf = b.s->ports[pick(&b, &random, false)].node;
		uint32_t spine = pick_spine(&b, &random);

		f[0][i] = bench_event(&b, sim_link_cut, port);
		f[1][i] = bench_event(&b, sim_link_mend, port);
		f[2][i] = bench_event(&b, sim_node_off, host);
		f[3][i] = bench_event(&b, sim_node_on, host);
		f[4][i] = bench_event(&b, sim_node_reset, leaf);
		f[5][i] = bench_event(&b, sim_node_off, spine);
		f[6][i] = bench_event(&b, sim_node_on, spine);
	}
	for (k = 0; k < G_N_ELEMENTS(rows); k++)
		print_row(rows[k], f[k], n);
	sm_instance_free(b.sm);
	sim_free(b.sim);
	return system(clean) != 0;
}
