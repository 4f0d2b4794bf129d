// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The queue of the SA server.
 *
 * Each client, which is a LID, has a line of its own, in the order in which its
 * requests came. The clients are served round robin, one request each; a new
 * client is last. So the wait of a client depends on the number of clients, not
 * on the number of their requests.
 *
 * Two limits: of a line, and of all. A request beyond the first is refused. If
 * all places are taken, only a client of which none waits gets one. So a few
 * clients that send many requests cannot keep out one that sends few, and more
 * than the limit wait by one for each LID at the most.
 */
#include "sm/sa/sa_queue.h"

#include <string.h>

struct sa_client {
	uint16_t lid;
	GQueue line;		/* struct sa_job, oldest first */
	GList turn;		/* in turns */
};

struct sa_queue {
	unsigned max, max_client;
	unsigned length;	/* of all lines */
	GHashTable *clients;	/* LID -> struct sa_client */
	GQueue turns;		/* those with requests, the next one first */
};

struct sa_job *
sa_job_new(const struct mad_addr *from, const uint8_t *mad, size_t len)
{
	struct sa_job *j = g_malloc0(sizeof(*j) + len);

	mad_header_read(mad, len, &j->header);
	j->link.data = j;
	j->from = *from;
	j->len = len;
	memcpy(j->mad, mad, len);
	return j;
}

void
sa_job_free(struct sa_job *j)
{
	sa_records_free(j->reply.records);
	if (j->table)
		g_byte_array_unref(j->table);
	g_free(j);
}

struct sa_queue *
sa_queue_new(unsigned max, unsigned max_client)
{
	struct sa_queue *q = g_new0(struct sa_queue, 1);

	g_assert(max > 0 && max_client > 0);
	q->max = max;
	q->max_client = max_client;
	q->clients = g_hash_table_new(NULL, NULL);
	return q;
}

void
sa_queue_free(struct sa_queue *q)
{
	struct sa_job *j;

	while ((j = sa_queue_next(q)))
		sa_job_free(j);
	g_hash_table_unref(q->clients);
	g_free(q);
}

const char *
sa_queue_add(struct sa_queue *q, struct sa_job *j)
{
	gpointer lid = GUINT_TO_POINTER(j->from.lid);
	struct sa_client *c = g_hash_table_lookup(q->clients, lid);

	if (c && c->line.length >= q->max_client)
		return "a client asks too much";
	if (c && q->length >= q->max)
		return "too many requests wait";
	if (!c) {
		c = g_new0(struct sa_client, 1);
		c->lid = j->from.lid;
		c->turn.data = c;
		g_hash_table_insert(q->clients, lid, c);
		g_queue_push_tail_link(&q->turns, &c->turn);
	}
	g_queue_push_tail_link(&c->line, &j->link);
	q->length++;
	return NULL;
}

struct sa_job *
sa_queue_next(struct sa_queue *q)
{
	GList *turn = g_queue_pop_head_link(&q->turns);
	struct sa_client *c;
	struct sa_job *j;

	if (!turn)
		return NULL;
	c = turn->data;
	j = g_queue_pop_head_link(&c->line)->data;
	q->length--;
	if (c->line.length) {
		g_queue_push_tail_link(&q->turns, turn);
	} else {
		g_hash_table_remove(q->clients, GUINT_TO_POINTER(c->lid));
		g_free(c);
	}
	return j;
}

bool
sa_job_changes(const struct sa_job *j)
{
	return j->header.method == MAD_METHOD_SET ||
		j->header.method == SA_METHOD_DELETE;
}

bool
sa_queue_has(const struct sa_queue *q, const struct sa_job *j,
	     GCompareFunc differs)
{
	struct sa_client *c = g_hash_table_lookup(q->clients,
						  GUINT_TO_POINTER(j->from.lid));

	return c && g_queue_find_custom(&c->line, j, differs);
}

unsigned
sa_queue_length(const struct sa_queue *q)
{
	return q->length;
}
