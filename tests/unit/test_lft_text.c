// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables as text, written and read. What is accepted, and what becomes of a
 * file on a fabric: tests/golden/tables.
 */
#include "lab/generate.h"
#include "lab/lft_file.h"
#include "routing/engine.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/unit.h"
#include "tools/lft_text.h"

struct world {
	struct snapshot *s;
	struct lid_map *lids;
};

static void
world_init(struct world *w, const char *spec, unsigned lmc,
	   const struct lft_file *file)
{
	w->s = generate_fabric(spec, NULL, NULL);
	assert_non_null(w->s);
	w->lids = lid_assign(w->s, lmc, file ? (const struct lid_range *)
			      (const void *)file->owners->data : NULL,
			      file ? file->owners->len : 0, NULL, NULL);
	assert_non_null(w->lids);
}

static void
world_clear(struct world *w)
{
	lid_map_free(w->lids);
	snapshot_unref(w->s);
}

static struct lft_file *
parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct lft_file *file = lft_file_parse(text, "t", &error);

	if (!file)
		fail_msg("%s", error->message);
	return file;
}

/* Written and read: the same tables, the same LIDs, nothing to be remarked;
 * written again: the same text. */
static void
round_trip(const char *spec, unsigned lmc)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GString) twice = g_string_new(NULL);
	AUTO(lft) *lft, *again;
	AUTO(lft_file) *file;
	AUTO_VALUE(world_clear) struct world w, v;

	world_init(&w, spec, lmc, NULL);
	lft = engine_tables(&engine_minhop, w.s, w.lids);
	lft_text_write(w.s, w.lids, lft, once);
	file = parse(once->str);
	assert_int_equal(file->tables->len, lft->n_switches);

	world_init(&v, spec, lmc, file);
	assert_memory_equal(v.lids->base, w.lids->base,
			    w.s->n_ports * sizeof(*w.lids->base));
	again = lft_file_tables(file, v.s, v.lids, notes, NULL);
	assert_int_equal(again->top, lft->top);
	assert_memory_equal(again->ports, lft->ports,
			    (size_t)lft->n_switches * lft->stride);
	assert_int_equal(notes->len, 0);
	lft_text_write(v.s, v.lids, again, twice);
	assert_string_equal(once->str, twice->str);
}

TEST(test_round_trip_keeps_all)
{
	round_trip("PGFT(2,4;1,2)", 0);
	round_trip("torus(3,3;2)", 2);
	round_trip("single(3)", 7);
}
