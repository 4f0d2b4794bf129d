// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partition file. Rules that come out have P_Keys in order, names that can
 * be written and groups that are multicast; written, they are read as the same
 * without a warning about the words. Errors are lines that begin with a place.
 */
#include "sm/config/partitions_conf.h"
#include "tests/lib/partitions_format.h"
#include "tests/fuzz/fuzz.h"
#include "topology/text.h"

static void
judge_rules(const struct partition_rules *rules)
{
	unsigned before = 0;

	g_assert_cmpstr(rules->source, ==, "fuzz");
	g_assert_nonnull(partition_rules_find(rules, PKEY_DEFAULT));
	for (guint i = 0; i < rules->partitions->len; i++) {
		const struct partition *p = rules->partitions->pdata[i];

		g_assert_cmpuint(p->pkey, >, before);
		g_assert_cmpuint(p->pkey, <=, PKEY_BASE);
		g_assert_cmpuint(p->sl, <=, 15);
		before = p->pkey;
		for (guint k = 0; k < p->groups->len; k++) {
			const struct partition_group *g =
				&g_array_index(p->groups,
					       struct partition_group, k);

			g_assert_cmpuint(g->mgid[0], ==, 0xff);
			g_assert_cmpuint(g->mtu - 1u, <, 5);
			g_assert_cmpuint(g->rate, >=, 2);
			g_assert_cmpuint(g->flow_label, <=, 0xfffff);
		}
		for (guint k = 0; k < p->rules->len; k++) {
			const struct partition_rule *r =
				&g_array_index(p->rules,
					       struct partition_rule, k);

			g_assert_true((r->who == PARTITION_GUID) ==
				      (r->guid != 0));
		}
	}
}

static void
judge_lines(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	g_assert_cmpuint(g_strv_length(lines), <=, 20 + 1);
	for (unsigned i = 0; lines[i]; i++)
		g_assert_true(g_str_has_prefix(lines[i], i < 20 ? "fuzz:" :
					       "and "));
	g_assert_true(g_utf8_validate(text, -1, NULL));
}

FUZZ_TARGET(partfile)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in), *once = NULL, *twice = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	struct partition_rules *rules, *again;

	rules = partitions_conf_parse(text, "fuzz", warnings, &error);
	for (guint i = 0; i < warnings->len; i++)
		judge_lines(warnings->pdata[i]);
	if (!rules) {
		g_assert_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
		judge_lines(error->message);
		return 0;
	}
	judge_rules(rules);
	once = partitions_conf_format(rules);
	again = partitions_conf_parse(once, "fuzz", NULL, &error);
	g_assert_no_error(error);
	judge_rules(again);
	twice = partitions_conf_format(again);
	g_assert_cmpstr(once, ==, twice);
	partition_rules_unref(rules);
	partition_rules_unref(again);
	return 0;
}
