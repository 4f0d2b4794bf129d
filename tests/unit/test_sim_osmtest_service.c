// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What osmtest's service flow checks, over the simulator: registering, what is
 * told of a record and what is not, leases, looking up, deleting. The flow is
 * the one that osmtest runs, question by question; then several clients at
 * once, losses, and a restart of the SM.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <glib/gstdio.h>

#include "tests/lib/osmlab.h"

#define FABRIC		"PGFT(3,4;1,3)"		/* 12 hosts */
#define SEED		7u
#define FOR_EVER	UINT32_MAX
#define CLIENTS		8u
#define EACH		12u

#define BY_ID		SA_BIT(SERVICE_ID)
#define BY_NAME		SA_BIT(SERVICE_NAME)
#define BY_KEY		SA_BIT(SERVICE_KEY)
#define PLAIN		(BY_ID | SA_BIT(SERVICE_GID) | BY_NAME | BY_KEY | \
			 SA_BIT(SERVICE_LEASE))
#define WITH_PKEY	(PLAIN | SA_BIT(SERVICE_PKEY))
/* ServiceData8.1 and .2, 16.2, 32.2, 64.2: the bits that osmtest sets. */
#define WITH_DATA	(WITH_PKEY | UINT64_C(0x1981800180))

struct bench {
	struct osm_world o;
	struct osm_client c[CLIENTS];
};

static void
bench_open(struct bench *b, const char *cache_dir)
{
	osm_world_open(&b->o, FABRIC, SEED, cache_dir);
	for (unsigned i = 0; i < CLIENTS; i++)
		osm_client_open(&b->c[i], &b->o, osm_host(&b->o, i + 1));
}

static void
bench_close(struct bench *b)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		osm_client_close(&b->c[i]);
	osm_world_close(&b->o);
}

static void
describe(struct bench *b, unsigned client, uint64_t id, const char *name,
	 uint32_t lease, struct service_record *r)
{
	*r = (struct service_record){
		.id = id, .pkey = 0xffff, .lease = lease, .key = { 11 },
	};
	g_strlcpy(r->name, name, sizeof(r->name));
	osm_gid(&b->o, b->c[client].port, r->gid);
}

static void
question(unsigned method, uint64_t mask, const struct service_record *r,
	 struct osm_question *q)
{
	*q = (struct osm_question){
		.method = method, .attr_id = SA_ATTR_SERVICE, .mask = mask,
	};
	service_record_encode(q->data, r);
}

static unsigned
send(struct osm_client *c, unsigned method, uint64_t mask,
     const struct service_record *r)
{
	struct osm_question q;

	question(method, mask, r, &q);
	return osm_ask(c, &q);
}

static unsigned
lookup(struct bench *b, uint64_t mask, uint64_t id, const char *name,
       const uint8_t *key)
{
	struct service_record r;

	describe(b, 0, id, name ? name : "", 0, &r);
	memset(r.key, 0, sizeof(r.key));
	if (key)
		memcpy(r.key, key, sizeof(r.key));
	return send(&b->c[0], MAD_METHOD_GET, mask, &r);
}

static unsigned
by_name(struct bench *b, const char *name)
{
	return lookup(b, BY_NAME, 0, name, NULL);
}

/* The record of the last answer. */
static struct service_record
told(const struct bench *b)
{
	struct service_record r;

	service_record_decode(b->c[0].data, &r);
	return r;
}

/* How many records of this name the last table has. */
static unsigned
listed(const struct osm_client *c, const char *name)
{
	unsigned n = 0;

	for (unsigned i = 0; i < osm_records(c, SA_ATTR_SERVICE); i++) {
		struct service_record r;

		service_record_decode(osm_record(c, SA_ATTR_SERVICE, i), &r);
		n += strcmp(r.name, name) == 0;
	}
	return n;
}

static const uint8_t counted_key[16] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
};

/* The six registrations with which the flow begins. */
static void
register_as_osmtest(struct bench *b)
{
	static const uint8_t no_key[16];
	struct service_record r, back;

	describe(b, 0, 0x1000, "first", FOR_EVER, &r);
	assert_int_equal(send(&b->c[0], MAD_METHOD_SET, WITH_PKEY, &r), 0);
	describe(b, 0, 0x2000, "short", 4, &r);
	assert_int_equal(send(&b->c[0], MAD_METHOD_SET, WITH_PKEY, &r), 0);
	describe(b, 0, 0x3000, "no P_Key", FOR_EVER, &r);
	r.pkey = 0;
	assert_int_equal(send(&b->c[0], MAD_METHOD_SET, PLAIN, &r), 0);

	for (uint8_t turn = 0; turn < 2; turn++) {
		describe(b, 0, 0x4000, "data", 10, &r);
		r.key[0] = 12;
		r.data[1] = 1 + turn;
		r.data[19] = 2 + turn;
		r.data[39] = 3 + turn;
		r.data[63] = 4 + turn;
		assert_int_equal(send(&b->c[0], MAD_METHOD_SET, WITH_DATA,
				      &r), 0);
		back = told(b);
		assert_memory_equal(back.data, r.data, sizeof(r.data));
		assert_memory_equal(back.key, no_key, 16);
		assert_int_equal(back.lease, 10);
	}

	/* The same service again, under another name and key. */
	describe(b, 0, 0x5000, "old name", FOR_EVER, &r);
	memset(r.key, 0, 16);
	assert_int_equal(send(&b->c[0], MAD_METHOD_SET, PLAIN, &r), 0);
	describe(b, 0, 0x5000, "new name", FOR_EVER, &r);
	memcpy(r.key, counted_key, 16);
	assert_int_equal(send(&b->c[0], MAD_METHOD_SET, PLAIN, &r), 0);
	back = told(b);
	assert_memory_equal(back.key, no_key, 16);
}

/* What can be found, and by what. */
static void
look_up_as_osmtest(struct bench *b)
{
	static const uint8_t no_key[16];

	assert_int_equal(by_name(b, "first"), 0);
	assert_int_equal(told(b).id, 0x1000);
	assert_int_equal(by_name(b, "no P_Key"), 0);
	assert_int_equal(told(b).pkey, 0);
	assert_int_equal(lookup(b, BY_ID, 0x5000, NULL, NULL), 0);
	assert_string_equal(told(b).name, "new name");
	assert_int_equal(lookup(b, BY_ID, 0x6000, NULL, NULL),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(lookup(b, BY_ID | BY_NAME, 0x1000, "first", NULL),
			 0);
	assert_int_equal(lookup(b, BY_ID | BY_NAME, 0x5000, "new name", NULL),
			 0);
	assert_int_equal(lookup(b, BY_ID | BY_NAME, 0x1000, "data", NULL),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(lookup(b, BY_ID | BY_NAME, 0x4000, "old name", NULL),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(by_name(b, "unheard of"), SA_STATUS_NO_RECORDS);
	assert_int_equal(by_name(b, "old name"), SA_STATUS_NO_RECORDS);
	assert_int_equal(by_name(b, "new name"), 0);
	assert_int_equal(lookup(b, BY_NAME | BY_KEY, 0, "old name", no_key),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(lookup(b, BY_NAME | BY_KEY, 0, "new name", no_key),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(lookup(b, BY_NAME | BY_KEY, 0, "new name",
				counted_key), 0);
	assert_memory_equal(told(b).key, no_key, 16);
}

/* osmtest gets a record by its name, and deletes what it got. */
static unsigned
delete_by_name(struct bench *b, const char *name)
{
	unsigned status = by_name(b, name);
	struct service_record r = told(b);

	return status ? status : send(&b->c[0], SA_METHOD_DELETE, BY_NAME, &r);
}

static void
test_the_flow_of_osmtest_passes(void **state)
{
	struct service_record r;
	struct bench b;

	bench_open(&b, NULL);
	register_as_osmtest(&b);
	assert_int_equal(by_name(&b, "short"), 0);
	assert_int_equal(by_name(&b, "data"), 0);
	osm_run(&b.o, 5 * SECOND);
	assert_int_equal(by_name(&b, "short"), SA_STATUS_NO_RECORDS);
	assert_int_equal(by_name(&b, "data"), 0);
	osm_run(&b.o, 6 * SECOND);
	assert_int_equal(by_name(&b, "data"), SA_STATUS_NO_RECORDS);
	look_up_as_osmtest(&b);

	assert_int_equal(osm_table(&b.c[0], SA_ATTR_SERVICE, 0, NULL), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_SERVICE), 3);
	assert_int_equal(listed(&b.c[0], "first"), 1);
	assert_int_equal(listed(&b.c[0], "no P_Key"), 1);
	assert_int_equal(listed(&b.c[0], "new name"), 1);

	assert_int_equal(delete_by_name(&b, "first"), 0);
	assert_int_equal(b.c[0].method, 0x95);	/* DeleteResp */
	assert_int_equal(told(&b).id, 0x1000);
	assert_int_equal(by_name(&b, "first"), SA_STATUS_NO_RECORDS);
	describe(&b, 0, 0x1000, "first", 0, &r);
	assert_int_equal(send(&b.c[0], SA_METHOD_DELETE, BY_NAME, &r),
			 SA_STATUS_NO_RECORDS);
	describe(&b, 0, 0x5000, "old name", 0, &r);
	assert_int_equal(send(&b.c[0], SA_METHOD_DELETE, BY_NAME, &r),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(delete_by_name(&b, "new name"), 0);
	assert_int_equal(delete_by_name(&b, "no P_Key"), 0);
	assert_int_equal(osm_table(&b.c[0], SA_ATTR_SERVICE, 0, NULL), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_SERVICE), 0);
	bench_close(&b);
}

/* The GID as osmtest itself writes it, and a host that does it for another. */
static void
test_owner_is_who_has_the_guid(void **state)
{
	struct service_record r;
	struct bench b;

	bench_open(&b, NULL);
	describe(&b, 0, 1, "turned", FOR_EVER, &r);
	memset(r.gid, 0, 8);
	r.gid[6] = 0x80;
	r.gid[7] = 0xfe;
	assert_int_equal(send(&b.c[1], MAD_METHOD_SET, WITH_PKEY, &r),
			 SA_STATUS_DENIED);
	assert_int_equal(send(&b.c[0], MAD_METHOD_SET, WITH_PKEY, &r), 0);
	assert_int_equal(by_name(&b, "turned"), 0);
	r = told(&b);
	assert_int_equal(r.gid[7], 0xfe);
	assert_int_equal(send(&b.c[1], SA_METHOD_DELETE, BY_NAME, &r),
			 SA_STATUS_DENIED);
	assert_int_equal(delete_by_name(&b, "turned"), 0);
	bench_close(&b);
}

/* Leases of 4 s and 10 s, and what is left of them on the way. */
static void
test_leases_run_out_in_time(void **state)
{
	struct service_record r;
	struct bench b;
	int64_t begun;

	bench_open(&b, NULL);
	describe(&b, 0, 1, "four", 4, &r);
	assert_int_equal(send(&b.c[0], MAD_METHOD_SET, WITH_PKEY, &r), 0);
	describe(&b, 0, 2, "ten", 10, &r);
	assert_int_equal(send(&b.c[0], MAD_METHOD_SET, WITH_PKEY, &r), 0);
	begun = sim_now(b.o.w.sim);
	sim_run(b.o.w.sim, begun + 39 * SECOND / 10);
	assert_int_equal(by_name(&b, "four"), 0);
	assert_int_equal(told(&b).lease, 1);
	assert_int_equal(by_name(&b, "ten"), 0);
	assert_int_equal(told(&b).lease, 7);
	sim_run(b.o.w.sim, begun + 41 * SECOND / 10);
	assert_int_equal(by_name(&b, "four"), SA_STATUS_NO_RECORDS);
	/* Registered anew it has all of its lease again. */
	sim_run(b.o.w.sim, begun + 9 * SECOND);
	assert_int_equal(send(&b.c[0], MAD_METHOD_SET, WITH_PKEY, &r), 0);
	sim_run(b.o.w.sim, begun + 18 * SECOND);
	assert_int_equal(by_name(&b, "ten"), 0);
	sim_run(b.o.w.sim, begun + 20 * SECOND);
	assert_int_equal(by_name(&b, "ten"), SA_STATUS_NO_RECORDS);
	bench_close(&b);
}

/* All clients register and delete at once while MADs are lost: an attempt
 * that comes twice makes no second record, and the table is whole. */
static void
test_clients_at_once_with_losses(void **state)
{
	struct osm_question q;
	struct service_record r;
	struct bench b;
	unsigned rule;

	bench_open(&b, NULL);
	rule = osm_lose(&b.o, 20);
	for (unsigned n = 0; n < EACH; n++) {
		for (unsigned i = 0; i < CLIENTS; i++) {
			describe(&b, i, n, i % 2 ? "odd" : "even", FOR_EVER,
				 &r);
			question(MAD_METHOD_SET, WITH_PKEY, &r, &q);
			osm_start(&b.c[i], &q);
		}
		for (unsigned i = 0; i < CLIENTS; i++)
			assert_int_equal(osm_wait(&b.c[i]), 0);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		q = (struct osm_question){
			.method = SA_METHOD_GET_TABLE,
			.attr_id = SA_ATTR_SERVICE,
		};
		osm_start(&b.c[i], &q);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		assert_int_equal(osm_wait(&b.c[i]), 0);
		assert_int_equal(osm_records(&b.c[i], SA_ATTR_SERVICE),
				 CLIENTS * EACH);
		assert_int_equal(listed(&b.c[i], "odd"), CLIENTS * EACH / 2);
	}
	/* A Delete whose answer was lost finds nothing at its next attempt. */
	for (unsigned i = 0; i < CLIENTS; i++) {
		describe(&b, i, 5, i % 2 ? "odd" : "even", 0, &r);
		question(SA_METHOD_DELETE, BY_NAME, &r, &q);
		osm_start(&b.c[i], &q);
	}
	for (unsigned i = 0; i < CLIENTS; i++) {
		osm_wait(&b.c[i]);
		assert_true(!b.c[i].status || (b.c[i].attempts > 1 &&
			    b.c[i].status == SA_STATUS_NO_RECORDS));
	}
	assert_true(sim_rule_hits(b.o.w.sim, rule) > 0);
	sim_rule_remove(b.o.w.sim, rule);
	assert_int_equal(osm_table(&b.c[0], SA_ATTR_SERVICE, 0, NULL), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_SERVICE),
			 CLIENTS * (EACH - 1));
	bench_close(&b);
}

static void
remove_cache(char *dir)
{
	g_autofree char *file = g_build_filename(dir, "sa-state", NULL);

	assert_int_equal(g_unlink(file), 0);
	assert_int_equal(g_rmdir(dir), 0);
	g_free(dir);
}

/* The SM ends and starts again: services are there as before, with what is
 * left of their leases, and keys still count. */
static void
test_services_survive_a_restart(void **state)
{
	char *dir = g_dir_make_tmp("minism-osmtest-XXXXXX", NULL);
	struct service_record r;
	struct bench b;
	int64_t begun;

	assert_non_null(dir);
	bench_open(&b, dir);
	register_as_osmtest(&b);
	begun = sim_now(b.o.w.sim);
	osm_run(&b.o, 2 * SECOND);
	osm_world_restart(&b.o);
	/* A client in the middle of it only has to repeat. */
	describe(&b, 1, 0x7000, "meanwhile", FOR_EVER, &r);
	assert_int_equal(send(&b.c[1], MAD_METHOD_SET, WITH_PKEY, &r), 0);
	osm_settle(&b.o);
	assert_int_equal(by_name(&b, "meanwhile"), 0);
	assert_int_equal(by_name(&b, "data"), 0);
	assert_int_equal(told(&b).data[63], 5);
	assert_true(told(&b).lease <= 8);
	sim_run(b.o.w.sim, begun + 14 * SECOND);
	assert_int_equal(by_name(&b, "short"), SA_STATUS_NO_RECORDS);
	assert_int_equal(by_name(&b, "data"), SA_STATUS_NO_RECORDS);
	look_up_as_osmtest(&b);
	bench_close(&b);
	remove_cache(dir);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_flow_of_osmtest_passes),
		cmocka_unit_test(test_owner_is_who_has_the_guid),
		cmocka_unit_test(test_leases_run_out_in_time),
		cmocka_unit_test(test_clients_at_once_with_losses),
		cmocka_unit_test(test_services_survive_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
