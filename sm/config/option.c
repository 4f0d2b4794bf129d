// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options of a program.
 *
 * Method. GOption reads the words, and calls set_option() for each option. Forms
 * that getopt_long() accepts are spelled out before: letters may be joined, and
 * followed by a value (-vp1); a long option may be cut short. What is no option
 * is refused there, with the nearest one, as is a value that is missing or one too
 * many.
 *
 * Numbers are decimal or 0x and hexadecimal. GUIDs are always hexadecimal, as
 * in OpenSM: ibstat's are often copied without the 0x.
 */
#include "sm/config/option.h"

#include <string.h>

#include "sm/config/command.h"
#include "topology/member.h"
#include "topology/text.h"

/* --- kinds of values --- */

static char *
set_bool(const struct option *o, void *place, const char *value)
{
	static const char *const words[][2] = {
		{ "FALSE", "TRUE" }, { "no", "yes" }, { "off", "on" },
		{ "0", "1" },
	};

	if (!value)
		value = "FALSE";
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		for (int is = 0; is < 2; is++)
			if (!g_ascii_strcasecmp(value, words[i][is])) {
				*(bool *)place = is;
				return NULL;
			}
	return option_refuse(o, value);
}

static char *
set_number(const struct option *o, void *place, const char *value)
{
	uint64_t n = 0;

	if (value && (!text_read_number(value, 0, o->max, &n) || n < o->min))
		return option_refuse(o, value);
	member_store(place, o->kind->size ?: sizeof(unsigned), n);
	return NULL;
}

static char *
set_number64(const struct option *o, void *place, const char *value)
{
	if (!value)
		*(uint64_t *)place = 0;
	else if (!text_read_number(value, o->kind == &option_guid ? 16 : 0,
				   UINT64_MAX, place))
		return option_refuse(o, value);
	return NULL;
}

char *
option_set_text(const struct option *o, void *place, const char *value)
{
	char **text = place;

	if (value && !*value && !o->kind->or_none)
		return option_refuse(o, value);
	g_free(*text);
	*text = value && *value ? g_strdup(value) : NULL;
	return NULL;
}

static char *
set_mode(const struct option *o, void *place, const char *value)
{
	*(int *)place = MAX(*(int *)place, (int)o->min);
	return NULL;
}

char *
option_set_word(const struct option *o, void *place, const char *value)
{
	const char *const *words = o->kind->words;

	for (unsigned i = 0; words[i]; i++)
		if (!g_ascii_strcasecmp(value ? value : words[1], words[i])) {
			*(unsigned *)place = i;
			return NULL;
		}
	return option_refuse(o, value);
}

#define NUMBER64 "a number of 64 bits, decimal or 0x and hexadecimal"

const struct option_kind option_bool = {
	.accepts = "TRUE or FALSE", .no_value = true, .set = set_bool,
};
const struct option_kind option_number = { .set = set_number };
const struct option_kind option_number8 = { .size = 1, .set = set_number };
const struct option_kind option_number16 = { .size = 2, .set = set_number };
const struct option_kind option_number64 = {
	.accepts = NUMBER64, .set = set_number64,
};
const struct option_kind option_secret = {
	.accepts = NUMBER64, .secret = true, .set = set_number64,
};
const struct option_kind option_guid = {
	.accepts = "a GUID of up to 16 hexadecimal digits",
	.set = set_number64,
};
const struct option_kind option_name = {
	.accepts = "a name", .is_text = true, .set = option_set_text,
};
const struct option_kind option_file = {
	.accepts = "a file", .is_text = true, .set = option_set_text,
};
const struct option_kind option_text = {
	.accepts = "a name", .is_text = true, .or_none = true,
	.set = option_set_text,
};
const struct option_kind option_path = {
	.accepts = "a file", .is_text = true, .or_none = true,
	.set = option_set_text,
};
const struct option_kind option_mode = {
	.no_value = true, .is_action = true, .set = set_mode,
};

/* --- values --- */

char *
option_accepts(const struct option *o)
{
	if (o->kind->accepts)
		return g_strdup(o->kind->accepts);
	return g_strdup_printf("%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
			       o->min, o->max);
}

char *
option_refuse(const struct option *o, const char *value)
{
	g_autofree char *accepts = option_accepts(o);
	g_autofree char *shown = text_one_line(value);

	if (o->kind->secret)
		return g_strdup_printf("the value is not %s", accepts);
	return g_strdup_printf("%s is not %s", *shown ? shown : "\"\"",
			       accepts);
}

char *
option_set(const struct option *o, void *values, const char *value)
{
	return o->kind->set(o, G_STRUCT_MEMBER_P(values, o->offset),
			    value ? value : o->preset);
}

void
option_set_defaults(const struct option_table *t, void *values)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->options[i].kind && !t->options[i].kind->is_action) {
			char *why = option_set(&t->options[i], values, NULL);

			g_assert(!why);
		}
}

void
option_free_texts(const struct option_table *t, void *values)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->options[i].kind && t->options[i].kind->is_text) {
			char **text = G_STRUCT_MEMBER_P(values,
							t->options[i].offset);

			g_clear_pointer(text, g_free);
		}
}

const struct option *
option_find_key(const struct option_table *t, const char *key)
{
	for (size_t i = 0; i < t->n; i++)
		if (!g_strcmp0(t->options[i].key, key))
			return &t->options[i];
	return NULL;
}

/* --- the command line --- */

struct option_reader {
	const struct option_table *table;
	void *values;
};

static const struct option *
find_letter(const struct option_table *t, char letter)
{
	for (; t; t = t->also)
		for (size_t i = 0; i < t->n; i++)
			if (t->options[i].letter &&
			    t->options[i].letter == letter)
				return &t->options[i];
	return NULL;
}

static bool
begins(const char *name, const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (name[i] != (word[i] == '_' ? '-' : word[i]))
			return false;
	return len > 0;
}

/* word: "name", or "name=value"; the name may be cut short. */
static const struct option *
option_find_name(const struct option_table *t, const char *word)
{
	size_t len = strcspn(word, "="), n = 0;
	const struct option *found = NULL;

	for (; t; t = t->also)
		for (size_t i = 0; i < t->n; i++) {
			const struct option *o = &t->options[i];

			if (!o->name || !begins(o->name, word, len))
				continue;
			if (!o->name[len])
				return o;
			found = o;
			n++;
		}
	return n == 1 ? found : NULL;
}

/* GOptionArgFunc; name with its dashes. */
static gboolean
set_option(const char *name, const char *value, gpointer data, GError **error)
{
	const struct option_reader *r = data;
	const struct option *o = option_find_name(r->table, name + 2);
	const struct option_table *t = r->table;
	void *values = r->values;
	g_autofree char *why = NULL;

	g_assert(o);
	while (o < t->options || o >= t->options + t->n) {
		t = t->also;
		values = t->values;
	}
	if (o->kind->no_value)
		value = "TRUE";
	why = o->kind->set(o, G_STRUCT_MEMBER_P(values, o->offset), value);
	if (!why && t->note)
		t->note(o, value, values);
	return !why || text_refuse(error, "--%s: %s", o->name, why);
}

/* A word that is no option. */
static bool
fail_unknown(const struct option_table *t, const char *word, GError **error)
{
	g_autofree char *name = g_strndup(word, strcspn(word, "="));
	g_autofree char *cut = text_one_line(name);
	g_autofree char *key = g_strdelimit(g_strdup(name), "-", '_');
	g_autofree char *near = NULL;
	g_autofree const char **names = NULL;
	size_t n = 0;

	if (option_find_key(t, key))
		return text_refuse(error, "--%s is no option; it is the key %s "
				   "of the configuration file", cut, key);
	for (; t; t = t->also) {
		names = g_renew(const char *, names, n + t->n);
		for (size_t i = 0; i < t->n; i++)
			if (t->options[i].name)
				names[n++] = t->options[i].name;
	}
	near = text_nearest(cut, "--", names, n);
	return text_refuse(error, "--%s is no option%s, --help has all", cut,
			   near);
}

/* The value behind the option, or the next word. */
static bool
spell_value(GPtrArray *out, const struct option *o, const char *value,
	    char ***at, GError **error)
{
	g_autofree char *accepts = option_accepts(o);

	if (!value && (*at)[1])
		value = *++*at;
	if (!value)
		return text_refuse(error, "--%s: a value is missing: %s",
				   o->name, accepts);
	g_ptr_array_add(out, g_strdup_printf("--%s=%s", o->name, value));
	return true;
}

static bool
spell_name(const struct option_table *t, GPtrArray *out, char ***at,
	   GError **error)
{
	const char *word = **at + 2, *sign = strchr(word, '=');
	const struct option *o = option_find_name(t, word);

	if (!o)
		return fail_unknown(t, word, error);
	if (sign && o->kind->no_value)
		return text_refuse(error, "--%s: takes no value", o->name);
	if (o->kind->no_value)
		g_ptr_array_add(out, g_strconcat("--", o->name, NULL));
	return o->kind->no_value ||
		spell_value(out, o, sign ? sign + 1 : o->kind->may_value ?
			    o->preset : NULL, at, error);
}

static bool
spell_letters(const struct option_table *t, GPtrArray *out, char ***at,
	      GError **error)
{
	for (const char *c = **at + 1; *c; c++) {
		const struct option *o = find_letter(t, *c);

		if (!o)
			return text_refuse(error, "-%c is no option; --help "
					   "has all", g_ascii_isprint(*c) ?
					   *c : '?');
		if (!o->kind->no_value)
			return spell_value(out, o, c[1] ? c + 1 : NULL, at,
					   error);
		g_ptr_array_add(out, g_strconcat("--", o->name, NULL));
	}
	return true;
}

/* Each option by its full name, with its value. NULL: one of them is none. */
static char **
spell_out(const struct option_table *t, int argc, char *const *argv,
	  GError **error)
{
	g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func(g_free);
	g_autofree char **words = g_new0(char *, (gsize)argc + 1);
	bool good = true, ended = false;

	memcpy(words, argv, (gsize)argc * sizeof(*words));
	for (char **at = words; good && *at; at++) {
		const char *word = *at;

		ended |= !strcmp(word, "--");
		if (at == words || ended || word[0] != '-' || !word[1])
			g_ptr_array_add(out, g_strdup(word));
		else if (word[1] == '-')
			good = spell_name(t, out, &at, error);
		else
			good = spell_letters(t, out, &at, error);
	}
	if (!good)
		return NULL;
	g_ptr_array_add(out, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&out), FALSE);
}

/* A group of options for each heading. */
static void
add_groups(GOptionContext *context, const struct option_table *t,
	   struct option_reader *r)
{
	GOptionGroup *group = NULL;

	for (size_t i = 0; i < t->n; i++) {
		const struct option *o = &t->options[i];
		GOptionEntry entry[] = {
			{
				.long_name = o->name,
				.short_name = o->letter,
				/* bytes as they are */
				.flags = G_OPTION_FLAG_FILENAME,
				.arg = G_OPTION_ARG_CALLBACK,
				.arg_data = (gpointer)set_option,
				.description = o->help,
				.arg_description = o->argument,
			},
			{ 0 },
		};

		if (!o->kind || !group) {
			const char *title = o->kind ? "Options:" : o->help;

			group = g_option_group_new(title, title, title, r,
						   NULL);
			g_option_context_add_group(context, group);
		}
		if (!o->name)
			continue;
		if (o->kind->no_value)
			entry[0].flags = G_OPTION_FLAG_NO_ARG;
		g_option_group_add_entries(group, entry);
	}
}

/* words: what is no option. */
static GOptionContext *
make_context(const struct option_table *t, struct option_reader *r,
	     char ***words)
{
	const GOptionEntry rest[] = {
		{ G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, words,
		  NULL, NULL },
		{ NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
	};
	GOptionContext *context = g_option_context_new(t->usage);

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(context, t->summary);
	g_option_context_set_description(context, t->description);
	g_option_context_add_main_entries(context, rest, NULL);
	for (; t; t = t->also)
		add_groups(context, t, r);
	return context;
}

bool
option_read(const struct option_table *t, void *values, int argc,
	    char *const *argv, char ***words, GError **error)
{
	struct option_reader r = { t, values };
	g_auto(GStrv) list = spell_out(t, argc, argv, error);
	g_auto(GStrv) rest = NULL;
	g_autofree char *shown = NULL;
	g_autoptr(GOptionContext) context = make_context(t, &r, &rest);

	if (!list || !g_option_context_parse_strv(context, &list, error))
		return false;
	if (words) {
		*words = rest ? g_steal_pointer(&rest) : g_new0(char *, 1);
		return true;
	}
	if (!rest || !rest[0])
		return true;
	shown = text_one_line(rest[0]);
	for (size_t i = 0; i < n_commands; i++)
		if (strcmp(commands[i].name, rest[0]) == 0)
			return text_refuse(error, "unexpected argument \"%s\": "
					   "it is a command of minismctl",
					   shown);
	return text_refuse(error,
			   "unexpected argument \"%s\"; --help lists the "
			   "options", shown);
}

char *
option_help(const struct option_table *t)
{
	g_auto(GStrv) words = NULL;
	g_autoptr(GOptionContext) context = make_context(t, NULL, &words);
	g_autofree char *help =
		g_option_context_get_help(context, FALSE, NULL);
	g_auto(GStrv) parts = g_strsplit(help, "\xe2\x80\xa6", -1);

	return g_strjoinv("...", parts);
}
