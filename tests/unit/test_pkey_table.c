// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What isolation.h promises of P_Keys, as in tests/scripts/pkey_table.scn, whose
 * words these are, and for any rules and tables. The fabric is one switch with
 * four CAs and a second switch; tables hold what the test says.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/plan/isolation.h"
#include "tests/lib/auto.h"
#include "tests/lib/seed.h"
#include "tests/lib/unit.h"
#include "topology/snapshot.h"
#include "topology/generate.h"
#include "topology/prng.h"

#define BOTH_WAYS	(PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT)
#define N_HOSTS		4u
#define CAP		40u	/* one block and a piece of the next */

struct lab {
	struct snapshot *s;
	struct partition_rules *rules;
	struct port_tables *held;
	struct isolation *i;	/* as wanted last */
	uint32_t host[N_HOSTS], guard[N_HOSTS];
	uint32_t trunk;		/* the switch's port to the other switch */
};

static uint32_t
add_switch(struct builder *b, uint64_t guid)
{
	struct node_info info = {
		.node_guid = guid, .port_guid = guid, .partition_cap = 8,
		.node_type = NODE_SWITCH, .num_ports = 8,
	};
	uint32_t sw = builder_add(b, &info);

	b->s->nodes[sw].sw_known = true;
	b->s->nodes[sw].sw.partition_enforcement_cap = CAP;
	b->s->nodes[sw].sw.enforce_inbound = true;
	b->s->nodes[sw].sw.enforce_outbound = true;
	b->s->ports[snapshot_port_of(b->s, sw, 0)].known = true;
	return sw;
}

static struct snapshot *
make_fabric(void)
{
	struct builder *b = builder_new();
	uint32_t sw = add_switch(b, 0x100);
	uint32_t other = add_switch(b, 0x200);

	for (unsigned i = 0; i < N_HOSTS; i++) {
		struct node_info info = {
			.node_guid = 0x1000 + 16 * i,
			.port_guid = 0x1001 + 16 * i, .partition_cap = CAP,
			.node_type = NODE_CA, .num_ports = 1, .local_port = 1,
		};
		uint32_t port = snapshot_port_of(b->s,
							 builder_add(b, &info),
					 1);

		b->s->ports[port].known = true;
		builder_link(b, port, snapshot_port_of(b->s, sw, i + 1));
		if (i == 0)
			b->s->local_port = port;
	}
	builder_link(b, snapshot_port_of(b->s, sw, 8),
		     snapshot_port_of(b->s, other, 1));
	return builder_finish(b);
}

static int
set_up(void **state)
{
	struct lab *lab = g_new0(struct lab, 1);

	lab->s = make_fabric();
	lab->rules = partition_rules_new();
	lab->held = port_tables_new(lab->s);
	for (unsigned i = 0; i < N_HOSTS; i++) {
		lab->host[i] = snapshot_find_port(lab->s, 0x1001 + 16 * i);
		lab->guard[i] = lab->s->ports[lab->host[i]].peer;
	}
	lab->trunk = snapshot_port_of(lab->s, snapshot_find_node(lab->s, 0x100),
				    8);
	*state = lab;
	return 0;
}

static int
tear_down(void **state)
{
	struct lab *lab = *state;

	port_tables_unref(lab->held);
	isolation_free(lab->i);
	partition_rules_unref(lab->rules);
	snapshot_unref(lab->s);
	g_free(lab);
	return 0;
}

static struct partition *
admit(struct lab *lab, uint16_t pkey, unsigned host,
      enum partition_membership membership)
{
	struct partition *p = partition_rules_get(lab->rules, pkey);
	struct partition_rule rule = {
		.who = PARTITION_GUID, .guid = 0x1001 + 16 * host,
		.membership = membership,
	};

	g_array_append_val(p->rules, rule);
	return p;
}

static void
hold(struct port_tables *t, uint32_t port, unsigned block,
     const uint16_t *pkeys, unsigned n)
{
	union port_block b = { 0 };

	memcpy(b.pkeys, pkeys, n * sizeof(*pkeys));
	port_tables_set(t, PORT_TABLE_PKEY, port, block, &b);
}

static void
want(struct lab *lab, unsigned enforce)
{
	const struct isolation_params params = {
		.rules = lab->rules, .enforce = enforce,
	};

	isolation_free(lab->i);
	lab->i = isolation_new(&params, lab->s, lab->held);
}

static uint16_t
key_at(const struct port_tables *t, uint32_t port, unsigned index)
{
	const union port_block *b = port_tables_get(t, PORT_TABLE_PKEY, port,
						    index / PKEYS_A_BLOCK);

	return b ? b->pkeys[index % PKEYS_A_BLOCK] : 0;
}

/* ---- words ---- */

/* "H-1", "G-1", "trunk" */
static uint32_t
port_of(const struct lab *lab, const char *name)
{
	if (strcmp(name, "trunk") == 0)
		return lab->trunk;
	return (*name == 'H' ? lab->host : lab->guard)[atoi(name + 2)];
}

static unsigned
ways_of(char **words)
{
	unsigned ways = 0;

	for (; *words; words++)
		ways |= strcmp(*words, "in") ? strcmp(*words, "out") ? 0 :
			PKEY_ENFORCE_OUT : PKEY_ENFORCE_IN;
	return ways;
}

/* default-rules, no-rules */
WORD(do_rules, struct lab *lab)
{
	partition_rules_unref(lab->rules);
	lab->rules = *words[-1] == 'd' ? partition_rules_default() :
		partition_rules_new();
}

/* P_KEY [NAME] */
WORD(do_partition, struct lab *lab)
{
	struct partition *p = partition_rules_get(lab->rules,
						  word_number(words[0]));

	p->name = g_strdup(words[1]);
	p->index0 |= strcmp(words[-1], "index0") == 0;
}

/* P_KEY|FROM..TO MEMBERSHIP HOST .. */
WORD(do_admit, struct lab *lab)
{
	g_auto(GStrv) ends = g_strsplit(words[0], "..", 2);
	unsigned last = word_number(ends[1] ?: ends[0]);
	enum partition_membership membership =
		*words[1] == 'f' ? PARTITION_FULL :
		*words[1] == 'n' ? PARTITION_NONE :
		*words[1] == 'l' ? PARTITION_LIMITED : PARTITION_BOTH;

	for (unsigned pkey = word_number(ends[0]); pkey <= last; pkey++)
		for (char **host = words + 2; *host; host++)
			admit(lab, (uint16_t)pkey, (unsigned)atoi(*host + 2),
			      membership);
}

/* P_KEY: all ports are full members */
WORD(do_all_full, struct lab *lab)
{
	const struct partition_rule rule = {
		.who = PARTITION_ALL, .membership = PARTITION_FULL,
	};

	g_array_append_val(partition_rules_get(lab->rules,
					       word_number(words[0]))->rules,
			   rule);
}

WORD(do_are_default, struct lab *lab)
{
	assert_range(words[0], isolation_is_default(lab->rules));
}

/* PORT[+32] P_KEY ..: at the beginning of a block of its table */
WORD(do_hold, struct lab *lab)
{
	uint16_t pkeys[PKEYS_A_BLOCK];
	unsigned n = g_strv_length(words + 1);

	for (unsigned i = 0; i < n; i++)
		pkeys[i] = word_number(words[1 + i]);
	hold(lab->held, port_of(lab, words[0]), strchr(words[0], '+') != NULL,
	     pkeys, n);
}

/* PORT ..: queue pairs may hold indexes of its table */
WORD(do_active, struct lab *lab)
{
	for (; *words; words++)
		lab->s->ports[port_of(lab, *words)].info.state =
			PORT_STATE_ACTIVE;
}

/* [in] [out] */
WORD(do_want, struct lab *lab)
{
	want(lab, ways_of(words));
}

/* [in] [out]: what the switch can enforce */
WORD(do_able, struct lab *lab)
{
	unsigned ways = ways_of(words);
	uint32_t sw = lab->s->ports[lab->guard[0]].node;

	lab->s->nodes[sw].sw.enforce_inbound = ways & PKEY_ENFORCE_IN;
	lab->s->nodes[sw].sw.enforce_outbound = ways & PKEY_ENFORCE_OUT;
}

WORD(do_enforcement_cap, struct lab *lab)
{
	uint32_t sw = lab->s->ports[lab->guard[0]].node;

	lab->s->nodes[sw].sw.partition_enforcement_cap = word_number(words[0]);
	port_tables_unref(lab->held);
	lab->held = port_tables_new(lab->s);
}

/* These keys are at its beginning and nothing behind them. */
static void
expect_table(const struct lab *lab, uint32_t port, char **pkeys)
{
	unsigned n = g_strv_length(pkeys);

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     lab->i->wanted->n_blocks[PORT_TABLE_PKEY][port]; i++)
		assert_int_equal(key_at(lab->i->wanted, port, i),
				 i < n ? word_number(pkeys[i]) : 0);
}

WORD(do_table, struct lab *lab)
{
	expect_table(lab, port_of(lab, words[0]), words + 1);
}

WORD(do_table_of_all, struct lab *lab)
{
	for (uint32_t port = 0; port < lab->s->n_ports; port++)
		if (snapshot_is_end_port(lab->s, port))
			expect_table(lab, port, words);
}

/* PORT ..: nothing is wanted of their tables */
WORD(do_no_table, struct lab *lab)
{
	for (; *words; words++)
		assert_null(port_tables_get(lab->i->wanted, PORT_TABLE_PKEY,
					    port_of(lab, *words), 0));
}

/* PORT INDEX P_KEY */
WORD(do_at, struct lab *lab)
{
	assert_range(words[2], key_at(lab->i->wanted, port_of(lab, words[0]),
				      word_number(words[1])));
}

/* PORT P_KEY [MEMBERSHIP]: for the SA it is a member, or none */
WORD(do_member, struct lab *lab)
{
	unsigned what = memberships_of(lab->i->memberships,
				       port_of(lab, words[0]),
				       word_number(words[1]));

	assert_string_equal(words[2] ?: "none",
			    partition_membership_names[what]);
}

/* PORT FROM..TO P_KEY [same]: from this P_Key on, or all the same */
WORD(do_row, struct lab *lab)
{
	g_auto(GStrv) ends = g_strsplit(words[1], "..", 2);
	unsigned first = word_number(ends[0]);

	for (unsigned i = first; i <= word_number(ends[1]); i++)
		assert_int_equal(key_at(lab->i->wanted,
					port_of(lab, words[0]), i),
				 word_number(words[2]) +
				 (words[3] ? 0 : i - first));
}

/* PORT|all [in] [out] [none] */
WORD(do_enforce, struct lab *lab)
{
	bool all = strcmp(words[0], "all") == 0;

	for (uint32_t port = 0; port < lab->s->n_ports; port++)
		if (all || port == port_of(lab, words[0]))
			assert_int_equal(lab->i->enforce[port],
					 ways_of(words + 1));
}

WORD(do_problems, struct lab *lab)
{
	assert_range(words[0], lab->i->notes->len);
}

/* problem, no-problem TEXT: in one of them */
WORD(do_problem, struct lab *lab)
{
	unsigned n = 0;

	for (guint i = 0; i < lab->i->notes->len; i++)
		n += strstr(lab->i->notes->pdata[i], words[0]) != NULL;
	assert_int_equal(n > 0, *words[-1] == 'p');
}

static const struct unit_word all_words[] = {
	{ "default-rules", do_rules }, { "no-rules", do_rules },
	{ "partition", do_partition }, { "index0", do_partition },
	{ "admit", do_admit }, { "all-full", do_all_full },
	{ "are-default", do_are_default }, { "hold", do_hold },
	{ "want", do_want }, { "active", do_active }, { "able", do_able },
	{ "enforcement-cap", do_enforcement_cap },
	{ "table", do_table }, { "table-of-all", do_table_of_all },
	{ "no-table", do_no_table }, { "at", do_at }, { "member", do_member }, { "row", do_row },
	{ "enforce", do_enforce }, { "problems", do_problems },
	{ "problem", do_problem }, { "no-problem", do_problem },
	{ NULL, NULL },
};

SCRIPT(pkey_table, "pkey_table.scn", all_words, set_up, tear_down)

#define LAB_TEST(name) \
	TEST_WITH(name, struct lab *lab, set_up, tear_down)

/* --- any rules, any tables --- */

static void
random_rules(struct lab *lab, uint64_t *rng)
{
	unsigned n = prng_below(rng, 80);

	partition_rules_unref(lab->rules);
	lab->rules = partition_rules_new();
	for (unsigned i = 0; i < n; i++) {
		uint16_t pkey = (uint16_t)(1 + prng_below(rng, 60));

		if (prng_below(rng, 8) == 0)
			pkey = PKEY_DEFAULT;
		admit(lab, pkey, prng_below(rng, N_HOSTS),
		      (enum partition_membership)prng_below(rng, 4))->index0 |=
			prng_below(rng, 40) == 0;
	}
}

static void
random_held(struct lab *lab, uint64_t *rng)
{
	port_tables_unref(lab->held);
	lab->held = port_tables_new(lab->s);
	for (uint32_t port = 0; port < lab->s->n_ports; port++) {
		for (unsigned b = 0;
		     b < lab->held->n_blocks[PORT_TABLE_PKEY][port]; b++) {
			uint16_t pkeys[PKEYS_A_BLOCK];

			if (prng_below(rng, 4) == 0)
				continue;
			for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
				pkeys[i] = (uint16_t)
					((prng_below(rng, 2) << 15) |
					 prng_below(rng, 62));
			hold(lab->held, port, b, pkeys, PKEYS_A_BLOCK);
		}
	}
}

static unsigned
places_of(const struct port_tables *t, uint32_t port, uint16_t pkey,
	  unsigned *last)
{
	unsigned n = 0;

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     t->n_blocks[PORT_TABLE_PKEY][port]; i++) {
		if (key_at(t, port, i) != pkey)
			continue;
		*last = i;
		n++;
	}
	return n;
}

/* How many keys there are: each once, each a membership, none beyond the
 * table. */
static unsigned
check_keys(const struct lab *lab, const struct memberships *m, uint32_t port,
	   uint32_t owner)
{
	unsigned n = 0, at;

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     lab->i->wanted->n_blocks[PORT_TABLE_PKEY][port]; i++) {
		uint16_t pkey = key_at(lab->i->wanted, port, i);

		if (!pkey)
			continue;
		assert_true(i < port_pkey_cap(lab->s, port));
		assert_int_equal(places_of(lab->i->wanted, port, pkey, &at), 1);
		assert_true(memberships_of(m, owner, pkey) &
			    (pkey & PKEY_FULL ? PARTITION_FULL :
			     PARTITION_LIMITED));
		n++;
	}
	return n;
}

/* A guard: what the port behind it has, each partition once and full. */
static void
check_guard(const struct lab *lab, uint32_t guard, uint32_t owner)
{
	unsigned at;

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     lab->i->wanted->n_blocks[PORT_TABLE_PKEY][guard]; i++) {
		uint16_t pkey = key_at(lab->i->wanted, guard, i);

		if (!pkey)
			continue;
		assert_true(pkey & PKEY_FULL);
		assert_true(i < port_pkey_cap(lab->s, guard));
		assert_int_equal(places_of(lab->i->wanted, guard, pkey, &at),
				 1);
		assert_true(places_of(lab->i->wanted, owner, pkey, &at) ||
			    places_of(lab->i->wanted, owner, pkey_base(pkey),
				      &at));
	}
	for (unsigned i = 0; i < port_pkey_cap(lab->s, owner); i++)
		if (key_at(lab->i->wanted, owner, i))
			assert_int_equal(places_of(lab->i->wanted, guard,
				key_at(lab->i->wanted, owner, i) | PKEY_FULL,
				&at), 1);
}

static bool
is_asked_at_0(const struct lab *lab, uint16_t pkey)
{
	const struct partition *p = partition_rules_find(lab->rules, pkey);

	return p && p->index0;
}

/* A key stays where it was, the first of several, unless it belongs at index 0
 * or was pushed away from it; the other membership of a partition comes to the
 * place of the one that goes. */
static void
check_kept(const struct lab *lab, uint32_t port)
{
	const struct port_tables *new = lab->i->wanted, *old = lab->held;
	bool pushed = is_asked_at_0(lab, key_at(new, port, 0));
	unsigned cap = port_pkey_cap(lab->s, port), at, end = cap, free = 0;

	while (end > 0 && !key_at(old, port, end - 1))
		end--;
	for (unsigned i = end; i < cap; i++)
		free += !key_at(new, port, i);
	for (unsigned i = 0; i < cap; i++) {
		uint16_t was = key_at(old, port, i), is = key_at(new, port, i);
		uint16_t other = was ^ PKEY_FULL;
		bool stays = places_of(new, port, was, &at) ||
			(!places_of(old, port, other, &at) &&
			 places_of(new, port, other, &at));

		for (unsigned j = 0; j < i; j++)
			stays &= key_at(old, port, j) != was;
		if (stays && pkey_base(was) && !(pushed && (!i || !at)))
			assert_int_equal(pkey_base(is), pkey_base(was));
		/* another partition comes there only to index 0, or if there
		 * is no other room */
		if (i > 0 && pkey_base(was) && is &&
		    pkey_base(is) != pkey_base(was))
			assert_int_equal(free, 0);
	}
}

static void
assert_same_tables(const struct snapshot *s, const struct port_tables *a,
		   const struct port_tables *b)
{
	for (uint32_t port = 0; port < s->n_ports; port++) {
		for (unsigned i = 0; i < a->n_blocks[PORT_TABLE_PKEY][port];
		     i++) {
			const union port_block *x = port_tables_get(a,
				PORT_TABLE_PKEY, port, i);
			const union port_block *y = port_tables_get(b,
				PORT_TABLE_PKEY, port, i);

			assert_int_equal(!x, !y);
			if (x)
				assert_memory_equal(x, y, sizeof(*x));
		}
	}
}

static void
check_port(const struct lab *lab, const struct memberships *m, uint32_t port)
{
	unsigned cap = port_pkey_cap(lab->s, port);
	unsigned n_want = m->first[port + 1] - m->first[port];
	uint32_t peer = lab->s->ports[port].peer;
	unsigned n = check_keys(lab, m, port, port);

	assert_int_equal(n, MIN(cap, n_want));
	check_kept(lab, port);
	if (peer == SNAPSHOT_NONE)
		return;
	assert_int_equal(lab->i->enforce[peer], BOTH_WAYS);
	check_guard(lab, peer, port);
	check_kept(lab, peer);
}

LAB_TEST(test_any_rules_and_tables_keep_the_promises)
{
	uint64_t rng = prng_stream(seed_take(20261121), 0);

	for (unsigned round = 0; round < 300; round++) {
		AUTO(port_tables) *first;
		AUTO(memberships) *m;

		random_rules(lab, &rng);
		random_held(lab, &rng);
		m = memberships_new(lab->rules, lab->s, NULL);
		want(lab, BOTH_WAYS);
		for (uint32_t port = 0; port < lab->s->n_ports; port++)
			if (snapshot_is_end_port(lab->s, port))
				check_port(lab, m, port);
		/* On its own result it changes nothing. */
		first = port_tables_ref(lab->i->wanted);
		port_tables_unref(lab->held);
		lab->held = port_tables_ref(first);
		want(lab, BOTH_WAYS);
		assert_same_tables(lab->s, first, lab->i->wanted);
	}
}

/* Edits of a partition file: keys that come, go, or change their membership.
 * The table is never full. */
LAB_TEST(test_no_edit_moves_a_key_that_stays)
{
	uint64_t rng = prng_stream(seed_take(20261124), 0);

	for (unsigned edit = 0; edit < 200; edit++) {
		AUTO(port_tables) *before = port_tables_ref(lab->held);
		unsigned at, host = prng_below(&rng, N_HOSTS);
		uint32_t port = lab->host[host];

		for (unsigned n = prng_below(&rng, 4); n-- > 0;)
			admit(lab, prng_below(&rng, 8) ? (uint16_t)
			      (1 + prng_below(&rng, 19)) : PKEY_DEFAULT, host,
			      (enum partition_membership)
			      prng_below(&rng, PARTITION_BOTH));
		want(lab, BOTH_WAYS);
		for (unsigned i = 0; i < CAP; i++) {
			uint16_t was = key_at(before, port, i);
			uint16_t is = key_at(lab->i->wanted, port, i);

			if (was && !is)
				assert_int_equal(memberships_of(
					lab->i->memberships, port, was), 0);
			/* only the default partition goes to a free index 0 */
			if (was && is && pkey_base(is) != PKEY_DEFAULT)
				assert_int_equal(pkey_base(is), pkey_base(was));
			if (was && memberships_of(lab->i->memberships, port,
						  was))
				assert_int_equal(pkey_base(is), pkey_base(was));
			if (is)
				assert_int_equal(places_of(lab->i->wanted, port,
							   is, &at), 1);
		}
		port_tables_unref(lab->held);
		lab->held = port_tables_ref(lab->i->wanted);
	}
}

/* Rules of different ports may come in any order. */
LAB_TEST(test_order_of_rules_does_not_matter)
{
	AUTO(port_tables) *once;

	for (unsigned host = 0; host < N_HOSTS; host++)
		for (unsigned i = 1; i <= 20; i++)
			admit(lab, (uint16_t)(i * (host + 1)), host,
			      PARTITION_BOTH);
	want(lab, BOTH_WAYS);
	once = port_tables_ref(lab->i->wanted);
	partition_rules_unref(lab->rules);
	lab->rules = partition_rules_new();
	for (unsigned i = 20; i >= 1; i--)
		for (unsigned host = N_HOSTS; host-- > 0;)
			admit(lab, (uint16_t)(i * (host + 1)), host,
			      PARTITION_BOTH);
	want(lab, BOTH_WAYS);
	assert_same_tables(lab->s, once, lab->i->wanted);
}
