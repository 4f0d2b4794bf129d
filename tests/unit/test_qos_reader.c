// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SL to VL and VL arbitration tables are read when a client asks: from the
 * client's question to its answer on a simulated fabric.
 */
#include <string.h>

#include "sm/mad/smp.h"
#include "sm/sweep/smp_batch.h"
#include "tests/lib/sa_server_lab.h"
#include "tests/lib/unit.h"
#include "tests/lib/sim_script.h"

#define LID	SA_BIT(0)

static uint32_t
a_switch(const struct stage *st, unsigned i)
{
	return st->s->nodes[st->s->switches[i]].first_port;
}

static unsigned
n_ports(const struct stage *st, uint32_t port)
{
	return snapshot_node_of(st->s, port)->info.num_ports;
}

static unsigned
in_flight(const struct stage *st)
{
	return st->qosread->batch ? smp_batch_in_flight(st->qosread->batch) : 0;
}

static void
ask_tables(struct client *c, unsigned attr_id, uint64_t mask, uint32_t port)
{
	uint8_t record[SA_DATA_LEN] = { 0 };

	stage_put(record, c->stage->s->ports[port].info.lid, 2);
	client_ask(c, SA_METHOD_GET_TABLE, attr_id, mask, record);
}

static int
set_up_resting(void **state)
{
	struct stage *new = g_new0(struct stage, 1);

	stage_open(new, SEED, NULL, NULL);
	stage_run(new, SECOND);
	*state = new;
	return 0;
}

#define STAGE_TEST(name) \
	TEST_WITH(name, struct stage *st, set_up_resting, stage_tear_down)

STAGE_TEST(test_tables_of_a_switch_are_read_when_asked_for)
{
	struct client *c;
	uint32_t sw;
	unsigned n;
	uint64_t blocks;

	c = &st->client[0];
	sw = a_switch(st, 1);
	n = n_ports(st, sw);
	assert_int_equal(st->qosread->stats.blocks, 0);
	ask_tables(c, SA_ATTR_SL_TO_VL, LID, sw);
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 1);
	/* base port 0 is told without being asked */
	assert_int_equal(c->table->len, (n + 1) * (n + 1) * 16);
	blocks = st->qosread->stats.blocks;
	assert_int_equal(blocks, n * (n + 1));
	/* again: it is known */
	ask_tables(c, SA_ATTR_SL_TO_VL, LID, sw);
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 2);
	assert_int_equal(st->qosread->stats.blocks, blocks);
	assert_int_equal(st->qosread->stats.parked, 1);
	/* low 1 and 2, high 1; there is no high 2 */
	ask_tables(c, SA_ATTR_VL_ARB, LID, c->port);
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 3);
	assert_int_equal(c->table->len, 4 * 72);
	assert_int_equal(st->qosread->stats.blocks, blocks + 3);
	/* a new view knows nothing */
	stage_publish(st);
	ask_tables(c, SA_ATTR_VL_ARB, LID, c->port);
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 4);
	assert_int_equal(st->qosread->stats.blocks, blocks + 6);
}

/* The whole fabric, and while it is read, one port of another client. */
STAGE_TEST(test_small_question_does_not_wait_for_a_large_one)
{
	struct client *all, *one;
	unsigned records = 0;
	uint64_t before;

	all = &st->client[0];
	one = &st->client[1];
	for (uint32_t p = 0; p < st->s->n_ports; p++) {
		unsigned n = n_ports(st, p);

		if (st->s->ports[p].known)
			records += snapshot_is_switch(
				snapshot_node_of(st->s, p)) ? n + 1 : 1;
	}
	ask_tables(all, SA_ATTR_SL_TO_VL, 0, one->port);
	stage_run(st, 50);
	ask_tables(one, SA_ATTR_VL_ARB, LID, one->port);
	before = st->qosread->stats.blocks;
	while (!one->tables) {
		assert_int_equal(all->tables, 0);
		stage_run(st, 10);
	}
	assert_int_equal(one->table->len, 4 * 72);
	assert_true(st->qosread->stats.blocks - before < 200);
	stage_run(st, SECOND);
	assert_int_equal(all->tables, 1);
	assert_int_equal(all->table->len, records * 16);
	assert_int_equal(st->qosread->parked.length, 0);
	assert_int_equal(in_flight(st), 0);
}

/* The set of what two questions need is read once. */
STAGE_TEST(test_two_questions_share_what_is_read)
{
	uint32_t sw;
	unsigned n;

	sw = a_switch(st, 0);
	n = n_ports(st, sw);
	ask_tables(&st->client[0], SA_ATTR_SL_TO_VL, LID, sw);
	ask_tables(&st->client[1], SA_ATTR_SL_TO_VL, LID, sw);
	stage_run(st, SECOND);
	assert_int_equal(st->client[0].tables + st->client[1].tables, 2);
	assert_int_equal(st->qosread->stats.blocks, n * (n + 1));
}

STAGE_TEST(test_nothing_is_read_while_the_sweep_is_at_work)
{
	struct client *c;
	uint64_t sent;

	c = &st->client[0];
	st->sweep.state = SWEEP_READING;
	ask_tables(c, SA_ATTR_VL_ARB, LID, c->port);
	stage_run(st, SECOND);
	sent = st->sm.x->stats.gets[MAD_ATTR_VL_ARB];
	assert_int_equal(sent, 0);
	assert_int_equal(c->tables, 0);
	/* a repeat of what waits is none of two */
	client_ask_again(c, SA_METHOD_GET_TABLE, SA_ATTR_VL_ARB, LID, NULL);
	stage_run(st, SECOND);
	assert_int_equal(sa_server_stats(st->desk)->repeated, 1);
	/* the sweep ends with a new view: the question is asked of that */
	stage_publish(st);
	st->sweep.state = SWEEP_IDLE;
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 1);
	assert_int_equal(c->table->len, 4 * 72);
	assert_int_equal(sa_server_stats(st->desk)->answered, 1);
}

/* Refuses VL arbitration of port 2, says nothing of port 3. */
static bool
lie(struct sim *sim, uint32_t node, uint8_t *answer, void *data)
{
	const struct stage *st = data;
	struct mad_header h;

	mad_header_read(answer, MAD_SIZE, &h);
	if (h.attr_id != MAD_ATTR_VL_ARB || node != st->s->switches[0])
		return true;
	if ((h.attr_mod & 0xff) == 2)
		answer[5] = 0x1c;
	return (h.attr_mod & 0xff) != 3;
}

STAGE_TEST(test_ports_that_refuse_or_are_silent_have_no_table)
{
	struct client *c;
	uint32_t sw;

	sim_set_liar(st->sim, lie, st);
	c = &st->client[0];
	sw = a_switch(st, 0);
	ask_tables(c, SA_ATTR_VL_ARB, LID | SA_BIT(1), sw);
	stage_run(st, SECOND);
	for (unsigned port = 1; port <= 3; port++) {
		uint8_t record[SA_DATA_LEN] = { 0 };

		stage_put(record, st->s->ports[sw].info.lid, 2);
		record[2] = (uint8_t)port;
		client_ask(c, SA_METHOD_GET_TABLE, SA_ATTR_VL_ARB,
			   LID | SA_BIT(1), record);
		stage_run(st, 20 * SECOND);
		assert_int_equal(c->tables, 1 + port);
		assert_int_equal(c->table->len, port == 1 ? 4 * 72 : 0);
	}
	assert_int_equal(st->qosread->stats.denied, 1);
	assert_int_equal(st->qosread->stats.lost, 1);
	/* another port of the silent one: it is asked again, not for ever */
	ask_tables(c, SA_ATTR_VL_ARB, LID, sw);
	stage_run(st, 20 * SECOND);
	assert_int_equal(c->tables, 5);
}

STAGE_TEST(test_too_many_questions_are_busy)
{
	unsigned busy = 0, tables = 0;

	st->sweep.state = SWEEP_READING;
	for (unsigned i = 0; i < 10; i++)
		for (unsigned c = 0; c < CLIENTS; c++)
			ask_tables(&st->client[c], SA_ATTR_VL_ARB, LID,
				   st->client[c].port);
	stage_run(st, SECOND);
	for (unsigned c = 0; c < CLIENTS; c++)
		busy += st->client[c].busy;
	assert_int_equal(busy, 10 * CLIENTS - 64);
	assert_int_equal(sa_server_stats(st->desk)->busy_unread, busy);
	st->sweep.state = SWEEP_IDLE;
	stage_run(st, 2 * SECOND);
	for (unsigned c = 0; c < CLIENTS; c++)
		tables += st->client[c].tables;
	assert_int_equal(tables, 64);
	/* and the end in the middle of reading, and of waiting */
	ask_tables(&st->client[0], SA_ATTR_SL_TO_VL, 0, st->client[0].port);
	stage_run(st, 100);
	assert_true(in_flight(st) > 0);
	assert_true(in_flight(st) <= 16);
}

STAGE_TEST(test_view_that_goes_in_the_middle_starts_anew)
{
	struct client *c;

	c = &st->client[0];
	for (unsigned i = 0; i < 5; i++) {
		ask_tables(c, SA_ATTR_SL_TO_VL, LID, a_switch(st, i));
		stage_run(st, 60);
		stage_publish(st);
	}
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 5);
	/* no master any more: what waits here goes back to the server, and is
	 * answered when there is a view again */
	ask_tables(c, SA_ATTR_SL_TO_VL, LID, a_switch(st, 6));
	stage_run(st, 60);
	sa_publish(st->sa, NULL, 0);
	qos_reader_refresh(st->qosread);
	stage_run(st, SECOND);
	assert_int_equal(c->tables + c->busy, 5);
	assert_int_equal(st->qosread->parked.length, 0);
	assert_int_equal(sa_server_stats(st->desk)->waiting, 1);
	stage_publish(st);
	sa_server_touch(st->desk);
	stage_run(st, SECOND);
	assert_int_equal(c->tables, 6);
}
