// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * LID assignment: one pass for each step of the rule in lid.h.
 *
 * Structs. An `assigner` is the state of one assignment: the owner of each
 * unicast LID, which LIDs are reserved (held by the memory for a port that is
 * away), the answer, and the end ports by PortGUID. PortGUIDs should be unique,
 * but a device may report any; of two ports with the same one the lower index (by
 * NodeGUID and port number) comes first.
 *
 * Flow of lid_assign():
 *	1. keep_claims()	what the fabric has already, sorted so that
 *				the winner of a LID comes first,
 *	2.			and what the memory holds for those without
 *	3. allocate()		the lowest free range for the rest, in the order
 *				of find_places(), as long as there is one: more
 *				ports than LIDs take none from those that have
 *				some
 * Each step only looks at LIDs that are still free, so none can take a LID from
 * an earlier one.
 *
 * A LID that a port has with another LMC than configured stays the base if it
 * is aligned; these claims come after those with the right LMC, so that
 * changing the LMC moves as few LIDs as possible. Of the memory a range of
 * another size is not used.
 *
 * Ranges are aligned to their size (IBA 4.1.3: the LMC masks the low bits of
 * the LID), hence a search goes in steps of the size, and on from where the
 * last one of that size ended. LIDs that are reserved become free all at once
 * when a port finds nothing: those that it does not take stay in the memory.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topology/lid.h"
#include "topology/text.h"

#define N_LIDS		(LID_UNICAST_MAX + 1u)

struct lid_end {
	uint64_t guid;		/* PortGUID */
	uint32_t port;
};

struct lid_limit {
	unsigned last;		/* the highest LID */
	uint32_t sw;		/* the switch whose table ends there, or
				   SNAPSHOT_NONE */
};

struct assigner {
	const struct snapshot *s;
	const struct lid_range *memory;
	size_t n_memory;
	GPtrArray *notes;
	struct lid_map *map;
	struct lid_end *order;	/* by (PortGUID, index) */
	uint32_t n_order;
	uint64_t needed;	/* LIDs, of all of them */
	uint32_t *owner;	/* by LID, N_LIDS; SNAPSHOT_NONE: free */
	bool reserved[N_LIDS];
	unsigned next[LMC_MAX + 1];	/* nothing free below, by LMC */
	struct lid_limit give, keep;	/* of new LIDs, of those of before */
	uint32_t n_beyond;	/* LIDs found that were not kept for that */
};

static const struct lid_limit no_limit = { LID_UNICAST_MAX, SNAPSHOT_NONE };

/* Where a port that gets a new LID stands. */
struct lid_place {
	uint32_t sw;		/* the LID of its switch; of a new one N_LIDS and
				   its rank; SNAPSHOT_NONE: it is cabled to none */
	unsigned num;		/* the port of the switch that it is cabled to;
				   0: it is the switch itself */
	uint32_t rank;		/* of the port, in assigner.order */
};

/* A LID that a port has on the fabric, or in the memory. */
struct lid_claim {
	uint32_t port;
	uint32_t rank;		/* of the port, in assigner.order */
	uint16_t base;
	bool recalled;		/* from the memory */
	bool resized;		/* its LMC is not the configured one */
	bool named;		/* in the memory, too */
};

/* --- ranges --- */

/* The first LID of the range that is taken, or LID_NONE. */
static unsigned
first_taken(const struct assigner *a, unsigned first, unsigned n)
{
	for (unsigned lid = first; lid < first + n; lid++)
		if (a->owner[lid] != SNAPSHOT_NONE)
			return lid;
	return LID_NONE;
}

/* Can a port with this LMC own the range from `base` on at all? */
static bool
is_valid_base(const struct lid_limit *limit, unsigned base, unsigned lmc)
{
	unsigned size = 1u << lmc;

	return base >= LID_UNICAST_MIN && base % size == 0 &&
	       base + size - 1 <= limit->last;
}

static bool
is_valid_range(const struct lid_range *r)
{
	return r->min >= LID_UNICAST_MIN && r->min <= r->max &&
	       r->max <= LID_UNICAST_MAX;
}

static const struct lid_range *
memory_find(const struct lid_range *memory, size_t n, uint64_t guid)
{
	return n ? bsearch(&guid, memory, n, sizeof(*memory), guid_compare) :
		NULL;
}

static void
lid_give(struct assigner *a, uint32_t port, unsigned base)
{
	unsigned size = 1u << a->map->lmc[port];

	for (unsigned lid = base; lid < base + size; lid++)
		a->owner[lid] = port;
	a->map->base[port] = (uint16_t)base;
	a->map->top = MAX(a->map->top, (uint16_t)(base + size - 1));
}

/* --- the end ports, and the smallest table --- */

static int
lid_compare_ends(const void *a, const void *b)
{
	const struct lid_end *x = a, *y = b;

	return guid_compare(a, b) ?: uint_compare(x->port, y->port);
}

static void G_GNUC_PRINTF(3, 4)
note_limit(const struct assigner *a, const struct lid_limit *limit,
	   const char *format, ...)
{
	const struct snapshot_node *n = &a->s->nodes[limit->sw];
	g_autofree char *text = NULL;
	va_list args;

	if (!a->notes)
		return;
	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_ptr_array_add(a->notes, g_strdup_printf("%s (0x%016" PRIx64 ") has "
			"LinearFDBCap %u: %s", snapshot_node_name(n),
			n->info.node_guid, n->sw.linear_fdb_cap, text));
}

static void
lower_limit(struct lid_limit *limit, uint32_t sw, unsigned cap)
{
	if (cap <= limit->last)
		*limit = (struct lid_limit){ cap - 1, sw };
}

/* The order and LMC of the end ports, how many LIDs they need, and the highest
 * LIDs that all switches can route. LinearFDBCap 0 is a switch without a linear
 * table: no LID would do. */
static void
measure_need(struct assigner *a, unsigned lmc)
{
	const struct snapshot *s = a->s;

	a->order = g_new(struct lid_end, s->n_ports + 1u);	/* not NULL */
	for (uint32_t p = 0; p < s->n_ports; p++) {
		const struct snapshot_node *node = snapshot_node_of(s, p);

		if (!snapshot_is_end_port(s, p))
			continue;
		/* A base port 0 has LMC 0, IBA 14.2.5.6 */
		a->map->lmc[p] = snapshot_is_switch(node) &&
			!node->sw.enhanced_port0 ? 0 : (uint8_t)lmc;
		a->order[a->n_order++] =
			(struct lid_end){ s->ports[p].guid, p };
		a->needed += 1u << a->map->lmc[p];
	}
	qsort(a->order, a->n_order, sizeof(*a->order), lid_compare_ends);

	a->give = a->keep = no_limit;
	for (uint32_t i = 0; i < s->n_switches; i++) {
		const struct snapshot_node *n = &s->nodes[s->switches[i]];

		if (!n->sw_known || !n->sw.linear_fdb_cap)
			continue;
		lower_limit(&a->give, s->switches[i], n->sw.linear_fdb_cap);
		lower_limit(&a->keep, s->switches[i],
			    MAX(n->sw.linear_fdb_cap, n->last_fdb_cap));
	}
	if (a->give.sw == SNAPSHOT_NONE || a->needed <= a->give.last)
		return;
	note_limit(a, &a->give, "%" PRIu64 " LIDs are needed, it cannot route "
		   "them all", a->needed);
	a->give = a->keep = no_limit;
}

/* --- steps 1 and 2: what the fabric has, and the memory --- */

static gint
lid_compare_claims(gconstpointer a, gconstpointer b)
{
	const struct lid_claim *x = a, *y = b;

	return uint_compare(x->recalled, y->recalled) ?:
		uint_compare(x->resized, y->resized) ?:
		uint_compare(y->named, x->named) ?:
		uint_compare(x->rank, y->rank);
}

/* Two claims to one LID are a fault of the fabric, which is reported; a LID in
 * a range that grows only now with the LMC is not. */
static void
note_loser(const struct assigner *a, const struct lid_claim *loser,
	   const struct lid_claim *winner)
{
	const struct snapshot_port *lost = &a->s->ports[loser->port];
	const struct snapshot_port *kept = &a->s->ports[winner->port];
	unsigned lmc = MIN(lost->info.lmc, a->map->lmc[loser->port]);
	unsigned lid = first_taken(a, lost->info.lid, 1u << lmc);
	const char *why = "the lower PortGUID";

	if (!a->notes || lid == LID_NONE)
		return;
	if (winner->resized != loser->resized)
		why = "the LMC as wanted";
	else if (winner->named != loser->named)
		why = "the memory on its side";
	g_ptr_array_add(a->notes,
			g_strdup_printf("LID %u is claimed twice: port "
					"0x%016" PRIx64 " keeps it, having %s, "
					"port 0x%016" PRIx64
					" gets another one", lid, kept->guid,
					why, lost->guid));
}

/* The claims of a port: none, one or two. Returns how many. */
static uint32_t
find_claims(struct assigner *a, uint32_t rank, struct lid_claim *claims)
{
	uint32_t port = a->order[rank].port, n = 0;
	const struct port_info *info = &a->s->ports[port].info;
	unsigned lmc = a->map->lmc[port];
	const struct lid_range *r = memory_find(a->memory, a->n_memory,
						a->s->ports[port].guid);
	bool named = r && r->min == info->lid;

	if (is_valid_base(&a->keep, info->lid, lmc))
		claims[n++] = (struct lid_claim){
			.port = port, .rank = rank, .base = info->lid,
			.resized = info->lmc != lmc, .named = named,
		};
	else
		a->n_beyond += info->lid > a->keep.last &&
			info->lid <= LID_UNICAST_MAX;
	if (r && !named && is_valid_base(&a->keep, r->min, lmc) &&
	    r->max - r->min + 1u == 1u << lmc)
		claims[n++] = (struct lid_claim){
			.port = port, .rank = rank, .base = r->min,
			.recalled = true,
		};
	return n;
}

static void
keep_claims(struct assigner *a)
{
	g_autofree struct lid_claim *claims = g_new(struct lid_claim,
						    2 * a->n_order + 1u);
	g_autofree uint32_t *by_port = g_new(uint32_t, a->s->n_ports);
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n_order; i++)
		n += find_claims(a, i, &claims[n]);
	qsort(claims, n, sizeof(*claims), lid_compare_claims);
	for (uint32_t i = 0; i < n; i++) {
		const struct lid_claim *c = &claims[i];
		unsigned hit = first_taken(a, c->base,
					   1u << a->map->lmc[c->port]);

		if (!c->recalled)
			by_port[c->port] = i;
		if (hit == LID_NONE && !a->map->base[c->port])
			lid_give(a, c->port, c->base);
		else if (!c->recalled)
			note_loser(a, c, &claims[by_port[a->owner[hit]]]);
	}
}

/* --- step 3: the rest --- */

/* Ranges of ports that are away. */
static void
reserve(struct assigner *a)
{
	for (size_t i = 0; i < a->n_memory; i++) {
		const struct lid_range *r = &a->memory[i];

		if (is_valid_range(r) &&
		    !bsearch(&r->guid, a->order, a->n_order, sizeof(*a->order),
			     guid_compare))
			memset(a->reserved + r->min, true,
			       r->max - r->min + 1u);
	}
}

static int
lid_compare_places(const void *a, const void *b)
{
	const struct lid_place *x = a, *y = b;

	return uint_compare(x->sw, y->sw) ?: uint_compare(x->num, y->num) ?:
		uint_compare(x->rank, y->rank);
}

/* The ports without a LID in the order in which they get one; *n of them. */
static struct lid_place *
find_places(const struct assigner *a, uint32_t *n)
{
	const struct snapshot *s = a->s;
	struct lid_place *places = g_new(struct lid_place, a->n_order + 1u);
	g_autofree uint32_t *ranks = g_new0(uint32_t, s->n_ports);

	for (uint32_t i = 0; i < a->n_order; i++)
		ranks[a->order[i].port] = i;
	*n = 0;
	for (uint32_t i = 0; i < a->n_order; i++) {
		struct lid_place place = { SNAPSHOT_NONE, 0, i };
		uint32_t at = a->order[i].port, home;

		if (a->map->base[at])
			continue;
		if (!snapshot_is_switch(snapshot_node_of(s, at)))
			at = s->ports[at].peer;
		if (at != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(s, at))) {
			home = snapshot_holder_of(s, at);
			place.sw = a->map->base[home] ?: N_LIDS + ranks[home];
			place.num = s->ports[at].num;
		}
		places[(*n)++] = place;
	}
	qsort(places, *n, sizeof(*places), lid_compare_places);
	return places;
}

/* The lowest aligned range that is neither taken nor reserved, or LID_NONE. */
static unsigned
lid_find_free(struct assigner *a, unsigned lmc)
{
	unsigned size = 1u << lmc;
	unsigned base = a->next[lmc];

	while (base <= a->give.last &&
	       (!is_valid_base(&a->give, base, lmc) ||
		first_taken(a, base, size) != LID_NONE ||
		memchr(a->reserved + base, true, size)))
		base += size;
	a->next[lmc] = base;
	return base <= a->give.last ? base : LID_NONE;
}

/* Says that the LIDs do not suffice: `n` ports are without one, the first of
 * them `first`. */
static void
note_lack(struct assigner *a, unsigned lmc, unsigned n, uint32_t first)
{
	g_autofree char *name = snapshot_port_name(a->s, first);
	GString *text = g_string_new(NULL);

	g_string_printf(text, "%" PRIu64 " LIDs are needed at LMC %u, there "
			"are %u%s: none is left for %s", a->needed, lmc,
			LID_UNICAST_MAX, a->needed <= LID_UNICAST_MAX ?
			", and not enough of them in aligned ranges" : "",
			name);
	if (n > 1)
		g_string_append_printf(text, " and %u more port%s", n - 1,
				       text_plural(n - 1));
	if (lmc)
		g_string_append(text, "; a smaller LMC leaves room for more");
	a->map->lack = g_string_free(text, FALSE);
	if (a->notes)
		g_ptr_array_add(a->notes, g_strdup(a->map->lack));
}

static void
allocate(struct assigner *a, unsigned lmc)
{
	unsigned n_lacking = 0;
	uint32_t first = SNAPSHOT_NONE, n;
	g_autofree struct lid_place *places = find_places(a, &n);
	bool reserves = true;

	reserve(a);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = a->order[places[i].rank].port;
		unsigned base = lid_find_free(a, a->map->lmc[p]);

		if (base == LID_NONE && reserves) {
			reserves = false;
			memset(a->reserved, false, sizeof(a->reserved));
			memset(a->next, 0, sizeof(a->next));
			base = lid_find_free(a, a->map->lmc[p]);
		}
		/* aligned ranges may not fit where their number would */
		if (base == LID_NONE && a->give.sw != SNAPSHOT_NONE) {
			note_limit(a, &a->give, "the aligned ranges of all "
				   "LIDs do not fit");
			a->give = no_limit;
			base = lid_find_free(a, a->map->lmc[p]);
		}
		if (base != LID_NONE)
			lid_give(a, p, base);
		else if (!n_lacking++)
			first = p;
	}
	if (n_lacking)
		note_lack(a, lmc, n_lacking, first);
}

/* --- the whole --- */

struct lid_map *
lid_map_ref(struct lid_map *map)
{
	g_atomic_int_inc(&map->ref);
	return map;
}

void
lid_map_free(struct lid_map *map)
{
	if (!map || !g_atomic_int_dec_and_test(&map->ref))
		return;
	g_free(map->base);
	g_free(map->lmc);
	g_free(map->owner);
	g_free(map->lack);
	g_free(map);
}

struct lid_map *
lid_assign(const struct snapshot *s, unsigned lmc,
	    const struct lid_range *memory, size_t n_memory,
	    GPtrArray *notes, GError **error)
{
	struct assigner *a = g_new0(struct assigner, 1);
	struct lid_map *map = g_new0(struct lid_map, 1);

	g_assert(lmc <= LMC_MAX);
	map->ref = 1;
	map->n_ports = s->n_ports;
	map->base = g_new0(uint16_t, s->n_ports);
	map->lmc = g_new0(uint8_t, s->n_ports);
	a->s = s;
	a->memory = memory;
	a->n_memory = n_memory;
	a->notes = notes;
	a->map = map;
	a->owner = g_new(uint32_t, N_LIDS);
	memset(a->owner, 0xff, N_LIDS * sizeof(*a->owner));

	measure_need(a, lmc);
	keep_claims(a);
	if (a->n_beyond && a->keep.sw != SNAPSHOT_NONE)
		note_limit(a, &a->keep, "the highest LID is %u; ports that had "
			   "a higher one: %u", a->keep.last, a->n_beyond);
	allocate(a, lmc);
	map->owner = g_renew(uint32_t, a->owner, map->top + 1u);
	if (map->lack && s->local_port != SNAPSHOT_NONE &&
	    !map->base[s->local_port]) {
		text_refuse(error, "%s", map->lack);
		lid_map_free(map);
		map = NULL;
	}
	g_free(a->order);
	g_free(a);
	return map;
}

GArray *
lid_remember(const struct snapshot *s, const struct lid_map *map,
	      const struct lid_range *memory, size_t n_memory)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct lid_range));
	struct lid_range *here;
	guint n = 0;

	for (uint32_t p = 0; p < map->n_ports; p++) {
		struct lid_range r = {
			.guid = s->ports[p].guid,
			.min = map->base[p],
			.max = (uint16_t)(map->base[p] +
					  (1u << map->lmc[p]) - 1),
		};

		if (r.min && r.guid)
			g_array_append_val(all, r);
	}
	g_array_sort(all, guid_compare);
	/* Of two ports that claim one GUID the one with the lower LID is
	 * remembered: the memory has one line for a GUID. */
	here = (void *)all->data;
	for (guint i = 0; i < all->len; i++)
		if (n == 0 || here[n - 1].guid != here[i].guid)
			here[n++] = here[i];
		else if (here[i].min < here[n - 1].min)
			here[n - 1] = here[i];
	g_array_set_size(all, n);
	for (size_t i = 0; i < n_memory; i++) {
		const struct lid_range *r = &memory[i];
		bool keep = is_valid_range(r) &&
			!memory_find((void *)all->data, n, r->guid);

		for (unsigned lid = r->min; keep && lid <= r->max; lid++)
			keep = lid_map_owner(map, (uint16_t)lid) ==
				SNAPSHOT_NONE;
		if (keep)
			g_array_append_val(all, *r);
	}
	g_array_sort(all, guid_compare);
	return all;
}

/* --- the memory as text --- */

static const struct state_word lid_words[] = {
	STATE_WORD(lid_range, guid, "PortGUID", 16, 1, UINT64_MAX),
	STATE_WORD(lid_range, min, "LID", 4, LID_UNICAST_MIN, LID_UNICAST_MAX),
	STATE_WORD(lid_range, max, "LID", 4, LID_UNICAST_MIN, LID_UNICAST_MAX),
};

static bool
lid_take(void *owner, void *members, int64_t now, GError **error)
{
	const struct lid_range *r = members;
	struct lid_memory *m = owner;
	unsigned size = r->max - r->min + 1u;

	if (r->max < r->min || size & (size - 1) || size > 1u << LMC_MAX ||
	    r->min % size)
		return text_refuse(error, "0x%04x to 0x%04x is no range "
			"of a port: it must be 2^LMC LIDs and begin at a "
			"multiple of that", r->min, r->max);
	if (memchr(m->given + r->min, 1, size))
		return text_refuse(error, "of the LIDs 0x%04x to 0x%04x "
			"one is another port's", r->min, r->max);
	if (!state_line_insert(m->ranges, r, error))
		return false;
	memset(m->given + r->min, 1, size);
	return true;
}

static const struct state_line lid_lines[] = {
	STATE_LINE("lid", lid_words, lid_range, lid_take), { .keyword = NULL },
};

static void
lid_save(const void *owner, GString *out, int64_t now)
{
	const struct lid_memory *m = owner;

	for (guint i = 0; i < m->ranges->len; i++)
		state_line_save(lid_lines, out, &g_array_index(m->ranges,
							struct lid_range, i));
}

static void
lid_clear(void *owner)
{
	struct lid_memory *m = owner;

	g_array_set_size(m->ranges, 0);
	memset(m->given, 0, sizeof(m->given));
}

const struct state_part lid_part = {
	{ lid_lines }, lid_save, lid_clear, NULL,
};
