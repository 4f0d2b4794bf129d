// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What osmtest's inventory and validation flows check of paths, over the
 * simulator: every pair has the one that packets take, by whatever it is asked
 * for; all paths are many windows of RMPP, which several clients take at once
 * and through losses; an inventory of a changed fabric differs by the change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sm/wire/bytes.h"
#include "tests/lib/survey.h"

#define SEGMENT		200u	/* bytes of a table in one */
#define WINDOW		64u	/* segments */
#define ALL_PATHS	0x7fu
#define OFF_NUMB_PATH	49u

/* ----------------------------------------------------------------- paths */

/* The least of a channel, on the way that a packet takes. */
static void
least(const struct survey *b, const struct sim_trace *t, uint8_t *mtu,
      uint8_t *rate)
{
	for (unsigned i = 0; i < t->n; i++) {
		const struct port_info *info =
			sim_port_info(b->o.w.sim, t->hop[i].port);
		uint8_t code = (uint8_t)sa_rate_of(info);

		*mtu = MIN(*mtu, info->neighbor_mtu);
		if (sa_rate_compare(code, *rate) < 0)
			*rate = code;
	}
}

/* A path is worth what a packet on it meets, there and back. */
static void
check_path(const struct survey *b, const uint8_t *record, uint32_t from,
	   uint32_t to)
{
	uint8_t gid[16], mtu = 5, rate = 24;	/* what is there at most */
	struct path_record r;
	struct sim_trace t;

	path_record_decode(record, &r);
	osm_gid(&b->o, from, gid);
	assert_memory_equal(r.sgid, gid, 16);
	osm_gid(&b->o, to, gid);
	assert_memory_equal(r.dgid, gid, 16);
	assert_int_equal(r.pkey, 0xffff);
	assert_true(r.reversible);
	assert_int_equal(r.mtu_selector, SA_EXACTLY);
	assert_int_equal(r.rate_selector, SA_EXACTLY);
	assert_int_equal(r.life_selector, SA_EXACTLY);
	assert_int_equal(sim_probe(b->o.w.sim, from, r.dlid, r.pkey, r.sl,
				   &t), SIM_DELIVERED);
	assert_int_equal(t.end, to);
	least(b, &t, &mtu, &rate);
	assert_int_equal(sim_probe(b->o.w.sim, to, r.slid, r.pkey, r.sl, &t),
			 SIM_DELIVERED);
	assert_int_equal(t.end, from);
	least(b, &t, &mtu, &rate);
	if (from == to)
		return;
	assert_int_equal(r.mtu, mtu);
	assert_int_equal(r.rate, rate);
}

/* The last table: a path for each pair, and each is one. Returns them by
 * pair: ends->len squared, borrowed from the client. */
static const uint8_t **
check_paths(const struct survey *b)
{
	guint n = b->ends->len;
	const uint8_t **by_pair = g_new0(const uint8_t *, (gsize)n * n);

	for (unsigned i = 0; i < osm_records(&b->c[0], SA_ATTR_PATH); i++) {
		const uint8_t *record = osm_record(&b->c[0], SA_ATTR_PATH, i);
		uint64_t sguid = bytes_load(record + 32, 8);
		uint64_t dguid = bytes_load(record + 16, 8);
		guint from = n, to = n;

		for (guint k = 0; k < n; k++) {
			uint64_t guid = b->o.w.s->ports[survey_end(b, k)].guid;

			if (guid == sguid)
				from = k;
			if (guid == dguid)
				to = k;
		}
		assert_true(from < n && to < n);
		assert_null(by_pair[from * n + to]);
		by_pair[from * n + to] = record;
		check_path(b, record, survey_end(b, from), survey_end(b, to));
	}
	for (guint i = 0; i < n * n; i++)
		assert_non_null(by_pair[i]);
	return by_pair;
}

/* One record, this one but for the NumbPath that was asked for. */
static void
assert_path(const uint8_t *got, const uint8_t *want)
{
	uint8_t record[64];

	memcpy(record, got, sizeof(record));
	record[OFF_NUMB_PATH] = want[OFF_NUMB_PATH];
	assert_memory_equal(record, want, sizeof(record));
}

static void
ask_for_path(struct survey *b, const uint8_t *want)
{
	const uint64_t gids = SA_BIT(PATH_DGID) | SA_BIT(PATH_SGID);
	const uint64_t lids = SA_BIT(PATH_DLID) | SA_BIT(PATH_SLID);
	const uint64_t masks[] = {
		gids, lids, gids | lids, gids | SA_BIT(PATH_NUMB_PATH),
		SA_BIT(PATH_DGID) | SA_BIT(PATH_SLID),
	};
	uint8_t wanted[SA_DATA_LEN] = { 0 };

	memcpy(wanted + 8, want + 8, 36);	/* GIDs and LIDs */
	wanted[OFF_NUMB_PATH] = ALL_PATHS;
	for (size_t i = 0; i < G_N_ELEMENTS(masks); i++) {
		assert_int_equal(survey_ask(b, MAD_METHOD_GET, SA_ATTR_PATH,
					    masks[i], wanted), 0);
		assert_path(b->c[0].data, want);
		assert_int_equal(survey_ask(b, SA_METHOD_GET_TABLE,
					    SA_ATTR_PATH, masks[i], wanted),
				 0);
		assert_int_equal(osm_records(&b->c[0], SA_ATTR_PATH), 1);
		assert_path(osm_record(&b->c[0], SA_ATTR_PATH, 0), want);
	}
}

static void
check_every_pair(const char *spec)
{
	GByteArray *table;
	const uint8_t **by_pair;
	struct survey b;
	guint n;

	survey_open(&b, spec, 0);
	n = b.ends->len;
	assert_int_equal(osm_table(&b.c[0], SA_ATTR_PATH, 0, NULL), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_PATH), n * n);
	by_pair = check_paths(&b);
	table = b.c[0].table;
	b.c[0].table = g_byte_array_new();
	for (guint i = 0; i < n * n; i++)
		ask_for_path(&b, by_pair[i]);
	g_free(by_pair);
	g_byte_array_unref(table);
	survey_close(&b);
}

static void
test_every_pair_has_the_path_that_packets_take(void **state)
{
	check_every_pair(SURVEY_TREE);
}

static void
test_every_pair_of_ports_on_rails_has_a_path(void **state)
{
	check_every_pair(SURVEY_RAILS);
}

/* The last table is that of all paths with this port at the end where
 * `component` is. */
static void
assert_paths_of(const struct survey *b, unsigned component, uint32_t port)
{
	g_autofree uint8_t *seen = g_new0(uint8_t, b->o.w.s->n_ports);
	bool from = component == PATH_SGID || component == PATH_SLID;

	assert_int_equal(osm_records(&b->c[0], SA_ATTR_PATH), b->ends->len);
	for (unsigned i = 0; i < b->ends->len; i++) {
		struct path_record r;
		uint32_t other;

		path_record_decode(osm_record(&b->c[0], SA_ATTR_PATH, i), &r);
		assert_int_equal(from ? r.slid : r.dlid,
				 osm_lid(&b->o, port));
		other = truth_owner(&b->o, b->ends, from ? r.dlid : r.slid);
		assert_int_not_equal(other, SUBNET_NONE);
		assert_false(seen[other]);
		seen[other] = true;
	}
}

static void
test_paths_of_one_end_lead_everywhere(void **state)
{
	static const unsigned components[] = {
		PATH_SGID, PATH_DGID, PATH_SLID, PATH_DLID,
	};
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	for (guint i = 0; i < b.ends->len; i++) {
		uint32_t port = survey_end(&b, i);
		struct path_record r = {
			.slid = osm_lid(&b.o, port),
			.dlid = osm_lid(&b.o, port),
		};
		uint8_t wanted[SA_DATA_LEN] = { 0 };

		osm_gid(&b.o, port, r.sgid);
		osm_gid(&b.o, port, r.dgid);
		path_record_encode(wanted, &r);
		for (unsigned k = 0; k < G_N_ELEMENTS(components); k++) {
			assert_int_equal(osm_table(&b.c[0], SA_ATTR_PATH,
						   SA_BIT(components[k]),
						   wanted), 0);
			assert_paths_of(&b, components[k], port);
		}
	}
	survey_close(&b);
}

/* ---------------------------------------------------------- windows, loss */

static void
start_all(struct survey *b)
{
	const struct osm_question q = {
		.method = SA_METHOD_GET_TABLE, .attr_id = SA_ATTR_PATH,
	};

	for (unsigned i = 0; i < SURVEY_CLIENTS; i++)
		osm_start(&b->c[i], &q);
}

/* Three clients take all paths at once, and get the same, whole; without
 * losses and with more and more of them. */
static void
test_clients_take_large_tables_at_once(void **state)
{
	static const unsigned per_mille[] = { 0, 10, 30, 50 };
	GByteArray *want;
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	assert_int_equal(osm_table(&b.c[0], SA_ATTR_PATH, 0, NULL), 0);
	assert_true(b.c[0].table->len > 4 * WINDOW * SEGMENT);
	g_free(check_paths(&b));
	want = g_byte_array_new();
	g_byte_array_append(want, b.c[0].table->data, b.c[0].table->len);
	for (size_t i = 0; i < G_N_ELEMENTS(per_mille); i++) {
		unsigned rule = osm_lose(&b.o, per_mille[i]);

		start_all(&b);
		for (unsigned k = 0; k < SURVEY_CLIENTS; k++) {
			assert_int_equal(osm_wait(&b.c[k]), 0);
			assert_int_equal(b.c[k].table->len, want->len);
			assert_memory_equal(b.c[k].table->data, want->data,
					    want->len);
		}
		assert_true(per_mille[i] == 0 ||
			    sim_rule_hits(b.o.w.sim, rule) > 3);
		sim_rule_remove(b.o.w.sim, rule);
	}
	g_byte_array_unref(want);
	survey_close(&b);
}

/* ------------------------------------------------------------- inventories */

enum { NODES, PORTS, LINKS, PATHS, N_TABLES };

static const unsigned inventory_attr[N_TABLES] = {
	SA_ATTR_NODE, SA_ATTR_PORT_INFO, SA_ATTR_LINK, SA_ATTR_PATH,
};

struct inventory {
	GByteArray *table[N_TABLES];
};

/* What osmtest writes to its file; and it is the truth. */
static void
take_inventory(struct survey *b, struct inventory *v)
{
	survey_look_again(b);
	for (unsigned i = 0; i < PATHS; i++)
		v->table[i] = survey_check(b, inventory_attr[i]);
	assert_int_equal(osm_table(&b->c[0], SA_ATTR_PATH, 0, NULL), 0);
	g_free(check_paths(b));
	v->table[PATHS] = survey_told(&b->c[0], SA_ATTR_PATH);
}

static void
drop_inventory(struct inventory *v)
{
	for (unsigned i = 0; i < N_TABLES; i++)
		g_byte_array_unref(v->table[i]);
}

/* What one of them has and the other one has not. */
struct change {
	GByteArray *gone[N_TABLES], *come[N_TABLES];
	unsigned n_gone[N_TABLES], n_come[N_TABLES];
};

static void
compare_inventories(const struct inventory *a, const struct inventory *b,
		    struct change *c)
{
	for (unsigned i = 0; i < N_TABLES; i++) {
		size_t size = sa_record_size(inventory_attr[i]);

		c->gone[i] = records_minus(a->table[i], b->table[i], size);
		c->come[i] = records_minus(b->table[i], a->table[i], size);
		c->n_gone[i] = (unsigned)(c->gone[i]->len / size);
		c->n_come[i] = (unsigned)(c->come[i]->len / size);
	}
}

static void
drop_change(struct change *c)
{
	for (unsigned i = 0; i < N_TABLES; i++) {
		g_byte_array_unref(c->gone[i]);
		g_byte_array_unref(c->come[i]);
	}
}

static const uint8_t *
gone(const struct change *c, unsigned table, unsigned i)
{
	return c->gone[table]->data + i * sa_record_size(inventory_attr[table]);
}

static void
assert_unchanged(const struct inventory *a, const struct inventory *b)
{
	for (unsigned i = 0; i < N_TABLES; i++)
		survey_same(inventory_attr[i], a->table[i], b->table[i]);
}

/* A record of the PortInfo table that changed: this port, and no other. */
static bool
tells_of_port(const struct survey *b, const uint8_t *record, uint32_t port)
{
	return bytes_load(record, 2) ==
		osm_lid(&b->o, truth_end_port(&b->o, port)) &&
		record[2] == b->o.w.s->ports[port].num;
}

/* A host goes: its node, its port, its link both ways and its paths, and the
 * port of the switch is another; when it is back all is as it was. */
static void
test_inventory_without_a_host_lacks_that_host(void **state)
{
	struct inventory before, after, again;
	struct change c;
	struct survey b;
	uint32_t host, socket;
	uint16_t lid;
	guint n;

	survey_open(&b, SURVEY_TREE, 0);
	take_inventory(&b, &before);
	n = b.ends->len;
	host = osm_host(&b.o, 13);
	lid = osm_lid(&b.o, host);
	socket = sim_peer(b.o.w.sim, host);
	sim_node_off(b.o.w.sim, b.o.w.s->ports[host].node);
	osm_settle(&b.o);
	take_inventory(&b, &after);
	compare_inventories(&before, &after, &c);

	assert_int_equal(c.n_gone[NODES], 1);
	assert_int_equal(bytes_load(gone(&c, NODES, 0), 2), lid);
	assert_int_equal(c.n_come[NODES], 0);
	assert_int_equal(c.n_gone[PORTS], 2);
	assert_int_equal(c.n_come[PORTS], 1);
	assert_true(tells_of_port(&b, c.come[PORTS]->data, socket));
	assert_int_equal(c.n_gone[LINKS], 2);
	assert_int_equal(c.n_come[LINKS], 0);
	for (unsigned i = 0; i < 2; i++)
		assert_true(bytes_load(gone(&c, LINKS, i), 2) == lid ||
			    bytes_load(gone(&c, LINKS, i) + 4, 2) == lid);
	assert_int_equal(c.n_gone[PATHS], 2 * n - 1);
	assert_int_equal(c.n_come[PATHS], 0);
	for (unsigned i = 0; i < c.n_gone[PATHS]; i++)
		assert_true(bytes_load(gone(&c, PATHS, i) + 40, 2) == lid ||
			    bytes_load(gone(&c, PATHS, i) + 42, 2) == lid);

	sim_node_on(b.o.w.sim, b.o.w.s->ports[host].node);
	osm_settle(&b.o);
	take_inventory(&b, &again);
	assert_unchanged(&before, &again);
	drop_change(&c);
	drop_inventory(&before);
	drop_inventory(&after);
	drop_inventory(&again);
	survey_close(&b);
}

/* The nth port of a switch that is cabled to a switch. */
static uint32_t
trunk(const struct survey *b, unsigned n)
{
	const struct subnet *s = b->o.w.s;

	for (uint32_t p = 0; p < s->n_ports; p++)
		if (s->ports[p].peer != SUBNET_NONE &&
		    subnet_is_switch(subnet_node_of(s, p)) &&
		    subnet_is_switch(subnet_node_of(s, s->ports[p].peer)) &&
		    n-- == 0)
			return p;
	fail_msg("the fabric has no such trunk");
	return SUBNET_NONE;
}

/* A cable between switches goes: its two ends are others and the link is
 * missing; everybody is there and reached as before. */
static void
test_inventory_without_a_cable_lacks_that_cable(void **state)
{
	struct inventory before, after, again;
	struct change c;
	struct survey b;
	uint32_t port, peer;

	survey_open(&b, SURVEY_TREE, 0);
	take_inventory(&b, &before);
	port = trunk(&b, 3);
	peer = sim_peer(b.o.w.sim, port);
	sim_link_cut(b.o.w.sim, port);
	osm_settle(&b.o);
	take_inventory(&b, &after);
	compare_inventories(&before, &after, &c);

	assert_int_equal(c.n_gone[NODES] + c.n_come[NODES], 0);
	assert_int_equal(c.n_gone[PORTS], 2);
	assert_int_equal(c.n_come[PORTS], 2);
	for (unsigned i = 0; i < 2; i++)
		assert_true(tells_of_port(&b, gone(&c, PORTS, i), port) ||
			    tells_of_port(&b, gone(&c, PORTS, i), peer));
	assert_int_equal(c.n_gone[LINKS], 2);
	assert_int_equal(c.n_come[LINKS], 0);
	for (unsigned i = 0; i < 2; i++)
		assert_true(tells_of_port(&b, gone(&c, LINKS, i), port) ||
			    tells_of_port(&b, gone(&c, LINKS, i), peer));
	assert_int_equal(c.n_gone[PATHS] + c.n_come[PATHS], 0);

	sim_link_mend(b.o.w.sim, port);
	osm_settle(&b.o);
	take_inventory(&b, &again);
	assert_unchanged(&before, &again);
	drop_change(&c);
	drop_inventory(&before);
	drop_inventory(&after);
	drop_inventory(&again);
	survey_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_every_pair_has_the_path_that_packets_take),
		cmocka_unit_test(test_every_pair_of_ports_on_rails_has_a_path),
		cmocka_unit_test(test_paths_of_one_end_lead_everywhere),
		cmocka_unit_test(test_clients_take_large_tables_at_once),
		cmocka_unit_test(test_inventory_without_a_host_lacks_that_host),
		cmocka_unit_test(
			test_inventory_without_a_cable_lacks_that_cable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
