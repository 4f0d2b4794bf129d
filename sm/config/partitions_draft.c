// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partitions of a file, put together.
 *
 * Structs. A draft is a partition with all that its definitions say. The
 * drafts stand in the order of the file, and are found by P_Key or by name.
 *
 * Which partition does a definition mean? With a P_Key, that one. With a name
 * only, the one that had this name before; "Default" is 0x7fff; any other name
 * is a new partition, whose P_Key is made. That is what OpenSM does, but for
 * two cases which it resolves silently and which are errors here: a name that
 * gets its P_Key later in the file (OpenSM makes two partitions), and a name
 * that two P_Keys have.
 *
 * P_Keys that are made. OpenSM counts, so that a line inserted above gives a
 * tenant's P_Key to another one. Here it is a hash of the name: FNV-1a, 32
 * bits, modulo 0x7ffe, plus 1; what is in the file or was made before is
 * passed over upwards, after 0x7ffe comes 1. So the P_Key of a name changes
 * only if another partition has it already, of which there is a warning.
 *
 * The default partition. Every port needs it to reach the SA, so it is always
 * there. OpenSM makes every port a limited member of it and its own port a
 * full one before it reads the file, even of a file with rules for it (its
 * manual says otherwise); a site that wrote "Default=0x7fff : SELF=full ;"
 * lives on that. So the rules begin with ALL=limited here too. As a rule for
 * all ports would take the SM's own full membership, and limited members
 * could then not reach it, SELF=full is put behind the last of these; a rule
 * for SELF, or one for a GUID after it, is the last word about that.
 *
 * Groups. Their P_Key is known only in the end; then scopes are multiplied
 * out, P_Keys put into the MGIDs of IP groups, and each MGID looked up among
 * all the file's: the first one holds, as in OpenSM.
 */
#include <string.h>

#include "sm/config/partitions_draft.h"

#define MADE_MAX	(PKEY_DEFAULT - 1)	/* of P_Keys that are made */

struct named {
	struct partfile_draft *draft;	/* the first with this name */
	bool several;			/* P_Keys have it */
};

struct placed_group {
	const struct partfile_draft *draft;
	struct partition_group group;
	struct text_place place;
};

/* --- drafts --- */

struct partfile_draft *
partfile_draft_new(void)
{
	struct partfile_draft *d = g_new0(struct partfile_draft, 1);

	d->rules = g_array_new(FALSE, FALSE, sizeof(struct partition_rule));
	d->groups = g_array_new(FALSE, FALSE, sizeof(struct partfile_group));
	return d;
}

void
partfile_draft_free(struct partfile_draft *draft)
{
	g_free(draft->name);
	g_array_unref(draft->rules);
	g_array_unref(draft->groups);
	g_free(draft);
}

static void
free_draft(gpointer data)
{
	partfile_draft_free(data);
}

void
partfile_drafts_init(struct partfile_drafts *drafts)
{
	drafts->all = g_ptr_array_new_with_free_func(free_draft);
	drafts->by_pkey = g_new0(struct partfile_draft *, PKEY_BASE + 1);
	drafts->by_name = g_hash_table_new_full(g_str_hash, g_str_equal,
						g_free, g_free);
}

void
partfile_drafts_clear(struct partfile_drafts *drafts)
{
	g_hash_table_unref(drafts->by_name);
	g_ptr_array_unref(drafts->all);
	g_free(drafts->by_pkey);
}

static struct partfile_draft *
add_draft(struct partfile_drafts *drafts, const char *name, uint16_t pkey,
	  struct text_place place)
{
	struct partfile_draft *d = partfile_draft_new();

	d->name = g_strdup(name);
	d->pkey = pkey;
	d->place = place;
	if (pkey)
		drafts->by_pkey[pkey] = d;
	g_ptr_array_add(drafts->all, d);
	return d;
}

static void
keep_name(struct partfile_drafts *drafts, const char *name,
	  struct partfile_draft *draft)
{
	struct named *named = g_hash_table_lookup(drafts->by_name, name);

	if (named) {
		named->several |= named->draft != draft;
		return;
	}
	named = g_new0(struct named, 1);
	named->draft = draft;
	g_hash_table_insert(drafts->by_name, g_strdup(name), named);
}

/* A definition without a P_Key. */
static struct partfile_draft *
get_by_name(struct partfile_drafts *drafts, struct text_scan *lex,
	    const struct text_span *span, const char *name)
{
	struct named *named = g_hash_table_lookup(drafts->by_name, name);
	g_autofree char *shown = text_span_show(span);
	struct partfile_draft *d;

	if (!named) {
		if (g_ascii_strcasecmp(name, "Default") == 0)
			text_warn(lex, span->place, "%s is not Default, "
				      "so it is a partition of its own",
				      shown);
		d = add_draft(drafts, name, 0, span->place);
		keep_name(drafts, name, d);
		return d;
	}
	if (named->several) {
		text_fail(lex, span->place, "which %s? More than one P_Key "
			      "has this name: write %s=P_Key", shown, shown);
		return NULL;
	}
	if (named->draft->pkey)
		text_warn(lex, span->place, "%s is taken for that of line "
			      "%u: write %s=0x%04x", shown,
			      named->draft->place.line, shown,
			      named->draft->pkey);
	return named->draft;
}

/* A definition with a P_Key. */
static struct partfile_draft *
get_by_pkey(struct partfile_drafts *drafts, struct text_scan *lex,
	    const struct text_span *span, const char *name, uint16_t pkey)
{
	struct named *named = name ?
		g_hash_table_lookup(drafts->by_name, name) : NULL;
	struct partfile_draft *d = drafts->by_pkey[pkey];
	g_autofree char *shown = text_span_show(span);

	if (named && !named->draft->pkey) {
		text_fail(lex, span->place, "%s has been used in line %u "
			      "without its P_Key: write %s=0x%04x there too",
			      shown, named->draft->place.line, shown, pkey);
		return NULL;
	}
	if (d && name && !d->name)
		d->name = g_strdup(name);
	else if (d && name && strcmp(d->name, name) != 0)
		text_warn(lex, span->place, "P_Key 0x%04x is that of line "
			      "%u, so %s is the same partition", pkey,
			      d->place.line, shown);
	if (!d)
		d = add_draft(drafts, name, pkey, span->place);
	if (name)
		keep_name(drafts, name, d);
	return d;
}

struct partfile_draft *
partfile_drafts_get(struct partfile_drafts *drafts, struct text_scan *lex,
		    const struct text_span *name, uint16_t pkey)
{
	g_autofree char *text = name->len ?
		g_strndup(name->at, name->len) : NULL;

	if (!pkey && text_span_is(name, "Default"))
		pkey = PKEY_DEFAULT;
	if (pkey)
		return get_by_pkey(drafts, lex, name, text, pkey);
	return get_by_name(drafts, lex, name, text);
}

/* --- P_Keys that are made --- */

static uint16_t
hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return (uint16_t)(hash % MADE_MAX + 1);
}

/* The first P_Key from `pkey` on that nobody has; next[] is a forest whose
 * roots are free, MADE_MAX + 1 the end. Halving the paths keeps it linear. */
static uint16_t
find_free(uint16_t *next, uint16_t pkey)
{
	while (next[pkey] != pkey) {
		next[pkey] = next[next[pkey]];
		pkey = next[pkey];
	}
	return pkey;
}

static void
tell_made(struct text_scan *lex, const struct partfile_draft *d,
	  uint16_t hash)
{
	struct text_span span = { d->name, strlen(d->name), d->place };
	g_autofree char *shown = text_span_show(&span);

	if (d->pkey == hash)
		text_warn(lex, d->place, "%s has no P_Key: 0x%04x is made "
			      "from its name", shown, d->pkey);
	else
		text_warn(lex, d->place, "%s has no P_Key, and another "
			      "partition has 0x%04x, which is made from its "
			      "name: it gets 0x%04x, until the file changes",
			      shown, hash, d->pkey);
}

static void
make_pkeys(struct partfile_drafts *drafts, struct text_scan *lex)
{
	g_autofree uint16_t *next = g_new(uint16_t, MADE_MAX + 2);

	for (unsigned pkey = 1; pkey <= MADE_MAX + 1; pkey++)
		next[pkey] = (uint16_t)(pkey + (pkey <= MADE_MAX &&
						drafts->by_pkey[pkey]));
	for (guint i = 0; i < drafts->all->len; i++) {
		struct partfile_draft *d = drafts->all->pdata[i];
		uint16_t hash, pkey;

		if (d->pkey)
			continue;
		hash = hash_name(d->name);
		pkey = find_free(next, hash);
		if (pkey > MADE_MAX)
			pkey = find_free(next, 1);
		if (pkey > MADE_MAX) {
			text_fail(lex, d->place, "no P_Key is left for "
				      "this: a subnet has %u partitions at "
				      "most", PKEY_BASE);
			return;
		}
		d->pkey = pkey;
		drafts->by_pkey[pkey] = d;
		next[pkey] = (uint16_t)(pkey + 1);
		tell_made(lex, d, hash);
	}
}

/* --- the default partition --- */

/* Behind which rule does SELF=full belong? G_MAXUINT: it is not needed. */
static guint
self_place(struct text_scan *lex, const GArray *rules)
{
	const struct partition_rule *r = (const void *)rules->data;
	struct text_place place = { 0, 1 };
	bool said = false, full = false;
	guint last = 0;

	for (guint i = 0; i < rules->len; i++) {
		if (r[i].who == PARTITION_GUID)
			continue;
		said |= r[i].who == PARTITION_SELF;
		if (r[i].membership & PARTITION_FULL)
			full |= r[i].who == PARTITION_ALL ||
				r[i].who == PARTITION_SELF;
		else
			full = false;
		place.line = r[i].line;
		last = i;
	}
	if (!said && !full)
		return last + 1;
	if (!full)
		text_warn(lex, place, "the SM's own port is no full member "
			      "of the default partition: limited members "
			      "cannot reach it");
	return G_MAXUINT;
}

static void
complete_default(struct partfile_drafts *drafts, struct text_scan *lex)
{
	static const struct partition_rule all = {
		.who = PARTITION_ALL, .membership = PARTITION_LIMITED,
	};
	static const struct partition_rule self = {
		.who = PARTITION_SELF, .membership = PARTITION_FULL,
	};
	struct partfile_draft *d = drafts->by_pkey[PKEY_DEFAULT];
	guint place;

	if (!d)
		d = add_draft(drafts, "Default", PKEY_DEFAULT,
			      (struct text_place){ 0, 0 });
	/* An ALL in front covers everybody by itself. */
	if (d->rules->len == 0 ||
	    g_array_index(d->rules, struct partition_rule, 0).who !=
	    PARTITION_ALL)
		g_array_prepend_val(d->rules, all);
	place = self_place(lex, d->rules);
	if (place != G_MAXUINT)
		g_array_insert_val(d->rules, place, self);
}

/* --- groups --- */

static bool
is_ip(const uint8_t *mgid)
{
	return (mgid[2] == 0x40 || mgid[2] == 0x60) && mgid[3] == 0x1b;
}

/* IPv4's broadcast group in the default partition, which OpenSM takes for that
 * of the partition where it stands. */
static bool
is_any_broadcast(const uint8_t *mgid)
{
	struct partition_group group;

	partition_ipoib_group(PKEY_DEFAULT, mgid[1] & 0xf, &group);
	return memcmp(mgid, group.mgid, sizeof(group.mgid)) == 0;
}

/* Puts the P_Key into the MGID of an IP group (RFC 4391, 4). */
static bool
embed_pkey(struct text_scan *lex, uint16_t pkey, struct partfile_group *g)
{
	uint8_t *mgid = g->group.mgid;
	uint16_t there = (uint16_t)(mgid[4] << 8 | mgid[5]);

	if (!is_ip(mgid))
		return true;
	if (there && pkey_base(there) != pkey) {
		if (!is_any_broadcast(mgid))
			return text_fail(lex, g->place, "this MGID has P_Key "
				      "0x%04x in it, the partition 0x%04x: "
				      "write that, or 0", there, pkey);
		text_warn(lex, g->place, "this MGID has the P_Key of the "
			      "default partition in it: 0x%04x is put in its "
			      "place", pkey | PKEY_FULL);
	}
	mgid[4] = (uint8_t)((pkey | PKEY_FULL) >> 8);
	mgid[5] = (uint8_t)pkey;
	return true;
}

static guint
hash_mgid(gconstpointer key)
{
	const uint8_t *mgid = key;
	guint hash = 2166136261u;

	for (unsigned i = 0; i < 16; i++)
		hash = (hash ^ mgid[i]) * 16777619u;
	return hash;
}

static gboolean
equal_mgids(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, 16) == 0;
}

static bool
same_group(const struct partition_group *a, const struct partition_group *b)
{
	return a->q_key == b->q_key && a->flow_label == b->flow_label &&
		a->mtu == b->mtu && a->rate == b->rate && a->sl == b->sl &&
		a->tclass == b->tclass;
}

static void
put_group(struct text_scan *lex, GHashTable *mgids,
	  const struct partfile_draft *d, const struct partfile_group *g,
	  struct partition *out)
{
	const struct placed_group *old = g_hash_table_lookup(mgids,
							     g->group.mgid);
	struct placed_group *new;

	if (old && old->draft != d) {
		text_fail(lex, g->place, "this group is that of line %u, "
			      "in partition 0x%04x: a group is in one "
			      "partition", old->place.line, old->draft->pkey);
		return;
	}
	if (old) {
		if (!same_group(&old->group, &g->group))
			text_warn(lex, g->place, "this group is that of "
				      "line %u, with other flags: those there "
				      "hold", old->place.line);
		return;
	}
	new = g_new(struct placed_group, 1);
	*new = (struct placed_group){ d, g->group, g->place };
	g_hash_table_insert(mgids, new->group.mgid, new);
	g_array_append_val(out->groups, g->group);
}

/* One for each scope; without any, that of the MGID. */
static void
put_scopes(struct text_scan *lex, GHashTable *mgids,
	   const struct partfile_draft *d, struct partfile_group *g,
	   struct partition *out)
{
	if (g->broadcast) {
		struct partition_group made;

		partition_ipoib_group(d->pkey, 0, &made);
		memcpy(g->group.mgid, made.mgid, sizeof(made.mgid));
	} else if (!embed_pkey(lex, d->pkey, g)) {
		return;
	}
	if (!g->scopes)
		put_group(lex, mgids, d, g, out);
	for (unsigned scope = 0; scope < 16; scope++) {
		if (!(g->scopes & 1u << scope))
			continue;
		g->group.mgid[1] = (uint8_t)((g->group.mgid[1] & 0xf0) |
					     scope);
		put_group(lex, mgids, d, g, out);
	}
}

/* --- the end --- */

static void
move_draft(struct text_scan *lex, GHashTable *mgids,
	   struct partfile_draft *d, struct partition *out)
{
	out->name = g_steal_pointer(&d->name);
	out->sl = d->sl;
	out->index0 = d->index0;
	out->defmember = d->defmember;
	g_array_append_vals(out->rules, d->rules->data, d->rules->len);
	for (guint i = 0; i < d->groups->len; i++)
		put_scopes(lex, mgids, d,
			   &g_array_index(d->groups, struct partfile_group, i),
			   out);
}

struct partition_rules *
partfile_drafts_finish(struct partfile_drafts *drafts, struct text_scan *lex)
{
	g_autoptr(GHashTable) mgids = g_hash_table_new_full(hash_mgid,
							    equal_mgids, NULL,
							    g_free);
	struct partition_rules *rules = partition_rules_new();

	make_pkeys(drafts, lex);
	complete_default(drafts, lex);
	/* ascending, so that each goes to the end */
	for (unsigned pkey = 1; pkey <= PKEY_BASE; pkey++)
		if (drafts->by_pkey[pkey])
			partition_rules_get(rules, (uint16_t)pkey);
	for (guint i = 0; i < drafts->all->len; i++) {
		struct partfile_draft *d = drafts->all->pdata[i];

		if (d->pkey)
			move_draft(lex, mgids, d,
				   partition_rules_get(rules, d->pkey));
	}
	return rules;
}
