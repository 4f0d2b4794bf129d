// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading tables of ports on demand.
 *
 * Flow. qos_reader_park queues an SA request with the ports whose table it
 * needs. qos_reader_next takes the requests in turn, one block of each, so a
 * request for one port does not wait for one that is for all ports. Blocks go
 * into the view. A table is closed if a block is rejected or its node does not
 * answer: the SA answers with the blocks it has. When all tables of a request
 * are read, a timer returns it to the SA.
 *
 * `begun` marks tables of which blocks have been requested, since two SA
 * requests may need the same one.
 *
 * During a sweep nothing is requested; a timer waits for its end. A sweep
 * publishes a new view without these tables: the waiting requests go to the SA
 * again, and come back.
 */
#include "sm/sweep/qos_reader.h"

#include "sm/sa/sa_db.h"
#include "sm/sa/sa_queue.h"
#include "sm/sweep/smp_batch.h"
#include "sm/sweep/sweep.h"

#define IN_FLIGHT	16u	/* SMPs: a small share of the window */
#define PARKED_MAX	64u
#define LOOK_AGAIN_US	(50 * 1000)
#define LOOKS_A_TURN	4096u	/* at tables that are read already */

struct parked {
	GList link;
	struct sa_job *job;
	enum port_table table;
	GArray *ports;		/* uint32_t */
	guint next;		/* the port whose blocks are requested, */
	unsigned block;		/* and the next one to be requested */
	guint done;		/* ports, from the first, whose table is read */
};

/* Takes the request out of the queue. */
static struct sa_job *
parked_end(struct qos_reader *q, struct parked *p)
{
	struct sa_job *job = p->job;

	g_queue_unlink(&q->parked, &p->link);
	g_array_unref(p->ports);
	g_free(p);
	return job;
}

static void qos_reader_on_timer(void *data);

static void
look_again(struct qos_reader *q, int64_t us)
{
	if (!q->timer)
		q->timer = transport_timer_in(q->x->transport, us,
					      qos_reader_on_timer, q);
}

/* ----------------------------------------------------------------- reading */

/* Does the port have this block? It would reject a Get of others, which are
 * returned as empty. So are those of a base port 0, which has neither VLs
 * nor arbitration (IBA 14.2.5.8, .9). */
static bool
has_block(const struct sa_db *v, enum port_table table, uint32_t port,
	  unsigned block)
{
	const struct port_info *info = &v->subnet->ports[port].info;
	const struct snapshot_node *n = snapshot_node_of(v->subnet, port);

	if (table == PORT_TABLE_PKEY)
		return true;
	if (snapshot_is_switch(n) && !v->subnet->ports[port].num &&
	    !n->sw.enhanced_port0)
		return false;
	if (table != PORT_TABLE_VL_ARB)
		return true;
	switch ((enum vl_arb_block)block) {
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

/* Is the table read or closed? Adds empty blocks for those that the port
 * does not have, once all others are there. */
static bool
is_complete(struct sa_db *v, enum port_table table, uint32_t port)
{
	static const union port_block empty;
	unsigned n = sa_db_own_tables(v)->n_blocks[table][port], i;

	if (sa_db_table_is_read(v, table, port))
		return true;
	for (i = 0; i < n; i++)
		if (!sa_db_block(v, table, port, i) &&
		    has_block(v, table, port, i))
			return false;
	for (i = 0; i < n; i++)
		if (!sa_db_block(v, table, port, i))
			port_tables_set(v->tables, table, port, i, &empty);
	return true;
}

/* Finds the next block for this request, p->block of port p->next. False: there
 * is none, or *looks are used up. */
static bool
parked_next(struct qos_reader *q, struct parked *p, unsigned *looks)
{
	for (; p->next < p->ports->len && *looks; p->next++, (*looks)--) {
		uint32_t port = g_array_index(p->ports, uint32_t, p->next);
		uint8_t bit = (uint8_t)(1u << p->table);
		unsigned n = sa_db_own_tables(q->view)->
			n_blocks[p->table][port];

		if (!p->block && q->begun[port] & bit)
			continue;
		q->begun[port] |= bit;
		if (is_complete(q->view, p->table, port))
			p->block = n;
		while (p->block < n &&
		       (sa_db_block(q->view, p->table, port, p->block) ||
			!has_block(q->view, p->table, port, p->block)))
			p->block++;
		if (p->block < n)
			return true;
		p->block = 0;
		look_again(q, 0);
	}
	return false;
}

static bool
qos_reader_next(void *data, struct smp_request *r)
{
	struct qos_reader *q = data;
	const struct snapshot *s = q->view->subnet;
	unsigned looks = LOOKS_A_TURN;

	if (q->sweep->state != SWEEP_IDLE)
		return false;
	for (unsigned n = q->parked.length; n > 0; n--) {
		struct parked *p = q->parked.head->data;
		uint32_t port;
		unsigned num;

		g_queue_push_tail_link(&q->parked,
				       g_queue_pop_head_link(&q->parked));
		if (!parked_next(q, p, &looks))
			continue;
		port = g_array_index(p->ports, uint32_t, p->next);
		num = snapshot_is_switch(snapshot_node_of(s, port)) ?
			s->ports[port].num : 0;
		r->port = port;
		r->attr = smp_table_attr(p->table);
		r->modifier = smp_table_modifier(p->table, num, p->block);
		r->tag = (uint64_t)p->table << 32 | p->block++;
		return true;
	}
	if (!looks)
		look_again(q, 0);
	return false;
}

static void
qos_reader_reply(void *data, const struct smp_request *r,
		 const struct smp_reply *a)
{
	struct qos_reader *q = data;
	enum port_table table = (enum port_table)(r->tag >> 32);
	union port_block b;

	if (a->outcome == SMP_ANSWERED && !a->status) {
		smp_table_decode(table, a->data, &b);
		port_tables_set(sa_db_own_tables(q->view), table, r->port,
				(uint32_t)r->tag, &b);
		q->stats.blocks++;
	} else {
		q->stats.denied += a->outcome == SMP_ANSWERED;
		q->stats.lost += a->outcome == SMP_TIMED_OUT;
		sa_db_close_table(q->view, table, r->port);
	}
	if (a->outcome == SMP_TIMED_OUT)
		smp_batch_set_unreachable(q->batch, r->port);
	if (is_complete(q->view, table, r->port))
		look_again(q, 0);
}

static void
forget_view(struct qos_reader *q)
{
	g_clear_pointer(&q->batch, smp_batch_free);
	g_clear_pointer(&q->begun, g_free);
	g_clear_pointer(&q->view, sa_db_unref);
}

/* ---------------------------------------------------------------- resuming */

static void
qos_reader_on_timer(void *data)
{
	struct qos_reader *q = data;

	q->timer = 0;
	for (unsigned n = q->parked.length; n > 0 && q->parked.head; n--) {
		struct parked *p = q->parked.head->data;

		while (p->done < p->ports->len &&
		       sa_db_table_is_read(q->view, p->table,
					   g_array_index(p->ports, uint32_t,
							 p->done)))
			p->done++;
		if (p->done == p->ports->len)
			sa_server_enqueue(q->server, parked_end(q, p));
		else
			g_queue_push_tail_link(&q->parked,
				g_queue_pop_head_link(&q->parked));
	}
	if (!q->parked.length) {
		forget_view(q);
		return;
	}
	smp_batch_wake(q->batch);
	if (!smp_batch_in_flight(q->batch))
		look_again(q, LOOK_AGAIN_US);
}

/* --------------------------------------------------------------- interface */

struct qos_reader *
qos_reader_new(struct mad_client *x, const struct mkey_db *keys, struct sa *sa,
	       struct sa_server *server, const struct sweep *sweep)
{
	struct qos_reader *q = g_new0(struct qos_reader, 1);

	q->x = x;
	q->keys = keys;
	q->sa = sa;
	q->server = server;
	q->sweep = sweep;
	g_queue_init(&q->parked);
	return q;
}

void
qos_reader_free(struct qos_reader *q)
{
	if (!q)
		return;
	forget_view(q);
	while (q->parked.head)
		sa_job_free(parked_end(q, q->parked.head->data));
	transport_timer_clear(q->x->transport, &q->timer);
	g_free(q);
}

bool
qos_reader_park(struct qos_reader *q, struct sa_job *job,
	     const struct sa_unread *unread)
{
	const struct smp_stage stage = {
		.next = qos_reader_next, .reply = qos_reader_reply,
		.data = q, .max_in_flight = IN_FLIGHT,
	};
	struct parked *p;

	if (q->view && q->view != q->sa->view)
		qos_reader_refresh(q);
	if (q->parked.length >= PARKED_MAX)
		return false;
	if (!q->view) {
		q->view = sa_db_ref(q->sa->view);
		q->begun = g_new0(uint8_t, q->view->subnet->n_ports);
		q->batch = smp_batch_start(q->x, q->view->subnet, q->keys,
					   &stage);
	}
	p = g_new0(struct parked, 1);
	p->link.data = p;
	p->job = job;
	p->table = unread->table;
	p->ports = unread->ports;
	g_queue_push_tail_link(&q->parked, &p->link);
	q->stats.parked++;
	look_again(q, 0);
	return true;
}

void
qos_reader_refresh(struct qos_reader *q)
{
	unsigned n = q->parked.length;

	forget_view(q);
	while (n-- > 0)
		sa_server_enqueue(q->server,
				  parked_end(q, q->parked.head->data));
}
