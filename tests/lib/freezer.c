// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The operations of the transport are replaced by those here, which begin the
 * struct. */
#include "tests/lib/freezer.h"

struct freezer {
	struct transport_ops ops;
	const struct transport_ops *below;
	struct transport *t;
	bool frozen;
	transport_recv_fn on_recv;	/* of the process, while it is frozen */
	void *recv_data;
	GQueue timers;			/* struct freezer_timer, by `when` */
	GQueue unread;			/* struct transport_mad, with its mad */
	unsigned last_id, reader;
};

struct freezer_timer {
	struct freezer *f;
	transport_timer_fn fn;
	void *data;
	int64_t when;
	unsigned id, below;		/* 0: it has rung while all was frozen */
};

static void
freezer_on_timer(void *data)
{
	struct freezer_timer *timer = data, done = *timer;

	timer->below = 0;
	if (done.f->frozen)
		return;
	g_queue_remove(&done.f->timers, timer);
	g_free(timer);
	done.fn(done.data);
}

static int
compare_times(const void *a, const void *b, G_GNUC_UNUSED void *data)
{
	const struct freezer_timer *p = a, *q = b;

	if (p->when != q->when)
		return p->when < q->when ? -1 : 1;
	return p->id < q->id ? -1 : p->id > q->id;
}

static unsigned
freezer_timer_start(struct transport *t, int64_t when, transport_timer_fn fn,
		    void *data)
{
	struct freezer *f = (struct freezer *)t->ops;
	struct freezer_timer *timer = g_new(struct freezer_timer, 1);

	*timer = (struct freezer_timer){
		.f = f, .fn = fn, .data = data, .when = when,
		.id = ++f->last_id,
		.below = f->below->timer_start(t, when, freezer_on_timer,
					       timer),
	};
	g_queue_insert_sorted(&f->timers, timer, compare_times, NULL);
	return timer->id;
}

static void
freezer_timer_cancel(struct transport *t, unsigned id)
{
	struct freezer *f = (struct freezer *)t->ops;

	for (GList *l = f->timers.head; l; l = l->next) {
		struct freezer_timer *timer = l->data;

		if (timer->id != id)
			continue;
		if (timer->below)
			f->below->timer_cancel(t, timer->below);
		g_queue_delete_link(&f->timers, l);
		g_free(timer);
		return;
	}
}

static void
free_unread(void *data)
{
	struct transport_mad *m = data;

	g_free((uint8_t *)m->mad);
	g_free(m);
}

/* The process may be frozen again, or ended, by what it reads. */
static void
freezer_on_read(void *data)
{
	struct freezer *f = data;
	struct transport_mad *m;

	f->reader = 0;
	if (f->frozen || !(m = g_queue_pop_head(&f->unread)))
		return;
	if (f->unread.length)
		f->reader = f->below->timer_start(f->t, f->below->now(f->t),
						  freezer_on_read, f);
	f->t->on_recv(m, f->t->recv_data);
	free_unread(m);
}

static void
keep_unread(const struct transport_mad *m, void *data)
{
	struct freezer *f = data;
	struct transport_mad *kept = g_memdup2(m, sizeof(*m));

	kept->mad = g_memdup2(m->mad, m->len);
	g_queue_push_tail(&f->unread, kept);
}

static void
freezer_free(struct transport *t)
{
	struct freezer *f = (struct freezer *)t->ops;

	while (f->timers.head)
		freezer_timer_cancel(t, ((struct freezer_timer *)
					 f->timers.head->data)->id);
	if (f->reader)
		f->below->timer_cancel(t, f->reader);
	g_queue_clear_full(&f->unread, free_unread);
	f->below->free(t);
	g_free(f);
}

struct freezer *
freezer_new(struct transport *t)
{
	struct freezer *f = g_new0(struct freezer, 1);

	f->ops = *t->ops;
	f->ops.timer_start = freezer_timer_start;
	f->ops.timer_cancel = freezer_timer_cancel;
	f->ops.free = freezer_free;
	f->below = t->ops;
	f->t = t;
	t->ops = &f->ops;
	return f;
}

void
freezer_freeze(struct freezer *f)
{
	if (f->frozen)
		return;
	f->frozen = true;
	f->on_recv = f->t->on_recv;
	f->recv_data = f->t->recv_data;
	transport_set_receiver(f->t, keep_unread, f);
}

void
freezer_thaw(struct freezer *f)
{
	int64_t now = f->below->now(f->t);

	if (!f->frozen)
		return;
	f->frozen = false;
	transport_set_receiver(f->t, f->on_recv, f->recv_data);
	for (GList *l = f->timers.head; l; l = l->next) {
		struct freezer_timer *timer = l->data;

		if (!timer->below)
			timer->below = f->below->timer_start(f->t, now,
					freezer_on_timer, timer);
	}
	if (f->unread.length && !f->reader)
		f->reader = f->below->timer_start(f->t, now, freezer_on_read,
						  f);
}
