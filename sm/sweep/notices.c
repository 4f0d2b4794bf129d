// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The nodes that reported a change.
 *
 * A report rarely comes alone: both ends of a cable notice a change, and a
 * switch that loses power has as many neighbours as cables. So the first report
 * waits QUIET_US for others, which are read together with it, but no longer:
 * else a port that sends traps all the time would delay it for ever. BURST
 * reports of a node may follow at once, so that a broken link is repaired
 * quickly. Then a node is read once a second, without delaying others (a token
 * bucket, which a port that goes up and down all the time fills).
 */
#include "sm/sweep/notices.h"

#include <stdbool.h>

#include "topology/dr_path.h"

#define QUIET_US	(5 * 1000)
#define EACH_US		((int64_t)G_USEC_PER_SEC)
#define BURST		3

struct notice_node {
	uint64_t guid;
	bool pending;
	int64_t first;		/* time of its first pending report */
	int64_t paid;		/* time until which the reports so far would
				   last at one each EACH_US */
};

struct notices {
	GHashTable *nodes;	/* struct notice_node by NodeGUID */
};

struct notices *
notices_new(void)
{
	struct notices *n = g_new0(struct notices, 1);

	n->nodes = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL,
					 g_free);
	return n;
}

void
notices_free(struct notices *n)
{
	g_hash_table_unref(n->nodes);
	g_free(n);
}

void
notices_add(struct notices *n, uint64_t node_guid, int64_t now)
{
	struct notice_node *node = g_hash_table_lookup(n->nodes, &node_guid);

	if (!node) {
		node = g_new0(struct notice_node, 1);
		node->guid = node_guid;
		g_hash_table_insert(n->nodes, &node->guid, node);
	}
	if (node->pending)
		return;
	node->pending = true;
	node->first = now;
}

static int64_t
not_before(const struct notice_node *node)
{
	return node->paid - (BURST - 1) * EACH_US;
}

int64_t
notices_due(const struct notices *n)
{
	int64_t due = INT64_MAX;
	GHashTableIter iter;
	gpointer data;

	g_hash_table_iter_init(&iter, n->nodes);
	while (g_hash_table_iter_next(&iter, NULL, &data)) {
		const struct notice_node *node = data;

		if (node->pending)
			due = MIN(due, MAX(node->first + QUIET_US,
					   not_before(node)));
	}
	return due;
}

/* Also drops nodes whose bucket is empty again. */
static GArray *
take(struct notices *n, int64_t now, bool all)
{
	GArray *taken = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	GHashTableIter iter;
	gpointer data;

	g_hash_table_iter_init(&iter, n->nodes);
	while (g_hash_table_iter_next(&iter, NULL, &data)) {
		struct notice_node *node = data;

		if (node->pending && (all || not_before(node) <= now)) {
			node->pending = false;
			node->paid = MIN(MAX(node->paid, now) + EACH_US,
					 now + BURST * EACH_US);
			g_array_append_val(taken, node->guid);
		} else if (!node->pending && node->paid <= now) {
			g_hash_table_iter_remove(&iter);
		}
	}
	g_array_sort(taken, guid_compare);
	return taken;
}

GArray *
notices_take(struct notices *n, int64_t now)
{
	return take(n, now, false);
}

void
notices_take_all(struct notices *n, int64_t now)
{
	g_array_unref(take(n, now, true));
}
