// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What the ftree engine knows from its last run.
 *
 * Purpose. To copy the tables of a large fabric, or only to look at them all,
 * takes longer than to compute what a lost cable changes. So there are two
 * arenas, as there would be anyway (what is in force, what comes next), and a
 * list of blocks in which they differ: to make one the same as the other is to
 * copy these.
 *
 * An arena that somebody else still holds is not written: then there will be a
 * new one, which is slow and right.
 */
#include "routing/ftree_memo.h"

#include <string.h>

struct engine_memo *
memo_new(void)
{
	return g_new0(struct engine_memo, 1);
}

void
memo_forget(struct engine_memo *m)
{
	m->ready = false;
	g_clear_pointer(&m->f, fill_free);	/* it looks at the others */
	g_clear_pointer(&m->h, hosts_free);
	g_clear_pointer(&m->t, tree_free);
	g_clear_pointer(&m->g, graph_free);
	g_clear_pointer(&m->reach, g_free);
	g_clear_pointer(&m->lifts, g_free);
	g_clear_pointer(&m->sign, g_array_unref);
	g_clear_pointer(&m->proof.g, graph_free);
	g_clear_pointer(&m->proof.sign, g_array_unref);
}

static void
memo_drop_spare(struct engine_memo *m)
{
	g_clear_pointer(&m->spare, lft_free);
	g_clear_pointer(&m->stale, g_array_unref);
}

void
memo_free(struct engine_memo *m)
{
	if (!m)
		return;
	memo_forget(m);
	memo_drop_spare(m);
	lft_free(m->last);
	g_free(m);
}

void
memo_keep_tree(struct engine_memo *m, struct tree *t, struct hosts *h,
	       struct fill *f, struct detour *d)
{
	m->t = t;
	m->h = h;
	m->f = f;
	m->reach = g_steal_pointer(&d->reach);
	m->g = graph_ref(t->g);
	m->ready = true;
}

void
memo_keep_transfers(struct engine_memo *m, const struct transfer *x)
{
	uint32_t sw;

	if (!m->lifts)
		m->lifts = g_malloc(x->g->n_switches);
	for (sw = 0; sw < x->g->n_switches; sw++)
		m->lifts[sw] = transfer_has_old(x, sw);
	g_clear_pointer(&m->sign, g_array_unref);
	m->sign = transfer_sign(x);
	/* A proof that served is worth more than one of less cables. */
	if (m->proof.g && x->n_sorted == 0)
		return;
	g_clear_pointer(&m->proof.g, graph_free);
	g_clear_pointer(&m->proof.sign, g_array_unref);
	m->proof.g = graph_ref(x->g);
	m->proof.sign = g_array_ref(m->sign);
}

bool
memo_knows_transfers(const struct engine_memo *m, const struct transfer *x)
{
	g_autoptr(GArray) sign = transfer_sign(x);

	return sign->len == m->sign->len && (sign->len == 0 ||
		!memcmp(sign->data, m->sign->data,
			sign->len * sizeof(uint32_t)));
}

static bool
memo_fits(const struct lft *lft, uint32_t n_switches, uint16_t top)
{
	return lft && lft->n_switches == n_switches && lft->top == top;
}

struct lft *
memo_take_arena(struct engine_memo *m, const struct graph *g)
{
	if (memo_fits(m->spare, g->n_switches, g->top) &&
	    g_atomic_int_get(&m->spare->ref) == 1) {
		g_clear_pointer(&m->stale, g_array_unref);
		return g_steal_pointer(&m->spare);
	}
	return lft_new(g->n_switches, g->top);
}

struct lft *
memo_copy_last(struct engine_memo *m)
{
	GArray *stale = g_steal_pointer(&m->stale);
	struct lft *lft = memo_take_arena(m, m->g);
	const struct lft *last = m->last;
	size_t at;
	guint i;

	/* What was taken may not be what `stale` speaks of. */
	if (m->spare || !stale)
		memcpy(lft->ports, last->ports,
		       (size_t)last->n_switches * last->stride);
	for (i = 0; stale && i < stale->len; i++) {
		at = (size_t)g_array_index(stale, uint32_t, i) * LFT_BLOCK;
		memcpy(lft->ports + at, last->ports + at, LFT_BLOCK);
	}
	if (stale)
		g_array_unref(stale);
	return lft;
}

static GArray *
memo_compare(const struct lft *a, const struct lft *b)
{
	GArray *changed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t n = a->n_switches * lft_n_blocks(a), i;

	for (i = 0; i < n; i++)
		if (memcmp(a->ports + (size_t)i * LFT_BLOCK,
			   b->ports + (size_t)i * LFT_BLOCK, LFT_BLOCK) != 0)
			g_array_append_val(changed, i);
	return changed;
}

void
memo_keep_tables(struct engine_memo *m, struct lft *lft, GArray *changed,
		 struct engine_output *out)
{
	if (!memo_fits(m->last, lft->n_switches, lft->top)) {
		memo_drop_spare(m);
		g_clear_pointer(&m->last, lft_free);
		m->last = lft;
		out->lft = lft_ref(lft);
		return;
	}
	if (!changed)
		changed = memo_compare(m->last, lft);
	out->since = lft_ref(m->last);
	out->changed = changed;
	memo_drop_spare(m);
	m->stale = g_array_ref(changed);
	if (changed->len == 0) {	/* nobody needs another arena */
		m->spare = lft;
	} else {
		m->spare = m->last;
		m->last = lft;
	}
	out->lft = lft_ref(m->last);
}
