// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is missing by what a person calls it, for programs that read views.
 */
#include "topology/expected.h"

#include "topology/each.h"
#include "topology/text.h"

static bool
is_fault_of(const struct expected_fault *f, const char *word, uint64_t guid)
{
	const char *slash = strrchr(word, '/'), *name = f->name;

	if (f->kind == EXPECTED_LINK)
		return f->near && (!strcmp(expected_far_end(f), word) ||
				   (strlen(word) == f->near &&
				    g_str_has_prefix(name, word)));
	if (!expected_is_missing(f->kind))
		return false;
	if (!strcmp(name, word) || (guid && f->guid == guid))
		return true;
	return slash && slash[1] &&
		!slash[1 + strspn(slash + 1, "0123456789")] &&
		strlen(name) == (size_t)(slash - word) &&
		g_str_has_prefix(word, name);
}

const struct expected_fault *
expected_find(const struct expected *e, const char *word)
{
	uint64_t guid = 0;

	if (!text_read_number(word, 16, UINT64_MAX, &guid))
		guid = 0;
	EACH_PTR(const struct expected_fault, f, e->faults)
		if (is_fault_of(f, word, guid))
			return f;
	return NULL;
}

const char *
expected_hint(const struct expected *e, const char *word)
{
	uint64_t number;

	if (text_read_number(word, 0, UINT64_MAX, &number))
		EACH_PTR(const struct expected_fault, f, e->faults)
			if (f->kind == EXPECTED_HOST ||
			    f->kind == EXPECTED_SWITCH)
				return "; nodes are missing (status lists "
					"them), of which only names and "
					"NodeGUIDs are known, no LIDs and "
					"PortGUIDs";
	return "";
}

char *
expected_since_text(int64_t since)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_local(since);

	return time ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S") :
		g_strdup("?");
}

char *
expected_missing_text(const struct expected_fault *f)
{
	g_autofree char *since = expected_since_text(f->since);

	return g_strdup_printf("%s %s is missing since %s%s%s%s",
			       expected_kind_names[f->kind], f->name, since,
			       *f->text ? ": " : "", f->text,
			       f->place ? f->place : "");
}
