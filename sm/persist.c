// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of LIDs, of the switches' order and of forgetful devices.
 *
 * guid2lid and ranks are written to a temporary file in the same folder and
 * renamed over the old one, so a crash leaves either the old or the new
 * memory. A damaged file is never overwritten: it goes to guid2lid.damaged,
 * where a person can look at it, and the LIDs come from the fabric; likewise
 * the ranks, which an engine can find anew.
 *
 * A field that a port does not take is remembered by (NodeGUID, port number),
 * for as long as neither the port's link nor its switch has changed. A device
 * that is slow or being reset answers so, too, so that one answer proves
 * nothing; and no address (PORT_FIELDS_ADDRESS) or protection is given up.
 */
#include "sm/persist.h"

#include <string.h>

#include "sm/config/guid2lid.h"
#include "sm/config/rank_file.h"
#include "topology/state_file.h"

struct persist {
	char *path;		/* of guid2lid; NULL: no cache */
	char *ranks_path;
	struct rank_list *ranks;	/* may be NULL */
	char *whole_engine;	/* in force when there were most cables */
	uint32_t n_linked;	/* ports with a cable then */
	struct log *log;
	GArray *ranges;		/* of struct lid_range, sorted by GUID */
	GArray *untaken;	/* struct untaken, by GUID and port */
};

/* Fields that a port acknowledged and did not take in the last sweep, in the
 * last two, and in three in a row at some time: those are given up. */
struct untaken {
	uint64_t guid;		/* NodeGUID */
	uint8_t port;
	uint32_t once, twice, given_up;
};

static bool
parse_ranges(const char *text, const char *path, void *data, GError **error)
{
	struct persist *m = data;

	m->ranges = guid2lid_parse(text, path, error);
	return m->ranges != NULL;
}

static bool
parse_ranks(const char *text, const char *path, void *data, GError **error)
{
	struct persist *m = data;

	m->ranks = rank_file_parse(text, path, error);
	return m->ranks != NULL;
}

static void
load(struct persist *m, const char *path, state_file_parse_fn parse,
     const char *then)
{
	g_autofree char *told = NULL;

	state_file_load(path, parse, m, &told);
	if (told)
		log_say(m->log, LOG_WARNING, "memory", "%s: %s", told, then);
}

struct persist *
persist_open(const char *cache_dir, struct log *log)
{
	struct persist *m = g_new0(struct persist, 1);

	m->log = log;
	m->untaken = g_array_new(FALSE, FALSE, sizeof(struct untaken));
	if (cache_dir) {
		m->path = g_build_filename(cache_dir, "guid2lid", NULL);
		m->ranks_path = g_build_filename(cache_dir, "ranks", NULL);
		load(m, m->path, parse_ranges,
		     "LIDs are taken from the fabric");
		load(m, m->ranks_path, parse_ranks,
		     "the switches are ordered anew");
	}
	if (!m->ranges)
		m->ranges = g_array_new(FALSE, FALSE,
					sizeof(struct lid_range));
	return m;
}

void
persist_free(struct persist *m)
{
	if (!m)
		return;
	g_array_unref(m->ranges);
	g_array_unref(m->untaken);
	rank_list_free(m->ranks);
	g_free(m->whole_engine);
	g_free(m->ranks_path);
	g_free(m->path);
	g_free(m);
}

const struct lid_range *
persist_ranges(const struct persist *m, size_t *n)
{
	*n = m->ranges->len;
	return (const struct lid_range *)(void *)m->ranges->data;
}

static void
save(struct persist *m, const char *path, const GString *text)
{
	g_autoptr(GError) error = NULL;

	if (!state_file_write(path, text, G_FILE_SET_CONTENTS_CONSISTENT |
			      G_FILE_SET_CONTENTS_ONLY_EXISTING, 0666, &error))
		log_limited(m->log, LOG_WARNING, "memory",
			    "not remembered", "%s", error->message);
}

static void
save_ranges(struct persist *m)
{
	g_autoptr(GString) text = g_string_new(NULL);

	guid2lid_format(m->ranges, text);
	save(m, m->path, text);
}

/* Field by field: a struct has padding. */
static bool
same_ranges(const GArray *ranges, const struct lid_range *old, size_t n)
{
	const struct lid_range *r = (const void *)ranges->data;

	if (ranges->len != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (r[i].guid != old[i].guid || r[i].min != old[i].min ||
		    r[i].max != old[i].max)
			return false;
	return true;
}

void
persist_keep_lids(struct persist *m, const struct snapshot *s,
		 const struct lid_map *map)
{
	size_t n;
	const struct lid_range *old = persist_ranges(m, &n);
	GArray *ranges = lid_remember(s, map, old, n);
	bool same = same_ranges(ranges, old, n);

	g_array_unref(m->ranges);
	m->ranges = ranges;
	if (m->path && !same)
		save_ranges(m);
}

uint32_t *persist_ranks(const struct persist *m, const struct snapshot *s,
			const char **by)
{
	const struct rank_line *line;
	uint32_t *ranks;

	*by = m->ranks ? m->ranks->engine : NULL;
	if (!m->ranks)
		return NULL;
	ranks = g_new(uint32_t, s->n_switches);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		line = rank_list_find(m->ranks,
			s->nodes[s->switches[sw]].info.node_guid);
		ranks[sw] = line ? line->rank : ENGINE_NO_RANK;
	}
	return ranks;
}

/* Those of the old list that are not in `s`, and those of `s`: both are sorted
 * by GUID. */
static GArray *
merge_ranks(const struct rank_list *old, const struct snapshot *s,
	    const uint32_t *ranks)
{
	GArray *lines = g_array_new(FALSE, TRUE, sizeof(struct rank_line));
	const struct rank_line *away = NULL;
	struct rank_line line;
	guint i = 0;

	for (uint32_t sw = 0; sw <= s->n_switches; sw++) {
		line.guid = UINT64_MAX;	/* behind the last: all that is left */
		if (sw < s->n_switches)
			line.guid = s->nodes[s->switches[sw]].info.node_guid;
		for (; old && i < old->lines->len; i++) {
			away = &g_array_index(old->lines, struct rank_line, i);
			if (away->guid >= line.guid)
				break;
			g_array_append_val(lines, *away);
		}
		if (sw == s->n_switches)
			break;
		if (away && i < old->lines->len && away->guid == line.guid)
			i++;
		line.rank = ranks[sw];
		g_array_append_val(lines, line);
	}
	return lines;
}

static uint32_t
count_linked(const struct snapshot *s)
{
	uint32_t n = 0;

	for (uint32_t port = 0; port < s->n_ports; port++)
		n += s->ports[port].peer != SNAPSHOT_NONE;
	return n;
}

const char *
persist_engine(const struct persist *m, const struct snapshot *s)
{
	if (m->whole_engine && count_linked(s) >= m->n_linked)
		return m->whole_engine;
	return m->ranks ? m->ranks->in_force : NULL;
}

void
persist_keep_ranks(struct persist *m, const char *engine,
		  const struct snapshot *s, const uint32_t *ranks)
{
	g_autoptr(GString) before = g_string_new(NULL);
	g_autoptr(GString) after = g_string_new(NULL);
	struct rank_list *old = m->ranks, *list = old;
	uint32_t n_linked = count_linked(s);

	if (n_linked >= m->n_linked) {
		g_free(m->whole_engine);
		m->whole_engine = g_strdup(engine);
		m->n_linked = n_linked;
	}
	if (old)
		rank_file_format(old, before);
	/* An engine without ranks leaves those of another as they are. */
	if (ranks || !old)
		list = m->ranks = rank_list_new(engine);
	if (ranks) {
		g_array_unref(list->lines);
		list->lines = merge_ranks(old && strcmp(old->engine, engine) ?
					  NULL : old, s, ranks);
	}
	g_free(list->in_force);
	list->in_force = g_strdup(engine);
	if (list != old)
		rank_list_free(old);
	rank_file_format(list, after);
	if (m->ranks_path && !g_string_equal(before, after))
		save(m, m->ranks_path, after);
}

static bool
says_change(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_node *n = snapshot_node_of(s, port);

	return snapshot_is_switch(n) && n->sw.port_state_change;
}

/* What was learned of a port is void: its link is down or was, or may have
 * been. */
static bool
has_changed(const struct snapshot *s, uint32_t port)
{
	const struct snapshot_port *p = &s->ports[port];

	return says_change(s, port) ||
		(p->num && p->info.state == PORT_STATE_DOWN) ||
		(p->peer != SNAPSHOT_NONE && says_change(s, p->peer));
}

/* The entry of a port, if there is one. Ports come in ascending order: `at`
 * goes on from the last one. */
static struct untaken *
find_untaken(GArray *list, guint *at, const struct snapshot *s, uint32_t port)
{
	uint64_t guid = snapshot_node_of(s, port)->info.node_guid;
	uint8_t num = s->ports[port].num;

	for (; *at < list->len; ++*at) {
		struct untaken *u = &g_array_index(list, struct untaken, *at);

		if (u->guid == guid && u->port == num)
			return u;
		if (u->guid > guid || (u->guid == guid && u->port > num))
			return NULL;
	}
	return NULL;
}

void
persist_forget_untaken(struct persist *m)
{
	g_array_set_size(m->untaken, 0);
}

uint32_t *
persist_given_up(struct persist *m, const struct snapshot *s)
{
	uint32_t *fields = g_new0(uint32_t, s->n_ports);
	GArray *kept;
	guint at = 0;

	if (!m->untaken->len)
		return fields;
	kept = g_array_new(FALSE, FALSE, sizeof(struct untaken));
	for (uint32_t port = 0; port < s->n_ports; port++) {
		struct untaken *u = find_untaken(m->untaken, &at, s, port);

		if (!u || has_changed(s, port))
			continue;
		g_array_append_val(kept, *u);
		fields[port] = u->given_up;
	}
	g_array_unref(m->untaken);
	m->untaken = kept;
	return fields;
}

void
field_tally_add(struct field_tally *t, uint32_t port, uint32_t fields)
{
	for (unsigned bit = 0; bit < 32; bit++)
		if (fields >> bit & 1 && !t->count[bit]++)
			t->first[bit] = port;
}

void
field_tally_print(const struct field_tally *t, unsigned bit,
		  const struct snapshot *s, GString *out)
{
	const struct snapshot_node *n = snapshot_node_of(s, t->first[bit]);

	g_string_append_printf(out, "%s (0x%016" G_GINT64_MODIFIER
			       "x) port %u", snapshot_node_name(n),
			       n->info.node_guid,
			       s->ports[t->first[bit]].num);
	if (t->count[bit] > 1)
		g_string_append_printf(out, " and %u more",
				       t->count[bit] - 1);
}

static void
log_given_up(struct persist *m, const struct snapshot *s,
	     const struct field_tally *t)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		g_autoptr(GString) ports = g_string_new(NULL);

		if (!t->count[bit])
			continue;
		field_tally_print(t, bit, s, ports);
		log_say(m->log, LOG_INFO, "memory", "%s was acknowledged and "
			"not taken%s, so it is not sent again: %s",
			port_field_name(1u << bit),
			1u << bit & PORT_FIELDS_TRAINING ? "" :
			" in three sweeps", ports->str);
	}
}

void
persist_learn(struct persist *m, const struct snapshot *s,
	     const uint32_t *untaken)
{
	const uint32_t others = ~(PORT_FIELDS_ADDRESS | PORT_FIELDS_GUARD);
	GArray *old = m->untaken;
	struct field_tally fresh = { 0 };
	guint at = 0;

	m->untaken = g_array_new(FALSE, FALSE, sizeof(struct untaken));
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct untaken *was = find_untaken(old, &at, s, port);
		struct untaken u = {
			.guid = snapshot_node_of(s, port)->info.node_guid,
			.port = s->ports[port].num,
			.once = untaken ? untaken[port] & others : 0,
		};

		u.given_up = u.once & PORT_FIELDS_TRAINING;
		if (was) {
			u.twice = was->once & u.once;
			u.given_up |= was->given_up | (was->twice & u.once);
		}
		field_tally_add(&fresh, port,
				u.given_up & ~(was ? was->given_up : 0));
		if (u.once | u.given_up)
			g_array_append_val(m->untaken, u);
	}
	g_array_unref(old);
	log_given_up(m, s, &fresh);
}
