// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP: MADs of strangers to the transfers of sm/io/bulk.c. The input is a
 * sequence of: an action, and what it needs.
 *
 *	0	a MAD: its length; its bytes
 *	1	a segment that has a chance: type; flags and RRespTime;
 *		status; SegmentNumber (2 bytes); PayloadLength or
 *		NewWindowLast (2 bytes); method; low byte of the TID
 *	2	we send: length (2 bytes); method; low byte of the TID
 *	3	the last of these is cancelled
 *	4	time: so many times 50 ms
 *
 * The high bit of an action: the length is not known, or the peer has a GRH.
 * At the end all transfers must be over, by themselves and by the clock.
 */
#include "sm/io/bulk.h"
#include "sm/wire/mad.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/scripted.h"

#define LIMIT		20000u
#define HIGH		0x80u
#define MAX_SENDS	256u

struct play {
	struct transport *t;
	struct bulk *b;
	uint32_t last_id;
	unsigned sends, ends, cancelled;
	struct rmpp_bytes sources[MAX_SENDS];
	uint8_t bytes[65536];
};

static void
on_done(uint32_t id, enum bulk_outcome outcome, unsigned status, void *data)
{
	struct play *p = data;

	g_assert_cmpuint(id, !=, 0);
	g_assert_cmpuint(status, <, 256);
	p->ends++;
}

static void
on_message(const struct bulk_message *m, void *data)
{
	uint8_t sum = 0;

	g_assert_cmpuint(m->len, <=, LIMIT);
	g_assert_cmpuint(m->header[1], ==, MAD_CLASS_SA);
	for (size_t i = 0; i < m->len; i++)
		sum ^= m->data[i];
	((struct play *)data)->bytes[0] ^= sum;
}

static void
deliver(struct play *p, const uint8_t *mad, size_t len, unsigned action)
{
	const struct transport_mad m = {
		.event = TRANSPORT_RECEIVED,
		.addr = { .lid = 3, .qp = 1, .grh = action & HIGH },
		.mad = mad, .len = len,
	};

	bulk_offer(p->b, &m);
}

static unsigned
two_bytes(struct fuzz_input *in)
{
	unsigned high = fuzz_byte(in);

	return high << 8 | fuzz_byte(in);
}

static void
write_header(struct fuzz_input *in, uint8_t *mad)
{
	memset(mad, 0, MAD_SIZE);
	mad[0] = 1;
	mad[1] = MAD_CLASS_SA;
	mad[2] = 2;
	mad[3] = fuzz_byte(in);
	mad[15] = fuzz_byte(in);
}

static void
throw_segment(struct play *p, struct fuzz_input *in, unsigned action)
{
	struct rmpp_header h = { .version = RMPP_VERSION };
	uint8_t mad[MAD_SIZE];
	unsigned flags;

	h.type = fuzz_byte(in);
	flags = fuzz_byte(in);
	h.flags = (uint8_t)(flags | RMPP_FLAG_ACTIVE);
	h.resp_time = (uint8_t)(flags >> 3);
	h.status = fuzz_byte(in);
	h.segment = two_bytes(in);
	h.length = two_bytes(in);
	write_header(in, mad);
	rmpp_header_write(mad, &h);
	deliver(p, mad, MAD_SIZE, action);
}

static void
throw_mad(struct play *p, struct fuzz_input *in, unsigned action)
{
	size_t len = fuzz_byte(in) + 1u;
	g_autofree uint8_t *mad = g_malloc(len);

	fuzz_bytes(in, mad, len);
	deliver(p, mad, len, action);
}

static void
send_one(struct play *p, struct fuzz_input *in, unsigned action)
{
	size_t len = two_bytes(in);
	uint8_t header[MAD_SIZE];
	struct bulk_order o = {
		.to = { .lid = 3, .qp = 1 }, .header = header,
		.source = rmpp_bytes_read,
		.length = action & HIGH ? RMPP_LENGTH_UNKNOWN : len,
	};
	uint32_t id;

	write_header(in, header);
	if (p->sends == MAX_SENDS)
		return;
	o.source_data = &p->sources[p->sends];
	p->sources[p->sends] = (struct rmpp_bytes) { p->bytes, len };
	id = bulk_send(p->b, &o, on_done, p);
	if (id) {
		p->last_id = id;
		p->sends++;
	}
}

static void
cancel_one(struct play *p)
{
	unsigned before = p->ends;

	bulk_cancel(p->b, p->last_id);
	g_assert_cmpuint(p->ends, ==, before);
	p->cancelled++;
	p->last_id = 0;
}

FUZZ_TARGET(rmpp)
{
	struct bulk_params params = bulk_params_default;
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	struct play *p = g_new0(struct play, 1);

	params.max_transfers = 8;
	params.rmpp.limit = LIMIT;
	params.max_bytes = 3 * LIMIT;
	p->t = scripted_new();
	p->b = bulk_new(p->t, &params);
	bulk_set_receiver(p->b, on_message, p);
	while (in.left > 0) {
		unsigned action = fuzz_byte(&in);

		switch ((action & ~HIGH) % 5) {
		case 0:
			throw_mad(p, &in, action);
			break;
		case 1:
			throw_segment(p, &in, action);
			break;
		case 2:
			send_one(p, &in, action);
			break;
		case 3:
			cancel_one(p);
			break;
		case 4:
			scripted_run(p->t, transport_now(p->t) +
				     fuzz_byte(&in) * INT64_C(50000));
			break;
		}
		g_assert_cmpuint(bulk_transfers(p->b), <=, 8);
	}
	g_assert_true(scripted_run_idle(p->t, INT64_MAX));
	g_assert_cmpuint(bulk_transfers(p->b), ==, 0);
	g_assert_cmpuint(p->ends, <=, p->sends);
	g_assert_cmpuint(p->ends + p->cancelled, >=, p->sends);
	bulk_free(p->b);
	transport_free(p->t);
	g_free(p);
	return 0;
}
