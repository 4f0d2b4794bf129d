// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state as a standby gets it: the text that one minism gives another, also a
 * damaged one. Which ports get it: tests/scripts/sa_state.scn.
 */
#include <string.h>

#include "sm/sa/sa_db.h"
#include "tests/lib/sa_stage.h"
#include "tests/lib/unit.h"

#define LAB_TEST(name) \
	TEST_WITH(name, struct lab *l, sa_stage_set_up, sa_stage_tear_down)

static void
remember(GString *out, void *data)
{
	g_string_append_printf(out, "= lids\n%s\n= none\n", (char *)data);
}

LAB_TEST(test_state_has_its_parts)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) saved = g_string_new(NULL);
	g_autofree char *lids = NULL, *none = NULL, *self = NULL;

	unit_play(sa_words, l, "clients");
	l->sa->memory = remember;
	l->sa->memory_data = "1 2\n\n3";
	sa_state_write(l->sa, text, LAB_NOW);
	sa_save(l->sa, saved, LAB_NOW);
	assert_int_equal(text->len % sa_record_size(SA_ATTR_STATE), 0);
	lids = sa_state_part(text->str, text->len, "lids");
	none = sa_state_part(text->str, text->len, "none");
	self = sa_state_part(text->str, text->len, "sa-state");
	assert_string_equal(lids, "1 2\n\n3\n");
	assert_string_equal(none, "");
	assert_string_equal(self, saved->str);
	assert_null(sa_state_part(text->str, text->len, "lid"));
	assert_null(sa_state_part(text->str, text->len, "end"));
}

/* Every byte that is another, and every length that is less. */
LAB_TEST(test_state_that_is_damaged_is_none)
{
	g_autoptr(GString) text = g_string_new(NULL);
	size_t end;

	unit_play(sa_words, l, "clients");
	sa_state_write(l->sa, text, LAB_NOW);
	end = strlen(g_strchomp(text->str));
	for (size_t i = 0; i < end; i++) {
		g_autofree char *cut = g_strndup(text->str, i);

		assert_null(sa_state_part(cut, i, "sa-state"));
		text->str[i] ^= 4;
		assert_null(sa_state_part(text->str, end, "sa-state"));
		text->str[i] ^= 4;
	}
	g_free(sa_state_part(text->str, end, "sa-state"));
}
