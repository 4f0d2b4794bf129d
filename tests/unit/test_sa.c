/*
 * Subnet administration: every attribute by every mask against a plain filter,
 * paths against the tables, statuses, who may see what.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "routing/engine.h"
#include "sm/sa/sa.h"
#include "sm/wire/sa_record.h"
#include "topology/generate.h"
#include "topology/prng.h"

#define KEY	UINT64_C(0x1234)
#define NOW	INT64_C(1000000)

struct lab {
	struct subnet *s;
	struct lid_map *lids;
	struct lft *lft;
	struct partition_rules *rules;
	struct sa *sa;
	uint8_t mad[MAD_SIZE];
	struct sa_reply reply;
};

static void
put(uint8_t *to, uint64_t value, unsigned n)
{
	while (n--) {
		to[n] = (uint8_t)value;
		value >>= 8;
	}
}

static uint64_t
get(const uint8_t *from, unsigned n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | *from++;
	return value;
}

static void
lab_publish(struct lab *l)
{
	struct memberships *m = memberships_new(l->rules, l->s, NULL);
	struct sa_view *v = sa_view_new(l->s, l->lids, l->lft, NULL, l->rules,
					m, UINT64_C(0xfe80000000000000), 18,
					18);

	sa_publish(l->sa, v, NOW);
	sa_view_unref(v);
}

static void
lab_open(struct lab *l, const char *spec, unsigned lmc)
{
	const struct generate_options options = {
		.seed = 4, .shuffle_guids = true,
	};
	const struct sa_params params = { .sm_key = KEY };
	struct graph *g;

	memset(l, 0, sizeof(*l));
	l->s = generate_fabric(spec, &options, NULL);
	assert_non_null(l->s);
	l->lids = lids_assign(l->s, lmc, NULL, 0, NULL, NULL);
	for (uint32_t p = 0; p < l->s->n_ports; p++)
		if (l->s->ports[p].peer != SUBNET_NONE)
			l->s->ports[p].info.state = PORT_STATE_ACTIVE;
	g = graph_new(l->s, l->lids);
	l->lft = lft_new(g->n_switches, g->top);
	assert_true(engine_route(&engine_minhop, g, l->lft, NULL));
	graph_free(g);
	l->rules = partition_rules_default();
	l->sa = sa_new(&params);
	lab_publish(l);
}

static void
lab_close(struct lab *l)
{
	sa_records_free(l->reply.records);
	sa_free(l->sa);
	partition_rules_free(l->rules);
	lft_free(l->lft);
	lid_map_free(l->lids);
	subnet_unref(l->s);
}

/* The port of host number i. */
static uint32_t
host(const struct lab *l, unsigned i)
{
	for (uint32_t p = 0; p < l->s->n_ports; p++)
		if (subnet_is_end_port(l->s, p) &&
		    !subnet_is_switch(subnet_node_of(l->s, p)) && i-- == 0)
			return p;
	fail();
	return 0;
}

static void
begin(struct lab *l, unsigned method, unsigned attr_id, uint64_t mask)
{
	sa_build(l->mad, method, attr_id);
	put(l->mad + 48, mask, 8);
	put(l->mad + 36, KEY, 8);
}

/* Status of the answer; a table's is 0. */
static unsigned
ask_from(struct lab *l, uint32_t port)
{
	const struct sa_request request = {
		.mad = l->mad, .len = MAD_SIZE,
		.slid = l->lids->base[port], .now = NOW,
	};
	struct sa_header h;

	sa_records_free(l->reply.records);
	sa_answer(l->sa, &request, &l->reply);
	if (l->reply.kind == SA_REPLY_NONE)
		return 0xffff;
	assert_true(sa_header_read(l->reply.mad, MAD_SIZE, &h));
	assert_true(h.mad.method & MAD_METHOD_RESPONSE);
	assert_int_equal(h.sm_key, 0);
	assert_int_equal(l->reply.kind == SA_REPLY_TABLE,
			 l->reply.records != NULL);
	return h.mad.status;
}

static unsigned
ask(struct lab *l)
{
	return ask_from(l, host(l, 0));
}

static GByteArray *
drain(struct lab *l, unsigned *n)
{
	GByteArray *all = g_byte_array_new();
	uint8_t record[SA_DATA_LEN];

	*n = 0;
	assert_int_equal(l->reply.kind, SA_REPLY_TABLE);
	while (sa_records_next(l->reply.records, record)) {
		g_byte_array_append(all, record, (guint)
				    sa_records_size(l->reply.records));
		++*n;
	}
	return all;
}

static unsigned
count(struct lab *l)
{
	unsigned n;

	g_byte_array_unref(drain(l, &n));
	return n;
}

static const unsigned fabric_attrs[] = {
	SA_ATTR_NODE, SA_ATTR_PORT_INFO, SA_ATTR_SWITCH_INFO,
	SA_ATTR_LINEAR_FT, SA_ATTR_LINK, SA_ATTR_GUID_INFO,
	SA_ATTR_PKEY_TABLE,
};

static void
test_tables_have_a_record_for_everything(void **state)
{
	struct lab l;
	unsigned n_end = 0, n_ports = 0, n_links = 0;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	for (uint32_t p = 0; p < l.s->n_ports; p++) {
		n_end += subnet_is_end_port(l.s, p);
		n_ports += l.s->ports[p].known;
		n_links += l.s->ports[p].peer != SUBNET_NONE;
	}
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_NODE, 0);
	assert_int_equal(ask(&l), 0);
	assert_int_equal(count(&l), n_end);
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PORT_INFO, 0);
	ask(&l);
	assert_int_equal(count(&l), n_ports);
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_LINK, 0);
	ask(&l);
	assert_int_equal(count(&l), n_links);
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_SWITCH_INFO, 0);
	ask(&l);
	assert_int_equal(count(&l), l.s->n_switches);
	lab_close(&l);
}

static bool
naive_match(unsigned attr_id, uint64_t mask, const uint8_t *a,
	    const uint8_t *b)
{
	unsigned n;
	const struct sa_field *f = sa_fields(attr_id, &n);

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = f[i].offset; mask >> i & 1 &&
		     f[i].kind == SA_FIELD_PLAIN &&
		     k < f[i].offset + f[i].bits; k++)
			if ((a[k / 8] ^ b[k / 8]) >> (7 - k % 8) & 1)
				return false;
	return true;
}

/* Any mask of plain components, values of a record that there is: the same
 * records as a filter over the whole table gives. */
static void
test_every_mask_is_a_filter(void **state)
{
	uint64_t rng = prng_stream(61, 0);
	unsigned some = 0;
	struct lab l;

	printf("# seed 61\n");
	lab_open(&l, "PGFT(3,4;1,3)", 1);
	for (size_t k = 0; k < G_N_ELEMENTS(fabric_attrs); k++) {
		unsigned id = fabric_attrs[k], n_fields, n, i;
		const struct sa_field *f = sa_fields(id, &n_fields);
		size_t size = sa_record_size(id);
		GByteArray *all;

		begin(&l, SA_METHOD_GET_TABLE, id, 0);
		assert_int_equal(ask(&l), 0);
		all = drain(&l, &n);
		assert_true(n > 0);
		for (unsigned round = 0; round < 300; round++) {
			const uint8_t *pick = all->data +
				size * prng_below(&rng, n);
			uint64_t mask = prng_next(&rng) & prng_next(&rng) &
				prng_next(&rng);
			unsigned expected = 0, got;
			GByteArray *found;

			if (n_fields < 64)
				mask &= (UINT64_C(1) << n_fields) - 1;
			for (i = 0; i < n_fields; i++)
				if (f[i].kind == SA_FIELD_SPECIAL)
					mask &= ~SA_BIT(i);
			begin(&l, SA_METHOD_GET_TABLE, id, mask);
			memcpy(l.mad + SA_DATA_OFFSET, pick, size);
			assert_int_equal(ask(&l), 0);
			found = drain(&l, &got);
			for (i = 0; i < n; i++) {
				const uint8_t *r = all->data + size * i;

				if (!naive_match(id, mask, pick, r))
					continue;
				assert_true(expected < got);
				assert_memory_equal(r, found->data +
						    size * expected, size);
				expected++;
			}
			assert_int_equal(got, expected);
			some += expected > 1;
			g_byte_array_unref(found);
			/* Get: this one, or the status that says why not. */
			l.mad[3] = MAD_METHOD_GET;
			assert_int_equal(ask(&l), expected > 1 ?
					 SA_STATUS_TOO_MANY : 0);
			if (expected == 1)
				assert_memory_equal(l.reply.mad +
						    SA_DATA_OFFSET, pick,
						    size);
		}
		g_byte_array_unref(all);
	}
	assert_true(some > 100);
	lab_close(&l);
}

static void
test_any_lid_of_a_range_means_its_port(void **state)
{
	uint16_t base;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 2);
	base = l.lids->base[host(&l, 5)];
	for (unsigned i = 0; i < 4; i++) {
		begin(&l, MAD_METHOD_GET, SA_ATTR_NODE, 1);
		put(l.mad + SA_DATA_OFFSET, base + i, 2);
		assert_int_equal(ask(&l), 0);
		assert_int_equal(get(l.reply.mad + SA_DATA_OFFSET, 2), base);
	}
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_NODE, 1);
	put(l.mad + SA_DATA_OFFSET, 0xffff, 2);
	assert_int_equal(ask(&l), 0);
	assert_int_equal(count(&l), 0);
	lab_close(&l);
}

static void
test_capabilities_match_if_all_bits_are_there(void **state)
{
	struct lab l;
	uint32_t sm;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	sm = host(&l, 3);
	l.s->ports[sm].info.cap_mask |= PORT_CAP_IS_SM;
	lab_publish(&l);
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PORT_INFO, SA_BIT(7));
	put(l.mad + SA_DATA_OFFSET + 24, PORT_CAP_IS_SM, 4);
	put(l.mad + 20, 0x80000000u, 4);
	assert_int_equal(ask(&l), 0);
	assert_int_equal(count(&l), 1);
	/* Without the modifier it is equality. */
	put(l.mad + 20, 0, 4);
	ask(&l);
	assert_int_equal(count(&l),
			 l.s->ports[sm].info.cap_mask == PORT_CAP_IS_SM);
	lab_close(&l);
}

static void
test_statuses_say_what_is_wrong(void **state)
{
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	begin(&l, MAD_METHOD_GET, 0x7777, 0);
	assert_int_equal(ask(&l), MAD_STATUS_BAD_ATTRIBUTE);
	begin(&l, 0x55, SA_ATTR_NODE, 0);
	assert_int_equal(ask(&l), MAD_STATUS_BAD_METHOD);
	begin(&l, SA_METHOD_GET_TRACE_TABLE, SA_ATTR_PATH, 0);
	assert_int_equal(ask(&l), MAD_STATUS_BAD_METHOD);
	begin(&l, MAD_METHOD_SET, SA_ATTR_SM_INFO, 0);
	assert_int_equal(ask(&l), MAD_STATUS_BAD_ATTRIBUTE);
	begin(&l, MAD_METHOD_GET, SA_ATTR_INFORM_INFO, 0);
	assert_int_equal(ask(&l), MAD_STATUS_BAD_ATTRIBUTE);
	begin(&l, MAD_METHOD_GET, SA_ATTR_LINK, 0x10);
	assert_int_equal(ask(&l), SA_STATUS_REQ_INVALID);
	begin(&l, MAD_METHOD_GET, SA_ATTR_NODE, 1);
	put(l.mad + SA_DATA_OFFSET, 0xbfff, 2);
	assert_int_equal(ask(&l), SA_STATUS_NO_RECORDS);
	begin(&l, MAD_METHOD_GET, SA_ATTR_NODE, 0);
	assert_int_equal(ask(&l), SA_STATUS_TOO_MANY);
	begin(&l, MAD_METHOD_GET, SA_ATTR_NODE, 0);
	l.mad[2] = 1;
	assert_int_equal(ask(&l), MAD_STATUS_BAD_VERSION);
	/* A wrong key gets nothing; none is no key. */
	begin(&l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	put(l.mad + 36, KEY + 1, 8);
	assert_int_equal(ask(&l), 0xffff);
	put(l.mad + 36, 0, 8);
	assert_int_equal(ask(&l), 0);
	assert_int_equal(get(l.reply.mad + SA_DATA_OFFSET + 2, 2), 0x2602);
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PKEY_TABLE, 0);
	put(l.mad + 36, 0, 8);
	assert_int_equal(ask(&l), SA_STATUS_REQ_INVALID);
	begin(&l, MAD_METHOD_GET | MAD_METHOD_RESPONSE, SA_ATTR_NODE, 0);
	assert_int_equal(ask(&l), 0xffff);
	sa_publish(l.sa, NULL, NOW);
	begin(&l, MAD_METHOD_GET, SA_ATTR_CLASS_PORT_INFO, 0);
	assert_int_equal(ask(&l), MAD_STATUS_BUSY);
	lab_close(&l);
}

/* ------------------------------------------------------------------ paths */

static void
want_path(struct lab *l, unsigned method, uint32_t from, uint32_t to,
	  uint64_t mask, const struct path_record *more)
{
	struct path_record r = more ? *more : (struct path_record){ 0 };

	put(r.sgid, UINT64_C(0xfe80000000000000), 8);
	put(r.sgid + 8, l->s->ports[from].guid, 8);
	put(r.dgid, UINT64_C(0xfe80000000000000), 8);
	put(r.dgid + 8, l->s->ports[to].guid, 8);
	begin(l, method, SA_ATTR_PATH, mask | SA_BIT(PATH_SGID) |
	      SA_BIT(PATH_DGID));
	path_record_encode(l->mad + SA_DATA_OFFSET, &r);
}

static void
test_path_is_what_the_fabric_has(void **state)
{
	struct path_record r;
	struct lab l;
	uint32_t a, b;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	a = host(&l, 0);
	b = host(&l, 11);
	want_path(&l, MAD_METHOD_GET, a, b, 0, NULL);
	assert_int_equal(ask(&l), 0);
	path_record_decode(l.reply.mad + SA_DATA_OFFSET, &r);
	assert_int_equal(r.slid, l.lids->base[a]);
	assert_int_equal(r.dlid, l.lids->base[b]);
	assert_int_equal(r.pkey, 0xffff);
	assert_int_equal(r.mtu, 5);
	assert_int_equal(r.mtu_selector, SA_EXACTLY);
	assert_int_equal(r.rate, 16);
	assert_true(r.reversible);
	/* To itself. */
	want_path(&l, MAD_METHOD_GET, a, a, 0, NULL);
	assert_int_equal(ask(&l), 0);
	path_record_decode(l.reply.mad + SA_DATA_OFFSET, &r);
	assert_int_equal(r.dlid, r.slid);
	assert_int_equal(r.life, 0);
	/* By LID. */
	begin(&l, MAD_METHOD_GET, SA_ATTR_PATH, SA_BIT(PATH_DLID) |
	      SA_BIT(PATH_SLID));
	put(l.mad + SA_DATA_OFFSET + 40, l.lids->base[b], 2);
	put(l.mad + SA_DATA_OFFSET + 42, l.lids->base[a], 2);
	assert_int_equal(ask(&l), 0);
	/* Nobody has this GID. */
	want_path(&l, MAD_METHOD_GET, a, b, 0, NULL);
	l.mad[SA_DATA_OFFSET + 8 + 15] ^= 0x55;
	assert_int_equal(ask(&l), SA_STATUS_INVALID_GID);
	lab_close(&l);
}

/* The slowest cable decides; a link that is not Active carries nothing. */
static void
test_path_is_as_good_as_its_worst_cable(void **state)
{
	struct path_record r;
	struct lab l;
	uint32_t a, b;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	a = host(&l, 0);
	b = host(&l, 11);
	l.s->ports[b].info.mtu_cap = 4;
	l.s->ports[l.s->ports[b].peer].info.speed_ext_active = 0;
	l.s->ports[l.s->ports[b].peer].info.speed_active = 4;
	lab_publish(&l);
	want_path(&l, MAD_METHOD_GET, a, b, 0, NULL);
	assert_int_equal(ask(&l), 0);
	path_record_decode(l.reply.mad + SA_DATA_OFFSET, &r);
	assert_int_equal(r.mtu, 4);
	assert_int_equal(r.rate, 7);
	l.s->ports[b].info.state = PORT_STATE_ARMED;
	lab_publish(&l);
	want_path(&l, MAD_METHOD_GET, a, b, 0, NULL);
	assert_int_equal(ask(&l), SA_STATUS_NO_RECORDS);
	lab_close(&l);
}

/* A shortcut that must say what the walk says. */
static void
test_uniform_fabric_needs_no_walk(void **state)
{
	struct path_record walked, told;
	struct memberships *m;
	struct sa_view *v;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	l.s->ports[host(&l, 4)].info.mtu_cap = 3;
	l.s->ports[host(&l, 5)].info.speed_ext_active = 0;
	l.s->ports[host(&l, 5)].info.speed_active = 4;
	for (unsigned i = 0; i < 12; i++) {
		lab_publish(&l);
		want_path(&l, MAD_METHOD_GET, host(&l, i), host(&l, 5), 0,
			  NULL);
		assert_int_equal(ask(&l), 0);
		path_record_decode(l.reply.mad + SA_DATA_OFFSET, &walked);
		m = memberships_new(l.rules, l.s, NULL);
		v = sa_view_new(l.s, l.lids, l.lft, NULL, l.rules, m,
				UINT64_C(0xfe80000000000000), 18, 18);
		assert_true(v->uniform);
		sa_view_verified(v);
		sa_publish(l.sa, v, NOW);
		sa_view_unref(v);
		assert_int_equal(ask(&l), 0);
		path_record_decode(l.reply.mad + SA_DATA_OFFSET, &told);
		assert_int_equal(walked.mtu, told.mtu);
		assert_int_equal(walked.rate, told.rate);
	}
	lab_close(&l);
}

static void
test_selectors_have_four_meanings(void **state)
{
	static const struct {
		uint8_t selector, mtu;
		uint8_t offered;	/* 0: none */
	} mtus[] = {	/* the way has 5 */
		{ SA_GREATER, 4, 5 }, { SA_GREATER, 5, 0 },
		{ SA_LESS, 5, 4 }, { SA_LESS, 1, 0 }, { SA_LESS, 3, 2 },
		{ SA_EXACTLY, 5, 5 }, { SA_EXACTLY, 2, 2 },
		{ SA_EXACTLY, 6, 0 }, { SA_LARGEST, 1, 5 },
	}, rates[] = {	/* 16: 100 Gb/s */
		{ SA_GREATER, 12, 16 }, { SA_GREATER, 16, 0 },
		{ SA_GREATER, 17, 0 }, { SA_LESS, 16, 9 }, { SA_LESS, 2, 0 },
		{ SA_EXACTLY, 3, 3 }, { SA_EXACTLY, 17, 0 },
		{ SA_EXACTLY, 1, 0 }, { SA_LARGEST, 2, 16 },
	};
	struct path_record want, r;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	for (size_t i = 0; i < G_N_ELEMENTS(mtus); i++) {
		want = (struct path_record){
			.mtu_selector = mtus[i].selector, .mtu = mtus[i].mtu,
			.rate_selector = rates[i].selector,
			.rate = rates[i].mtu,
		};
		want_path(&l, MAD_METHOD_GET, host(&l, 0), host(&l, 9),
			  SA_BIT(PATH_MTU) | SA_BIT(PATH_MTU_SELECTOR),
			  &want);
		assert_int_equal(ask(&l), mtus[i].offered ? 0 :
				 SA_STATUS_NO_RECORDS);
		path_record_decode(l.reply.mad + SA_DATA_OFFSET, &r);
		assert_int_equal(r.mtu, mtus[i].offered);
		want_path(&l, MAD_METHOD_GET, host(&l, 0), host(&l, 9),
			  SA_BIT(PATH_RATE) | SA_BIT(PATH_RATE_SELECTOR),
			  &want);
		assert_int_equal(ask(&l), rates[i].offered ? 0 :
				 SA_STATUS_NO_RECORDS);
		path_record_decode(l.reply.mad + SA_DATA_OFFSET, &r);
		assert_int_equal(r.rate, rates[i].offered);
		/* A value without its selector asks for nothing. */
		want_path(&l, MAD_METHOD_GET, host(&l, 0), host(&l, 9),
			  SA_BIT(PATH_MTU) | SA_BIT(PATH_RATE), &want);
		assert_int_equal(ask(&l), 0);
	}
	lab_close(&l);
}

static void
test_all_paths_are_streamed(void **state)
{
	struct lab l;
	unsigned n_end = 0;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	for (uint32_t p = 0; p < l.s->n_ports; p++)
		n_end += subnet_is_end_port(l.s, p);
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_PATH, 0);
	assert_int_equal(ask(&l), 0);
	/* The fabric may change in the middle of an answer. */
	sa_publish(l.sa, NULL, NOW);
	assert_int_equal(count(&l), n_end * n_end);
	lab_close(&l);
}

static void
test_lmc_gives_as_many_paths(void **state)
{
	struct path_record want = { .numb_path = 3 };
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 2);
	want_path(&l, SA_METHOD_GET_TABLE, host(&l, 0), host(&l, 9), 0, NULL);
	ask(&l);
	assert_int_equal(count(&l), 4);
	want_path(&l, SA_METHOD_GET_TABLE, host(&l, 0), host(&l, 9),
		  SA_BIT(PATH_NUMB_PATH), &want);
	ask(&l);
	assert_int_equal(count(&l), 3);
	want_path(&l, MAD_METHOD_GET, host(&l, 0), host(&l, 9), 0, NULL);
	assert_int_equal(ask(&l), 0);
	lab_close(&l);
}

/* Two tenants: each sees itself only; limited members meet full ones only. */
static void
test_partitions_are_obeyed(void **state)
{
	struct partition_rule rule = { .who = PARTITION_GUID };
	struct path_record want = { .pkey = 0x8001 };
	struct partition *p;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	partition_rules_free(l.rules);
	l.rules = partition_rules_new();
	p = partition_rules_get(l.rules, 1);
	for (unsigned i = 0; i < 4; i++) {
		rule.guid = l.s->ports[host(&l, i)].guid;
		rule.membership = i < 2 ? PARTITION_FULL : PARTITION_LIMITED;
		g_array_append_val(p->rules, rule);
	}
	p = partition_rules_get(l.rules, 2);
	rule.guid = l.s->ports[host(&l, 5)].guid;
	rule.membership = PARTITION_FULL;
	g_array_append_val(p->rules, rule);
	lab_publish(&l);

	want_path(&l, MAD_METHOD_GET, host(&l, 0), host(&l, 1), 0, NULL);
	assert_int_equal(ask(&l), 0);
	want_path(&l, MAD_METHOD_GET, host(&l, 0), host(&l, 2),
		  SA_BIT(PATH_PKEY), &want);
	assert_int_equal(ask(&l), 0);
	want_path(&l, MAD_METHOD_GET, host(&l, 2), host(&l, 3), 0, NULL);
	assert_int_equal(ask(&l), SA_STATUS_NO_RECORDS);
	want_path(&l, MAD_METHOD_GET, host(&l, 0), host(&l, 5), 0, NULL);
	assert_int_equal(ask(&l), SA_STATUS_NO_RECORDS);
	want.pkey = 0x8002;
	want_path(&l, MAD_METHOD_GET, host(&l, 0), host(&l, 1),
		  SA_BIT(PATH_PKEY), &want);
	assert_int_equal(ask(&l), SA_STATUS_NO_RECORDS);

	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_NODE, 0);
	put(l.mad + 36, 0, 8);
	assert_int_equal(ask_from(&l, host(&l, 5)), 0);
	assert_int_equal(count(&l), 1);
	assert_int_equal(ask_from(&l, host(&l, 0)), 0);
	assert_int_equal(count(&l), 4);
	/* A limited member does not see its like. */
	assert_int_equal(ask_from(&l, host(&l, 2)), 0);
	assert_int_equal(count(&l), 3);
	lab_close(&l);
}

static void
test_multi_path_joins_lists_of_gids(void **state)
{
	struct multi_path_record r = { .n_sgids = 2, .n_dgids = 3 };
	uint8_t *gids;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	begin(&l, SA_METHOD_GET_MULTI, SA_ATTR_MULTI_PATH,
	      SA_BIT(MULTI_SGID_COUNT) | SA_BIT(MULTI_DGID_COUNT));
	multi_path_record_encode(l.mad + SA_DATA_OFFSET, &r);
	gids = l.mad + SA_DATA_OFFSET + MULTI_PATH_GIDS_OFFSET;
	for (unsigned i = 0; i < 5; i++) {
		put(gids + 16 * i, UINT64_C(0xfe80000000000000), 8);
		put(gids + 16 * i + 8, l.s->ports[host(&l, i)].guid, 8);
	}
	assert_int_equal(ask(&l), 0);
	assert_int_equal(l.reply.mad[3], 0x94);
	assert_int_equal(count(&l), 6);
	/* More GIDs than there are bytes; none at all. */
	l.mad[SA_DATA_OFFSET + 15] = 200;
	assert_int_equal(ask(&l), SA_STATUS_REQ_INVALID);
	l.mad[SA_DATA_OFFSET + 15] = 0;
	assert_int_equal(ask(&l), SA_STATUS_INSUFFICIENT);
	lab_close(&l);
}

/* --------------------------------------------- what clients leave behind */

static void
join(struct lab *l, uint32_t port, uint64_t mask, uint8_t states)
{
	struct mcmember_record r = {
		.q_key = 0x0b1b, .pkey = 0xffff, .join_state = states,
		.scope = 2,
	};

	put(r.mgid, UINT64_C(0xff12401bffff0000), 8);
	put(r.mgid + 8, 0x00000000ffffffff, 8);
	put(r.port_gid, UINT64_C(0xfe80000000000000), 8);
	put(r.port_gid + 8, l->s->ports[port].guid, 8);
	begin(l, MAD_METHOD_SET, SA_ATTR_MC_MEMBER, mask |
	      SA_BIT(MCM_MGID) | SA_BIT(MCM_PORT_GID) |
	      SA_BIT(MCM_JOIN_STATE));
	mcmember_record_encode(l->mad + SA_DATA_OFFSET, &r);
}

static void
test_ipoib_group_is_joined_found_and_left(void **state)
{
	const GArray *trees;
	struct path_record path;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	for (unsigned i = 0; i < 3; i++) {
		join(&l, host(&l, i), 0, 1);
		assert_int_equal(ask_from(&l, host(&l, i)), 0);
	}
	trees = sa_trees(l.sa);
	assert_int_equal(trees->len, 1);
	assert_int_equal(g_array_index(trees, struct sa_tree, 0).n_members,
			 3);
	assert_int_equal(g_array_index(trees, struct sa_tree, 0).mlid,
			 0xc000);
	begin(&l, SA_METHOD_GET_TABLE, SA_ATTR_MC_MEMBER, 0);
	assert_int_equal(ask(&l), 0);
	assert_int_equal(count(&l), 3);
	put(l.mad + 36, 0, 8);		/* the others learn of the group */
	assert_int_equal(ask(&l), 0);
	assert_int_equal(count(&l), 1);
	/* The path to the group. */
	begin(&l, MAD_METHOD_GET, SA_ATTR_PATH, SA_BIT(PATH_DGID));
	put(l.mad + SA_DATA_OFFSET + 8, UINT64_C(0xff12401bffff0000), 8);
	put(l.mad + SA_DATA_OFFSET + 16, 0x00000000ffffffff, 8);
	assert_int_equal(ask(&l), 0);
	path_record_decode(l.reply.mad + SA_DATA_OFFSET, &path);
	assert_int_equal(path.dlid, 0xc000);
	for (unsigned i = 0; i < 3; i++) {
		join(&l, host(&l, i), 0, 1);
		l.mad[3] = SA_METHOD_DELETE;
		assert_int_equal(ask_from(&l, host(&l, i)), 0);
	}
	assert_int_equal(sa_trees(l.sa)->len, 0);
	lab_close(&l);
}

static void
test_state_survives_a_restart(void **state)
{
	const struct sa_params params = { .sm_key = KEY };
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GString) again = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	struct sa_stats stats;
	struct lab l;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	join(&l, host(&l, 1), 0, 1);
	assert_int_equal(ask_from(&l, host(&l, 1)), 0);
	sa_save(l.sa, text, NOW);
	sa_free(l.sa);
	l.sa = sa_new(&params);
	assert_true(sa_load(l.sa, text->str, NOW, &error));
	lab_publish(&l);
	sa_save(l.sa, again, NOW);
	assert_string_equal(again->str, text->str);
	sa_stats(l.sa, &stats);
	assert_int_equal(stats.n_members, 1);
	assert_false(sa_load(l.sa, "nonsense 1 2\n", NOW, &error));
	assert_true(g_str_has_prefix(error->message, "line 1: "));
	lab_close(&l);
}

static void
test_subscriber_is_told_of_ports_that_come_and_go(void **state)
{
	struct inform_info info = {
		.lid_begin = 0xffff, .generic = true, .subscribe = 1,
		.type = 0xffff, .trap = 0xffff, .producer = 0xffffff,
		.qpn = 1,
	};
	struct sa_report report;
	struct subnet *old;
	struct lab l;
	uint32_t gone;
	uint64_t guid;

	lab_open(&l, "PGFT(3,4;1,3)", 0);
	begin(&l, MAD_METHOD_SET, SA_ATTR_INFORM_INFO, 0);
	inform_info_encode(l.mad + SA_DATA_OFFSET, &info);
	assert_int_equal(ask_from(&l, host(&l, 2)), 0);
	assert_false(sa_next_report(l.sa, &report));
	gone = host(&l, 7);
	guid = l.s->ports[gone].guid;
	old = l.s;
	l.s = subnet_copy(old);
	subnet_unref(old);
	l.s->ports[gone].guid = 0;
	lab_publish(&l);
	assert_true(sa_next_report(l.sa, &report));
	assert_int_equal(report.lid, l.lids->base[host(&l, 2)]);
	assert_int_equal(report.mad[3], SA_METHOD_REPORT);
	assert_int_equal(get(report.mad + SA_DATA_OFFSET + 4, 2), 65);
	assert_true(get(report.mad + SA_DATA_OFFSET + 24, 8) == guid);
	sa_report_ended(l.sa, report.id, true);
	l.s->ports[gone].guid = guid;
	lab_publish(&l);
	assert_true(sa_next_report(l.sa, &report));
	assert_int_equal(get(report.mad + SA_DATA_OFFSET + 4, 2), 64);
	/* Whoever does not answer is dead. */
	sa_report_ended(l.sa, report.id, false);
	l.s->ports[gone].guid = 0;
	lab_publish(&l);
	assert_false(sa_next_report(l.sa, &report));
	lab_close(&l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables_have_a_record_for_everything),
		cmocka_unit_test(test_every_mask_is_a_filter),
		cmocka_unit_test(test_any_lid_of_a_range_means_its_port),
		cmocka_unit_test(
			test_capabilities_match_if_all_bits_are_there),
		cmocka_unit_test(test_statuses_say_what_is_wrong),
		cmocka_unit_test(test_path_is_what_the_fabric_has),
		cmocka_unit_test(test_path_is_as_good_as_its_worst_cable),
		cmocka_unit_test(test_uniform_fabric_needs_no_walk),
		cmocka_unit_test(test_selectors_have_four_meanings),
		cmocka_unit_test(test_all_paths_are_streamed),
		cmocka_unit_test(test_lmc_gives_as_many_paths),
		cmocka_unit_test(test_partitions_are_obeyed),
		cmocka_unit_test(test_multi_path_joins_lists_of_gids),
		cmocka_unit_test(test_ipoib_group_is_joined_found_and_left),
		cmocka_unit_test(test_state_survives_a_restart),
		cmocka_unit_test(
			test_subscriber_is_told_of_ports_that_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
