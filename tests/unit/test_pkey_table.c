// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What isolation.h promises of P_Keys, for any rules and tables; cases of it are
 * in tests/scripts/pkey_table.scn.
 */
#include "tests/lib/plan_lab.h"
#include "tests/lib/seed.h"

#define BOTH_WAYS	(PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT)
#define N_HOSTS		4u
#define CAP		40u	/* one block and a piece of the next */

static int
set_up(void **state)
{
	struct fabric *f = *state = fabric_new("PGFT(2,2;1,2)");

	fabric_set_caps(f, CAP, 8, CAP);
	f->params.enforce = BOTH_WAYS;
	f->params.rules = partition_rules_new();
	return 0;
}

static int
tear_down(void **state)
{
	fabric_free(*state);
	return 0;
}

static uint32_t
host_of(const struct fabric *f, unsigned nth)
{
	const char name[] = { 'H', '-', (char)('0' + nth), '\0' };

	return fabric_port(f->s, name);
}

static struct partition *
admit(struct fabric *f, uint16_t pkey, unsigned host,
      enum partition_membership membership)
{
	struct partition *p = partition_rules_get(f->params.rules, pkey);
	struct partition_rule rule = {
		.who = PARTITION_GUID, .membership = membership,
		.guid = f->s->ports[host_of(f, host)].guid,
	};

	g_array_append_val(p->rules, rule);
	return p;
}

static uint16_t
key_at(const struct port_tables *t, uint32_t port, unsigned index)
{
	const union port_block *b = port_tables_get(t, PORT_TABLE_PKEY, port,
						    index / PKEYS_A_BLOCK);

	return b ? b->pkeys[index % PKEYS_A_BLOCK] : 0;
}

#define LAB_TEST(name) \
	TEST_WITH(name, struct fabric *f, set_up, tear_down)

static void
random_rules(struct fabric *f, uint64_t *rng)
{
	unsigned n = prng_below(rng, 80);

	partition_rules_unref(f->params.rules);
	f->params.rules = partition_rules_new();
	for (unsigned i = 0; i < n; i++) {
		uint16_t pkey = (uint16_t)(1 + prng_below(rng, 60));

		if (prng_below(rng, 8) == 0)
			pkey = PKEY_DEFAULT;
		admit(f, pkey, prng_below(rng, N_HOSTS),
		      (enum partition_membership)prng_below(rng, 4))->index0 |=
			prng_below(rng, 40) == 0;
	}
}

static void
random_held(struct fabric *f, uint64_t *rng)
{
	port_tables_unref(f->held);
	f->held = port_tables_new(f->s);
	for (uint32_t port = 0; port < f->s->n_ports; port++) {
		for (unsigned b = 0;
		     b < f->held->n_blocks[PORT_TABLE_PKEY][port]; b++) {
			union port_block block;

			if (prng_below(rng, 4) == 0)
				continue;
			for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
				block.pkeys[i] = (uint16_t)
					((prng_below(rng, 2) << 15) |
					 prng_below(rng, 62));
			port_tables_set(f->held, PORT_TABLE_PKEY, port, b,
					&block);
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
check_keys(const struct fabric *f, const struct memberships *m, uint32_t port,
	   uint32_t owner)
{
	unsigned n = 0, at;

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     f->isolation->wanted->n_blocks[PORT_TABLE_PKEY][port]; i++) {
		uint16_t pkey = key_at(f->isolation->wanted, port, i);

		if (!pkey)
			continue;
		assert_true(i < port_pkey_cap(f->s, port));
		assert_int_equal(places_of(f->isolation->wanted, port, pkey, &at), 1);
		assert_true(memberships_of(m, owner, pkey) &
			    (pkey & PKEY_FULL ? PARTITION_FULL :
			     PARTITION_LIMITED));
		n++;
	}
	return n;
}

/* A guard: what the port behind it has, each partition once and full. */
static void
check_guard(const struct fabric *f, uint32_t guard, uint32_t owner)
{
	unsigned at;

	for (unsigned i = 0; i < PKEYS_A_BLOCK *
	     f->isolation->wanted->n_blocks[PORT_TABLE_PKEY][guard]; i++) {
		uint16_t pkey = key_at(f->isolation->wanted, guard, i);

		if (!pkey)
			continue;
		assert_true(pkey & PKEY_FULL);
		assert_true(i < port_pkey_cap(f->s, guard));
		assert_int_equal(places_of(f->isolation->wanted, guard, pkey, &at),
				 1);
		assert_true(places_of(f->isolation->wanted, owner, pkey, &at) ||
			    places_of(f->isolation->wanted, owner, pkey_base(pkey),
				      &at));
	}
	for (unsigned i = 0; i < port_pkey_cap(f->s, owner); i++)
		if (key_at(f->isolation->wanted, owner, i))
			assert_int_equal(places_of(f->isolation->wanted, guard,
				key_at(f->isolation->wanted, owner, i) | PKEY_FULL,
				&at), 1);
}

static bool
is_asked_at_0(const struct fabric *f, uint16_t pkey)
{
	const struct partition *p = partition_rules_find(f->params.rules, pkey);

	return p && p->index0;
}

/* A key stays where it was, the first of several, unless it belongs at index 0
 * or was pushed away from it; the other membership of a partition comes to the
 * place of the one that goes. */
static void
check_kept(const struct fabric *f, uint32_t port)
{
	const struct port_tables *new = f->isolation->wanted, *old = f->held;
	bool pushed = is_asked_at_0(f, key_at(new, port, 0));
	unsigned cap = port_pkey_cap(f->s, port), at, end = cap, free = 0;

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
check_port(const struct fabric *f, const struct memberships *m, uint32_t port)
{
	unsigned cap = port_pkey_cap(f->s, port);
	unsigned n_want = m->first[port + 1] - m->first[port];
	uint32_t peer = f->s->ports[port].peer;
	unsigned n = check_keys(f, m, port, port);

	assert_int_equal(n, MIN(cap, n_want));
	check_kept(f, port);
	if (peer == SNAPSHOT_NONE)
		return;
	assert_int_equal(f->isolation->enforce[peer], BOTH_WAYS);
	check_guard(f, peer, port);
	check_kept(f, peer);
}

LAB_TEST(test_any_rules_and_tables_keep_the_promises)
{
	uint64_t rng = prng_stream(seed_take(20261121), 0);

	for (unsigned round = 0; round < 300; round++) {
		AUTO(port_tables) *first;
		AUTO(memberships) *m;

		random_rules(f, &rng);
		random_held(f, &rng);
		m = memberships_new(f->params.rules, f->s, NULL);
		fabric_isolate(f);
		for (uint32_t port = 0; port < f->s->n_ports; port++)
			if (snapshot_is_end_port(f->s, port))
				check_port(f, m, port);
		/* On its own result it changes nothing. */
		first = port_tables_ref(f->isolation->wanted);
		port_tables_unref(f->held);
		f->held = port_tables_ref(first);
		fabric_isolate(f);
		assert_same_tables(f->s, first, f->isolation->wanted);
	}
}
