// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The kernel's part of a lab (lab/kernel.c) with its RMPP: MADs of strangers
 * and messages of a careless program. The input is a sequence of: an action,
 * and what it needs.
 *
 *	0	a MAD: its length; its bytes
 *	1	a segment that has a chance: type; flags and RRespTime;
 *		status; SegmentNumber (2 bytes); PayloadLength or
 *		NewWindowLast (2 bytes); method; low byte of the TID
 *	2	the program writes: length (2 bytes); method; low byte of the
 *		TID; retries
 *	3	the agent goes and comes again
 *	4	time: so many times 50 ms
 *
 * The high bit of an action: a request has no time-out, or the peer has a GRH.
 * At the end nothing must be left to do.
 */
#include "lab/kernel.h"
#include "sm/mad/rmpp.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/scripted.h"

#define HIGH		0x80u
#define HDR		sizeof(struct ib_user_mad_hdr)

struct play {
	struct transport *t;
	struct kernel_port *port;
	struct kernel_file *file;
	uint8_t sum;
};

static void
on_message(const struct ib_user_mad_hdr *hdr, const uint8_t *mad, size_t len,
	   void *data)
{
	struct play *p = data;

	g_assert_cmpuint(hdr->length, ==, HDR + len);
	g_assert_cmpuint(hdr->id, ==, 0);
	if (hdr->status)
		g_assert_cmpuint(len, ==, 24);
	for (size_t i = 0; i < len; i++)
		p->sum ^= mad[i];
}

static void
deliver(struct play *p, const uint8_t *mad, size_t len, unsigned action)
{
	const struct transport_mad m = {
		.event = TRANSPORT_RECEIVED,
		.addr = { .lid = 3, .qp = 1, .grh = action & HIGH },
		.mad = mad, .len = len,
	};

	p->t->on_recv(&m, p->t->recv_data);
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
write_one(struct play *p, struct fuzz_input *in, unsigned action)
{
	size_t len = two_bytes(in);
	g_autofree uint8_t *buf = g_malloc0(HDR + MAX(len, MAD_SIZE));
	struct ib_user_mad_hdr hdr = {
		.qpn = htobe32(1), .lid = htobe16(3),
		.timeout_ms = action & HIGH ? 0 : 500,
	};

	write_header(in, buf + HDR);
	hdr.retries = fuzz_byte(in);
	memcpy(buf, &hdr, HDR);
	buf[HDR + 24] = RMPP_VERSION;
	buf[HDR + 25] = RMPP_TYPE_DATA;
	buf[HDR + 26] = len > MAD_SIZE ? RMPP_FLAG_ACTIVE : 0;
	kernel_write(p->file, buf, HDR + len);
}

static void
register_again(struct play *p)
{
	struct ib_user_mad_reg_req r = {
		.qpn = 1, .mgmt_class = MAD_CLASS_SA, .mgmt_class_version = 2,
		.rmpp_version = 1, .method_mask = { ~0ul, ~0ul },
	};
	uint32_t id = 0;

	kernel_ioctl(p->file, IB_USER_MAD_UNREGISTER_AGENT, &id);
	g_assert_cmpint(kernel_ioctl(p->file, IB_USER_MAD_REGISTER_AGENT, &r),
			==, 0);
	g_assert_cmpuint(r.id, ==, 0);
}

FUZZ_TARGET(rmpp)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	struct play *p = g_new0(struct play, 1);
	static const uint8_t lmc = 0;

	p->t = scripted_new();
	p->port = kernel_port_new(p->t, &lmc,
				  &(struct kernel_limits){ .is_6_17 = true });
	p->file = kernel_open(p->port, KERNEL_QPS, on_message, p);
	register_again(p);
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
			write_one(p, &in, action);
			break;
		case 3:
			register_again(p);
			break;
		case 4:
			scripted_run(p->t, transport_now(p->t) +
				     fuzz_byte(&in) * INT64_C(50000));
			break;
		}
	}
	g_assert_true(scripted_run_idle(p->t, INT64_MAX));
	kernel_close(p->file);
	kernel_port_free(p->port);
	transport_free(p->t);
	g_free(p);
	return 0;
}
