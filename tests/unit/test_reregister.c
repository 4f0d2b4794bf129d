// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Whose clients the SA knows, sweep by sweep. */
#include "sm/sweep/reregister.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

struct bench {
	struct snapshot *s;
	struct lid_map *lids;
	struct reregister *c;
	uint8_t *want;		/* of the last sweep */
	uint32_t host;		/* a port */
};

static void
bench_open(void **state, enum reregister_start start)
{
	struct bench *b = *state = g_new0(struct bench, 1);

	b->s = generate_fabric("single(3)", NULL, NULL);
	assert_non_null(b->s);
	b->lids = lid_assign(b->s, 0, NULL, 0, NULL, NULL);
	b->c = reregister_new(start);
	b->host = b->s->local_port;
	for (uint32_t port = 0; port < b->s->n_ports; port++) {
		b->s->ports[port].info.state = PORT_STATE_ACTIVE;
		b->s->ports[port].info.lid = b->lids->base[port];
		b->s->ports[port].info.sm_lid = b->lids->base[b->host];
	}
}

static int
known(void **state)
{
	bench_open(state, REREGISTER_KNOWN);
	return 0;
}

static int
forgotten(void **state)
{
	bench_open(state, REREGISTER_FORGOTTEN);
	return 0;
}

static int
no_sa(void **state)
{
	bench_open(state, REREGISTER_NONE);
	return 0;
}

static int
bench_close(void **state)
{
	struct bench *b = *state;

	g_free(b->want);
	reregister_free(b->c);
	lid_map_free(b->lids);
	snapshot_unref(b->s);
	g_free(b);
	return 0;
}

/* How many are to be told. */
static unsigned
sweep(struct bench *b)
{
	unsigned n = 0;

	g_free(b->want);
	b->want = reregister_want(b->c, b->s, b->lids);
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		n += b->want[port];
	return n;
}

/* The Set that tells a port has our LID as its SMLID. */
static void
told(struct bench *b)
{
	reregister_told(b->c, b->s, b->want);
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		if (b->want[port])
			b->s->ports[port].info.sm_lid = b->lids->base[b->host];
}

#define FORGOTTEN_TEST(name) \
	TEST_WITH(name, struct bench *b, forgotten, bench_close)
#define KNOWN_TEST(name) \
	TEST_WITH(name, struct bench *b, known, bench_close)

FORGOTTEN_TEST(test_forgotten_clients_are_told_once)
{
	assert_int_equal(sweep(b), 4);		/* three hosts, a port 0 */
	told(b);
	assert_int_equal(sweep(b), 0);
	assert_int_equal(sweep(b), 0);
}

FORGOTTEN_TEST(test_port_without_an_answer_is_asked_again)
{
	assert_int_equal(sweep(b), 4);
	b->want[b->host] = false;
	told(b);
	assert_int_equal(sweep(b), 1);
	assert_true(b->want[b->host]);
}

KNOWN_TEST(test_known_clients_are_left_alone)
{
	b->s->ports[b->host].info.state = PORT_STATE_INIT;
	assert_int_equal(sweep(b), 1);
	assert_true(b->want[b->host]);
}

/* It may have joined a group of the manager that ran while we did not. */
KNOWN_TEST(test_clients_of_another_master_are_told)
{
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		b->s->ports[port].info.sm_lid = b->s->ports[port].info.lid;
	assert_int_equal(sweep(b), 3);
	assert_false(b->want[b->host]);
	told(b);
	assert_int_equal(sweep(b), 0);
}

/* We had lost our link for a while, and it served a part of the fabric. */
FORGOTTEN_TEST(test_clients_of_a_master_meanwhile_are_told)
{
	struct port_info *info;
	uint32_t port = 0;

	while (!snapshot_is_end_port(b->s, port) || port == b->host)
		port++;
	info = &b->s->ports[port].info;
	info->sm_lid = 77;
	assert_int_equal(sweep(b), 4);
	told(b);
	info->sm_lid = 77;		/* at once */
	assert_int_equal(sweep(b), 1);
	told(b);
	assert_int_equal(sweep(b), 0);
	info->sm_lid = 77;
	assert_int_equal(sweep(b), 1);
	assert_true(b->want[port]);
	told(b);
	assert_int_equal(sweep(b), 0);
}

KNOWN_TEST(test_another_lid_is_told)
{
	assert_int_equal(sweep(b), 0);
	b->s->ports[b->host].info.lid++;
	assert_int_equal(sweep(b), 1);
	told(b);
	b->s->ports[b->host].info.lid--;
	assert_int_equal(sweep(b), 0);
}

/* Its leaf was cut off, say: the host itself has noticed nothing. */
KNOWN_TEST(test_port_that_was_away_is_told)
{
	assert_int_equal(sweep(b), 0);
	b->s->ports[b->host].known = false;
	assert_int_equal(sweep(b), 0);
	b->s->ports[b->host].known = true;
	assert_int_equal(sweep(b), 1);
	assert_true(b->want[b->host]);
}

KNOWN_TEST(test_another_master_makes_us_forget)
{
	/* before anybody was met, and after */
	for (unsigned i = 0; i < 2; i++) {
		reregister_forget(b->c);
		assert_int_equal(sweep(b), 4);
		told(b);
		assert_int_equal(sweep(b), 0);
	}
}

/* Our own LID changed: with the others nothing happened. */
KNOWN_TEST(test_other_ports_are_not_told_of_our_new_lid)
{
	assert_int_equal(sweep(b), 0);
	b->lids->base[b->host] = 40;
	assert_int_equal(sweep(b), 1);
	assert_true(b->want[b->host]);
}

/* The state of the former master is known here; two ports take no SMLID. */
KNOWN_TEST(test_ports_that_keep_the_former_master_are_not_told)
{
	GHashTable *clients = g_hash_table_new_full(g_int64_hash, g_int64_equal,
						    g_free, NULL);

	for (uint32_t port = 0; port < b->s->n_ports; port++) {
		b->s->ports[port].info.sm_lid = 77;
		g_hash_table_add(clients, g_memdup2(&b->s->ports[port].guid,
						    8));
	}
	reregister_trust(b->c, 77, clients);
	assert_int_equal(sweep(b), 0);
	assert_int_equal(sweep(b), 0);
}

TEST(test_without_an_sa_no_port_is_told, no_sa, bench_close)
{
	struct bench *b = *state;

	assert_null(reregister_want(b->c, b->s, b->lids));
}
