// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The partition file, what texts (tests/golden/partitions) cannot show: every cut
 * of a file, sizes at which a parser that is not linear would not come to an end.
 */
#include <time.h>

#include "sm/config/partitions_conf.h"
#include "tests/lib/formats.h"
#include "tests/lib/unit.h"

static struct partition_rules *
parse(const char *text, GPtrArray *warnings)
{
	g_autoptr(GError) error = NULL;
	struct partition_rules *rules = partitions_conf_parse(text, "f",
							      warnings, &error);

	if (!rules)
		fail_msg("%s\n%s", error->message, text);
	return rules;
}

/* NULL if it is parsed. */
static char *
error_of(const char *text)
{
	g_autoptr(GError) error = NULL;
	AUTO(partition_rules) *rules = partitions_conf_parse(text, "f", NULL,
							     &error);

	if (rules)
		return NULL;
	assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
	return g_strdup(error->message);
}

static void
assert_same_rules(const struct partition_rules *a,
		  const struct partition_rules *b)
{
	g_autofree char *x = partitions_conf_format(a);
	g_autofree char *y = partitions_conf_format(b);

	assert_string_equal(x, y);
}

/* --- what the rules keep --- */

TEST(test_rules_have_their_lines)
{
	AUTO(partition_rules) *rules = parse("A=0x21 : 0x5=full,\n\n0x6,\n"
					      "ALL # all\n;A=0x21 : SELF;", NULL);
	const struct partition *p = partition_rules_find(rules, 0x21);
	static const unsigned lines[] = { 1, 3, 4, 5 };

	assert_int_equal(p->rules->len, G_N_ELEMENTS(lines));
	for (guint i = 0; i < G_N_ELEMENTS(lines); i++)
		assert_int_equal(g_array_index(p->rules, struct partition_rule,
					       i).line, lines[i]);
	p = partition_rules_find(rules, PKEY_DEFAULT);
	assert_int_equal(g_array_index(p->rules, struct partition_rule,
				       0).line, 0);
}

/* It says nothing; with its comment signs away, each example is good. */
TEST(test_shipped_file_is_good)
{
	g_autofree char *path = folder_source("etc", "partitions.conf");
	g_autofree char *text = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	AUTO(partition_rules) *none = partition_rules_default();
	AUTO(partition_rules) *rules = NULL, *examples = NULL;
	g_auto(GStrv) lines = NULL;

	assert_true(g_file_get_contents(path, &text, NULL, NULL));
	rules = parse(text, warnings);
	assert_same_rules(rules, none);
	lines = g_strsplit(text, "\n", -1);
	for (unsigned i = 0; lines[i]; i++)
		if (lines[i][0] == '#' && lines[i][1] != ' ')
			g_string_append_printf(out, "%s\n", lines[i] + 1);
	examples = parse(out->str, warnings);
	assert_true(examples->partitions->len > 2);
	assert_int_equal(warnings->len, 0);
}

/* --- P_Keys that are made --- */

static uint16_t
pkey_of(const struct partition_rules *rules, const char *name)
{
	EACH_PTR(const struct partition, p, rules->partitions)
		if (g_strcmp0(p->name, name) == 0)
			return p->pkey;
	fail_msg("there is no %s", name);
	return 0;
}

TEST(test_made_pkeys_do_not_depend_on_their_place)
{
	static const char *const names[] = {
		"Physics", "Chemistry", "Biology", "Geology", "x",
	};
	uint16_t alone[G_N_ELEMENTS(names)];

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *text = g_strdup_printf("%s:ALL;", names[i]);
		AUTO(partition_rules) *rules = parse(text, NULL);

		alone[i] = pkey_of(rules, names[i]);
	}
	for (unsigned first = 0; first < 5; first++) {
		g_autoptr(GString) text = g_string_new(NULL);
		AUTO(partition_rules) *rules = NULL;

		for (unsigned i = 0; i < 5; i++)
			g_string_append_printf(text, "%s : 0x1 ;\n",
					       names[(first + i) % 5]);
		rules = parse(text->str, NULL);
		assert_int_equal(rules->partitions->len, 6);
		for (unsigned i = 0; i < 5; i++)
			assert_int_equal(pkey_of(rules, names[i]), alone[i]);
	}
}

/* More than there are: the last one is told, and all others had different
 * ones. */
TEST(test_pkeys_come_to_an_end)
{
	g_autoptr(GString) text = g_string_new("Mine=0x1234:;\n");
	g_autofree char *message = NULL;
	AUTO(partition_rules) *rules = NULL;

	for (unsigned i = 0; i < PKEY_DEFAULT - 2; i++)
		g_string_append_printf(text, "P%u:;\n", i);
	rules = parse(text->str, NULL);
	assert_int_equal(rules->partitions->len, PKEY_DEFAULT);
	assert_int_equal(pkey_of(rules, "Mine"), 0x1234);
	g_string_append(text, "One:;\n");
	message = error_of(text->str);
	assert_non_null(message);
	assert_non_null(strstr(message, "f:32767:1: no P_Key is left"));
	assert_null(strchr(message, '\n'));
}

/* --- damage --- */

/* A file that ends too early is refused wherever that is, but between two
 * definitions, for no port may be left out or let in by half a file. */
TEST(test_every_cut_is_refused)
{
	static const char text[] =
		"A=0x21,ipoib,sl=3 : 0x1=full, mgid=ff12::1,sl=1\n"
		" 0x2=limited;B=0x22:ALL=both;";
	const char *first = strchr(text, ';') + 1;

	for (size_t len = 1; len < strlen(text); len++) {
		g_autofree char *cut = g_strndup(text, len);
		g_autofree char *message = error_of(cut);

		if (text + len == first)
			assert_null(message);
		else
			assert_non_null(message);
	}
	assert_null(error_of(text));
	assert_null(partitions_conf_parse("bad", "f", NULL, NULL));
}

TEST(test_warnings_are_a_hundred_at_most)
{
	g_autoptr(GString) text = g_string_new("A=0x21 : ;");
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	AUTO(partition_rules) *rules;

	for (unsigned i = 0; i < 1000; i++)
		g_string_append(text, "B=0x21 : ;\n");
	rules = partitions_conf_parse(text->str, "f", warnings, NULL);
	assert_non_null(rules);
	assert_int_equal(warnings->len, 100);
}

/* --- size --- */

/* Of bytes repeated, up to len: CPU time in us. */
static clock_t
read_repeated(size_t len)
{
	static const char *const pieces[] = {
		"x", "0", "=", ",", ":", " ", "#", "\n", "\r", ";", "x,",
		"0x1,", "0x1\n", "x=", "x:", ": x", "a:;", "\n0x1, ", "mgid=",
		"0x1=full ", "\xff", "A:0x1", "A=1:bad;",
	};

	clock_t before = clock();

	for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
		for (unsigned head = 0; head < 2; head++) {
			g_autoptr(GString) text =
				g_string_new(head ? "A=0x21:" : "");
			g_autofree char *message = NULL;

			while (text->len < len)
				g_string_append(text, pieces[i]);
			message = error_of(text->str);
			assert_true(!message || strlen(message) < 20 * 400);
		}
	}
	return clock() - before;
}

/* To the end, with a short message; eight times the text takes eight times as
 * long, not 64 times: not always, on a processor that others use. */
TEST(test_huge_lines_are_read_to_the_end)
{
	bool is_linear = false;

	for (unsigned i = 0; !is_linear && i < 5; i++) {
		clock_t of_16_kib = read_repeated(16u << 10);

		is_linear = read_repeated(128u << 10) < 24 * of_16_kib;
	}
	assert_true(is_linear);
}

TEST(test_a_hundred_thousand_definitions_are_read)
{
	g_autoptr(GString) text = g_string_new(NULL);
	AUTO(partition_rules) *rules = NULL;
	guint members = 0;

	/* downwards, which is the wrong way for what is kept sorted */
	for (unsigned i = 100000; i > 0; i--)
		g_string_append_printf(text, "P%u=%u,ipoib:0x%x=full;\n",
				       i % 30000, i % 30000 + 1, i);
	rules = parse(text->str, NULL);
	assert_int_equal(rules->partitions->len, 30001);
	for (guint i = 0; i < rules->partitions->len; i++)
		members += ((struct partition *)rules->partitions->pdata[i])
			->rules->len;
	assert_int_equal(members, 100000 + 2);
}
