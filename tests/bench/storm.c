// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fabric that is never quiet, in real time: fabric, manager and clients are one
 * thread, whose CPU time they share.
 *
 *	bench_storm [FABRIC [SECONDS]]
 *
 * Storm: 1,000 events a second, links that go down and come back and traps of all
 * kinds, while a client asks for a path every 10 ms: how long it waits, how the
 * memory grows, and how long after the storm all is up. Flood: cables are pulled,
 * with and without 5 clients that ask 1,000 times a second each: how long until
 * the repair is done.
 */
#include <malloc.h>
#include <string.h>

#include "sm/mad/sa_record.h"
#include "tests/bench/bench.h"
#include "tests/lib/world.h"
#include "topology/prng.h"

#define SECOND		((int64_t)G_USEC_PER_SEC)
#define CLIENTS		5u
#define TICK_MS		1u
#define PULLS		12u
#define PULL_MS		400u

struct client {
	struct bench *b;
	struct transport *t;
	struct mad_client *x;
	uint32_t port;
	unsigned rate;		/* requests a second */
	int64_t began;
	uint64_t asked;
	GArray *waits;		/* double, ms */
	unsigned lost;
};

struct bench {
	struct world w;
	GMainLoop *loop;
	struct client clients[CLIENTS];
	uint64_t rng;
	unsigned rate;		/* events a second */
	int64_t began, end;
	uint64_t events;
};

/* Allocated, of the arenas and mapped, KiB. */
static size_t
used_kib(void)
{
	struct mallinfo2 m = mallinfo2();

	return (m.uordblks + m.hblkhd) / 1024;
}

/* ---- clients ---- */

static void
on_answer(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct client *c = data;
	double wait = (double)(g_get_monotonic_time() - (int64_t)tag) / 1e3;

	if (a->outcome == MAD_CLIENT_ANSWERED)
		g_array_append_val(c->waits, wait);
	else
		c->lost++;
}

/* The path from the client to a host by chance. */
static void
ask(struct client *c)
{
	const struct snapshot *s = c->b->w.s;
	struct mad_addr to = {
		.qp = 1, .qkey = MAD_GSI_QKEY,
		.lid = sim_port_info(c->b->w.sim, c->port)->sm_lid,
	};
	struct path_record want = { 0 };
	uint64_t mask = GUINT64_TO_BE(SA_BIT(PATH_DGID) | SA_BIT(PATH_SGID));
	uint64_t gid[2] = { GUINT64_TO_BE(UINT64_C(0xfe80000000000000)) };
	uint8_t mad[MAD_SIZE];
	uint32_t port;

	do
		port = prng_below(&c->b->rng, s->n_ports);
	while (!s->ports[port].num || !snapshot_is_end_port(s, port));
	sa_build(mad, MAD_METHOD_GET, SA_ATTR_PATH);
	memcpy(mad + SA_DATA_OFFSET - 8, &mask, 8);
	gid[1] = GUINT64_TO_BE(s->ports[c->port].guid);
	memcpy(want.sgid, gid, 16);
	gid[1] = GUINT64_TO_BE(s->ports[port].guid);
	memcpy(want.dgid, gid, 16);
	path_record_encode(mad + SA_DATA_OFFSET, &want);
	mad_client_start(c->x, &to, mad, on_answer, c,
			 (uint64_t)g_get_monotonic_time());
}

static void
ask_due(struct client *c, int64_t now)
{
	uint64_t due = (uint64_t)(now - c->began) * c->rate / SECOND;

	for (; c->asked < due; c->asked++)
		ask(c);
}

static void
client_open(struct bench *b, struct client *c, uint32_t port)
{
	static const struct mad_client_params wire = {
		.timeout_ms = 2000, .retries = 0, .max_wire = 4096,
	};

	c->b = b;
	c->port = port;
	c->t = sim_attach(b->w.sim, port, SIM_ROLE_CLIENT);
	c->x = mad_client_new(c->t, &wire);
	c->waits = g_array_new(FALSE, FALSE, sizeof(double));
}

static void
client_start(struct client *c, unsigned rate)
{
	c->rate = rate;
	c->began = g_get_monotonic_time();
	c->asked = 0;
	c->lost = 0;
	g_array_set_size(c->waits, 0);
}

static double
ms_at(GArray *times, unsigned per_mille)
{
	if (!times->len)
		return 0;
	g_array_sort(times, bench_compare);
	return g_array_index(times, double, (times->len - 1) * per_mille / 1000);
}

static void
print_waits(const char *what, const struct client *c)
{
	printf("%s: %u answers, %u lost; half within %.2f ms, 99%% within "
	       "%.2f ms, all within %.2f ms\n", what, c->waits->len, c->lost,
	       ms_at(c->waits, 500), ms_at(c->waits, 990),
	       ms_at(c->waits, 1000));
}

/* ---- the storm ---- */

/* A switch port with a cable, but at the switch of the manager and of the
 * clients no host's. */
static uint32_t
pick_port(struct bench *b, bool between_switches)
{
	const struct snapshot *s = b->w.s;
	uint32_t leaf = s->ports[s->ports[s->local_port].peer].node, port;

	for (;;) {
		const struct snapshot_node *far;

		port = prng_below(&b->rng, s->n_ports);
		if (s->ports[port].peer == SNAPSHOT_NONE ||
		    !snapshot_is_switch(snapshot_node_of(s, port)))
			continue;
		far = snapshot_node_of(s, s->ports[port].peer);
		if (snapshot_is_switch(far) ||
		    (!between_switches && s->ports[port].node != leaf))
			return port;
	}
}

static void
one_event(struct bench *b)
{
	static const unsigned traps[] = { 128, 129, 130, 131, 144, 257 };
	uint32_t port = pick_port(b, false);

	/* down and up again are two */
	if (prng_below(&b->rng, 3) == 0) {
		sim_link_flap(b->w.sim, port, 1,
			      20000 + prng_below(&b->rng, 200000), 1000);
		b->events += 2;
		return;
	}
	sim_trap(b->w.sim, port, traps[prng_below(&b->rng,
						  G_N_ELEMENTS(traps))]);
	b->events++;
}

static gboolean
on_tick(gpointer data)
{
	struct bench *b = data;
	int64_t now = g_get_monotonic_time();

	while (b->events < (uint64_t)(now - b->began) * b->rate / SECOND)
		one_event(b);
	for (unsigned i = 0; i < CLIENTS; i++)
		ask_due(&b->clients[i], now);
	if (now < b->end)
		return G_SOURCE_CONTINUE;
	g_main_loop_quit(b->loop);
	return G_SOURCE_REMOVE;
}

static void
run_for(struct bench *b, int64_t us, unsigned rate)
{
	b->rate = rate;
	b->events = 0;
	b->began = g_get_monotonic_time();
	b->end = b->began + us;
	g_timeout_add(TICK_MS, on_tick, b);
	g_main_loop_run(b->loop);
}

static void
storm(struct bench *b, unsigned seconds)
{
	struct client *c = &b->clients[0];
	double cpu;

	client_start(c, 100);
	run_for(b, 5 * SECOND, 0);
	print_waits("quiet", c);
	client_start(c, 100);
	cpu = bench_cpu_ms();
	for (unsigned s = 0; s < seconds; s += 10) {
		unsigned ends = b->w.m.ends;

		run_for(b, 10 * SECOND, 1000);
		printf("storm, %2u s: %u events, %u sweeps and repairs, %zu KiB "
		       "allocated\n", s + 10, (unsigned)b->events,
		       b->w.m.ends - ends, used_kib());
	}
	print_waits("storm", c);
	printf("CPU of fabric, manager and clients: %.1f s of %u s\n",
	       (bench_cpu_ms() - cpu) / 1e3, seconds);
	c->rate = 0;
	for (unsigned s = 0; s < 60; s++) {
		unsigned pairs, mixed;

		run_for(b, SECOND, 0);
		if (b->w.m.last == SWEEP_END_UP &&
		    b->w.m.sweep->state == SWEEP_IDLE &&
		    !world_unreached(&b->w, SNAPSHOT_NONE, &pairs, &mixed)) {
			printf("%u s after the storm all is up; %zu KiB\n",
			       s + 1, used_kib());
			return;
		}
	}
	printf("60 s after the storm it is not up: %s\n", b->w.m.problems->str);
}

/* ---- the flood ---- */

/* From the pull of a cable to the end of its repair, ms; of some. */
static double
pull_cables(struct bench *b, GArray *times)
{
	g_array_set_size(times, 0);
	for (unsigned i = 0; i < PULLS; i++) {
		uint32_t port = pick_port(b, true);
		unsigned ends = b->w.m.ends;
		int64_t began = g_get_monotonic_time();
		double took;

		sim_link_cut(b->w.sim, port);
		while (b->w.m.ends == ends &&
		       g_get_monotonic_time() - began < 5 * SECOND) {
			int64_t now = g_get_monotonic_time();

			for (unsigned k = 0; k < CLIENTS; k++)
				ask_due(&b->clients[k], now);
			g_main_context_iteration(NULL, FALSE);
		}
		took = (double)(g_get_monotonic_time() - began) / 1e3;
		g_array_append_val(times, took);
		run_for(b, PULL_MS * 1000, 0);
		sim_link_mend(b->w.sim, port);
		run_for(b, SECOND, 0);
	}
	return ms_at(times, 500);
}

static void
flood(struct bench *b)
{
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));
	double quiet, wet, cpu;

	for (unsigned i = 0; i < CLIENTS; i++)
		client_start(&b->clients[i], 0);
	quiet = pull_cables(b, times);
	printf("a cable is pulled, median of %u: repaired in %.2f ms (%.2f to "
	       "%.2f)\n", PULLS, quiet, ms_at(times, 0), ms_at(times, 1000));
	for (unsigned i = 0; i < CLIENTS; i++)
		client_start(&b->clients[i], 1000);
	cpu = bench_cpu_ms();
	wet = pull_cables(b, times);
	printf("while %u clients ask 1,000 times a second each: %.2f ms (%.2f "
	       "to %.2f), %.2f times as long; CPU of all %.1f s\n", CLIENTS,
	       wet, ms_at(times, 0), ms_at(times, 1000), wet / quiet,
	       (bench_cpu_ms() - cpu) / 1e3);
	print_waits("one of them", &b->clients[0]);
}

int
main(int argc, char **argv)
{
	struct sm_instance_params params = manager_defaults;
	const char *spec = argc > 1 ? argv[1] : "PGFT(18,18;1,18)";
	unsigned seconds = argc > 2 ? (unsigned)atoi(argv[2]) : 60, n = 0;
	struct bench b = { .rng = prng_stream(1, 9) };
	uint32_t leaf;

	setvbuf(stdout, NULL, _IOLBF, 0);
	params.sa = &manager_sa;
	world_open(&b.w, spec, 1, &params);
	if (!manager_wait_up(&b.w.m, 60 * SECOND))
		return 1;
	world_settle(&b.w, 60 * SECOND);
	leaf = b.w.s->ports[b.w.s->ports[b.w.s->local_port].peer].node;
	for (uint32_t p = 0; p < b.w.s->n_ports && n < CLIENTS; p++)
		if (b.w.s->ports[p].num && snapshot_is_end_port(b.w.s, p) &&
		    b.w.s->ports[b.w.s->ports[p].peer].node == leaf)
			client_open(&b, &b.clients[n++], p);
	if (n < CLIENTS)
		return 1;
	b.loop = g_main_loop_new(NULL, FALSE);
	g_source_attach(sim_source_new(b.w.sim, SIM_PACE_REAL), NULL);
	printf("%s: %u nodes, %zu KiB allocated\n", spec, b.w.s->n_nodes,
	       used_kib());
	storm(&b, seconds);
	flood(&b);
	return 0;
}
