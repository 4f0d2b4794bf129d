// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The main program of unit tests: see unit.h. An argument is a pattern, and
 * only tests whose name matches run. Those called large_* run if
 * MINISM_TEST_LARGE is set.
 */
#include <string.h>

#include <glib.h>

#include "tests/lib/unit.h"

static GArray *all;

void
unit_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
	 CMFixtureFunction tear_down)
{
	const struct CMUnitTest added = {
		.name = name, .test_func = test,
		.setup_func = set_up, .teardown_func = tear_down,
	};

	if (!all)
		all = g_array_new(FALSE, FALSE, sizeof(added));
	g_array_append_val(all, added);
}

void
assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* RFC 8259, enough of it to refuse what is not JSON. */
static const char *json_value(const char *c);

static const char *
json_space(const char *c)
{
	return c + strspn(c, " \t\r\n");
}

static const char *
json_string(const char *c)
{
	if (*c++ != '"')
		return NULL;
	for (; *c != '"'; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return NULL;
		if (*c != '\\')
			continue;
		c++;
		if (*c == 'u') {
			for (unsigned i = 1; i <= 4; i++)
				if (!g_ascii_isxdigit(c[i]))
					return NULL;
			c += 4;
		} else if (!*c || !strchr("\"\\/bfnrt", *c)) {
			return NULL;
		}
	}
	return c + 1;
}

/* The members between brackets, with keys if it is an object. */
static const char *
json_list(const char *c, char end)
{
	c = json_space(c + 1);
	if (*c == end)
		return c + 1;
	for (;;) {
		if (end == '}') {
			c = json_string(json_space(c));
			if (!c || *json_space(c) != ':')
				return NULL;
			c = json_space(c) + 1;
		}
		c = json_value(c);
		if (!c)
			return NULL;
		c = json_space(c);
		if (*c == end)
			return c + 1;
		if (*c++ != ',')
			return NULL;
	}
}

static const char *
json_value(const char *c)
{
	c = json_space(c);
	if (*c == '{')
		return json_list(c, '}');
	if (*c == '[')
		return json_list(c, ']');
	if (*c == '"')
		return json_string(c);
	if (g_str_has_prefix(c, "true"))
		return c + 4;
	if (g_str_has_prefix(c, "false"))
		return c + 5;
	if (g_str_has_prefix(c, "null"))
		return c + 4;
	if (!g_ascii_isdigit(*c))
		return NULL;
	c += *c == '0' ? 1 : strspn(c, "0123456789");
	return *c == '.' ? c + 1 + strspn(c + 1, "0123456789") : c;
}

void
assert_json(const char *text)
{
	const char *end = json_value(text);

	if (!end || *json_space(end) || !g_utf8_validate(text, -1, NULL))
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
	return failed;
}
