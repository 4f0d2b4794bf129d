// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Routing as the sweep starts it: lists of nodes; and when the engines are asked for
 * other tables for the sake of groups. */
#include "sm/mcast_manager.h"
#include "sm/sweep/route_job.h"
#include "tests/lib/unit.h"

struct bench {
	struct snapshot *s;
	struct route_params params;
	struct lft *lft;		/* of the last job */
};

static void
on_routed(void *values, void *data)
{
	struct route_job *job = values;
	struct bench *b = data;

	assert_true(job->ok);
	if (b->lft)
		lft_free(b->lft);
	b->lft = lft_ref(job->choice.lft);
}

static void
bench_route(struct bench *b)
{
	struct route_job *job = route_job_new(&b->params);

	job->subnet = snapshot_ref(b->s);
	job->lids = lid_assign(b->s, 0, NULL, 0, NULL, NULL);
	job->seen = lft_new(b->s->n_switches, job->lids->top);
	route_job_start(job, NULL, on_routed, b);
}

static void
bench_close(struct bench *b)
{
	lft_free(b->lft);
	snapshot_unref(b->s);
}

/* The engine gets the same marks from either list, and they count. */
TEST(test_io_nodes_are_those_of_the_list_or_no_compute_nodes)
{
	g_autoptr(GArray) io = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_autoptr(GArray) rest = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	AUTO(lft) *plain = NULL, *by_io = NULL;
	AUTO_VALUE(bench_close) struct bench b = {
		.s = generate_fabric("PGFT(4,4;1,4)", NULL, NULL),
		.params = { .engine = engine_by_name("ftree", NULL),
			    .threads = 1 },
	};
	size_t len;

	for (uint32_t port = 0, n = 0; port < b.s->n_ports; port++)
		if (!snapshot_is_switch(snapshot_node_of(b.s, port)) &&
		    b.s->ports[port].peer != SNAPSHOT_NONE)
			g_array_append_val(n++ % 3 ? rest : io,
					   b.s->ports[port].guid);
	bench_route(&b);
	plain = lft_ref(b.lft);
	b.params.io_nodes = io;
	bench_route(&b);
	by_io = lft_ref(b.lft);
	b.params.io_nodes = NULL;
	b.params.compute_nodes = rest;
	bench_route(&b);
	len = (size_t)b.lft->n_switches * b.lft->stride;
	assert_memory_equal(by_io->ports, b.lft->ports, len);
	assert_true(memcmp(plain->ports, by_io->ports, len) != 0);
}

static void
cut_first(struct snapshot *s)
{
	uint32_t port = s->nodes[s->switches[0]].first_port;

	while (s->ports[port].peer == SNAPSHOT_NONE)
		port++;
	s->ports[s->ports[port].peer].peer = SNAPSHOT_NONE;
	s->ports[port].peer = SNAPSHOT_NONE;
}

TEST(test_no_room_for_groups_is_so_until_a_link_comes_or_a_member_leaves)
{
	AUTO(snapshot) *s = generate_fabric("PGFT(4,4;1,4)", NULL, NULL);
	AUTO(snapshot) *less = snapshot_copy(s), *least = NULL;
	g_autofree uint32_t *sizes = g_new0(uint32_t, MCAST_MLIDS);
	struct mcast_room room = { 0 };

	cut_first(less);
	least = snapshot_copy(less);
	cut_first(least);
	sizes[3] = 5;
	assert_false(mcast_room_is_out(&room, less, sizes));
	mcast_room_note(&room, less, g_memdup2(sizes, MCAST_MLIDS *
					       sizeof(*sizes)));
	assert_true(mcast_room_is_out(&room, less, sizes));
	assert_true(mcast_room_is_out(&room, least, sizes));
	assert_false(mcast_room_is_out(&room, s, sizes));
	sizes[3] = 6;
	assert_true(mcast_room_is_out(&room, less, sizes));
	sizes[3] = 4;
	assert_false(mcast_room_is_out(&room, less, sizes));
	sizes[3] = 0;
	sizes[4] = 9;
	assert_false(mcast_room_is_out(&room, less, sizes));
	mcast_room_note(&room, NULL, NULL);
	assert_false(mcast_room_is_out(&room, less, sizes));
}
