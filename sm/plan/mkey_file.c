// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The memory of M_Keys as text.
 *
 * Both files are rows of two words, so one walk reads both: a `form` says how
 * a word is read into half a row, and what becomes of the rows when the last
 * line was good.
 *
 * A message names the line and what it should be, never what it is: this is a
 * file of secrets, and messages go to logs.
 */
#include "sm/plan/mkey_file.h"

#include <inttypes.h>

#include "topology/text.h"

#define GUID_DIGITS	16u	/* and an M_Key has as many */

struct word {
	uint64_t number;
	uint8_t port;
};

struct row {
	struct word words[2];
};

struct form {
	const char *looks;
	bool (*take)(const char **text, unsigned i, struct word *word);
	void (*keep)(struct mkey_db *k, const struct row *row);
};

GQuark
mkey_file_error_quark(void)
{
	return g_quark_from_static_string("minism-keyfile-error");
}

static bool
take_key_word(const char **text, unsigned i, struct word *word)
{
	/* the first is a GUID, which is never 0; a key may be */
	return text_take_hex(text, GUID_DIGITS, &word->number) &&
		(i == 1 || word->number);
}

static bool
take_end_word(const char **text, unsigned i, struct word *word)
{
	unsigned port = 0, digits = 0;

	if (!text_take_hex(text, GUID_DIGITS, &word->number) ||
	    !word->number ||
	    *(*text)++ != ':')
		return false;
	for (; g_ascii_isdigit(**text) && digits < 4; digits++)
		port = port * 10 + (unsigned)g_ascii_digit_value(*(*text)++);
	word->port = (uint8_t)port;
	return digits && port <= 254;
}

static void
keep_key(struct mkey_db *k, const struct row *row)
{
	mkey_db_intend(k, row->words[0].number, row->words[1].number);
}

static void
keep_cable(struct mkey_db *k, const struct row *row)
{
	const struct mkey_db_cable c = {
		.guid = { row->words[0].number, row->words[1].number },
		.num = { row->words[0].port, row->words[1].port },
	};

	mkey_db_add_cable(k, &c);
}

static bool
read_row(const char *text, const struct form *form, GArray *rows)
{
	struct row row = { 0 };

	text = text_skip_blanks(text);
	if (!*text || *text == '#')
		return true;
	for (unsigned i = 0; i < 2; i++) {
		if (!form->take(&text, i, &row.words[i]) ||
		    (*text && !text_is_blank(*text)))
			return false;
		text = text_skip_blanks(text);
	}
	g_array_append_val(rows, row);
	return !*text;
}

static bool
read_rows(struct mkey_db *k, const struct form *form, const char *text,
	  const char *name, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE,
					     sizeof(struct row));

	for (unsigned i = 0; lines[i]; i++) {
		if (read_row(lines[i], form, rows))
			continue;
		g_set_error(error, MKEY_FILE_ERROR, MKEY_FILE_ERROR_SYNTAX,
			    "%s:%u: this is not \"%s\"", name, i + 1,
			    form->looks);
		return false;
	}
	for (guint i = 0; i < rows->len; i++)
		form->keep(k, &g_array_index(rows, struct row, i));
	return true;
}

bool
mkey_file_read_keys(struct mkey_db *k, const char *text, const char *name,
		  GError **error)
{
	static const struct form form = {
		"0xPORTGUID 0xMKEY", take_key_word, keep_key,
	};

	return read_rows(k, &form, text, name, error);
}

bool
mkey_file_read_cables(struct mkey_db *k, const char *text, const char *name,
		    GError **error)
{
	static const struct form form = {
		"0xPORTGUID:PORT 0xPORTGUID:PORT", take_end_word, keep_cable,
	};

	return read_rows(k, &form, text, name, error);
}

void
mkey_file_write_keys(const struct mkey_db *k, GString *out)
{
	g_autoptr(GArray) guids = mkey_db_guids(k);
	uint64_t tries[MKEY_DB_TRIES];

	for (guint i = 0; i < guids->len; i++) {
		uint64_t guid = g_array_index(guids, uint64_t, i);
		unsigned n = mkey_db_known(k, guid, tries);

		for (unsigned j = 0; j < n; j++)
			g_string_append_printf(out, "0x%016" PRIx64 " 0x%016"
					       PRIx64 "\n\n", guid, tries[j]);
	}
}

void
mkey_file_write_cables(const struct mkey_db *k, GString *out)
{
	g_autoptr(GArray) cables = mkey_db_cables(k);

	for (guint i = 0; i < cables->len; i++) {
		const struct mkey_db_cable *c =
			&g_array_index(cables, struct mkey_db_cable, i);

		g_string_append_printf(out, "0x%016" PRIx64 ":%u 0x%016" PRIx64
				       ":%u\n\n", c->guid[0], c->num[0],
				       c->guid[1], c->num[1]);
	}
}
