// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables as text: what becomes of a file on a fabric, and the way back. What is
 * accepted: tests/golden/tables.
 */
#include <string.h>

#include "lab/generate.h"
#include "lab/lft_file.h"
#include "routing/engine.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "tests/lib/unit.h"
#include "tools/lft_text.h"
#include "topology/text.h"

#define HEAD	"Unicast lids [0-9] of switch Lid 2 guid 0x5000000000000100 " \
		"('S-1-0'):\n"
#define HEAD_2	"Unicast lids [0-9] of switch Lid 3 guid 0x5000000000000200 " \
		"('S-1-1'):\n"
#define CA	"Channel Adapter portguid 0x6000000000000101: 'H-0'"

/* As opensm -D 0x43 left it, and dump_fts found it, less what is alike. */
static const char opensm_text[] =
	HEAD
	"0x0001 001 # " CA "\n"
	"0x0002 000 # Switch portguid 0x5000000000000100: 'S-1-0'\n"
	"0x0008 002 # Channel Adapter portguid 0x6000000000000201: 'H-1'\n"
	"3 lids dumped\n"
	HEAD_2
	"0x0001 003 # " CA "\n"
	"0x0009 004 # unknown node and type\n"
	"2 lids dumped\n";

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

TEST(test_tables_of_a_file_are_those_of_the_switches)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	AUTO(lft_file) *file = parse(opensm_text);
	AUTO_VALUE(world_clear) struct world w;
	AUTO(lft) *lft;

	world_init(&w, "PGFT(2,4;1,2)", 0, file);
	assert_int_equal(w.s->nodes[w.s->switches[0]].info.node_guid,
			 0x5000000000000100);
	lft = lft_file_tables(file, w.s, w.lids, notes, NULL);
	assert_non_null(lft);
	assert_int_equal(file->top, 9);
	assert_int_equal(lft->top, MAX(w.lids->top, 9));
	assert_int_equal(lft_row(lft, 0)[1], 1);
	assert_int_equal(lft_row(lft, 0)[2], 0);
	assert_int_equal(lft_row(lft, 0)[8], 2);
	assert_int_equal(lft_row(lft, 0)[3], LFT_NO_PATH);
	assert_int_equal(lft_row(lft, 0)[9], LFT_NO_PATH);
	assert_int_equal(lft_row(lft, 1)[1], 3);
	assert_int_equal(lft_row(lft, 1)[5], LFT_NO_PATH);
	assert_int_equal(lft_row(lft, 1)[9], 4);
	/* four switches are not in the file, and that is all */
	assert_int_equal(notes->len, 4);
	assert_has(notes->pdata[0], "'S-1-2'");

	assert_int_equal(file->owners->len, 3);
	assert_int_equal(w.lids->base[snapshot_find_port(w.s,
				0x6000000000000201)], 8);
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

TEST(test_empty_text_has_no_tables)
{
	g_autoptr(GError) error = NULL;
	AUTO(lft_file) *file = lft_file_parse("", "t", NULL);
	AUTO_VALUE(world_clear) struct world w;

	assert_non_null(file);
	assert_int_equal(file->tables->len, 0);
	world_init(&w, "single(3)", 0, NULL);
	assert_null(lft_file_tables(file, w.s, w.lids, NULL, &error));
	assert_gerror(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
}

static guint
count_notes(const GPtrArray *notes, const char *what)
{
	guint n = 0;

	for (guint i = 0; i < notes->len; i++)
		n += strstr(notes->pdata[i], what) != NULL;
	return n;
}

/* A stranger's table, an owner that is not there, one with another LID. */
TEST(test_what_does_not_fit_is_noted)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	AUTO(lft_file) *file = parse(
		"Unicast lids [0-9] of switch Lid 2 guid 0x77 ('x'):\n"
		"0x0001 001 # " CA "\n"
		HEAD
		"0x0001 001 # " CA "\n"
		"0x0005 001 # Channel Adapter portguid 0x88: 'gone'\n");
	AUTO_VALUE(world_clear) struct world w;
	AUTO(lft) *lft;

	/* LIDs as they come: switches first, so 1 is not the CA's */
	world_init(&w, "single(3)", 0, NULL);
	assert_int_equal(w.lids->base[snapshot_find_port(w.s,
				0x6000000000000101)] != 1, true);
	w.s->nodes[w.s->switches[0]].info.node_guid = 0x5000000000000100;
	lft = lft_file_tables(file, w.s, w.lids, notes, NULL);
	assert_non_null(lft);
	assert_int_equal(notes->len, 3);
	assert_int_equal(count_notes(notes, "t:1: 0x0000000000000077"), 1);
	assert_int_equal(count_notes(notes, "not in this fabric"), 1);
	assert_int_equal(count_notes(notes, "0x6000000000000101, which has"),
			 1);
	assert_int_equal(w.lids->top, 4);
	assert_int_equal(lft->top, 5);
	assert_int_equal(lft_row(lft, 0)[5], 1);
}
