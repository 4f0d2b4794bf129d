// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How long does it take to say which P_Keys are wanted? 1,000 partitions of
 * random overlap, up to 128 P_Keys a host; from nothing, and again when one
 * host has changed. No transport.
 *
 *	bench_partitions [SPEC]
 */
#include "sm/plan/isolation.h"
#include "tests/bench/bench.h"
#include "topology/prng.h"

#define PARTITIONS	1000u
#define KEYS_MOST	128u
#define ROUNDS		5u

struct bench {
	struct snapshot *s;
	struct partition_rules *rules;
	struct port_tables *held;
	uint64_t n_pkeys;
};

/* Devices of today: 128 entries at hosts, as many at switches. */
static void
make_room(struct snapshot *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		s->nodes[i].info.partition_cap = KEYS_MOST;
		s->nodes[i].sw.partition_enforcement_cap = KEYS_MOST;
	}
}

/* Every host is in the default partition and in 1 to 127 others. */
static struct partition_rules *
make_rules(const struct snapshot *s)
{
	struct partition_rules *rules = partition_rules_new();
	struct partition *p[PARTITIONS];
	struct partition_rule rule = {
		.who = PARTITION_ALL, .membership = PARTITION_LIMITED,
	};
	uint64_t rng = prng_stream(1, 0);

	for (unsigned i = 0; i < PARTITIONS; i++)
		p[i] = partition_rules_get(rules, (uint16_t)(i + 1));
	g_array_append_val(partition_rules_get(rules, PKEY_DEFAULT)->rules,
			   rule);
	rule.who = PARTITION_GUID;
	for (uint32_t port = 0; port < s->n_ports; port++) {
		unsigned n = 1 + prng_below(&rng, KEYS_MOST - 1);
		unsigned at = prng_below(&rng, PARTITIONS);
		unsigned step = 1 + prng_below(&rng, PARTITIONS / KEYS_MOST);

		if (!snapshot_is_end_port(s, port) || !s->ports[port].num)
			continue;
		rule.guid = s->ports[port].guid;
		for (unsigned i = 0; i < n; i++) {
			rule.membership = prng_below(&rng, 2) ?
				PARTITION_FULL : PARTITION_LIMITED;
			g_array_append_val(p[(at + i * step) %
					     PARTITIONS]->rules, rule);
		}
	}
	return rules;
}

/* The wanted tables become what is held. */
static void
run(struct bench *b, const char *what)
{
	double least[2] = { G_MAXDOUBLE, G_MAXDOUBLE };
	const struct isolation_params params = {
		.rules = b->rules,
		.enforce = PKEY_ENFORCE_IN | PKEY_ENFORCE_OUT,
	};
	struct isolation *made = NULL;

	for (unsigned i = 0; i < ROUNDS; i++) {
		double start = bench_cpu_ms(), middle, end;

		memberships_unref(memberships_new(b->rules, b->s, NULL));
		middle = bench_cpu_ms();
		isolation_free(made);
		made = isolation_new(&params, b->s, b->held);
		end = bench_cpu_ms();
		least[0] = MIN(least[0], middle - start);
		least[1] = MIN(least[1], end - middle);
		b->n_pkeys = made->memberships->first[b->s->n_ports];
	}
	printf("    %-11s %9.2f ms (%.2f memberships, %.2f tables), %"
	       G_GUINT64_FORMAT " P_Keys\n", what, least[1],
	       least[0], least[1] - least[0], b->n_pkeys);
	port_tables_unref(b->held);
	b->held = port_tables_ref(made->wanted);
	isolation_free(made);
}

/* One host enters a partition. */
static void
change_one(struct bench *b)
{
	struct partition_rule rule = {
		.who = PARTITION_SELF, .membership = PARTITION_FULL,
	};

	g_array_append_val(partition_rules_get(b->rules, 0x7000)->rules, rule);
}

int
main(int argc, char **argv)
{
	const char *spec = argc > 1 ? argv[1] : BENCH_FABRIC;
	struct bench b = { .s = bench_fabric(spec) };

	make_room(b.s);
	b.rules = make_rules(b.s);
	b.held = port_tables_new(b.s);
	printf("%s: %u partitions, least of %u\n", spec, PARTITIONS, ROUNDS);
	run(&b, "from nothing");
	change_one(&b);
	run(&b, "one host");
	port_tables_unref(b.held);
	partition_rules_unref(b.rules);
	snapshot_unref(b.s);
	return 0;
}
