// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The queue before the SA: turns and limits, against a model that looks at
 * everything each time.
 */
#include "sm/sa/sa_queue.h"
#include "tests/lib/unit.h"
#include "topology/prng.h"

#define SEED	7u
#define LIDS	12u

/* --------------------------------------------------------------- the model */

struct model {
	GArray *lines[LIDS];	/* of uint64_t */
	GArray *turns;		/* of uint16_t */
	unsigned length;
};

static void
model_leave(struct model *m, uint16_t lid, guint at)
{
	g_array_remove_index(m->lines[lid], at);
	m->length--;
	for (guint i = 0; !m->lines[lid]->len && i < m->turns->len; i++)
		if (g_array_index(m->turns, uint16_t, i) == lid)
			g_array_remove_index(m->turns, i);
}

static void
check_next(struct sa_queue *q, struct model *m)
{
	g_autofree struct sa_job *j = sa_queue_next(q);
	uint16_t lid;

	assert_int_equal(j != NULL, m->turns->len > 0);
	if (!j)
		return;
	lid = g_array_index(m->turns, uint16_t, 0);
	g_array_remove_index(m->turns, 0);
	g_array_append_val(m->turns, lid);
	assert_int_equal(j->key.tid, g_array_index(m->lines[lid], uint64_t, 0));
	model_leave(m, lid, 0);
}

/* tid / 1000000 is the LID. */
static void
check_add(struct sa_queue *q, struct model *m, unsigned max,
	  unsigned max_one, uint64_t tid)
{
	uint16_t lid = (uint16_t)(tid / 1000000);
	const struct mad_addr from = { .lid = lid };
	const uint8_t mad[MAD_SIZE] = { 0 };
	struct sa_job *j = sa_job_new(&from, mad, sizeof(mad));
	unsigned own = m->lines[lid]->len;
	const char *why;

	assert_int_equal(j->key.lid, lid);
	j->key.tid = tid;
	why = sa_queue_add(q, j);
	if (own == max_one || (own && m->length >= max)) {
		assert_string_equal(why, own == max_one ?
				    "a client asks too much" :
				    "too many requests wait");
		sa_job_free(j);
		return;
	}
	assert_null(why);
	assert_true(m->length < max + LIDS);
	if (!own)
		g_array_append_val(m->turns, lid);
	g_array_append_val(m->lines[lid], tid);
	m->length++;
}

/* Two agents of a port may use the same TIDs. */
TEST(test_key_has_the_queue_pair)
{
	const uint8_t mad[MAD_SIZE] = { 0 };
	struct mad_addr from = { .lid = 3, .qp = 1 };
	g_autofree struct sa_job *a = sa_job_new(&from, mad, sizeof(mad)), *b;

	from.qp = 0x10001;
	b = sa_job_new(&from, mad, sizeof(mad));
	assert_false(sa_request_key_equal(&a->key, &b->key));
}

TEST(test_random_use_agrees_with_the_model)
{
	uint64_t prng = SEED;

	print_message("# seed %u\n", SEED);
	for (unsigned run = 0; run < 60; run++) {
		unsigned max = 1 + prng_below(&prng, 40);
		unsigned max_one = 1 + prng_below(&prng, 12);
		struct sa_queue *q = sa_queue_new(max, max_one);
		struct model m = { .turns = g_array_new(FALSE, FALSE, 2) };

		for (unsigned i = 0; i < LIDS; i++)
			m.lines[i] = g_array_new(FALSE, FALSE, 8);
		for (uint64_t i = 1; i < 1500; i++) {
			/* low LIDs babble */
			unsigned lid = prng_below(&prng, LIDS);

			if (prng_below(&prng, 2))
				lid /= 4;
			if (prng_below(&prng, 5) < 2)
				check_next(q, &m);
			else
				check_add(q, &m, max, max_one,
					  lid * 1000000u + i);
			assert_int_equal(sa_queue_length(q), m.length);
		}
		/* some are left: the queue frees them */
		for (unsigned i = 0; i < LIDS; i++)
			g_array_unref(m.lines[i]);
		g_array_unref(m.turns);
		sa_queue_free(q);
	}
}
