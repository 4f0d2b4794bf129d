// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options of a program.
 *
 * Method. Words are taken from left to right, as getopt_long() does: the value of
 * a letter may follow it without a blank (-p1), and a long option may be cut
 * short. An option that is unknown is refused at the end, with the nearest one in
 * the message.
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

struct option_reader {
	const struct option_table *table;
	void *values;
	char *const *next;	/* word */
	bool has_words;		/* that are no options */
};

/* value NULL: it is the next word, if the option has one. */
static bool
option_take(struct option_reader *r, const struct option *o, const char *value,
	    GError **error)
{
	const struct option_table *t = r->table;
	void *values = r->values;
	g_autofree char *why = NULL;

	if (o->kind->no_value && value)
		return text_refuse(error, "--%s: takes no value", o->name);
	/* what follows is a word of the program's own */
	if (o->kind->may_value && !value && r->has_words)
		value = o->preset;
	else if (o->kind->no_value)
		value = "TRUE";
	else if (!value && *r->next &&
		 !(o->kind->may_value && **r->next == '-'))
		value = *r->next++;
	if (!value && !o->kind->may_value) {
		why = option_accepts(o);
		return text_refuse(error, "--%s: a value is missing: %s",
				   o->name, why);
	}
	while (o < t->options || o >= t->options + t->n) {
		t = t->also;
		values = t->values;
	}
	why = o->kind->set(o, G_STRUCT_MEMBER_P(values, o->offset), value);
	if (!why && t->note)
		t->note(o, value, values);
	return !why || text_refuse(error, "--%s: %s", o->name, why);
}

/* Options of a letter, the last one with its value: "-op1". *unknown: the first
 * that is none. */
static bool
take_letters(struct option_reader *r, const char *word, char **unknown,
	     GError **error)
{
	for (const char *c = word + 1; *c; c++) {
		const struct option *o = find_letter(r->table, *c);
		bool is_last = o && !o->kind->no_value;

		if (!o && !*unknown)
			*unknown = g_strdup_printf("-%c", *c);
		if (o && !option_take(r, o, is_last && c[1] ? c + 1 : NULL,
				      error))
			return false;
		if (is_last)
			break;
	}
	return true;
}

/* "-x", or "--word". */
static bool
fail_unknown(const struct option_table *t, const char *word, GError **error)
{
	bool is_name = word[1] == '-';
	g_autofree char *name = g_strndup(word + 2, strcspn(word + 2, "="));
	g_autofree char *cut = text_one_line(name);
	g_autofree char *key = g_strdelimit(g_strdup(name), "-", '_');
	g_autofree char *near = NULL;
	g_autofree char *shown = is_name ? g_strconcat("--", cut, NULL) :
		g_strdup_printf("-%c", g_ascii_isprint(word[1]) ? word[1] :
				'?');
	g_autofree const char **names = NULL;
	size_t n = 0;

	if (is_name && option_find_key(t, key))
		return text_refuse(error, "%s is no option; it is the key %s "
				   "of the configuration file", shown, key);
	for (; t; t = t->also) {
		names = g_renew(const char *, names, n + t->n);
		for (size_t i = 0; is_name && i < t->n; i++)
			if (t->options[i].name)
				names[n++] = t->options[i].name;
	}
	near = text_nearest(cut, "--", names, n);
	return text_refuse(error, "%s is no option%s%s --help has all", shown,
			   near, is_name ? "," : ";");
}

/* Of words behind the options, if the program has none. */
static bool
fail_words(const char *word, GError **error)
{
	g_autofree char *shown = text_one_line(word);

	for (size_t i = 0; i < n_commands; i++)
		if (strcmp(commands[i].name, word) == 0)
			return text_refuse(error, "unexpected argument \"%s\": "
					   "it is a command of minismctl",
					   shown);
	return text_refuse(error,
			   "unexpected argument \"%s\"; --help lists the "
			   "options", shown);
}

bool
option_read(const struct option_table *t, void *values, int argc,
	    char *const *argv, char ***words, GError **error)
{
	struct option_reader r = { t, values, argv + MIN(argc, 1), words };
	g_autoptr(GPtrArray) rest = g_ptr_array_new();
	g_autofree char *unknown = NULL;
	bool ended = false, ok = true;

	while (ok && *r.next) {
		const char *word = *r.next++;
		const char *sign = strchr(word, '=');
		bool is_name = g_str_has_prefix(word, "--");
		const struct option *o;

		if (ended || *word != '-' || !word[1]) {
			g_ptr_array_add(rest, (char *)word);
		} else if (!is_name) {
			ok = take_letters(&r, word, &unknown, error);
		} else if (!word[2]) {
			ended = true;
		} else if ((o = option_find_name(t, word + 2))) {
			ok = option_take(&r, o, sign ? sign + 1 : NULL, error);
		} else if (!unknown) {
			unknown = g_strdup(word);
		}
	}
	if (!ok)
		return false;
	if (unknown)
		return fail_unknown(t, unknown, error);
	if (!words)
		return !rest->len || fail_words(rest->pdata[0], error);
	g_ptr_array_add(rest, NULL);
	*words = g_strdupv((char **)rest->pdata);
	return true;
}

/* --- help --- */

/* "-p, --port=NUMBER"; g_free. */
static char *
option_show(const struct option *o)
{
	const char letter[] = { '-', o->letter, ',', ' ', '\0' };

	return g_strconcat(o->letter ? letter : "", "--", o->name,
			   o->argument ? "=" : NULL, o->argument, NULL);
}

char *
option_help(const struct option_table *table)
{
	const struct option_table *t;
	GString *out = g_string_new(NULL);

	g_string_printf(out, "Usage:\n  %s [OPTION...]%s%s\n\n%s\n",
			g_get_prgname(), table->usage ? " " : "",
			table->usage ? table->usage : "", table->summary);
	for (t = table; t; t = t->also)
		for (size_t i = 0; i < t->n; i++) {
			const struct option *o = &t->options[i];
			g_autofree char *shown = o->name ? option_show(o) :
				NULL;

			if (!o->kind || !i)
				g_string_append_printf(out, "\n%s\n", o->kind ?
						       "Options:" : o->help);
			if (shown)
				g_string_append_printf(out, "  %-29s %s\n",
						       shown, o->help);
		}
	if (table->description)
		g_string_append_printf(out, "\n%s\n", table->description);
	return g_string_free(out, FALSE);
}
