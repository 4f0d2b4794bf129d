// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How a sweep handles links to be avoided; see avoid.h.
 */
#include "sm/sweep/sweep.h"

#define LINES_MAX	8u	/* about links, in a sweep */

struct snapshot *
sweep_mark_avoided(struct sweep *s, struct snapshot *n)
{
	s->avoid = avoid_choose(n, s->wishes, s->params.avoid & AVOID_SLOW);
	return s->avoid->len || s->avoided->len ? avoid_mark(n, s->avoid) : n;
}

struct snapshot *
sweep_unmarked(const struct sweep *s)
{
	g_autoptr(GPtrArray) none = g_ptr_array_new();

	for (guint i = 0; s->avoid && i < s->avoid->len; i++)
		if (((struct avoid_link *)s->avoid->pdata[i])->verdict ==
		    AVOID_DONE)
			return avoid_mark(snapshot_ref(s->next.subnet), none);
	return NULL;
}

void
sweep_use_avoided(struct sweep *s, struct snapshot *unmarked)
{
	for (guint i = 0; i < s->avoid->len; i++)
		((struct avoid_link *)s->avoid->pdata[i])->verdict =
			AVOID_NEEDED;
	snapshot_unref(s->next.subnet);
	s->next.subnet = snapshot_ref(unmarked);
}

/* By name; NULL: not in the list. */
static const struct avoid_link *
find_link(const GPtrArray *links, const char *name)
{
	for (guint i = 0; i < links->len; i++) {
		const struct avoid_link *l = links->pdata[i];

		if (!g_strcmp0(l->name, name))
			return l;
	}
	return NULL;
}

/* Logs links whose name, verdict or causes changed. */
static void
log_avoided(struct sweep *s, const GPtrArray *old, const GPtrArray *new)
{
	unsigned lines = 0;

	for (guint i = 0; i < new->len; i++) {
		const struct avoid_link *l = new->pdata[i];
		const struct avoid_link *was = find_link(old, l->name);
		g_autofree char *why = avoid_why(l);

		if ((was && was->verdict == l->verdict &&
		     was->causes == l->causes) || ++lines > LINES_MAX)
			continue;
		log_say(s->log, LOG_WARNING, "route", "link %s %s: %s",
			l->name, avoid_verdict_text(l->verdict), why);
	}
	for (guint i = 0; i < old->len; i++) {
		const struct avoid_link *l = old->pdata[i];

		if (find_link(new, l->name) || l->verdict != AVOID_DONE ||
		    ++lines > LINES_MAX)
			continue;
		log_say(s->log, LOG_INFO, "route", "link %s is no longer "
			"avoided", l->name);
	}
	if (lines > LINES_MAX)
		log_say(s->log, LOG_WARNING, "route", "%u more links are "
			"avoided or used again: \"minismctl avoid\" lists them", lines - LINES_MAX);
}

void
sweep_publish_avoided(struct sweep *s)
{
	if (!s->avoid)
		return;		/* there was no discovery */
	log_avoided(s, s->avoided, s->avoid);
	g_ptr_array_unref(s->avoided);
	s->avoided = g_steal_pointer(&s->avoid);
}

/* ------------------------------------------------------------------ wishes */

/* The wish for this port, or NULL. */
static struct avoid_wish *
find_wish(const GArray *wishes, uint64_t guid, uint8_t num, unsigned cause)
{
	for (guint i = 0; i < wishes->len; i++) {
		struct avoid_wish *w =
			&g_array_index(wishes, struct avoid_wish, i);

		if (w->guid == guid && w->num == num && w->causes == cause)
			return w;
	}
	return NULL;
}

/* The NodeGUIDs of `from` that are not in `in`. */
static void
add_changed(GArray *nodes, const GArray *from, const GArray *in)
{
	for (guint i = 0; i < from->len; i++) {
		const struct avoid_wish *w =
			&g_array_index(from, struct avoid_wish, i);

		if (!find_wish(in, w->guid, w->num, w->causes))
			g_array_append_val(nodes, w->guid);
	}
}

/* Takes over `wishes`. Reads their nodes again and routes the fabric. */
static void
set_wishes(struct sweep *s, GArray *wishes)
{
	g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	add_changed(nodes, s->wishes, wishes);
	add_changed(nodes, wishes, s->wishes);
	g_array_unref(s->wishes);
	s->wishes = wishes;
	if (nodes->len && s->view.subnet)
		sweep_reread(s, SWEEP_CAUSE_AVOID, nodes);
}

static GArray *
wishes_but(const struct sweep *s, unsigned causes)
{
	GArray *wishes = g_array_copy(s->wishes);

	for (guint i = wishes->len; i-- > 0;)
		if (g_array_index(wishes, struct avoid_wish, i).causes &
		    causes)
			g_array_remove_index(wishes, i);
	return wishes;
}

void
sweep_set_errors(struct sweep *s, const GArray *ports)
{
	GArray *wishes;

	if (!(s->params.avoid & AVOID_ERRORS))
		return;
	wishes = wishes_but(s, AVOID_ERRORS);
	g_array_append_vals(wishes, ports->data, ports->len);
	set_wishes(s, wishes);
}

bool
sweep_avoid(struct sweep *s, uint64_t guid, uint8_t num, bool avoid)
{
	const struct avoid_wish wish = { guid, num, AVOID_BY_HAND, 0 };
	const struct avoid_wish *old =
		find_wish(s->wishes, guid, num, AVOID_BY_HAND);
	GArray *wishes;

	if (avoid == (old != NULL))
		return false;
	wishes = g_array_copy(s->wishes);
	if (avoid)
		g_array_append_val(wishes, wish);
	else
		g_array_remove_index(wishes, (guint)(old -
			(const struct avoid_wish *)(void *)s->wishes->data));
	set_wishes(s, wishes);
	return true;
}

const GPtrArray *
sweep_avoided(const struct sweep *s)
{
	return s->avoided;
}
