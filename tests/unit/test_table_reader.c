// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading tables from the fake fabric: every block once, and which nodes are at
 * fault; the tables that are recalled of an earlier snapshot.
 */
#include <string.h>

#include "sm/sweep/table_reader.h"
#include "tests/lib/auto.h"
#include "tests/lib/fake.h"
#include "tests/lib/unit.h"
#include "topology/generate.h"

static const struct mad_client_params wire = {
	.timeout_ms = 10, .retries = 1, .max_wire = 16,
};

struct bench {
	struct snapshot *s;
	struct fake *f;
	struct mad_client *x;
	GArray *items;
	struct lft_seen *seen;	/* NULL: no forwarding tables */
	struct port_tables *held;
	struct log *log;
	GPtrArray *faults;
	bool done;
	uint32_t host, gate, sw;	/* not the SM's; sw: a port 0 */
};

static void
bench_open(struct bench *b)
{
	b->s = generate_fabric("PGFT(3,3;1,2)", NULL, NULL);
	assert_non_null(b->s);
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		if (snapshot_is_end_port(b->s, port) &&
		    b->s->ports[port].num && port != b->s->local_port)
			b->host = port;
	b->gate = b->s->ports[b->host].peer;
	b->sw = snapshot_node_of(b->s, b->gate)->first_port;
	b->f = fake_new(b->s);
	b->x = mad_client_new(b->f->t, &wire);
	b->items = g_array_new(FALSE, FALSE, sizeof(struct table_reader_item));
	b->held = port_tables_new(b->s);
	b->log = log_open("/dev/null", 0, NULL);
	assert_non_null(b->log);
}

static void
on_done(GPtrArray *faults, GArray *mute, void *data)
{
	struct bench *b = data;

	(void)mute;

	b->faults = g_ptr_array_ref(faults);
	b->done = true;
}

static void
bench_run(struct bench *b)
{
	g_clear_pointer(&b->faults, g_ptr_array_unref);
	b->done = false;
	b->f->gets = 0;
	table_reader_start(b->x, NULL, b->s, b->seen, b->items, b->held,
			   b->log, on_done, b);
	assert_false(b->done);
	assert_true(scripted_run_idle(b->f->t, transport_now(b->f->t) +
				      600 * G_USEC_PER_SEC));
	assert_true(b->done);
}

static void
bench_close(struct bench *b)
{
	g_clear_pointer(&b->faults, g_ptr_array_unref);
	port_tables_unref(b->held);
	lft_seen_free(b->seen);
	log_free(b->log);
	g_array_unref(b->items);
	mad_client_free(b->x);
	fake_free(b->f);
	snapshot_unref(b->s);
}

FIXTURE(bench)

static void
add(struct bench *b, uint32_t port, enum port_table table,
    const struct port_tables *only)
{
	const struct table_reader_item item = {
		.port = port, .table = table, .only = only,
	};

	g_array_append_val(b->items, item);
}

/* Something that tells ports, tables and blocks apart. */
static void
put(struct port_tables *t, uint32_t port, enum port_table table,
    unsigned block)
{
	union port_block b = { 0 };

	switch (table) {
	case PORT_TABLE_PKEY:
		b.pkeys[0] = (uint16_t)(0x8000 | port);
		b.pkeys[31] = (uint16_t)(block + 1);
		break;
	case PORT_TABLE_SL2VL:
		b.vl[3] = port & 0xf;
		b.vl[15] = block & 0xf;
		break;
	case PORT_TABLE_VL_ARB:
		b.arb[0].weight = (uint8_t)port;
		b.arb[31].vl = (uint8_t)(block + 1);
		break;
	case PORT_N_TABLES:
		break;
	}
	port_tables_set(t, table, port, block, &b);
}

static void
fill(struct bench *b, struct port_tables *t)
{
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		for (unsigned k = 0; k < PORT_N_TABLES; k++)
			for (unsigned i = 0; i < t->n_blocks[k][port]; i++)
				put(t, port, k, i);
}

/* The table that is held is the device's, all of it. */
static void
assert_read(const struct bench *b, uint32_t port, enum port_table table)
{
	unsigned n = b->held->n_blocks[table][port];

	assert_true(n > 0);
	for (unsigned i = 0; i < n; i++) {
		const union port_block *have = port_tables_get(b->held, table,
							       port, i);

		assert_non_null(have);
		assert_memory_equal(have, port_tables_get(b->f->tables, table,
							  port, i),
				    sizeof(*have));
	}
}

#define BENCH_TEST(name) \
	TEST_WITH(name, struct bench *b, bench_new, bench_free)

BENCH_TEST(test_every_table_of_every_port_is_read)
{
	unsigned blocks = 0;

	fill(b, b->f->tables);
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		for (unsigned k = 0; k < PORT_N_TABLES; k++)
			if (b->s->ports[port].known) {
				add(b, port, k, NULL);
				blocks += b->held->n_blocks[k][port];
			}
	bench_run(b);
	assert_int_equal(b->faults->len, 0);
	assert_int_equal(b->f->gets, blocks);
	for (guint i = 0; i < b->items->len; i++) {
		const struct table_reader_item *item = &g_array_index(b->items,
			struct table_reader_item, i);

		assert_read(b, item->port, item->table);
	}
	/* It is known now. */
	bench_run(b);
	assert_int_equal(b->f->gets, 0);
}

BENCH_TEST(test_only_what_is_wanted_is_asked_for)
{
	AUTO(port_tables) *only;

	fill(b, b->f->tables);
	only = port_tables_new(b->s);
	put(only, b->gate, PORT_TABLE_SL2VL, 2);
	put(only, b->host, PORT_TABLE_VL_ARB, VL_ARB_HIGH_1);
	add(b, b->gate, PORT_TABLE_SL2VL, only);
	add(b, b->host, PORT_TABLE_VL_ARB, only);
	add(b, b->host, PORT_TABLE_SL2VL, only);
	bench_run(b);
	assert_int_equal(b->f->gets, 2);
	assert_int_equal(port_tables_get(b->held, PORT_TABLE_SL2VL, b->gate,
					 2)->vl[15], 2);
	assert_null(port_tables_get(b->held, PORT_TABLE_SL2VL, b->gate, 1));
	assert_int_equal(port_tables_get(b->held, PORT_TABLE_VL_ARB, b->host,
					 VL_ARB_HIGH_1)->arb[31].vl,
			 VL_ARB_HIGH_1 + 1);
}

/* A node that has two blocks of P_Keys and says four. */
static bool
tamper_short(struct fake *f, uint32_t node, uint8_t *answer, void *data)
{
	const struct bench *b = data;
	const struct mad_header h = mad_header_of(answer);

	if (node == b->s->ports[b->host].node &&
	    h.attr_id == MAD_ATTR_PKEY_TABLE && h.attr_mod >= 2)
		answer[5] = MAD_STATUS_BAD_VALUE;
	return true;
}

BENCH_TEST(test_blocks_beyond_the_end_are_empty)
{
	const union port_block empty = { 0 };

	fill(b, b->f->tables);
	assert_int_equal(b->held->n_blocks[PORT_TABLE_PKEY][b->host],
			 4);
	add(b, b->host, PORT_TABLE_PKEY, NULL);
	fake_tamper(b->f, tamper_short, b);
	bench_run(b);
	assert_int_equal(b->faults->len, 0);
	assert_int_equal(port_tables_get(b->held, PORT_TABLE_PKEY, b->host,
					 1)->pkeys[31], 2);
	for (unsigned i = 2; i < 4; i++)
		assert_memory_equal(port_tables_get(b->held, PORT_TABLE_PKEY,
						    b->host, i),
				    &empty, sizeof(empty));
}

BENCH_TEST(test_cancelled_reading_leaves_nothing_behind)
{
	struct table_reader *r;

	for (uint32_t port = 0; port < b->s->n_ports; port++)
		if (snapshot_is_end_port(b->s, port))
			add(b, port, PORT_TABLE_PKEY, NULL);
	for (unsigned steps = 0; steps < 12; steps++) {
		port_tables_unref(b->held);
		b->held = port_tables_new(b->s);
		r = table_reader_start(b->x, NULL, b->s, b->seen, b->items,
				       b->held, b->log, on_done, b);
		for (unsigned i = 0; i < steps; i++)
			scripted_step(b->f->t);
		table_reader_cancel(r);
		assert_true(scripted_run_idle(b->f->t,
			transport_now(b->f->t) + 60 * G_USEC_PER_SEC));
		assert_false(b->done);
	}
}

/* ------------------------------------------------------- forwarding tables */

/* Every switch has a table to LID `top`, another byte in each block. */
static void
set_up_lfts(struct bench *b, uint16_t top)
{
	for (uint32_t sw = 0; sw < b->s->n_switches; sw++) {
		b->s->nodes[b->s->switches[sw]].sw.linear_fdb_top = top;
		for (unsigned lid = 0; lid <= top; lid++)
			lft_row(b->f->lft, sw)[lid] =
				(uint8_t)(sw + lid / LFT_BLOCK);
	}
	b->seen = table_reader_recall_lfts(b->s, 1, NULL, NULL);
}

BENCH_TEST(test_blocks_in_use_of_all_switches_are_read)
{
	set_up_lfts(b, 64);
	add(b, b->host, PORT_TABLE_SL2VL, NULL);
	bench_run(b);
	assert_int_equal(b->f->gets, 2 * b->s->n_switches + 1);
	assert_int_equal(b->faults->len, 0);
	for (uint32_t sw = 0; sw < b->s->n_switches; sw++)
		for (unsigned block = 0; block < 2; block++)
			assert_int_equal(lft_seen_block(b->seen, sw, block)[0],
					 sw + block);
	/* A lost Set has left one block unknown: only that one is read. */
	lft_seen_forget(b->seen, 1, 0);
	bench_run(b);
	assert_int_equal(b->f->gets, 1);
	assert_non_null(lft_seen_block(b->seen, 1, 0));
}

BENCH_TEST(test_switches_without_a_valid_top_are_not_read)
{
	struct snapshot_node *n;

	set_up_lfts(b, 20);
	b->s->nodes[b->s->switches[0]].sw.linear_fdb_top = 0;
	n = &b->s->nodes[b->s->switches[1]];
	n->sw.linear_fdb_cap = 16;
	bench_run(b);
	assert_int_equal(b->f->gets, b->s->n_switches - 2);
	assert_null(lft_seen_block(b->seen, 0, 0));
	assert_null(lft_seen_block(b->seen, 1, 0));
	assert_int_equal(b->faults->len, 0);
}

BENCH_TEST(test_forwarding_tables_are_recalled_if_as_left)
{
	AUTO(snapshot) *now;
	AUTO(lft_seen) *seen;

	set_up_lfts(b, 64);
	for (uint32_t sw = 0; sw < b->s->n_switches; sw++)
		b->s->ports[b->s->nodes[b->s->switches[sw]].first_port]
			.info.lid = (uint16_t)(sw + 1);
	bench_run(b);
	now = snapshot_copy(b->s);
	now->nodes[now->switches[0]].sw.linear_fdb_top = 130;
	now->ports[now->nodes[now->switches[1]].first_port].info.lid = 99;
	seen = table_reader_recall_lfts(now, 3, b->s, b->seen);
	assert_true(seen->lft->top >= 130);
	assert_null(lft_seen_block(seen, 0, 0));
	assert_null(lft_seen_block(seen, 1, 0));
	assert_int_equal(lft_seen_block(seen, 2, 1)[0], 2 + 1);
}

static bool
is_fresh(const struct snapshot *now, const struct snapshot *then)
{
	g_autofree uint8_t *fresh = table_reader_fresh(now, then);

	return fresh[0];
}

/* Another SM may have written its tables. */
BENCH_TEST(test_a_switch_that_had_another_master_is_fresh)
{
	AUTO(snapshot) *now;
	struct lft_seen *seen;
	struct port_info *info;

	set_up_lfts(b, 64);
	b->s->ports[b->s->nodes[b->s->switches[0]].first_port].info.lid = 1;
	bench_run(b);
	now = snapshot_copy(b->s);
	info = &now->ports[now->nodes[now->switches[0]].first_port].info;
	assert_false(is_fresh(now, b->s));
	assert_true(is_fresh(now, NULL));
	info->sm_lid++;
	assert_true(is_fresh(now, b->s));
	seen = table_reader_recall_lfts(now, 3, b->s, b->seen);
	assert_null(lft_seen_block(seen, 0, 0));
	lft_seen_free(seen);
	info->sm_lid--;
	info->lid = LID_NONE;
	assert_true(is_fresh(now, b->s));
}

/* --------------------------------------------------------------- recalling */

/* As it is when we have left it. */
static void
leave(struct bench *b)
{
	for (uint32_t i = 0; i < b->s->n_nodes; i++)
		if (snapshot_is_switch(&b->s->nodes[i]))
			b->s->nodes[i].sw.linear_fdb_top = 20;
	for (uint32_t port = 0; port < b->s->n_ports; port++) {
		struct snapshot_port *p = &b->s->ports[port];

		p->info.state = PORT_STATE_ACTIVE;
		if (snapshot_is_end_port(b->s, port))
			p->info.lid = (uint16_t)(port + 1);
	}
	fill(b, b->held);
}

/* Is the table of this port believed, in the fabric as it is changed now? */
static bool
is_recalled(struct bench *b, const struct snapshot *now, uint32_t port)
{
	struct port_tables *t = port_tables_new(now);
	const union port_block *block;
	bool is;

	table_reader_recall(now, t, b->s, b->held);
	block = port_tables_get(t, PORT_TABLE_PKEY, port, 0);
	is = block && block->pkeys[0] == (0x8000 | port);
	assert_true(is || !block);
	port_tables_unref(t);
	return is;
}

BENCH_TEST(test_what_is_as_it_was_left_is_believed)
{
	leave(b);
	for (uint32_t port = 0; port < b->s->n_ports; port++)
		if (b->s->ports[port].known && port_pkey_cap(b->s, port))
			assert_true(is_recalled(b, b->s, port));
}

BENCH_TEST(test_a_host_that_may_have_lost_its_tables_is_not_believed)
{
	leave(b);
	for (unsigned i = 0; i < 5; i++) {
		AUTO(snapshot) *now = snapshot_copy(b->s);
		struct snapshot_port *p = &now->ports[b->host];

		if (i == 0)
			p->info.state = PORT_STATE_INIT;
		p->info.lid += i == 1;
		p->info.sm_lid += i == 2;
		p->guid += i == 3;
		if (i == 4)
			now->nodes[p->node].info.partition_cap = 64;
		assert_false(is_recalled(b, now, b->host));
		assert_true(is_recalled(b, now, b->gate));
	}
}

BENCH_TEST(test_a_switch_that_was_reset_is_not_believed)
{
	struct snapshot *now;

	leave(b);

	now = snapshot_copy(b->s);
	now->ports[b->sw].info.lid = LID_NONE;
	assert_false(is_recalled(b, now, b->gate));
	assert_false(is_recalled(b, now, b->sw));
	assert_true(is_recalled(b, now, b->host));
	snapshot_unref(now);

	now = snapshot_copy(b->s);
	now->nodes[now->ports[b->gate].node].sw.linear_fdb_top = 0;
	assert_false(is_recalled(b, now, b->gate));
	snapshot_unref(now);
}
