// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * service.h promises: a record for each ServiceID, ServiceGID and P_Key, as
 * long as its lease; nobody speaks for others; keys are never told. The fabric
 * is one switch with hosts (sa_star.h); time is what the test says.
 */
#include <stdlib.h>
#include <string.h>

#include "sm/sa/service.h"
#include "tests/lib/sa_star.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define N_HOSTS		4u
#define SECOND		G_GINT64_CONSTANT(1000000)
#define START		(77 * SECOND)
#define FOR_EVER	UINT32_MAX

#define NAME_MASK	(SA_BIT(SERVICE_ID) | SA_BIT(SERVICE_GID))
#define SET_MASK	(NAME_MASK | SA_BIT(SERVICE_PKEY) | \
			 SA_BIT(SERVICE_LEASE) | SA_BIT(SERVICE_KEY) | \
			 SA_BIT(SERVICE_NAME))

#define service_at(s, i)	((const struct service *)(s)->list->pdata[i])

struct fixture {
	struct star *star;
	struct services *s;
	struct service_record r;
	int64_t now;
};

static int
setup(void **state)
{
	struct fixture *f = g_new0(struct fixture, 1);

	f->star = star_new(N_HOSTS);
	f->s = services_new();
	f->now = START;
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	services_free(f->s);
	star_free(f->star);
	g_free(f);
	return 0;
}

static void
fill(struct fixture *f, unsigned host, uint64_t id, uint32_t lease)
{
	f->r = (struct service_record){
		.id = id,
		.pkey = 0xffff,
		.lease = lease,
		.key = { 11 },
		.name = "a service",
		.data = { 1, 2, 3, [63] = 4 },
	};
	star_gid(host, f->r.gid);
}

static unsigned
send_set(struct fixture *f, unsigned host, uint64_t mask)
{
	return services_set(f->s, f->star->v, star_port(f->star, host), mask,
			    &f->r, f->now);
}

static unsigned
set(struct fixture *f, unsigned host, uint64_t id, uint32_t lease)
{
	fill(f, host, id, lease);
	return send_set(f, host, SET_MASK);
}

static unsigned
delete(struct fixture *f, unsigned host, uint64_t id, uint64_t mask)
{
	fill(f, host, id, 1);
	memset(f->r.key, 0, 16);
	return services_delete(f->s, f->star->v, star_port(f->star, host),
			       mask, &f->r, f->now);
}

TEST(test_set_answers_all_but_the_key, setup, teardown)
{
	static const uint8_t none[16];
	struct fixture *f = *state;
	struct service_record sent;

	fill(f, 1, 5, 10);
	sent = f->r;
	assert_int_equal(send_set(f, 1, SET_MASK), 0);
	assert_memory_equal(f->r.key, none, 16);
	assert_int_equal(f->r.lease, 10);
	assert_memory_equal(f->r.data, sent.data, 64);
	assert_int_equal(f->s->list->len, 1);
	assert_memory_equal(service_at(f->s, 0)->record.key, sent.key, 16);
	assert_memory_equal(service_at(f->s, 0)->record.name, sent.name, 64);
	assert_int_equal(service_at(f->s, 0)->ends, START + 10 * SECOND);
}

TEST(test_same_name_overwrites, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t version;

	assert_int_equal(set(f, 1, 5, FOR_EVER), 0);
	version = f->s->version;
	fill(f, 1, 5, 4);
	f->r.key[0] = 12;
	strcpy(f->r.name, "another");
	assert_int_equal(send_set(f, 1, SET_MASK), 0);
	assert_int_equal(f->s->list->len, 1);
	assert_string_equal(service_at(f->s, 0)->record.name, "another");
	assert_int_equal(service_at(f->s, 0)->record.key[0], 12);
	assert_int_equal(f->s->next, START + 4 * SECOND);
	assert_int_not_equal(f->s->version, version);

	/* Another GID, ServiceID or P_Key is another service. */
	assert_int_equal(set(f, 2, 5, 4), 0);
	assert_int_equal(set(f, 1, 6, 4), 0);
	fill(f, 1, 5, 4);
	assert_int_equal(send_set(f, 1, SET_MASK & ~SA_BIT(SERVICE_PKEY)), 0);
	assert_int_equal(f->r.pkey, 0);
	assert_int_equal(f->s->list->len, 4);
}

TEST(test_leases_end_in_time, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(f->s->next, INT64_MAX);
	assert_int_equal(set(f, 1, 1, FOR_EVER), 0);
	assert_int_equal(f->s->next, INT64_MAX);
	assert_int_equal(set(f, 1, 2, 10), 0);
	assert_int_equal(set(f, 1, 3, 4), 0);
	fill(f, 1, 4, 1);
	assert_int_equal(send_set(f, 1, SET_MASK & ~SA_BIT(SERVICE_LEASE)), 0);
	assert_int_equal(f->r.lease, FOR_EVER);

	assert_int_equal(f->s->next, START + 4 * SECOND);
	services_tick(f->s, START + 4 * SECOND - 1);
	assert_int_equal(f->s->list->len, 4);
	services_tick(f->s, START + 4 * SECOND);
	assert_int_equal(f->s->list->len, 3);
	assert_int_equal(f->s->next, START + 10 * SECOND);
	services_tick(f->s, START + 1000000 * SECOND);
	assert_int_equal(f->s->list->len, 2);
	assert_int_equal(f->s->next, INT64_MAX);
	/* The longest lease that ends does so. */
	assert_int_equal(set(f, 1, 2, FOR_EVER - 1), 0);
	assert_int_equal(f->s->next,
			 START + (int64_t)(FOR_EVER - 1) * SECOND);
}

/* Its port has gone, or has left the partition. */
TEST(test_services_end_with_their_port, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t version;

	assert_int_equal(set(f, 1, 10, FOR_EVER), 0);
	assert_int_equal(set(f, 2, 10, 1000), 0);
	assert_int_equal(set(f, 2, 11, FOR_EVER), 0);
	fill(f, 3, 12, FOR_EVER);
	assert_int_equal(send_set(f, 3, NAME_MASK), 0);	/* no P_Key */
	version = f->s->version;
	services_follow(f->s, f->star->v);
	assert_int_equal(f->s->list->len, 4);
	assert_true(f->s->version == version);
	star_take_away(f->star, 2);
	services_follow(f->s, f->star->v);
	assert_int_equal(f->s->list->len, 2);
	assert_true(f->s->version != version);
	star_bring_back(f->star, 2);
	services_follow(f->s, f->star->v);
	assert_int_equal(f->s->list->len, 2);
	assert_true(service_at(f->s, 0)->record.id == 10);
	/* nobody is in the default partition: who named none may stay */
	g_array_set_size(partition_rules_get(f->star->rules,
					     PKEY_DEFAULT)->rules, 0);
	star_rule(f->star, 1, 1, PARTITION_FULL);
	star_rule(f->star, 1, 3, PARTITION_FULL);
	star_publish(f->star);
	services_follow(f->s, f->star->v);
	assert_int_equal(f->s->list->len, 1);
	assert_true(service_at(f->s, 0)->record.id == 12);
}

TEST(test_set_is_refused_with_a_reason, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(set(f, 1, 1, 0), SA_STATUS_REQ_INVALID);
	fill(f, 1, 1, 9);
	assert_int_equal(send_set(f, 1, SET_MASK & ~SA_BIT(SERVICE_ID)),
			 SA_STATUS_INSUFFICIENT);
	assert_int_equal(send_set(f, 1, SET_MASK & ~SA_BIT(SERVICE_GID)),
			 SA_STATUS_INSUFFICIENT);
	assert_int_equal(send_set(f, 2, SET_MASK), SA_STATUS_DENIED);
	f->r.gid[15] ^= 1;
	assert_int_equal(send_set(f, 1, SET_MASK), SA_STATUS_INVALID_GID);
	fill(f, 1, 1, 9);
	f->r.gid[0] = 0x20;
	assert_int_equal(send_set(f, 1, SET_MASK), SA_STATUS_INVALID_GID);
	fill(f, 1, 1, 9);
	f->r.pkey = 0x8001;
	assert_int_equal(send_set(f, 1, SET_MASK), SA_STATUS_REQ_INVALID);
	fill(f, 1, 1, 9);
	f->r.pkey = 0;
	assert_int_equal(send_set(f, 1, SET_MASK), SA_STATUS_REQ_INVALID);
	assert_int_equal(services_set(f->s, f->star->v, SNAPSHOT_NONE, SET_MASK,
				      &f->r, f->now), SA_STATUS_REQ_INVALID);
	assert_int_equal(f->s->list->len, 0);
	assert_int_equal(f->s->version, 0);

	/* Some clients leave the prefix out; a limited member may serve. */
	star_rule(f->star, 1, 1, PARTITION_LIMITED);
	star_publish(f->star);
	fill(f, 1, 1, 9);
	memset(f->r.gid, 0, 8);
	f->r.pkey = 0x0001;
	assert_int_equal(send_set(f, 1, SET_MASK), 0);
	assert_int_equal(f->r.gid[0], 0);

	/* osmtest writes the bytes of the prefix in the other order. */
	fill(f, 1, 2, 9);
	f->r.pkey = 0x0001;
	memset(f->r.gid, 0, 8);
	f->r.gid[6] = 0x80;
	f->r.gid[7] = 0xfe;
	assert_int_equal(send_set(f, 2, SET_MASK), SA_STATUS_DENIED);
	assert_int_equal(send_set(f, 1, SET_MASK), 0);
	assert_int_equal(f->r.gid[7], 0xfe);
	f->r.gid[5] = 1;
	assert_int_equal(send_set(f, 1, SET_MASK), SA_STATUS_INVALID_GID);
}

/* As osmtest does: the record was got before, so its key is zero; the mask
 * names the service name. */
TEST(test_delete_takes_the_one_that_is_meant, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(set(f, 1, 1, 10), 0);
	assert_int_equal(set(f, 1, 2, 10), 0);
	assert_int_equal(set(f, 2, 1, 10), 0);
	assert_int_equal(delete(f, 1, 3, SA_BIT(SERVICE_NAME)),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(delete(f, 1, 1, NAME_MASK | SA_BIT(SERVICE_KEY)),
			 SA_STATUS_NO_RECORDS);
	fill(f, 1, 1, 10);
	strcpy(f->r.name, "no such");
	assert_int_equal(services_delete(f->s, f->star->v,
					 star_port(f->star, 1),
					 SA_BIT(SERVICE_NAME), &f->r, f->now),
			 SA_STATUS_NO_RECORDS);
	fill(f, 1, 1, 10);
	assert_int_equal(services_delete(f->s, f->star->v,
					 star_port(f->star, 2),
					 SA_BIT(SERVICE_NAME), &f->r, f->now),
			 SA_STATUS_DENIED);
	assert_int_equal(f->s->list->len, 3);

	f->now += 3 * SECOND + 1;
	assert_int_equal(delete(f, 1, 1, SA_BIT(SERVICE_NAME)), 0);
	assert_int_equal(f->r.lease, 7);
	assert_int_equal(f->r.key[0], 0);
	assert_int_equal(f->s->list->len, 2);
	assert_int_equal(service_at(f->s, 0)->record.id, 1);
	assert_int_equal(service_at(f->s, 0)->record.gid[15],
			 star_guid(2) & 0xff);
	/* Over, though nobody has called for time. */
	f->now += 7 * SECOND;
	assert_int_equal(delete(f, 2, 1, SA_BIT(SERVICE_NAME)),
			 SA_STATUS_NO_RECORDS);
}

TEST(test_one_client_cannot_fill_the_store, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t id = 0;

	while (set(f, 1, id, FOR_EVER) == 0)
		assert_true(++id < 100000);
	assert_int_equal(set(f, 1, id, FOR_EVER), SA_STATUS_NO_RESOURCES);
	assert_int_equal(set(f, 1, id - 1, FOR_EVER), 0);
	assert_int_equal(set(f, 2, id, FOR_EVER), 0);
}

static char *
save(const struct services *s, int64_t now)
{
	GString *text = g_string_new(NULL);

	services_save(s, text, now);
	return g_string_free(text, FALSE);
}

static bool
load(void *store, char **words, guint n_words, GError **error)
{
	return services_load_line(store, words, n_words, 5 * SECOND, error);
}

static void
make_some(struct fixture *f)
{
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(set(f, i % N_HOSTS, 100 - i,
				     i % 3 ? 10 + i : FOR_EVER), 0);
}

TEST(test_saved_services_come_back, setup, teardown)
{
	struct fixture *f = *state;
	struct services *back = services_new();
	g_autofree char *text = NULL;
	g_autofree char *again = NULL;
	GError *error = NULL;

	make_some(f);
	assert_int_equal(set(f, 1, 1, 3), 0);
	text = save(f->s, f->now + 3 * SECOND);
	assert_true(star_load_text(load, back, text, &error));
	assert_int_equal(back->list->len, 12);	/* one had ended */
	again = save(back, 5 * SECOND);
	assert_string_equal(text, again);
	/* Three seconds of the lease of 11 were over; the clock is another. */
	assert_int_equal(back->next, 13 * SECOND);
	for (uint32_t i = 0; i < 12; i++)
		assert_int_equal(service_at(back, i)->record.key[0], 11);
	services_free(back);
}

TEST(test_damaged_text_is_refused_or_sound, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t seed = 20260718;
	uint64_t prng = prng_stream(seed, 0);
	g_autofree char *text = NULL;
	unsigned refused = 0;

	print_message("seed %" G_GUINT64_FORMAT "\n", seed);
	make_some(f);
	text = save(f->s, f->now);
	for (unsigned n = 0; n < 1000; n++) {
		struct services *s = services_new();
		g_autofree char *bad = star_damage(text, &prng);
		g_autofree char *again = NULL;
		GError *error = NULL;

		if (!star_load_text(load, s, bad, &error)) {
			refused++;
			assert_non_null(error);
			g_clear_error(&error);
		}
		for (uint32_t i = 1; i < s->list->len; i++)
			assert_true(service_at(s, i - 1)->record.id <=
				    service_at(s, i)->record.id);
		again = save(s, 5 * SECOND);
		services_free(s);
		s = services_new();
		assert_true(star_load_text(load, s, again, &error));
		services_free(s);
	}
	assert_true(refused > 400);
}

TEST(test_bad_lines_say_what_is_wrong, setup, teardown)
{
	static const char *const words[] = {
		"service", "0x5", "0xfe800000000000000000000000001011",
		"0xffff", "7", "0x00000000000000000000000000000000",
	};
	static const struct {
		unsigned at;
		const char *word, *error;
	} cases[] = {
		{ 0, "servant", "service" }, { 1, "-5", "ServiceID" },
		{ 1, "0x10000000000000000", "ServiceID" },
		{ 2, "0xfe80", "ServiceGID" }, { 3, "0x10000", "P_Key" },
		{ 4, "0", "lease" }, { 4, "4294967296", "lease" },
		{ 4, "7x", "lease" }, { 4, "", "lease" },
		{ 5, "0x0000000000000000000000000000000g", "key" },
	};
	struct fixture *f = *state;
	g_autofree char *blob = g_strnfill(128, '0');
	g_autofree char *bytes = g_strconcat("0x", blob, NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *line[8];
		GError *error = NULL;

		for (unsigned k = 0; k < 8; k++)
			line[k] = k < 6 ? (char *)words[k] : bytes;
		assert_true(services_load_line(f->s, line, 8, 0, &error));
		assert_false(services_load_line(f->s, line, 8, 0, &error));
		assert_has(error->message, "twice");
		g_clear_error(&error);
		services_free(f->s);
		f->s = services_new();
		line[cases[i].at] = (char *)cases[i].word;
		assert_false(services_load_line(f->s, line, 8, 0, &error));
		assert_has(error->message, cases[i].error);
		g_clear_error(&error);
		assert_false(services_load_line(f->s, line, 7, 0, &error));
		g_clear_error(&error);
		assert_int_equal(f->s->list->len, 0);
	}
}
