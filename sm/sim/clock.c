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
#include "sm/sim/state.h"

static struct sim_place *
place_at(const struct sim *sim, uint32_t pos)
{
	return &g_array_index(sim->heap, struct sim_place, pos);
}

static bool
before(const struct sim_place *a, const struct sim_place *b)
{
	return a->at < b->at || (a->at == b->at && a->seq < b->seq);
}

static void
clock_put(struct sim *sim, uint32_t pos, const struct sim_place *place)
{
	*place_at(sim, pos) = *place;
	place->event->pos = pos;
}

static void
sift_up(struct sim *sim, uint32_t pos, struct sim_place place)
{
	while (pos > 1 && before(&place, place_at(sim, pos / 2))) {
		clock_put(sim, pos, place_at(sim, pos / 2));
		pos /= 2;
	}
	clock_put(sim, pos, &place);
}

static void
sift_down(struct sim *sim, uint32_t pos, struct sim_place place)
{
	uint32_t n = sim->heap->len;

	for (;;) {
		uint32_t child = 2 * pos;

		if (child + 1 < n && before(place_at(sim, child + 1),
					    place_at(sim, child)))
			child++;
		if (child >= n || before(&place, place_at(sim, child)))
			break;
		clock_put(sim, pos, place_at(sim, child));
		pos = child;
	}
	clock_put(sim, pos, &place);
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
	uint32_t last = sim->heap->len - 1;
	uint32_t pos = event->pos;
	struct sim_place place;

	if (!pos)
		return;
	event->pos = 0;
	place = *place_at(sim, last);
	g_array_set_size(sim->heap, last);
	if (pos == last)
		return;
	if (pos > 1 && before(&place, place_at(sim, pos / 2)))
		sift_up(sim, pos, place);
	else
		sift_down(sim, pos, place);
}

bool
sim_step(struct sim *sim)
{
	struct sim_place next;

	if (sim->heap->len < 2)
		return false;
	next = *place_at(sim, 1);
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
sim_clock_free(struct sim *sim)
{
	for (uint32_t pos = 1; pos < sim->heap->len; pos++) {
		struct sim_event *event = place_at(sim, pos)->event;

		if (event->free)
			event->free(event);
	}
	g_array_unref(sim->heap);
}

struct sim_packet *
sim_packet_new(void)
{
	struct sim_packet *p = g_new0(struct sim_packet, 1);

	p->event.free = (GDestroyNotify)sim_packet_drop;
	return p;
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

struct clock_source {
	GSource base;
	struct sim *sim;
	enum sim_pace pace;
	int64_t real, virtual;	/* the same moment, us */
};

static bool
is_due(const struct clock_source *c, int64_t until_us)
{
	return c->sim->heap->len > 1 &&
		place_at(c->sim, 1)->at <= until_us * NS_PER_US;
}

/* The virtual time that corresponds to now. */
static int64_t
real_target(const struct clock_source *c)
{
	return c->virtual + g_get_monotonic_time() - c->real;
}

/* In real time the clock advances without events, too: a timer that is started
 * between two events must not be late. */
static gboolean
clock_ready(struct clock_source *c)
{
	int64_t target;

	if (c->sim->held) {
		c->real = g_get_monotonic_time();
		c->virtual = sim_now(c->sim);
		return FALSE;
	}
	if (c->pace == SIM_PACE_FAST)
		return c->sim->heap->len > 1;
	target = real_target(c);
	if (is_due(c, target + SLACK_US))
		return TRUE;
	c->sim->now = MAX(c->sim->now, target * NS_PER_US);
	return FALSE;
}

static gboolean
clock_prepare(GSource *source, gint *timeout_ms)
{
	struct clock_source *c = (struct clock_source *)source;

	*timeout_ms = -1;
	if (clock_ready(c))
		return TRUE;
	/* Rounded down: the last millisecond is polled, or an SMP of 20 us
	 * would take fifty times as long. */
	if (c->sim->heap->len > 1 && !c->sim->held) {
		int64_t wait = place_at(c->sim, 1)->at - c->sim->now -
			SLACK_US * NS_PER_US;

		*timeout_ms = CLAMP(wait / (NS_PER_US * 1000), 0, G_MAXINT);
	}
	return FALSE;
}

static gboolean
clock_check(GSource *source)
{
	return clock_ready((struct clock_source *)source);
}

static gboolean
clock_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	struct clock_source *c = (struct clock_source *)source;
	int64_t target = c->pace == SIM_PACE_REAL ?
		real_target(c) + SLACK_US : INT64_MAX / NS_PER_US;

	for (unsigned i = 0; i < BATCH && !c->sim->held && is_due(c, target);
	     i++)
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
