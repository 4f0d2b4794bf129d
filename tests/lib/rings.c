// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Timers that note their order.
 */
#include "tests/lib/rings.h"

#include <glib.h>

#include "tests/lib/unit.h"


void
rings_add(struct rings *r, char name)
{
	assert_true(r->n < sizeof(r->order) - 1);
	r->order[r->n++] = name;
	r->last = transport_now(r->t);
}

void
rings_on_a(void *data)
{
	struct rings *r = data;

	rings_add(r, 'a');
	transport_timer_cancel(r->t, r->victim);
}

void
rings_on_b(void *data)
{
	rings_add(data, 'b');
}

void
rings_on_c(void *data)
{
	rings_add(data, 'c');
}

void
rings_expect_order(struct rings *r)
{
	int64_t now = transport_now(r->t);
	unsigned ids[4];

	ids[0] = transport_timer_start(r->t, now + 30000, rings_on_c, r);
	ids[1] = transport_timer_start(r->t, now + 10000, rings_on_a, r);
	ids[2] = transport_timer_start(r->t, now - 5, rings_on_b, r);
	ids[3] = transport_timer_start(r->t, now + 12000, rings_on_b, r);
	r->victim = ids[3];
	for (unsigned i = 0; i < 4; i++)
		assert_int_not_equal(ids[i], 0);
	/* one that never rings goes with the transport */
	transport_timer_start(r->t, now + G_TIME_SPAN_HOUR, rings_on_c, r);
	while (r->n < 3)
		g_main_context_iteration(NULL, TRUE);
	assert_string_equal(r->order, "bac");
	assert_true(r->last >= now + 30000);
}
