// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The election: every rule of IBA 14.4.1 that election.c names, and that the
 * order of the peers does not matter.
 */
#include <string.h>

#include "lab/generate.h"
#include "sm/sweep/election.h"
#include "tests/lib/auto.h"
#include "tests/lib/unit.h"

static struct election_peer
peer(uint64_t guid, unsigned priority, enum sm_state state)
{
	return (struct election_peer){
		.info = { .guid = guid, .priority = priority,
			  .state = state },
	};
}

static struct sm_info
self(unsigned priority, enum sm_state state)
{
	return (struct sm_info){ .guid = 100, .priority = priority,
				 .state = state };
}

/* Decides for all rotations of the peers and both directions. */
static enum election_outcome
decide(const struct sm_info *me, struct election_peer *peers, size_t n,
       uint64_t *chosen_guid)
{
	enum election_outcome first = ELECTION_MASTER;
	uint64_t first_guid = 0;

	for (size_t r = 0; r < (n ? n : 1); r++) {
		g_autoptr(GArray) turned = g_array_new(FALSE, FALSE,
						       sizeof(*peers));
		const struct election_peer *chosen;

		for (size_t i = 0; i < n; i++)
			g_array_append_val(turned, peers[(i + r) % n]);

		enum election_outcome o = election_decide(me, turned, &chosen);
		uint64_t guid = o == ELECTION_MASTER ? 0 : chosen->info.guid;

		if (r == 0) {
			first = o;
			first_guid = guid;
		}
		assert_int_equal(o, first);
		assert_int_equal(guid, first_guid);
	}
	*chosen_guid = first_guid;
	return first;
}

/* `me` is 100, of its priority and state. */
static const struct {
	const char *name;
	unsigned priority;
	enum sm_state state;
	struct {
		uint64_t guid;
		unsigned priority;
		enum sm_state state;
	} peers[3];		/* guid 0: no more */
	enum election_outcome outcome;
	uint64_t chosen;
} cases[] = {
	{ "alone", 0, SM_STATE_DISCOVERING, { { 0 } }, ELECTION_MASTER, 0 },
	{ "a newcomer obeys any master", 15, SM_STATE_DISCOVERING,
	  { { 1, 15, SM_STATE_STANDBY }, { 200, 0, SM_STATE_MASTER } },
	  ELECTION_STANDBY, 200 },
	{ "of two masters the higher one", 0, SM_STATE_DISCOVERING,
	  { { 1, 1, SM_STATE_MASTER }, { 200, 2, SM_STATE_MASTER },
	    { 3, 1, SM_STATE_MASTER } }, ELECTION_STANDBY, 200 },
	{ "without a master the highest rank", 5, SM_STATE_DISCOVERING,
	  { { 1, 4, SM_STATE_STANDBY }, { 101, 5, SM_STATE_DISCOVERING } },
	  ELECTION_MASTER, 0 },
	{ "which is the lower GUID", 5, SM_STATE_DISCOVERING,
	  { { 1, 4, SM_STATE_STANDBY }, { 99, 5, SM_STATE_DISCOVERING } },
	  ELECTION_STANDBY, 99 },
	{ "a master keeps lower ranks away", 5, SM_STATE_MASTER,
	  { { 101, 5, SM_STATE_STANDBY }, { 1, 4, SM_STATE_MASTER } },
	  ELECTION_MASTER, 0 },
	{ "it hands over to a higher rank", 5, SM_STATE_MASTER,
	  { { 300, 6, SM_STATE_STANDBY } }, ELECTION_HANDOVER, 300 },
	{ "and to a master first", 5, SM_STATE_MASTER,
	  { { 99, 5, SM_STATE_MASTER }, { 300, 6, SM_STATE_STANDBY } },
	  ELECTION_HANDOVER, 99 },
	{ "an inactive one takes no part", 0, SM_STATE_DISCOVERING,
	  { { 1, 15, SM_STATE_NOT_ACTIVE } }, ELECTION_MASTER, 0 },
};

TEST(test_rules_of_the_election)
{
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct sm_info me = self(cases[i].priority, cases[i].state);
		struct election_peer p[3];
		uint64_t chosen;
		size_t n;

		print_message("%s\n", cases[i].name);
		for (n = 0; n < 3 && cases[i].peers[n].guid; n++)
			p[n] = peer(cases[i].peers[n].guid,
				    cases[i].peers[n].priority,
				    cases[i].peers[n].state);
		assert_int_equal(decide(&me, p, n, &chosen), cases[i].outcome);
		assert_int_equal(chosen, cases[i].chosen);
	}
}

/* A foreign SM counts as not there, whatever its rank. */
TEST(test_another_sm_key_takes_no_part)
{
	struct sm_info me = self(5, SM_STATE_DISCOVERING);
	struct election_peer p[] = {
		peer(1, 9, SM_STATE_MASTER), peer(2, 4, SM_STATE_STANDBY),
	};
	uint64_t chosen;

	me.sm_key = 7;
	p[0].info.sm_key = 8;
	p[1].info.sm_key = 7;
	assert_int_equal(decide(&me, p, 2, &chosen), ELECTION_MASTER);
	assert_true(election_is_stranger(&me, &p[0].info));
	assert_false(election_is_stranger(&me, &p[1].info));
	me.state = SM_STATE_MASTER;
	assert_int_equal(decide(&me, p, 2, &chosen), ELECTION_MASTER);
	/* an SM without a key trusts all others */
	me.sm_key = 0;
	assert_int_equal(decide(&me, p, 2, &chosen), ELECTION_HANDOVER);
	assert_int_equal(chosen, 1);
	assert_false(election_is_stranger(&me, &p[0].info));
}

/* 0 is no proof: enough to be obeyed, not to be given the fabric. */
TEST(test_sm_key_0_is_obeyed_and_not_handed_over_to)
{
	struct sm_info me = self(5, SM_STATE_DISCOVERING);
	struct election_peer p[] = {
		peer(1, 9, SM_STATE_MASTER), peer(2, 6, SM_STATE_STANDBY),
	};
	uint64_t chosen;

	me.sm_key = 7;
	p[1].info.sm_key = 7;
	assert_int_equal(decide(&me, p, 2, &chosen), ELECTION_STANDBY);
	assert_int_equal(chosen, 1);
	me.state = SM_STATE_MASTER;
	assert_int_equal(decide(&me, p, 2, &chosen), ELECTION_HANDOVER);
	assert_int_equal(chosen, 2);
	p[1].info.sm_key = 0;
	assert_int_equal(decide(&me, p, 2, &chosen), ELECTION_MASTER);
}

static bool
names(const GPtrArray *lines, guint i, const char *text)
{
	return i < lines->len && strstr(lines->pdata[i], text);
}

/* One of another key at once; a master only if it was one in the election
 * before as well. */
TEST(test_rivals_are_named)
{
	AUTO(snapshot) *s = generate_fabric("single(4)", NULL, NULL);
	struct sm_info me = self(5, SM_STATE_MASTER);
	struct election_peer p[] = {
		peer(1, 4, SM_STATE_MASTER), peer(2, 4, SM_STATE_STANDBY),
	};
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(p[0]));
	GPtrArray *lines;
	g_autofree char *name = NULL;

	for (uint32_t i = 0, port = 0; port < s->n_ports && i < 2; port++) {
		if (port == s->local_port || !s->ports[port].num ||
		    snapshot_is_switch(snapshot_node_of(s, port)))
			continue;
		s->ports[port].info.lid = (uint16_t)(70 + i);
		p[i++].port = port;
	}
	g_array_append_vals(found, p, 2);
	lines = election_rivals(&me, NULL, found, s);
	assert_int_equal(lines->len, 0);
	assert_false(election_is_contested(&me, NULL, found));
	assert_true(election_is_contested(&me, found, found));
	g_ptr_array_unref(lines);
	lines = election_rivals(&me, found, found, s);
	assert_int_equal(lines->len, 1);
	name = g_strdup_printf("%s port 1 (0x0000000000000001, LID 70)",
			       snapshot_node_name(
				       snapshot_node_of(s, p[0].port)));
	assert_true(names(lines, 0, name));
	assert_true(names(lines, 0, "does not find us"));
	g_ptr_array_unref(lines);
	me.sm_key = 7;
	g_array_index(found, struct election_peer, 0).info.sm_key = 7;
	g_array_index(found, struct election_peer, 1).info.sm_key = 8;
	lines = election_rivals(&me, NULL, found, s);
	assert_int_equal(lines->len, 1);
	assert_true(names(lines, 0, "(0x0000000000000002, LID 71)"));
	assert_true(names(lines, 0, "another SM_Key"));
	g_ptr_array_unref(lines);
	assert_false(election_is_contested(&me, NULL, found));	/* a standby */
}
