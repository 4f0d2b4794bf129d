// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The main program of unit tests: see unit.h. An argument is a pattern, and
 * only tests whose name matches run. Those called large_* run if
 * MINISM_TEST_LARGE is set.
 */
#include <inttypes.h>

#include <glib.h>

#include "tests/lib/script.h"
#include "tests/lib/unit.h"

static GArray *all;
static GSList *texts, *lists;	/* of tests as text */

static void
add(const struct CMUnitTest *test)
{
	if (!all)
		all = g_array_new(FALSE, FALSE, sizeof(*test));
	g_array_append_val(all, *test);
}

void
unit_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
	 CMFixtureFunction tear_down)
{
	add(&(struct CMUnitTest){
		.name = name, .test_func = test,
		.setup_func = set_up, .teardown_func = tear_down,
	});
}

void
unit_add_state(const char *name, CMUnitTestFunction test, const void *state)
{
	add(&(struct CMUnitTest){
		.name = name, .test_func = test,
		.initial_state = (void *)(uintptr_t)state,
	});
}

/* function: its name, or that and "_of": see TEST_WITH. cmocka prints the name
 * when the test has ended. */
void
unit_skip(const char *function)
{
	g_autofree char *with_word = NULL;
	struct CMUnitTest *test;
	size_t n;

	for (guint i = 0; i < all->len; i++) {
		test = &g_array_index(all, struct CMUnitTest, i);
		n = strlen(test->name);
		if (strncmp(test->name, function, n) != 0 ||
		    (function[n] && strcmp(function + n, "_of") != 0))
			continue;
		with_word = g_strconcat(test->name, " # SKIP", NULL);
		test->name = g_intern_string(with_word);
		return;
	}
	fail_msg("%s is no test", function);
}

/* ---- tests as text ---- */

struct text_test {
	const struct unit_script *script;
	struct scenario *scenario;
};

struct stage {
	const struct unit_script *script;
	void *fixture;
};

static void *
stage_open(const void *data, const GPtrArray *bound)
{
	struct stage *stage = g_new0(struct stage, 1);

	stage->script = data;
	stage->script->set_up(&stage->fixture);
	return stage;
}

void
unit_add_words(struct unit_word *table, size_t size, const char *names,
	       void (*fn)(void *, char **, const char *))
{
	g_auto(GStrv) list = g_strsplit(names, " ", -1);
	size_t n = 0;

	while (table[n].name)
		n++;
	g_assert(n + g_strv_length(list) < size);
	for (char **name = list; *name; name++)
		table[n++] = (struct unit_word){ g_intern_string(*name), fn };
}

void
unit_play(const struct unit_word *w, void *fixture, const char *line)
{
	const char *text = line + strcspn(line, " ");
	g_autofree char *name = g_strndup(line, (gsize)(text - line));
	g_auto(GStrv) words = NULL;

	while (w->name && strcmp(w->name, name))
		w++;
	if (!w->name)
		fail_msg("there is no such word");
	if (!g_shell_parse_argv(line, NULL, &words, NULL))
		words = g_strsplit(line, " ", 2);
	w->fn(fixture, words + 1, text + strspn(text, " "));
}

uint64_t
word_number(const char *word)
{
	char *end = NULL;
	uint64_t n = word ? g_ascii_strtoull(word, &end, 0) : 0;

	if (end == word || *end)
		fail_msg("%s is no number", word ? word : "nothing");
	return n;
}

int64_t
word_time(const char *word)
{
	int64_t us;

	if (!script_time(word, &us))
		fail_msg("%s is no time", word ? word : "nothing");
	return us;
}

static char *
stage_play(void *data, const char *line)
{
	const struct stage *stage = data;

	unit_play(stage->script->words, stage->fixture, line);
	return NULL;
}

static void
stage_close(void *data)
{
	struct stage *stage = data;

	stage->script->tear_down(&stage->fixture);
	g_free(stage);
}

static void
run_text(void **state)
{
	struct text_test *t = *state;
	const struct script_player player = {
		.data = t->script, .open = stage_open, .play = stage_play,
		.close = stage_close,
	};
	g_autofree char *why = NULL;

	if (!script_play(t->scenario, &player, &why))
		fail_msg("%s", why);
}

/* An assertion in a word's function names a line of C only. */
static int
end_text(void **state)
{
	const struct scenario *s = ((struct text_test *)*state)->scenario;

	if (!s->is_done)
		printf("# %s:%u: %s\n", s->file, scenario_line(s),
		       (char *)s->lines->pdata[s->at]);
	return 0;
}

void
unit_add_script(const struct unit_script *script)
{
	g_autofree char *path = folder_source("tests/scripts", script->file);
	GPtrArray *list = scenarios_read(path);

	for (guint i = 0; i < list->len; i++) {
		struct text_test *t = g_new0(struct text_test, 1);

		t->script = script;
		t->scenario = list->pdata[i];
		add(&(struct CMUnitTest){
			.name = t->scenario->title, .test_func = run_text,
			.teardown_func = end_text, .initial_state = t,
		});
		texts = g_slist_prepend(texts, t);
	}
	lists = g_slist_prepend(lists, list);
}

void
assert_range(const char *range, uint64_t n)
{
	if (!range_holds(range, n))
		fail_msg("%" PRIu64 " is not %s", n, range);
}

uint64_t
number_at(const void *at, size_t size)
{
	uint64_t n = 0;

	memcpy((char *)&n + (G_BYTE_ORDER == G_BIG_ENDIAN ?
			     sizeof(n) - size : 0), at, size);
	return n;
}

void
assert_file(const char *folder, const char *name, const char *text)
{
	g_autofree char *found = folder_get(folder, name);

	if (g_strcmp0(found, text))
		fail_msg("%s: %s", name, found ? found : "there is none");
}

/* What follows "name=" in the word; NULL: it is another one. */
static const char *
value_of(const char *word, const char *name)
{
	size_t len = strlen(name);

	return strncmp(word, name, len) == 0 && word[len] == '=' ?
		word + len + 1 : NULL;
}

void
assert_counts(const struct unit_count *counts, char **words)
{
	for (; *words; words++) {
		const struct unit_count *c = counts;

		while (c->name && !value_of(*words, c->name))
			c++;
		if (!c->name || !range_holds(value_of(*words, c->name), c->n))
			fail_msg("%s: %" PRIu64, *words, c->n);
	}
}

void
unit_set(const struct unit_setting *settings, char **words)
{
	for (; *words; words++) {
		const struct unit_setting *s = settings;

		while (s->name && !value_of(*words, s->name))
			s++;
		if (!s->name)
			fail_msg("there is no %s", *words);
		else
			*s->value = word_number(value_of(*words, s->name));
	}
}

void
assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* RFC 8259, enough of it to refuse what is not JSON; what was matched is never
 * tried another way (++, *+, (?>)). */
static const char json_grammar[] =
	"(?(DEFINE)"
	"(?<space>[ \\t\\r\\n]*+)"
	"(?<string>\"(?>[^\"\\\\\\x00-\\x1f\\x7f]++|\\\\[\"\\\\/bfnrt]|"
		"\\\\u[[:xdigit:]]{4})*+\")"
	"(?<number>(?>0|[1-9][0-9]*+)(?:\\.[0-9]++)?+)"
	"(?<member>(?&space)(?&string)(?&space):(?&value))"
	"(?<object>\\{(?>(?&member)(?:,(?&member))*+|(?&space))\\})"
	"(?<array>\\[(?>(?&value)(?:,(?&value))*+|(?&space))\\])"
	"(?<value>(?&space)(?>(?&object)|(?&array)|(?&string)|(?&number)|"
		"true|false|null)(?&space)))"
	"\\A(?&value)\\z";

void
assert_json(const char *text)
{
	g_autoptr(GRegex) json = g_regex_new(json_grammar, G_REGEX_OPTIMIZE, 0,
					     NULL);

	assert_non_null(json);
	if (!g_utf8_validate(text, -1, NULL) ||
	    !g_regex_match(json, text, 0, NULL))
		fail_msg("no JSON: %s", text);
}

int
main(int argc, char **argv)
{
	int failed;

	/* An error that is set twice is a warning of GLib's. */
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
	if (!g_getenv("MINISM_TEST_LARGE"))
		cmocka_set_skip_filter("large_*");
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	failed = _cmocka_run_group_tests(g_get_prgname(),
					 (const void *)all->data, all->len,
					 NULL, NULL);
	g_array_unref(all);
	g_slist_free_full(texts, g_free);
	g_slist_free_full(lists, (GDestroyNotify)g_ptr_array_unref);
	return failed;
}
