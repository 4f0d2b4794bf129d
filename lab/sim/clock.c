// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The virtual clock: a queue of events.
 *
 * A MAD, a timer, a link in training, a trap to be repeated begins with a
 * struct sim_event, and the queue is a binary heap of pointers to these
 * (Williams 1964) with the time and a serial number beside them, so that a
 * comparison reads nothing else. The pair is a total order: two runs pop the
 * same events in the same order. Each event has its index in the heap, so a
 * cancelled one is removed at once.
 *
 *	sim_clock_start -> heap -> sim_step -> event->fn -> sim_clock_start..
 *
 * Time is in ns here and in us outside. It never goes backwards: an event of
 * the past happens now.
 */
#include "lab/sim/state.h"

static bool
before(const struct sim_place *a, const struct sim_place *b)
{
	return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

static void
sift_up(struct sim *sim, uint32_t pos, struct sim_place place)
{
	struct sim_place *heap = &g_array_index(sim->heap, struct sim_place, 0);

	for (; pos > 1 && before(&place, &heap[pos / 2]); pos /= 2) {
		heap[pos] = heap[pos / 2];
		heap[pos].event->pos = pos;
	}
	heap[pos] = place;
	place.event->pos = pos;
}

void
sim_clock_start(struct sim *sim, struct sim_event *event, int64_t at)
{
	struct sim_place place = {
		.at = MAX(at, sim->now), .seq = ++sim->seq, .event = event,
	};

	g_assert(!event->pos);
	g_array_set_size(sim->heap, sim->heap->len + 1);
	sift_up(sim, sim->heap->len - 1, place);
}

void
sim_clock_stop(struct sim *sim, struct sim_event *event)
{
	struct sim_place *heap = &g_array_index(sim->heap, struct sim_place, 0);
	uint32_t n = sim->heap->len - 1;	/* without the last one */
	uint32_t pos = event->pos, child;
	struct sim_place last = heap[n];

	if (!pos)
		return;
	event->pos = 0;
	g_array_set_size(sim->heap, n);
	if (pos == n)
		return;
	/* The last one takes the place: it may have to go up or down. */
	if (pos > 1 && before(&last, &heap[pos / 2])) {
		sift_up(sim, pos, last);
		return;
	}
	for (; (child = 2 * pos) < n; pos = child) {
		if (child + 1 < n && before(&heap[child + 1], &heap[child]))
			child++;
		if (before(&last, &heap[child]))
			break;
		heap[pos] = heap[child];
		heap[pos].event->pos = pos;
	}
	heap[pos] = last;
	last.event->pos = pos;
}

bool
sim_step(struct sim *sim)
{
	struct sim_place next;

	if (sim->heap->len < 2)
		return false;
	next = g_array_index(sim->heap, struct sim_place, 1);
	sim_clock_stop(sim, next.event);
	sim->now = next.at;
	sim->stats.events++;
	next.event->fn(sim, next.event);
	return true;
}

int64_t
sim_now(const struct sim *sim)
{
	return sim->now / NS_PER_US;
}

void
sim_packet_drop(struct sim_packet *p)
{
	g_free(p->message);
	g_free(p);
}

void
sim_packet_lose(struct sim *sim, struct sim_packet *p, uint64_t *count)
{
	(*count)++;
	sim_packet_drop(p);
}

/* ------------------------------------------------------- in a main loop */

/* Events in one dispatch of the main loop. */
#define BATCH	256u
/* In real time an event may be early by so much. An agent needs 20 us for an
 * SMP: waiting for each would be polling the clock. */
#define SLACK_US	100
#define SLACK_NS	(SLACK_US * NS_PER_US)

struct clock_source {
	GSource base;
	struct sim *sim;
	enum sim_pace pace;
	int64_t real, virtual;	/* the same moment, us */
};

/* Of the next event, ns; INT64_MAX: there is none. */
static int64_t
next_at(const struct sim *sim)
{
	return sim->heap->len > 1 ?
		g_array_index(sim->heap, struct sim_place, 1).at : INT64_MAX;
}

/* Events up to this time are due, ns. */
static int64_t
clock_horizon(const struct clock_source *c)
{
	return c->pace == SIM_PACE_FAST ? INT64_MAX - 1 :
		(c->virtual + g_get_monotonic_time() - c->real + SLACK_US) *
		NS_PER_US;
}

static gboolean
clock_prepare(GSource *source, gint *timeout_ms)
{
	struct clock_source *c = (struct clock_source *)source;
	int64_t next = next_at(c->sim), horizon;

	*timeout_ms = -1;
	if (c->sim->held) {
		c->real = g_get_monotonic_time();
		c->virtual = sim_now(c->sim);
		return FALSE;
	}
	horizon = clock_horizon(c);
	if (next <= horizon)
		return TRUE;
	/* In real time the clock advances without events, too: a timer that is
	 * started between two events must not be late. */
	if (c->pace == SIM_PACE_REAL)
		c->sim->now = MAX(c->sim->now, horizon - SLACK_NS);
	/* Rounded down: the last millisecond is polled, or an SMP of 20 us
	 * would take fifty times as long. */
	if (next != INT64_MAX)
		*timeout_ms = CLAMP((next - c->sim->now - SLACK_NS) /
				    (NS_PER_US * 1000), 0, G_MAXINT);
	return FALSE;
}

static gboolean
clock_check(GSource *source)
{
	gint unused;

	return clock_prepare(source, &unused);
}

static gboolean
clock_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	struct clock_source *c = (struct clock_source *)source;
	int64_t horizon = clock_horizon(c);

	for (unsigned i = 0; i < BATCH && !c->sim->held &&
	     next_at(c->sim) <= horizon; i++)
		sim_step(c->sim);
	return G_SOURCE_CONTINUE;
}

GSource *
sim_source_new(struct sim *sim, enum sim_pace pace)
{
	static GSourceFuncs funcs = {
		.prepare = clock_prepare,
		.check = clock_check,
		.dispatch = clock_dispatch,
	};
	GSource *source = g_source_new(&funcs, sizeof(struct clock_source));
	struct clock_source *c = (struct clock_source *)source;

	c->sim = sim;
	c->pace = pace;
	c->real = g_get_monotonic_time();
	c->virtual = sim_now(sim);
	g_source_set_name(source, "simulated fabric");
	return source;
}
