// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lists of GUIDs.
 *
 * A list decides who is a root or an I/O node, so a line that cannot be read
 * is an error: a list that lacks one GUID would route the fabric otherwise
 * than its owner thinks. What follows the GUID on its line is a comment even
 * without a #, since lists are often made by cutting columns out of dumps.
 */
#include "sm/config/guid_list.h"

#include "topology/text.h"

G_DEFINE_QUARK(minism-guidlist-error-quark, guid_list_error)

static gint
compare(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void
unite(GArray *list)
{
	uint64_t *guids = (uint64_t *)(void *)list->data;
	guint n = 0;

	g_array_sort(list, compare);
	for (guint i = 0; i < list->len; i++)
		if (i == 0 || guids[i] != guids[n - 1])
			guids[n++] = guids[i];
	g_array_set_size(list, n);
}

GArray *
guid_list_parse(const char *text, const char *name, GError **error)
{
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	struct text_scan s;

	text_scan_init(&s, text, name, NULL);
	for (; text_skip_space(&s) && !s.n_errors; text_skip_line(&s)) {
		struct text_span word = text_take_span(&s, " \t\r\v\f\n#");
		uint64_t guid;

		if (text_span_guid(&word, &guid))
			g_array_append_val(list, guid);
		else
			text_fail(&s, word.place, "this is not a GUID of up "
				  "to 16 hexadecimal digits");
	}
	if (!text_scan_end(&s, GUID_LIST_ERROR, GUID_LIST_ERROR_SYNTAX, error))
		return NULL;
	unite(list);
	return g_steal_pointer(&list);
}

bool
guid_list_has(const GArray *list, uint64_t guid)
{
	return list && g_array_binary_search((GArray *)list, &guid, compare,
					     NULL);
}
