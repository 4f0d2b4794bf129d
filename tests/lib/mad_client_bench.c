// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The bench: every end of a request is written down under its tag, with its
 * time and its place in the order of ends. A wrong tag or an answer without
 * bytes fails the running test.
 */
#include "tests/lib/mad_client_bench.h"

#include "sm/mad/smp.h"
#include "tests/lib/unit.h"

const struct mad_client_params bench_usual = {
	.timeout_ms = 200, .retries = 3, .max_wire = 128,
};

static void
on_drop(const char *reason, const struct transport_mad *m, void *data)
{
	struct bench *b = data;

	b->drops++;
	g_strlcpy(b->reason, reason, sizeof(b->reason));
}

void
bench_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct bench *b = data;

	assert_true(tag < ENDS_MAX);
	if (b->ends < ENDS_MAX)
		b->order[b->ends] = tag;
	b->ends++;
	b->when[tag] = transport_now(b->t);
	if (a->outcome == MAD_CLIENT_TIMED_OUT) {
		assert_null(a->mad);
		b->timed_out[tag]++;
		return;
	}
	b->answered[tag]++;
	b->last = a->header;
	b->last_data = a->mad[SMP_DATA_OFFSET];
}

struct bench *bench_new(const struct mad_client_params *params,
			scripted_peer_fn peer, void *data)
{
	struct bench *b = g_new0(struct bench, 1);

	b->t = scripted_new();
	scripted_set_peer(b->t, peer, data);
	b->x = mad_client_new(b->t, params);
	b->x->drop = on_drop;
	b->x->drop_data = b;
	return b;
}

void
bench_free(struct bench *b)
{
	mad_client_free(b->x);
	transport_free(b->t);
	g_free(b);
}

uint32_t
bench_start(struct bench *b, uint64_t tag)
{
	const struct mad_addr to = { .lid = LID_PERMISSIVE };
	struct dr_path path = { .hops = 2, .port = { 0, 1, 2 } };
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO, tag, 0,
			 &path);
	return mad_client_start(b->x, &to, mad, bench_done, b, tag);
}

void
bench_start_all(struct bench *b, uint64_t from, uint64_t end)
{
	for (; from < end; from++)
		bench_start(b, from);
}

void
bench_make_answer(const struct bench *b, uint8_t *mad, unsigned status)
{
	memcpy(mad, scripted_get(b->t, 0)->mad, MAD_SIZE);
	smp_make_response(mad, status);
}

uint32_t
sent_tid(const struct scripted_sent *s)
{
	struct mad_header h;

	assert_true(mad_header_read(s->mad, MAD_SIZE, &h));
	return h.tid;
}

uint32_t
sent_attr_mod(const struct scripted_sent *s)
{
	struct mad_header h;

	assert_true(mad_header_read(s->mad, MAD_SIZE, &h));
	return h.attr_mod;
}

void
peer_good(struct transport *t, const struct scripted_sent *s, void *data)
{
	const int64_t *delay = data;

	scripted_reply(t, s, *delay);
}

void
peer_deaf_to_zero(struct transport *t, const struct scripted_sent *s,
		  void *data)
{
	if (sent_attr_mod(s) != 0)
		peer_good(t, s, data);
}
