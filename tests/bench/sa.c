// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How fast does the pure SA answer? PathRecord Gets by GID between random
 * hosts, no transport; and what it holds beyond the snapshot.
 *
 *	bench_sa [SPEC]
 */
#include <malloc.h>
#include <string.h>

#include "tests/bench/bench.h"
#include "tests/lib/auto.h"
#include "tests/lib/engine_route.h"
#include "sm/sa/sa.h"
#include "sm/mad/sa_record.h"
#include "topology/prng.h"

#define QUERIES	(1u << 20)

static size_t
in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void
put_gid(uint8_t *to, uint64_t guid)
{
	uint64_t be[2] = { GUINT64_TO_BE(UINT64_C(0xfe80000000000000)),
			   GUINT64_TO_BE(guid) };

	memcpy(to, be, 16);
}

static struct sa_db *
make_view(struct snapshot *s, struct lid_map *lids,
	  struct partition_rules *rules)
{
	AUTO(graph) *g = graph_new(s, lids);
	AUTO(lft) *lft = lft_new(g->n_switches, g->top);
	struct sa_db *v;

	if (!engine_route(&engine_ftree, g, lft, NULL))
		engine_route(&engine_minhop, g, lft, NULL);
	v = sa_db_new(s, lids, lft, NULL, rules,
			memberships_new(rules, s, NULL),
			UINT64_C(0xfe80000000000000), 18, 18);
	return v;
}

static void
bench(struct sa *sa, const struct sa_db *v, const uint32_t *hosts,
      uint32_t n, const char *how)
{
	g_autofree uint64_t *guids = g_new(uint64_t, n);
	g_autofree uint16_t *lids = g_new(uint16_t, n);
	uint64_t rng = prng_stream(1, 0);
	uint8_t mad[MAD_SIZE];
	struct sa_request request = { .mad = mad, .len = MAD_SIZE };
	struct sa_reply reply;
	uint32_t found = 0;
	double start;

	sa_build(mad, MAD_METHOD_GET, SA_ATTR_PATH);
	mad[55] = SA_BIT(PATH_DGID) | SA_BIT(PATH_SGID);
	for (uint32_t i = 0; i < n; i++) {
		guids[i] = v->subnet->ports[hosts[i]].guid;
		lids[i] = v->lids->base[hosts[i]];
	}
	start = bench_cpu_ms();
	for (uint32_t i = 0; i < QUERIES; i++) {
		uint32_t a = prng_below(&rng, n), b = prng_below(&rng, n);

		put_gid(mad + SA_DATA_OFFSET + 8, guids[b]);
		put_gid(mad + SA_DATA_OFFSET + 24, guids[a]);
		request.slid = lids[a];
		sa_answer(sa, &request, &reply);
		found += reply.mad[4] == 0 && reply.mad[5] == 0;
	}
	printf("    PathRecord  %9.2f million/s (%s), %u of %u found\n",
	       QUERIES / (bench_cpu_ms() - start) / 1e3, how, found, QUERIES);
}

int
main(int argc, char **argv)
{
	const char *spec = argc > 1 ? argv[1] : BENCH_FABRIC;
	AUTO(snapshot) *s = bench_fabric(spec);
	AUTO(partition_rules) *rules = partition_rules_default();
	struct sa *sa = sa_new(&(struct sa_params){ 0 });
	g_autofree uint32_t *hosts = NULL;
	AUTO(lid_map) *lids = NULL;
	struct sa_db *v;
	size_t before;
	uint32_t n = 0;

	lids = lid_assign(s, 0, NULL, 0, NULL, NULL);
	hosts = g_new(uint32_t, s->n_ports);
	for (uint32_t p = 0; p < s->n_ports; p++) {
		if (s->ports[p].peer != SNAPSHOT_NONE)
			s->ports[p].info.state = PORT_STATE_ACTIVE;
		if (snapshot_is_end_port(s, p) && s->ports[p].num)
			hosts[n++] = p;
	}
	before = in_use();
	v = make_view(s, lids, rules);
	sa_publish(sa, v, 0);
	printf("%s: %u hosts\n    state       %9.2f MB beyond the snapshot "
	       "and its tables\n", spec, n,
	       (double)(in_use() - before - (size_t)v->lft->n_switches *
			v->lft->stride) / 1e6);
	bench(sa, v, hosts, n, "new view");
	bench(sa, v, hosts, n, "again");
	sa_db_unref(v);
	sa_free(sa);
	return 0;
}
