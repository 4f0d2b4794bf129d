// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Who does not answer. A flag a management agent: that of a switch by its port
 * 0, that of a CA or router port by the port. A question walks back along the
 * entries of the snapshot, the way that the directed route would go.
 */
#include "sm/sweep/unreachable.h"

struct unreachable {
	struct mad_client *x;
	const struct snapshot *s;
	unreachable_lost_fn lost;
	void *data;
	uint32_t n;		/* agents with a flag */
	uint8_t *flag;		/* by port */
	GHashTable *asked;	/* tag -> struct question */
};

struct question {
	uint64_t tag;
	uint32_t port, id;
};

struct unreachable *unreachable_new(struct mad_client *x,
				    const struct snapshot *s,
				    unreachable_lost_fn lost, void *data)
{
	struct unreachable *silent = g_new0(struct unreachable, 1);

	silent->x = x;
	silent->s = s;
	silent->lost = lost;
	silent->data = data;
	silent->flag = g_new0(uint8_t, s->n_ports + 1u);
	silent->asked = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					      NULL, g_free);
	return silent;
}

void
unreachable_free(struct unreachable *silent)
{
	if (!silent)
		return;
	g_hash_table_unref(silent->asked);
	g_free(silent->flag);
	g_free(silent);
}

void unreachable_asked(struct unreachable *silent, uint32_t port, uint32_t id,
		       uint64_t tag)
{
	struct question *q = g_new(struct question, 1);

	*q = (struct question){ .tag = tag, .port = port, .id = id };
	g_hash_table_replace(silent->asked, &q->tag, q);
}

void
unreachable_over(struct unreachable *silent, uint64_t tag)
{
	g_hash_table_remove(silent->asked, &tag);
}

static uint32_t
agent_of(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);

	return snapshot_is_switch(n) ? n->first_port : port;
}

/* The port by which the SM enters this agent, at the neighbour. */
static uint32_t
entry_of(const struct snapshot *s, uint32_t agent)
{
	const struct snapshot_node *n = snapshot_node_of(s, agent);

	if (agent == s->local_port)
		return SNAPSHOT_NONE;
	return snapshot_is_switch(n) ? n->entry : s->ports[agent].peer;
}

bool
unreachable_covers(const struct unreachable *silent, uint32_t port)
{
	const struct snapshot *s = silent->s;
	uint32_t agent = agent_of(s, port), entry;

	for (unsigned hops = 0; silent->n && hops <= DR_MAX_HOPS; hops++) {
		if (silent->flag[agent])
			return true;
		entry = entry_of(s, agent);
		if (entry == SNAPSHOT_NONE)
			return false;
		agent = agent_of(s, entry);
	}
	return false;
}

static int
compare_questions(const void *a, const void *b)
{
	const struct question *p = a, *q = b;

	return p->id < q->id ? -1 : p->id > q->id;
}

/* In the order in which they were asked, so that a run can be repeated. */
static GArray *
questions_in_vain(const struct unreachable *silent)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct question));
	GHashTableIter iter;
	gpointer q;

	g_hash_table_iter_init(&iter, silent->asked);
	while (g_hash_table_iter_next(&iter, NULL, &q))
		if (unreachable_covers(silent, ((struct question *)q)->port))
			g_array_append_vals(list, q, 1);
	g_array_sort(list, compare_questions);
	return list;
}

void
unreachable_add(struct unreachable *silent, uint32_t port)
{
	uint32_t agent = agent_of(silent->s, port);
	g_autoptr(GArray) list = NULL;

	silent->n += !silent->flag[agent];
	silent->flag[agent] = true;
	list = questions_in_vain(silent);
	for (guint i = 0; i < list->len; i++) {
		const struct question q = g_array_index(list, struct question,
							i);

		mad_client_cancel(silent->x, q.id);
		unreachable_over(silent, q.tag);
		silent->lost(silent->data, q.tag);
	}
}
