// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partitions in force.
 *
 * Structs. The changes are partition rules like those of the file, each for a
 * single port, at most one for each pair of port and partition, by (P_Key,
 * GUID). The rules in force are those of the file followed by the changes,
 * since the later rule decides (topology/partition.c).
 *
 * Method. partitions_load() parses both files into new values, and replaces the
 * old ones only when both are good. partitions_change() makes a new set of
 * changes, has it written, and then uses it: a change that is not on the disk is
 * not in force, so that a restart changes no membership. The next one is made of
 * that set, so it waits until the write has ended.
 *
 * The file of changes has the grammar of the partition file. Of what is read
 * from it only rules for single ports count: the parser adds a default
 * partition to a file without one. Changes of a partition that the partition
 * file no longer has are skipped with a warning; they stay on the disk until
 * the next change, since the line may have been removed by mistake.
 */
#include "sm/partitions.h"

#include <string.h>

#include "sm/config/partitions_conf.h"
#include "topology/each.h"
#include "topology/state_file.h"
#include "topology/text.h"

struct partitions *
partitions_new(const char *cache_dir)
{
	struct partitions *p = g_new0(struct partitions, 1);

	if (cache_dir)
		p->changes_path = state_file_path(cache_dir,
						  STATE_FILE_PARTITIONS);
	p->file = partition_rules_default();
	p->rules = partition_rules_ref(p->file);
	p->changes = partition_rules_new();
	return p;
}

void
partitions_free(struct partitions *p)
{
	if (!p)
		return;
	partition_rules_unref(p->file);
	partition_rules_unref(p->changes);
	partition_rules_unref(p->rules);
	partition_rules_unref(p->next);
	for (unsigned i = 0; i < PARTITIONS_RESULTS; i++) {
		g_clear_error(&p->ends[i].error);
		g_free(p->ends[i].answer);
	}
	g_free(p->changes_path);
	g_free(p);
}

/* --- changes --- */

static struct partition_rule *
rule_at(const GArray *rules, guint i)
{
	return &g_array_index(rules, struct partition_rule, i);
}

static struct partition_rules *
read_changes(const struct partitions *p, GPtrArray *warnings, GError **error)
{
	struct partition_rules *changes;
	g_autofree char *text = NULL;
	g_autoptr(GError) why = NULL;

	if (!p->changes_path)
		return partition_rules_ref(p->changes);
	text = state_file_read(p->changes_path, &why);
	if (why && !g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		g_propagate_error(error, g_steal_pointer(&why));
		return NULL;
	}
	changes = !text ? partition_rules_new() :
		partitions_conf_parse(text, p->changes_path, warnings, error);
	for (guint i = 0; changes && i < changes->partitions->len; i++) {
		const struct partition *c = changes->partitions->pdata[i];

		for (guint k = c->rules->len; k-- > 0;) {
			rule_at(c->rules, k)->line = 0;	/* of no file */
			if (rule_at(c->rules, k)->who != PARTITION_GUID)
				g_array_remove_index(c->rules, k);
		}
	}
	return changes;
}

static GString *
changes_text(const struct partition_rules *changes)
{
	GString *text = g_string_new(
		"# Changes made by minismctl, on top of the partition file.\n"
		"# minism rewrites this file; see minismctl(8).\n");

	EACH_PTR(const struct partition, c, changes->partitions)
		EACH_ITEM(const struct partition_rule, rule, c->rules)
			g_string_append_printf(text, "Change%04x=0x%04x : "
				"0x%016" G_GINT64_MODIFIER "x=%s ;\n",
				c->pkey, c->pkey, rule->guid,
				partition_membership_names[rule->membership]);
	return text;
}

/* --- interface --- */

/* Takes both over: the file's rules with the changes behind them are in force
 * from now on. */
static void
put_in_force(struct partitions *p, struct partition_rules *file,
	     struct partition_rules *changes, GPtrArray *warnings)
{
	struct partition_rules *rules = partition_rules_copy(file);

	EACH_PTR(const struct partition, c, changes->partitions) {
		if (partition_rules_find(file, c->pkey)) {
			g_array_append_vals(partition_rules_get(rules,
				c->pkey)->rules, c->rules->data, c->rules->len);
			continue;
		}
		for (guint k = 0; warnings && k < c->rules->len; k++)
			g_ptr_array_add(warnings, g_strdup_printf(
				"the change of 0x%016" G_GINT64_MODIFIER
				"x in 0x%04x is ignored: no such partition",
				rule_at(c->rules, k)->guid,
				c->pkey));
	}
	partition_rules_unref(p->file);
	partition_rules_unref(p->changes);
	partition_rules_unref(p->rules);
	p->file = file;
	p->changes = changes;
	p->rules = rules;
}

bool
partitions_load(struct partitions *p, const char *text, const char *path,
		GPtrArray *warnings, GError **error)
{
	struct partition_rules *file, *changes;

	file = text ? partitions_conf_parse(text, path, warnings, error) :
		partition_rules_default();
	if (!file)
		return false;
	changes = read_changes(p, warnings, error);
	if (!changes) {
		partition_rules_unref(file);
		return false;
	}
	put_in_force(p, file, changes, warnings);
	return true;
}

static gint
compare_guids(gconstpointer a, gconstpointer b)
{
	const struct partition_rule *x = a, *y = b;

	return uint_compare(x->guid, y->guid);
}

static void
change_done(const GError *error, void *data)
{
	struct partition_rules *next;
	struct partitions *p = data;

	g_clear_pointer(&p->writer, file_writer_free);
	next = g_steal_pointer(&p->next);
	if (error) {
		p->ends[p->n_changes % PARTITIONS_RESULTS].error =
			g_error_copy(error);
		partition_rules_unref(next);
		return;
	}
	put_in_force(p, partition_rules_ref(p->file), next, NULL);
	p->used(p->data);
}

uint64_t
partitions_change(struct partitions *p, struct beside *disk, uint16_t pkey,
		  uint64_t guid, int membership, const char *answer,
		  void (*used)(void *data), void *data, GError **error)
{
	struct partitions_end *end;
	const struct file_writer_params params = {
		.path = p->changes_path, .mode = 0600,
		.how = G_FILE_SET_CONTENTS_DURABLE,
		.written = change_done, .data = p,
	};

	if (!partition_rules_find(p->file, pkey) || !guid) {
		g_set_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX,
			    guid ? "no such partition: 0x%04x" :
			    "0 is not a PortGUID (partition 0x%04x)",
			    pkey_base(pkey));
		return 0;
	}
	if (p->next) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
			    "the change before this one is being written");
		return 0;
	}
	p->next = partition_rules_with(p->changes, pkey, guid, membership);
	g_array_sort(partition_rules_get(p->next, pkey)->rules, compare_guids);
	p->used = used;
	p->data = data;
	end = &p->ends[++p->n_changes % PARTITIONS_RESULTS];
	g_clear_error(&end->error);
	g_free(end->answer);
	end->answer = g_strdup(answer);
	if (p->changes_path) {
		p->writer = file_writer_new(disk, NULL, &params);
		file_writer_put(p->writer, changes_text(p->next));
	} else {
		change_done(NULL, p);
	}
	return p->n_changes;
}

bool
partitions_changed(const struct partitions *p, uint64_t number,
		   const char **answer, GError **error)
{
	const struct partitions_end *end =
		&p->ends[number % PARTITIONS_RESULTS];

	*answer = end->answer;
	if (number == p->n_changes && p->next)
		return false;
	if (!number || number > p->n_changes ||
	    number + PARTITIONS_RESULTS <= p->n_changes)
		g_set_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX,
			    "how this change ended is not known any more; "
			    "see minismctl partitions");
	else if (end->error && error)
		*error = g_error_copy(end->error);
	return true;
}
