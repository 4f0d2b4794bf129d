// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partitions in force.
 *
 * Structs. A `change` is one port in one partition, as given to minismctl;
 * there is one at most for each pair, sorted by (P_Key, GUID). The rules in
 * force are those of the file followed by the changes, since the later rule
 * decides (topology/partition.c).
 *
 * Flow. partitions_load() reads both files into new values, and replaces the
 * old ones only when both are good. partitions_change() makes a new list of
 * changes, writes it, and then uses it: a change that is not on the disk is
 * not in force, so that a restart changes no membership.
 *
 * The changes are a partition file of their own. Of what is read back only
 * rules for single ports count: the parser adds a default partition to a file
 * without one. Changes of a partition that the file has no more are skipped,
 * with a warning; they stay on the disk until the next change, for the line may
 * have been removed by mistake.
 */
#include "sm/partitions.h"

#include <string.h>

#include "sm/config/partitions_conf.h"
#include "topology/state_file.h"
#include "topology/text.h"

#define FILE_NAME	"partitions-runtime"

struct pkey_edit {
	uint16_t pkey;
	uint64_t guid;
	enum partition_membership membership;
};

struct partitions {
	char *path, *changes_path;	/* NULL: none */
	enum partitions_absence absence;
	bool was_there;			/* the file, when it was read */
	bool had_rules;			/* it, then */
	struct partition_rules *file;	/* what the file says */
	GArray *changes;		/* struct pkey_edit */
	struct partition_rules *rules;	/* in force */
};

G_DEFINE_QUARK(minism-partitions-error-quark, partitions_error)

struct partitions *
partitions_new(const struct partitions_params *params)
{
	struct partitions *p = g_new0(struct partitions, 1);

	p->path = g_strdup(params->path);
	p->absence = params->absence;
	if (params->cache_dir)
		p->changes_path = g_build_filename(params->cache_dir,
						   FILE_NAME, NULL);
	p->file = partition_rules_default();
	p->rules = partition_rules_ref(p->file);
	p->changes = g_array_new(FALSE, FALSE, sizeof(struct pkey_edit));
	return p;
}

void
partitions_free(struct partitions *p)
{
	if (!p)
		return;
	partition_rules_unref(p->file);
	partition_rules_unref(p->rules);
	g_array_unref(p->changes);
	g_free(p->path);
	g_free(p->changes_path);
	g_free(p);
}

struct partition_rules *
partitions_rules(const struct partitions *p)
{
	return p->rules;
}

/* --- files --- */

/* *text NULL: there is none. False: it is there and cannot be read. The file of
 * the site may be a pipe, that of the changes is ours. */
static bool
read_text(const char *path, bool is_ours, char **text, GError **error)
{
	g_autoptr(GError) why = NULL;

	*text = is_ours ? state_file_read(path, &why) :
		text_read_file(path, &why);
	if (*text || g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return true;
	g_set_error_literal(error, PARTITIONS_ERROR, PARTITIONS_ERROR_FILE,
			    why->message);
	return false;
}

static struct partition_rules *
parse(const char *text, const char *path, GPtrArray *warnings,
      GError **error)
{
	g_autoptr(GError) why = NULL;
	struct partition_rules *rules =
		partitions_conf_parse(text, path, warnings, &why);

	if (!rules)
		g_set_error_literal(error, PARTITIONS_ERROR,
				    PARTITIONS_ERROR_FILE, why->message);
	return rules;
}

/* The rules without the file, if it may be missing. */
static struct partition_rules *
do_without(const struct partitions *p, GPtrArray *warnings, GError **error)
{
	if (p->absence != PARTITIONS_MUST && !p->was_there) {
		if (p->absence == PARTITIONS_WARN)
			g_ptr_array_add(warnings, g_strdup_printf(
				"%s: there is no such file: all ports are "
				"full members of the default partition",
				p->path));
		return partition_rules_default();
	}
	g_set_error(error, PARTITIONS_ERROR, PARTITIONS_ERROR_FILE,
		    "%s: there is no such file%s", p->path,
		    p->was_there ? " any more" : "");
	return NULL;
}

/* A file without a definition makes all ports full members of one partition. If
 * there were definitions before, it was more likely truncated. */
static struct partition_rules *
read_file(const struct partitions *p, bool *there, bool *has_rules,
	  GPtrArray *warnings, GError **error)
{
	g_autofree char *text = NULL;

	*there = *has_rules = false;
	if (!p->path)
		return partition_rules_default();
	if (!read_text(p->path, false, &text, error))
		return NULL;
	*there = text != NULL;
	if (!text)
		return do_without(p, warnings, error);
	*has_rules = !partitions_conf_is_empty(text);
	if (p->had_rules && !*has_rules) {
		g_set_error(error, PARTITIONS_ERROR, PARTITIONS_ERROR_FILE,
			    "%s: empty: would open everything; write "
			    "\"Default=0x7fff : ALL=full;\" if that is meant",
			    p->path);
		return NULL;
	}
	return parse(text, p->path, warnings, error);
}

/* --- changes --- */

static gint
compare_changes(gconstpointer a, gconstpointer b)
{
	const struct pkey_edit *x = a, *y = b;

	if (x->pkey != y->pkey)
		return x->pkey < y->pkey ? -1 : 1;
	return x->guid < y->guid ? -1 : x->guid > y->guid;
}

/* Where the change of this port and partition is, or has to be inserted. */
static guint
change_place(const GArray *changes, const struct pkey_edit *c, bool *found)
{
	guint i = changes->len;
	int order = 1;

	/* from the end: a file is sorted */
	for (; i > 0 && order > 0; i--)
		order = compare_changes(&g_array_index(changes,
						       struct pkey_edit,
						       i - 1), c);
	*found = order == 0;
	return order < 0 ? i + 1 : i;
}

static void
put_change(GArray *changes, const struct pkey_edit *c)
{
	bool found;
	guint place = change_place(changes, c, &found);

	if (found)
		g_array_index(changes, struct pkey_edit, place) = *c;
	else
		g_array_insert_val(changes, place, *c);
}

/* The rules for single ports; of two for one port and partition the later one
 * decides. */
static GArray *
changes_of(const struct partition_rules *rules)
{
	GArray *changes = g_array_new(FALSE, FALSE, sizeof(struct pkey_edit));

	for (guint i = 0; i < rules->partitions->len; i++) {
		const struct partition *p = rules->partitions->pdata[i];

		for (guint k = 0; k < p->rules->len; k++) {
			const struct partition_rule *rule =
				&g_array_index(p->rules,
					       struct partition_rule, k);
			struct pkey_edit c = { p->pkey, rule->guid,
					    rule->membership };

			if (rule->who == PARTITION_GUID)
				put_change(changes, &c);
		}
	}
	return changes;
}

static GArray *
read_changes(const struct partitions *p, GPtrArray *warnings, GError **error)
{
	g_autofree char *text = NULL;
	struct partition_rules *rules;
	GArray *changes;

	if (!p->changes_path)
		return g_array_copy(p->changes);
	if (!read_text(p->changes_path, true, &text, error))
		return NULL;
	if (!text)
		return g_array_new(FALSE, FALSE, sizeof(struct pkey_edit));
	rules = parse(text, p->changes_path, warnings, error);
	if (!rules)
		return NULL;
	changes = changes_of(rules);
	partition_rules_unref(rules);
	return changes;
}

static bool
write_changes(const struct partitions *p, const GArray *changes,
	      GError **error)
{
	g_autoptr(GString) text = g_string_new(
		"# Changes made by minismctl, on top of the partition file.\n"
		"# minism rewrites this file; see minismctl(8).\n");
	g_autoptr(GError) why = NULL;

	if (!p->changes_path)
		return true;
	for (guint i = 0; i < changes->len; i++) {
		const struct pkey_edit *c = &g_array_index(changes,
							struct pkey_edit, i);

		g_string_append_printf(
			text,
			"Change%04x=0x%04x : 0x%016" G_GINT64_MODIFIER
			"x=%s ;\n",
			c->pkey, c->pkey, c->guid,
			partition_membership_name(c->membership));
	}
	if (state_file_write(p->changes_path, text,
			     G_FILE_SET_CONTENTS_CONSISTENT |
			     G_FILE_SET_CONTENTS_DURABLE, 0600, &why))
		return true;
	g_set_error_literal(error, PARTITIONS_ERROR, PARTITIONS_ERROR_CHANGE,
			    why->message);
	return false;
}

/* The file's rules with the changes behind them. */
static struct partition_rules *
merge(const struct partition_rules *file, const GArray *changes,
      GPtrArray *warnings)
{
	struct partition_rules *rules = partition_rules_copy(file);

	for (guint i = 0; i < changes->len; i++) {
		const struct pkey_edit *c = &g_array_index(changes,
							struct pkey_edit, i);
		const struct partition_rule rule = {
			.who = PARTITION_GUID,
			.membership = c->membership,
			.guid = c->guid,
		};

		if (partition_rules_find(file, c->pkey))
			g_array_append_val(partition_rules_get(rules,
					c->pkey)->rules, rule);
		else if (warnings)
			g_ptr_array_add(warnings, g_strdup_printf(
				"the change of 0x%016" G_GINT64_MODIFIER
				"x in 0x%04x is passed over: there is no such "
				"partition", c->guid, c->pkey));
	}
	return rules;
}

/* --- interface --- */

static void
exchange(struct partitions *p, struct partition_rules *file, GArray *changes,
	 struct partition_rules *rules)
{
	partition_rules_unref(p->file);
	partition_rules_unref(p->rules);
	g_array_unref(p->changes);
	p->file = file;
	p->changes = changes;
	p->rules = rules;
}

bool
partitions_load(struct partitions *p, GPtrArray *warnings, GError **error)
{
	struct partition_rules *file;
	bool there, has_rules;
	GArray *changes;

	file = read_file(p, &there, &has_rules, warnings, error);
	if (!file)
		return false;
	changes = read_changes(p, warnings, error);
	if (!changes) {
		partition_rules_unref(file);
		return false;
	}
	p->was_there = there;
	p->had_rules = has_rules;
	exchange(p, file, changes, changes->len ?
		 merge(file, changes, warnings) : partition_rules_ref(file));
	return true;
}

bool
partitions_change(struct partitions *p, uint16_t pkey, uint64_t guid,
		  int membership, GError **error)
{
	struct pkey_edit c = { .pkey = pkey_base(pkey), .guid = guid };
	GArray *changes;
	guint place;
	bool found;

	if (!partition_rules_find(p->file, pkey) || !guid) {
		g_set_error(error, PARTITIONS_ERROR, PARTITIONS_ERROR_CHANGE,
			    guid ? "there is no partition 0x%04x" :
			    "0 names no port (partition 0x%04x)", c.pkey);
		return false;
	}
	changes = g_array_copy(p->changes);
	place = change_place(changes, &c, &found);
	if (membership < 0) {
		if (found)
			g_array_remove_index(changes, place);
	} else {
		c.membership = (enum partition_membership)membership;
		put_change(changes, &c);
	}
	if (!write_changes(p, changes, error)) {
		g_array_unref(changes);
		return false;
	}
	exchange(p, partition_rules_ref(p->file), changes,
		 merge(p->file, changes, NULL));
	return true;
}
