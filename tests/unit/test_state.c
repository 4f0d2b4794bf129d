// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state text: what is written is read the same, a damaged line costs its
 * fact only, lines of other versions stay; and the text for a standby. When the
 * file is written: test_persist_sa.c.
 */
#include <glib/gstdio.h>
#include <unistd.h>

#include "sm/persist.h"
#include "sm/sa/sa.h"
#include "sm/state.h"
#include "tests/lib/scripted.h"
#include "tests/lib/seed.h"

#define ZEROS	"00000000000000000000000000000000"
#define FOUR	ZEROS ZEROS ZEROS ZEROS

/* All that a manager keeps. */
struct kept {
	struct transport *t;
	struct log *log;
	struct persist *persist;
	struct expected *expected;
	struct sa *sa;
	struct state *state;
};

static void
open_state(struct kept *k, const char *dir, size_t n, bool is_read_only)
{
	struct state_params p = {
		.cache_dir = dir, .n = n, .is_read_only = is_read_only,
		.log = k->log,
	};

	p.owners[0] = (struct state_owner){ &lid_part, &k->persist->lids };
	p.owners[1] = (struct state_owner){ &persist_part, k->persist };
	p.owners[2] = (struct state_owner){ &expected_part, k->expected };
	p.owners[3] = (struct state_owner){ &sa_part, k->sa };
	k->state = state_open(&p, k->t);
	k->persist->state = k->state;
}

static void
kept_open(struct kept *k, const char *dir, size_t n, bool is_read_only)
{
	const struct sa_params sa = { .sm_key = 1 };

	k->t = scripted_new();
	k->log = log_open("/dev/null", LOG_ERROR, NULL);
	k->persist = persist_new(k->log);
	k->expected = expected_new();
	k->sa = sa_new(&sa);
	open_state(k, dir, n, is_read_only);
}

static void
kept_close(struct kept *k)
{
	state_close(k->state);
	persist_free(k->persist);
	expected_free(k->expected);
	sa_free(k->sa);
	log_free(k->log);
	transport_free(k->t);
}

/* Without its head. */
static char *
text_of(struct kept *k)
{
	g_autoptr(GString) text = g_string_new(NULL);

	state_write(text, k->state);
	g_string_truncate(text, state_sealed(text->str, text->len));
	assert_true(g_str_has_prefix(text->str, STATE_HEAD));
	return g_strdup(text->str + strlen(STATE_HEAD));
}

#define LIDS \
	"lid 0x0000000000001001 0x0007 0x0007\n" \
	"lid 0x0000000000100004 0x0008 0x0009\n" \
	"lid 0x0002c90300a1b2c3 0xbf80 0xbfff\n"
#define RANKS \
	"engine updn\n" \
	"in-force minhop\n" \
	"rank 0x0002c90300000001 0\n" \
	"rank 0x0002c90300000002 4294967294\n"
#define DISABLED \
	"disabled 0x0002c90300000001 7\n"
#define FABRIC \
	"switch 0x0000000000000001 0 leaf  1\n" \
	"host 0x0000000000000002 1700000000 \n" \
	"link 0x0000000000000001 3 0x0000000000000002 1 0 4xEDR 100000\n"
#define CLIENT_LINES \
	"group 0xff12401bffff000000000000ffffffff 0xc000 0xffff 0x00000b1b " \
	"0x00000 4 3 18 0 0 0 0 0x0000000000000000\n" \
	"member 0xff12401bffff000000000000ffffffff " \
	"0xfe800000000000000000000000001001 1 0\n" \
	"service 0x0000000000000007 0xfe800000000000000000000000001001 0xffff " \
	"4294967295 0x" ZEROS " 0x" FOUR " 0x" FOUR "\n" \
	"inform 0xfe800000000000000000000000001001 1 1 0x" ZEROS " 0xffff " \
	"0x0000 1 0xffff 0x0040 10 0xffffff 1\n"
#define CLIENTS STATE_CLIENTS CLIENT_LINES
#define ALL	LIDS RANKS DISABLED FABRIC CLIENTS
static const char all[] = ALL;

/* A line behind all others costs its fact, and nothing else is lost: why. */
static char *
why_damaged(const char *line)
{
	g_autofree char *text = g_strconcat(all, line, "\n", NULL);
	g_autofree char *damaged = g_strconcat(line, "\n", NULL);
	g_autofree char *after = NULL;
	struct state_told told = { .foreign = NULL };
	AUTO_VALUE(kept_close) struct kept k;
	char *why;

	kept_open(&k, NULL, STATE_OWNERS_MAX, false);
	state_read((struct state_owner[]){
		{ &lid_part, &k.persist->lids },
		{ &persist_part, k.persist },
		{ &expected_part, k.expected }, { &sa_part, k.sa },
		}, STATE_OWNERS_MAX, text, strlen(text), 0, &told);
	state_know_clients(k.state);
	after = text_of(&k);
	assert_int_equal(told.n_bad, 1);
	assert_string_equal(told.bad->str, damaged);
	assert_string_equal(after, all);
	why = g_strdup(told.first);
	state_told_clear(&told);
	return why;
}

GOLDEN("state_line", damaged)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; **line; line++) {
		g_autofree char *why = why_damaged(*line);

		print_message("%s\n", *line);
		g_string_append_printf(out, "%s\n", why);
	}
}

/* Every byte that is another, and every length that is less: an end of a line
 * is one of two LIDs of three. And a text that is sealed is none. */
TEST(test_damage_anywhere_costs_two_lids_at_most)
{
	AUTO_VALUE(kept_close) struct kept k;
	g_autoptr(GString) sealed = g_string_new(NULL);
	g_autofree char *copy = g_strdup(all);

	kept_open(&k, NULL, STATE_OWNERS_MAX, false);
	state_take(k.state, copy, strlen(copy), 0);
	state_write(sealed, k.state);
	for (size_t i = 0; i < sealed->len - 1; i++) {
		assert_int_equal(state_sealed(sealed->str, i), 0);
		sealed->str[i] ^= 4;
		assert_int_equal(state_sealed(sealed->str, sealed->len), 0);
		sealed->str[i] ^= 4;
	}
	assert_true(state_sealed(sealed->str, sealed->len));
	for (size_t i = 0; i < strlen(all); i++) {
		g_autofree char *text = g_strdup(all);
		g_autofree char *cut = g_strndup(all, i);

		text[i] = (char)(i % 7 ? text[i] ^ (1 << i % 8) : 0);
		state_take(k.state, text, strlen(all), 0);
		assert_in_range(k.persist->lids.ranges->len, 1, 3);
		state_take(k.state, cut, i, 0);
	}
}

/* 49,151 lines, each some hundred lines from its place, come back sorted. */
TEST(test_full_memory_comes_back)
{
	uint64_t rng = seed_take(99);
	g_autofree unsigned *order = g_new(unsigned, LID_UNICAST_MAX);
	g_autoptr(GString) text = g_string_new(NULL);
	const struct lid_range *r;
	AUTO_VALUE(kept_close) struct kept k;

	for (unsigned i = 0; i < LID_UNICAST_MAX; i++) {
		unsigned j = i - (unsigned)prng_below(&rng, MIN(i + 1, 256));

		order[i] = order[j];
		order[j] = i + 1;
	}
	for (unsigned i = 0; i < LID_UNICAST_MAX; i++)
		g_string_append_printf(text, "lid 0x%x 0x%x 0x%x\n",
				       3 * order[i], order[i], order[i]);
	kept_open(&k, NULL, STATE_OWNERS_MAX, false);
	state_take(k.state, text->str, text->len, 0);
	assert_int_equal(k.persist->lids.ranges->len, LID_UNICAST_MAX);
	r = (const void *)k.persist->lids.ranges->data;
	for (unsigned lid = 1; lid <= LID_UNICAST_MAX; lid++, r++)
		assert_true(r->guid == 3 * lid && r->min == lid &&
			    r->max == lid);
}

/* ------------------------------------------------------------------ the file */

static unsigned
mode_of_state(void)
{
	GStatBuf st;

	assert_int_equal(g_stat("state", &st), 0);
	return st.st_mode & 0777;
}

/* One start, some time, and the end. */
static void
start_once(const char *dir, size_t n, bool is_read_only)
{
	AUTO_VALUE(kept_close) struct kept k;

	kept_open(&k, dir, n, is_read_only);
	scripted_run(k.t, 5 * G_USEC_PER_SEC);
}

/* A run that ends by itself has no part for clients and the expected fabric. */
TEST(test_parts_that_are_not_here_stay_in_the_file)
{
	g_autofree char *after = NULL;
	AUTO_ENTER(dir);
	struct kept k;

	folder_put(dir, "state", STATE_HEAD);
	folder_put(dir, "state", STATE_HEAD ALL);
	kept_open(&k, dir, 2, false);
	assert_false(state_has_clients(k.state) && k.sa->groups);
	persist_keep_disabled(k.persist, 0x42, 3, true);
	kept_close(&k);
	assert_file(dir, "state", STATE_HEAD FABRIC CLIENTS LIDS RANKS DISABLED
		    "disabled 0x0000000000000042 3\n");
	kept_open(&k, dir, STATE_OWNERS_MAX, false);
	assert_true(state_has_clients(k.state));
	after = text_of(&k);
	assert_string_equal(after, LIDS RANKS DISABLED
			    "disabled 0x0000000000000042 3\n" FABRIC CLIENTS);
	kept_close(&k);
	assert_int_equal(mode_of_state(), 0600);
}

/* Keys of services are in it, and the next write may be a long time away. */
TEST(test_file_is_closed_to_others_at_once)
{
	AUTO_ENTER(dir);
	AUTO_VALUE(kept_close) struct kept k;

	folder_put(dir, "state", STATE_HEAD LIDS);
	assert_int_equal(g_chmod("state", 0644), 0);
	start_once(dir, STATE_OWNERS_MAX, true);
	assert_int_equal(mode_of_state(), 0644);	/* a plan only reads */
	kept_open(&k, dir, STATE_OWNERS_MAX, false);
	assert_int_equal(mode_of_state(), 0600);
}

TEST(test_what_cannot_be_set_aside_is_never_overwritten)
{
	static const char text[] = STATE_HEAD "lid 0x5\n" LIDS;
	AUTO_ENTER(dir);

	assert_int_equal(g_mkdir("state.damaged", 0700), 0);	/* in the way */
	folder_put(dir, "state", text);
	start_once(dir, STATE_OWNERS_MAX, false);
	assert_file(dir, "state", text);
}

/* A newer version's, before a downgrade. */
TEST(test_what_a_newer_version_wrote_is_set_aside)
{
	AUTO_ENTER(dir);
	struct kept k;

	folder_put(dir, "state", "minism-state 3\n" LIDS "lid 0x5 7 8 9\n");
	start_once(dir, STATE_OWNERS_MAX, true);	/* a plan writes none */
	assert_file(dir, "state.damaged", NULL);
	start_once(dir, STATE_OWNERS_MAX, false);
	assert_file(dir, "state", STATE_HEAD LIDS);
	assert_file(dir, "state.damaged", "lid 0x5 7 8 9\n");
	/* and again; then it is damaged once more */
	folder_put(dir, "state", STATE_HEAD LIDS "lid 0x5 7 8 9\n");
	start_once(dir, STATE_OWNERS_MAX, false);
	folder_put(dir, "state", STATE_HEAD LIDS CLIENTS "lid 0x6\n");
	kept_open(&k, dir, STATE_OWNERS_MAX, false);
	assert_false(state_has_clients(k.state));
	kept_close(&k);
	assert_file(dir, "state.damaged", "lid 0x5 7 8 9\nlid 0x6\n");
}

/* As a disk that fails (EIO). */
TEST(test_what_cannot_be_read_is_never_overwritten)
{
	AUTO_ENTER(dir);
	struct kept k;

	assert_int_equal(symlink("state", "state"), 0);	/* ELOOP */
	kept_open(&k, dir, STATE_OWNERS_MAX, false);
	persist_keep_disabled(k.persist, 0x42, 3, true);
	kept_close(&k);
	assert_true(g_file_test("state", G_FILE_TEST_IS_SYMLINK));
}

/* The manager may be killed as a standby. */
TEST(test_a_standby_that_cannot_write_does_so_later)
{
	AUTO_ENTER(dir);
	AUTO_VALUE(kept_close) struct kept k;

	folder_put(dir, "state", STATE_HEAD LIDS STATE_CLIENTS);
	kept_open(&k, dir, STATE_OWNERS_MAX, false);
	assert_int_equal(g_unlink("state") | g_mkdir("state", 0700), 0);
	state_leave_clients(k.state);
	assert_int_equal(g_rmdir("state"), 0);
	scripted_run(k.t, 61 * G_USEC_PER_SEC);
	assert_file(dir, "state", STATE_HEAD LIDS);
}

/* A takeover must not wait for the disk. */
TEST(test_damaged_lines_of_a_master_are_not_written)
{
	AUTO_ENTER(dir);
	char text[] = STATE_HEAD LIDS "lid 0x5\n";
	struct kept k;

	kept_open(&k, dir, STATE_OWNERS_MAX, false);
	state_take(k.state, text, strlen(text), 0);
	kept_close(&k);
	assert_file(dir, "state", STATE_HEAD LIDS);
	assert_file(dir, "state.damaged", NULL);
}

/* --------------------------------------------------------------------- ranks */

static void
keep(const char *dir, const struct snapshot *s, const char *engine,
     const uint32_t *ranks, bool in_force)
{
	AUTO_VALUE(kept_close) struct kept k;

	kept_open(&k, dir, 2, false);
	persist_keep_ranks(k.persist, engine, s, ranks, in_force);
}

static void
expect_engine(const char *dir, const struct snapshot *s, const char *engine,
	      const uint32_t *ranks)
{
	g_autofree uint32_t *read = NULL;
	const char *by, *is;
	AUTO_VALUE(kept_close) struct kept k;

	kept_open(&k, dir, 2, false);
	is = persist_engine(k.persist, s);
	assert_int_equal(g_strcmp0(is, engine), 0);
	read = persist_ranks(k.persist, s, &by);
	if (ranks) {
		assert_string_equal(by, "updn");
		assert_memory_equal(read, ranks, 3 * sizeof(*ranks));
	}
}

/* minhop has no ranks: the file keeps those of before, and names minhop. So it
 * does with those of a switch that is away. */
TEST(test_engine_without_ranks_is_in_force_after_restart)
{
	static const uint32_t ranks[] = { 1, 2, 3 };
	static const char *const in_force[] = { "updn", "minhop", "updn" };
	const struct generate_options options = { .seed = 1 };
	AUTO(snapshot) *s = generate_fabric("ring(3;1)", &options, NULL);
	g_autofree char *text = NULL;
	AUTO_ENTER(dir);

	folder_put(dir, "state", "engine updn\nrank 0x0000000000000001 7\n");
	for (size_t i = 0; i < G_N_ELEMENTS(in_force); i++) {
		keep(dir, s, in_force[i], strcmp(in_force[i], "updn") ? NULL :
		     ranks, true);
		expect_engine(dir, s, in_force[i], ranks);
	}
	text = folder_get(dir, "state");
	assert_has(text, "\nrank 0x0000000000000001 7\n");
	/* Another manager's tables may still be there. */
	keep(dir, s, "updn", ranks, false);
	expect_engine(dir, s, NULL, ranks);
	/* Those of another engine are worth nothing. */
	keep(dir, s, "ftree", ranks, true);
	g_free(text);
	text = folder_get(dir, "state");
	assert_null(strstr(text, "rank 0x0000000000000001 7\n"));
	/* And if there were never any. */
	assert_int_equal(g_unlink("state"), 0);
	keep(dir, s, "minhop", NULL, true);
	expect_engine(dir, s, "minhop", NULL);
}
