// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * mcmember.h promises text that brings all groups back: the same MGIDs and
 * MLIDs, so that clients need not notice a restart. Damaged text is refused,
 * with what is wrong, or reads as something sound.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/group_lab.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

static bool
load(void *store, char **words, guint n_words, GError **error)
{
	return groups_load_line(store, words, n_words, error);
}

static char *
save(const struct groups *g)
{
	GString *text = g_string_new(NULL);

	groups_save(g, text);
	return g_string_free(text, FALSE);
}

static void
make_some(struct fixture *f)
{
	groups_follow(f->g, f->star->v);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(join(f, i % N_HOSTS, i % 7,
				      i < 7 ? JOIN_FULL : JOIN_NON), 0);
	/* Two MGIDs of ours, of which the first is given up. */
	for (unsigned i = 0; i < 2; i++) {
		fill(f, 1, 0, JOIN_FULL);
		assert_int_equal(send_join(f, 1, CREATE_MASK &
					   ~SA_BIT(MCM_MGID)), 0);
	}
	f->r.mgid[15] = 1;
	assert_int_equal(groups_leave(f->g, f->star->v, star_port(f->star, 1),
				      JOIN_MASK, &f->r), 0);
	assert_int_equal(leave(f, 0, 0, JOIN_FULL), 0);	/* frees an MLID */
}

TEST(test_saved_groups_come_back, lab_setup, lab_teardown)
{
	struct fixture *f = *state;
	struct groups *back = groups_new();
	struct group_event event;
	g_autofree char *text = NULL;
	g_autofree char *again = NULL;
	GError *error = NULL;

	make_some(f);
	text = save(f->g);
	assert_true(star_load_text(load, back, text, &error));
	assert_null(error);
	again = save(back);
	assert_string_equal(text, again);
	check_store(back);
	assert_false(next_event(back, &event));

	/* It goes on where it was: the free MLID, the next MGID. */
	groups_free(f->g);
	f->g = back;
	fill(f, 2, 0, JOIN_FULL);
	assert_int_equal(send_join(f, 2, CREATE_MASK & ~SA_BIT(MCM_MGID)), 0);
	assert_int_equal(f->r.mgid[15], 3);
	assert_int_equal(f->r.mlid, 0xc001);
	groups_follow(f->g, f->star->v);
	assert_int_equal(states_of(f, 3, 3), JOIN_FULL);
}

TEST(test_damaged_text_is_refused_or_sound, lab_setup, lab_teardown)
{
	struct fixture *f = *state;
	uint64_t seed = 20260717;
	uint64_t prng = prng_stream(seed, 0);
	g_autofree char *text = NULL;
	unsigned refused = 0;

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
	make_some(f);
	text = save(f->g);
	for (unsigned n = 0; n < 1000; n++) {
		struct groups *g = groups_new();
		g_autofree char *bad = star_damage(text, &prng);
		GError *error = NULL;

		if (!star_load_text(load, g, bad, &error)) {
			refused++;
			assert_non_null(error);
			assert_true(strlen(error->message) > 10);
			g_clear_error(&error);
		}
		/* Sound, though a group may have nobody who counts: that is
		 * settled by the first view. */
		groups_follow(g, f->star->v);
		check_store(g);
		groups_free(g);
	}
	assert_true(refused > 400);
}

#define GOOD_GROUP	"group 0xff120000000000000000000000000000 0xc000 " \
			"0xffff 0 0 4 3 18 0 0 0 0\n"
#define GOOD_MEMBER	"member 0xff120000000000000000000000000000 " \
			"0xfe800000000000000000000000001011 1 0\n"

TEST(test_bad_lines_say_what_is_wrong, lab_setup, lab_teardown)
{
	static const struct {
		const char *line, *word;
	} cases[] = {
		{ "group 0x12", "2 words" },
		{ "grupp a b c d", "neither" },
		{ "member 0xff120000000000000000000000000000 "
		  "0xfe800000000000000000000000001011 1 0", "not there" },
		{ "group 0xff120000000000000000000000000000 0xbfff 0xffff 0 0 "
		  "4 3 18 0 0 0 0", "MLID" },
		{ "group 0xff120000000000000000000000000000 0xc000 0x7fff 0 0 "
		  "4 3 18 0 0 0 0", "P_Key" },
		{ "group 0xff120000000000000000000000000000 0xc000 0xffff 0 "
		  "0x100000 4 3 18 0 0 0 0", "FlowLabel" },
		{ "group 0xff120000000000000000000000000000 0xc000 0xffff 0 0 "
		  "4 3 18 0 0 0 2", "configured" },
		{ "group 0xff120000000000000000000000000000 0xc000 0xffff "
		  "99999999999999999999999 0 4 3 18 0 0 0 0", "Q_Key" },
		{ "group 0xfe120000000000000000000000000000 0xc000 0xffff 0 0 "
		  "4 3 18 0 0 0 0", "ff" },
		{ GOOD_GROUP GOOD_GROUP, "twice" },
		{ GOOD_GROUP "group 0xff120000000000000000000000000001 0xc000 "
		  "0xffff 0 0 4 3 18 0 0 0 0\n", "MLID 0xc000" },
		{ GOOD_GROUP GOOD_MEMBER GOOD_MEMBER, "twice" },
		{ "group ff120000000000000000000000000000 0xc000 0xffff 0 0 "
		  "4 3 18 0 0 0 0", "MGID" },
	};
	struct fixture *f = *state;

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		GError *error = NULL;

		groups_free(f->g);
		f->g = groups_new();
		assert_false(star_load_text(load, f->g, cases[i].line,
					    &error));
		assert_has(error->message, cases[i].word);
		g_error_free(error);
	}
}
