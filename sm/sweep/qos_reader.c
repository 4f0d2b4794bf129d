// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading tables of ports on demand.
 *
 * Structs. A `parked` is a question with the ports whose table it waits for;
 * `done` counts those from the front that are read, `next` those that were
 * given to a reader. A `reader` reads the table of one port, one block at a
 * time; there are READERS of them, so that is the share of the window that all
 * this ever has. `begun` says by port which tables a reader was given, for two
 * questions may wait for the same one; `silent` by node who did not answer:
 * the rest of its tables is not asked for.
 *
 * Flow. qos_reader_park -> pump: each idle reader takes the next port of the
 * next question in turn, so a question for one port does not wait for one that
 * is for all. What is read goes into the view; a port that refuses a block, or
 * is silent, has its table closed as it is. When all ports of a question are
 * read it is asked again.
 *
 * While the sweep is at work no reader begins with another port; a timer looks
 * whether it rests again. The view that comes of it knows nothing: who waits
 * then asks again, and is parked anew. An answer for a view that is gone is of
 * no use.
 */
#include "sm/sweep/qos_reader.h"

#include "sm/mad/smp.h"
#include "sm/sa/sa_db.h"
#include "topology/lid.h"

#define READERS		16u
#define PARKED_MAX	64u
#define LOOK_AGAIN_US	(50 * 1000)
#define LOOKS_A_TURN	4096u	/* at ports that are read already */

struct parked {
	GList link;
	struct sa_job *job;
	enum port_table table;
	GArray *ports;		/* uint32_t */
	guint next, done;
};

struct qos_port_reader {
	struct qos_reader *q;
	bool works;
	enum port_table table;
	uint32_t port;
	unsigned block;
};

struct qos_reader {
	struct mad_client *x;
	const struct mkey_db *keys;
	struct sa *sa;
	struct qos_reader_hooks hooks;
	struct sa_db *view;	/* of what is parked; NULL: nothing is */
	uint8_t *begun;		/* by port, a bit for each table */
	uint8_t *silent;	/* by node */
	GQueue parked;		/* the next one to be served at the head */
	struct qos_port_reader readers[READERS];
	unsigned timer;
	struct qos_reader_stats stats;
};

static void pump(struct qos_reader *q);

static void
parked_free(struct qos_reader *q, struct parked *p)
{
	g_queue_unlink(&q->parked, &p->link);
	q->stats.waiting = q->parked.length;
	g_array_unref(p->ports);
	g_free(p);
}

/* What is known of a view that is gone. */
static void
forget_view(struct qos_reader *q)
{
	mad_client_cancel_owner(q->x, q);
	for (unsigned i = 0; i < READERS; i++)
		q->readers[i].works = false;
	q->stats.in_flight = 0;
	g_clear_pointer(&q->begun, g_free);
	g_clear_pointer(&q->silent, g_free);
	g_clear_pointer(&q->view, sa_db_unref);
}

static void
watch_view(struct qos_reader *q)
{
	const struct snapshot *s;

	if (q->view)
		return;
	q->view = sa_db_ref(sa_view_of(q->sa));
	s = q->view->subnet;
	q->begun = g_new0(uint8_t, s->n_ports);
	q->silent = g_new0(uint8_t, s->n_nodes);
}

/* ---------------------------------------------------------------- resuming */

static uint32_t
port_at(const struct parked *p, guint i)
{
	return g_array_index(p->ports, uint32_t, i);
}

static bool
is_ready(const struct qos_reader *q, struct parked *p)
{
	while (p->done < p->ports->len &&
	       sa_db_table_is_read(q->view, p->table, port_at(p, p->done)))
		p->done++;
	return p->done == p->ports->len;
}

static void
resume(struct qos_reader *q, struct parked *p)
{
	struct sa_job *job = p->job;

	parked_free(q, p);
	q->stats.resumed++;
	q->hooks.resume(job, q->hooks.data);
}

static void
resume_ready(struct qos_reader *q)
{
	unsigned n = q->parked.length;

	while (n-- > 0 && q->parked.head) {
		struct parked *p = q->parked.head->data;

		if (is_ready(q, p)) {
			resume(q, p);
			continue;
		}
		g_queue_unlink(&q->parked, &p->link);
		g_queue_push_tail_link(&q->parked, &p->link);
	}
	if (!q->parked.length && !q->stats.in_flight)
		forget_view(q);
}

/* ----------------------------------------------------------------- reading */

static void
stop_reading(struct qos_port_reader *r)
{
	struct qos_reader *q = r->q;

	sa_db_close_table(q->view, r->table, r->port);
	r->works = false;
	q->stats.in_flight--;
}

/* Blocks that the port says it has; the others it would refuse. They are told
 * as blocks without entries, which is what they are. So are those of a base
 * port 0, which has neither VLs nor arbitration (IBA 14.2.5.8, .9). */
static bool
has_block(const struct sa_db *v, const struct qos_port_reader *r)
{
	const struct port_info *info = &v->subnet->ports[r->port].info;
	const struct snapshot_node *n = snapshot_node_of(v->subnet, r->port);

	if (r->table == PORT_TABLE_PKEY)
		return true;
	if (snapshot_is_switch(n) && !v->subnet->ports[r->port].num &&
	    !n->sw.enhanced_port0)
		return false;
	if (r->table != PORT_TABLE_VL_ARB)
		return true;
	switch ((enum vl_arb_block)r->block) {
	case VL_ARB_LOW_1:
		return info->vl_arb_low_cap > 0;
	case VL_ARB_LOW_2:
		return info->vl_arb_low_cap > VL_ARB_ENTRIES;
	case VL_ARB_HIGH_1:
		return info->vl_arb_high_cap > 0;
	case VL_ARB_HIGH_2:
		return info->vl_arb_high_cap > VL_ARB_ENTRIES;
	case VL_ARB_N_BLOCKS:
		break;
	}
	return false;
}

static unsigned
count_blocks(const struct sa_db *v, const struct qos_port_reader *r)
{
	const struct snapshot_node *n = snapshot_node_of(v->subnet, r->port);

	switch (r->table) {
	case PORT_TABLE_PKEY:
		return (port_pkey_cap(v->subnet, r->port) + PKEYS_A_BLOCK -
			1) / PKEYS_A_BLOCK;
	case PORT_TABLE_SL2VL:
		return snapshot_is_switch(n) ? n->info.num_ports + 1u : 1;
	case PORT_TABLE_VL_ARB:
		return VL_ARB_N_BLOCKS;
	case PORT_N_TABLES:
		break;
	}
	g_assert_not_reached();
}

static bool
find_missing_block(struct qos_port_reader *r)
{
	static const union port_block none;
	struct sa_db *v = r->q->view;
	unsigned n = count_blocks(v, r);

	for (; r->block < n; r->block++) {
		if (sa_db_block(v, r->table, r->port, r->block))
			continue;
		if (has_block(v, r))
			return true;
		sa_db_add_block(v, r->table, r->port, r->block, &none);
	}
	return false;
}

static void on_done(const struct mad_client_answer *a, void *data,
		    uint64_t tag);

/* The next block of its port. False: there is none, or it is of no use. */
static bool
ask(struct qos_port_reader *r)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	struct qos_reader *q = r->q;
	const struct snapshot *s = q->view->subnet;
	unsigned num = snapshot_is_switch(snapshot_node_of(s, r->port)) ?
		s->ports[r->port].num : 0;
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (q->silent[s->ports[r->port].node] || !find_missing_block(r) ||
	    !snapshot_path(s, r->port, &path))
		return false;
	smp_build_direct(mad, MAD_METHOD_GET, smp_table_attr(r->table),
			 smp_table_modifier(r->table, num, r->block),
			 mkey_db_at(q->keys, s, r->port), &path);
	mad_client_start(q->x, &direct, mad, on_done, q,
		   (uint64_t)(r - q->readers));
	return true;
}

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct qos_reader *q = data;
	struct qos_port_reader *r = &q->readers[tag];
	union port_block b;
	bool on = false;

	if (a->outcome == MAD_CLIENT_TIMED_OUT) {
		q->stats.lost++;
		q->silent[q->view->subnet->ports[r->port].node] = true;
	} else if (a->header.status) {
		q->stats.denied++;
	} else {
		smp_table_decode(r->table, smp_data_const(a->mad), &b);
		sa_db_add_block(q->view, r->table, r->port, r->block++, &b);
		q->stats.blocks++;
		on = ask(r);
	}
	if (on)
		return;
	stop_reading(r);
	pump(q);
}

static bool
is_free(const struct qos_reader *q, enum port_table table, uint32_t port)
{
	return !(q->begun[port] >> table & 1) &&
		!sa_db_table_is_read(q->view, table, port);
}

/* False: no question needs a reader. `looks` is what may be spent. */
static bool
take_port(struct qos_port_reader *r, unsigned *looks)
{
	struct qos_reader *q = r->q;
	unsigned n = q->parked.length;

	for (; n > 0; n--) {
		struct parked *p = q->parked.head->data;

		g_queue_unlink(&q->parked, &p->link);
		g_queue_push_tail_link(&q->parked, &p->link);
		for (; p->next < p->ports->len; p->next++) {
			if (*looks == 0)
				return false;
			(*looks)--;
			if (!is_free(q, p->table, port_at(p, p->next)))
				continue;
			r->table = p->table;
			r->port = port_at(p, p->next++);
			r->block = 0;
			return true;
		}
	}
	return false;
}

static void
read_next(struct qos_port_reader *r, unsigned *looks)
{
	struct qos_reader *q = r->q;

	while (take_port(r, looks)) {
		r->works = true;
		q->begun[r->port] |= (uint8_t)(1u << r->table);
		q->stats.in_flight++;
		if (ask(r))
			return;
		stop_reading(r);
	}
}

static void
qos_reader_on_timer(void *data)
{
	struct qos_reader *q = data;

	q->timer = 0;
	if (q->view)
		pump(q);
}

static void
look_again(struct qos_reader *q, int64_t us)
{
	struct transport *t = mad_client_transport(q->x);

	if (!q->timer)
		q->timer = transport_timer_start(t, transport_now(t) + us,
						 qos_reader_on_timer, q);
}

static void
pump(struct qos_reader *q)
{
	bool rests = q->hooks.rests(q->hooks.data);
	unsigned looks = LOOKS_A_TURN;

	for (unsigned i = 0; rests && i < READERS; i++)
		if (!q->readers[i].works)
			read_next(&q->readers[i], &looks);
	resume_ready(q);
	if (q->parked.length && (looks == 0 || !q->stats.in_flight))
		look_again(q, looks == 0 ? 0 : LOOK_AGAIN_US);
}

/* --------------------------------------------------------------- interface */

struct qos_reader *
qos_reader_new(struct mad_client *x, const struct mkey_db *keys, struct sa *sa,
	    const struct qos_reader_hooks *hooks)
{
	struct qos_reader *q = g_new0(struct qos_reader, 1);

	q->x = x;
	q->keys = keys;
	q->sa = sa;
	q->hooks = *hooks;
	g_queue_init(&q->parked);
	for (unsigned i = 0; i < READERS; i++)
		q->readers[i].q = q;
	return q;
}

void
qos_reader_free(struct qos_reader *q)
{
	if (!q)
		return;
	forget_view(q);
	while (q->parked.head) {
		struct parked *p = q->parked.head->data;

		sa_job_free(p->job);
		parked_free(q, p);
	}
	if (q->timer)
		transport_timer_cancel(mad_client_transport(q->x), q->timer);
	g_free(q);
}

bool
qos_reader_park(struct qos_reader *q, struct sa_job *job,
	     const struct sa_unread *unread)
{
	struct parked *p;

	if (q->view && q->view != sa_view_of(q->sa))
		qos_reader_refresh(q);
	if (q->parked.length >= PARKED_MAX) {
		q->stats.refused++;
		return false;
	}
	watch_view(q);
	p = g_new0(struct parked, 1);
	p->link.data = p;
	p->job = job;
	p->table = unread->table;
	p->ports = unread->ports;
	g_queue_push_tail_link(&q->parked, &p->link);
	q->stats.parked++;
	q->stats.waiting = q->parked.length;
	look_again(q, 0);
	return true;
}

void
qos_reader_refresh(struct qos_reader *q)
{
	unsigned n = q->parked.length;

	forget_view(q);
	while (n-- > 0)
		resume(q, q->parked.head->data);
}

const struct qos_reader_stats *
qos_reader_stats(const struct qos_reader *q)
{
	return &q->stats;
}
