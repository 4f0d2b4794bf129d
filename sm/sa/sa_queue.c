// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The queue of the SA server.
 *
 * Each client, which is a LID, has a line of its own, in the order in which
 * its requests came. The clients take turns, one request each; who comes anew
 * goes behind those who wait. So the wait of a client depends on how many
 * others there are, not on how much they ask.
 *
 * Two limits: of a line, and of all. Past the first a client hurts only
 * itself. If all places are taken, a client may still get one, as long as
 * somebody has two more than it: the youngest request of the longest line
 * leaves. (One more is not enough: the two would push each other out for
 * ever.) So many babblers together cannot keep out a client that asks little.
 *
 *	turns	 clients with requests, the next one at the head
 *	levels	 the same clients by the length of their line; the head of the
 *		 highest has had the longest line for the longest time
 *
 * Everything takes constant time, but for the search of the next lower level
 * that has anybody, which goes no further down than additions went up.
 */
#include "sm/sa/sa_queue.h"

#include <string.h>

struct sa_client {
	uint16_t lid;
	GQueue line;		/* struct ticket, oldest first */
	GList turn;		/* in turns */
	GList place;		/* in levels[level] */
	unsigned level;
};

struct sa_queue {
	unsigned max, max_client;
	unsigned length;	/* of all lines */
	GHashTable *clients;	/* LID -> struct sa_client */
	GQueue turns;
	GQueue *levels;		/* 0 to max_client; 0 is empty */
	unsigned longest;	/* level */
};

G_STATIC_ASSERT(sizeof(struct sa_request_key) == 16);

guint
sa_request_key_hash(gconstpointer data)
{
	const struct sa_request_key *k = data;
	uint64_t sum = k->tid ^ (uint64_t)k->lid << 40 ^
		(uint64_t)k->attr_id << 8 ^ k->method;

	return (guint)(sum * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

gboolean
sa_request_key_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(struct sa_request_key)) == 0;
}

struct ticket *
ticket_new(const struct sa_request_key *key, const struct mad_addr *from,
	   const uint8_t *mad, size_t len)
{
	struct ticket *t = g_malloc(sizeof(*t) + len);

	memset(t, 0, sizeof(*t));
	t->link.data = t;
	t->key = *key;
	t->from = *from;
	t->len = len;
	memcpy(t->mad, mad, len);
	return t;
}

struct sa_queue *
sa_queue_new(unsigned max, unsigned max_client)
{
	struct sa_queue *q = g_new0(struct sa_queue, 1);

	g_assert(max > 0 && max_client > 0);
	q->max = max;
	q->max_client = max_client;
	q->clients = g_hash_table_new(NULL, NULL);
	q->levels = g_new0(GQueue, (size_t)max_client + 1);
	return q;
}

void
sa_queue_free(struct sa_queue *q)
{
	struct ticket *t;

	if (!q)
		return;
	while ((t = sa_queue_next(q)))
		g_free(t);
	g_hash_table_unref(q->clients);
	g_free(q->levels);
	g_free(q);
}

static struct sa_client *
find_client(const struct sa_queue *q, uint16_t lid)
{
	return g_hash_table_lookup(q->clients, GUINT_TO_POINTER(lid));
}

static struct sa_client *
client_new(struct sa_queue *q, uint16_t lid)
{
	struct sa_client *c = g_new0(struct sa_client, 1);

	c->lid = lid;
	c->turn.data = c;
	c->place.data = c;
	g_hash_table_insert(q->clients, GUINT_TO_POINTER(lid), c);
	g_queue_push_tail_link(&q->turns, &c->turn);
	g_queue_push_tail_link(&q->levels[0], &c->place);
	return c;
}

/* After every change of its line. Who has none is forgotten. */
static void
client_settle(struct sa_queue *q, struct sa_client *c)
{
	g_queue_unlink(&q->levels[c->level], &c->place);
	c->level = c->line.length;
	if (c->level > 0) {
		g_queue_push_tail_link(&q->levels[c->level], &c->place);
		q->longest = MAX(q->longest, c->level);
	}
	while (q->longest > 0 && !q->levels[q->longest].head)
		q->longest--;
	if (c->level > 0)
		return;
	g_queue_unlink(&q->turns, &c->turn);
	g_hash_table_remove(q->clients, GUINT_TO_POINTER(c->lid));
	g_free(c);
}

static struct ticket *
take_youngest(struct sa_queue *q, struct sa_client *c)
{
	GList *link = g_queue_pop_tail_link(&c->line);

	q->length--;
	client_settle(q, c);
	return link->data;
}

struct ticket *
sa_queue_add(struct sa_queue *q, struct ticket *t, enum sa_refusal *why)
{
	struct sa_client *c = find_client(q, t->key.lid);
	unsigned n = c ? c->line.length : 0;
	struct ticket *leaves = NULL;

	*why = SA_REFUSED_NONE;
	if (n >= q->max_client) {
		*why = SA_REFUSED_SURPLUS;
		return t;
	}
	if (q->length >= q->max) {
		if (q->longest <= n + 1) {
			*why = SA_REFUSED_FULL;
			return t;
		}
		*why = SA_REFUSED_DISPLACED;
		leaves = take_youngest(q, q->levels[q->longest].head->data);
	}
	if (!c)
		c = client_new(q, t->key.lid);
	g_queue_push_tail_link(&c->line, &t->link);
	q->length++;
	client_settle(q, c);
	return leaves;
}

struct ticket *
sa_queue_next(struct sa_queue *q)
{
	struct sa_client *c;
	GList *link;

	if (!q->turns.head)
		return NULL;
	c = q->turns.head->data;
	g_queue_unlink(&q->turns, &c->turn);
	g_queue_push_tail_link(&q->turns, &c->turn);
	link = g_queue_pop_head_link(&c->line);
	q->length--;
	client_settle(q, c);
	return link->data;
}

unsigned
sa_queue_length(const struct sa_queue *q)
{
	return q->length;
}
