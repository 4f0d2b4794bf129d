// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partitions in force.
 *
 * Structs. A change is a rule like those of the file, for a single port and
 * without a line, at most one for each pair of port and partition. The changes
 * stand behind the rules of the file, since the later rule decides
 * (topology/partition.c).
 *
 * Method. partitions_load() parses both files into new rules, and replaces the
 * old ones only when both are good. partitions_change() has the file of changes
 * written first: a change that is not on the disk is not in force, so that a
 * restart changes no membership. The next one has to wait until the write has
 * ended.
 *
 * The file of changes has the grammar of the partition file. Of what is read
 * from it only rules for single ports count: the parser adds a default
 * partition to a file without one. Changes of a partition that the partition
 * file no longer has are skipped with a warning; they stay on the disk until
 * the next change, since the line may have been removed by mistake.
 */
#include "sm/partitions.h"


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
	p->rules = partition_rules_default();
	p->lost = partition_rules_new();
	return p;
}

void
partitions_free(struct partitions *p)
{
	if (!p)
		return;
	partition_rules_unref(p->rules);
	partition_rules_unref(p->lost);
	for (unsigned i = 0; i < PARTITIONS_RESULTS; i++) {
		g_clear_error(&p->ends[i].error);
		g_free(p->ends[i].answer);
	}
	g_free(p->changes_path);
	g_free(p);
}

static bool
is_change(const struct partition_rule *rule)
{
	return rule->who == PARTITION_GUID && !rule->line;
}

static void
put_changes(const struct partition_rules *rules, GString *text)
{
	EACH_PTR(const struct partition, c, rules->partitions)
		EACH_ITEM(const struct partition_rule, rule, c->rules)
			if (is_change(rule))
				g_string_append_printf(text, "Change%04x=0x%04x"
					" : " GUID_FORMAT "=%s ;\n", c->pkey,
					c->pkey, rule->guid,
					partition_membership_names[
						rule->membership]);
}

static char *
changes_text(const struct partition_rules *rules,
	     const struct partition_rules *lost)
{
	GString *text = g_string_new(
		"# Changes made by minismctl, on top of the partition file.\n"
		"# minism rewrites this file; see minismctl(8).\n");

	put_changes(rules, text);
	put_changes(lost, text);
	return g_string_free(text, FALSE);
}

/* Behind the rules that were read from the file, if it has that partition. */
static void
add_changes(struct partition_rules *rules, struct partition_rules *lost,
	    const struct partition *changes, GPtrArray *warnings)
{
	bool is_there = partition_rules_find(rules, changes->pkey);

	EACH_ITEM(struct partition_rule, rule, changes->rules) {
		rule->line = 0;
		if (!is_change(rule))
			continue;
		g_array_append_vals(partition_rules_get(is_there ? rules : lost,
			changes->pkey)->rules, rule, 1);
		if (!is_there)
			text_add(warnings, "the change of " GUID_FORMAT " in "
				 "0x%04x is ignored: no such partition",
				 rule->guid, changes->pkey);
	}
}

bool
partitions_load(struct partitions *p, const char *text, const char *path,
		GPtrArray *warnings, GError **error)
{
	struct partition_rules *rules = text ?
		partitions_conf_parse(text, path, warnings, error) :
		partition_rules_default();
	struct partition_rules *changes = NULL;
	g_autoptr(GError) why = NULL;
	g_autofree char *made = NULL;

	if (!rules)
		return false;
	made = p->changes_path ? state_file_read(p->changes_path, &why) :
		changes_text(p->rules, p->lost);
	if (made)
		changes = partitions_conf_parse(made, p->changes_path, warnings,
						error);
	else if (!g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		g_propagate_error(error, g_steal_pointer(&why));
	else
		changes = partition_rules_new();
	if (!changes) {
		partition_rules_unref(rules);
		return false;
	}
	partition_rules_unref(p->lost);
	p->lost = partition_rules_new();
	EACH_PTR(const struct partition, c, changes->partitions)
		add_changes(rules, p->lost, c, warnings);
	partition_rules_unref(changes);
	partition_rules_unref(p->rules);
	p->rules = rules;
	return true;
}

/* The file may have been read again meanwhile. */
static void
change_done(const GError *error, void *data)
{
	struct partitions *p = data;
	struct partition_rules **of = partition_rules_find(p->rules, p->pkey) ?
		&p->rules : &p->lost;
	struct partition_rules *before = *of;

	g_clear_pointer(&p->writer, file_writer_free);
	p->is_writing = false;
	if (error) {
		p->ends[p->n_changes % PARTITIONS_RESULTS].error =
			g_error_copy(error);
		return;
	}
	*of = partition_rules_with(before, p->pkey, p->guid, p->membership);
	partition_rules_unref(before);
	p->used(p->data);
}

/* Of the rules in force with the change. */
static void
write_changes(struct partitions *p, struct beside *disk)
{
	const struct file_writer_params params = {
		.path = p->changes_path, .mode = 0600,
		.how = G_FILE_SET_CONTENTS_DURABLE,
		.written = change_done, .data = p,
	};
	struct partition_rules *next = partition_rules_with(p->rules, p->pkey,
						p->guid, p->membership);
	g_autofree char *text = changes_text(next, p->lost);

	partition_rules_unref(next);
	p->writer = file_writer_new(disk, NULL, &params);
	file_writer_put(p->writer, g_string_new(text));
}

uint64_t
partitions_change(struct partitions *p, struct beside *disk, uint16_t pkey,
		  uint64_t guid, int membership, const char *answer,
		  void (*used)(void *data), void *data, GError **error)
{
	struct partitions_end *end;

	if (!partition_rules_find(p->rules, pkey) || !guid) {
		g_set_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX,
			    guid ? "no such partition: 0x%04x" :
			    "0 is not a PortGUID (partition 0x%04x)",
			    pkey_base(pkey));
		return 0;
	}
	if (p->is_writing) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
			    "the change before this one is being written");
		return 0;
	}
	p->is_writing = true;
	p->pkey = pkey;
	p->guid = guid;
	p->membership = membership;
	p->used = used;
	p->data = data;
	end = &p->ends[++p->n_changes % PARTITIONS_RESULTS];
	g_clear_error(&end->error);
	g_free(end->answer);
	end->answer = g_strdup(answer);
	if (p->changes_path)
		write_changes(p, disk);
	else
		change_done(NULL, p);
	return p->n_changes;
}

bool
partitions_changed(const struct partitions *p, uint64_t number,
		   const char **answer, GError **error)
{
	const struct partitions_end *end =
		&p->ends[number % PARTITIONS_RESULTS];

	*answer = end->answer;
	if (number == p->n_changes && p->is_writing)
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
