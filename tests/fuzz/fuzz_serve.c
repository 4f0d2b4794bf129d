// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs of others: through the transactions to the server, which answers and
 * logs. The input is a sequence of: flags; how many bytes the MAD has; the
 * MAD. Bit 0 of the flags: the MAD is a return; bit 1: it bears the TID of a
 * request of ours that is out; bit 2: another request goes out before.
 */
#include "sm/sm_agent.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/auto.h"
#include "tests/lib/scripted.h"

static void
tell_sm_info(struct sm_info *out, void *data)
{
	*out = (struct sm_info) { .guid = 1, .state = SM_STATE_MASTER };
}

static void
on_trap(const struct notice *n, const uint8_t *raw, void *data)
{
	g_assert_cmpuint(n->type, <, 128);
}

static void
on_control(enum sm_control control, const struct sm_info *from, void *data)
{
	g_assert_cmpint(control, >=, SM_CONTROL_HANDOVER);
	g_assert_cmpint(control, <=, SM_CONTROL_DISCOVER);
	g_assert_cmpuint(from->priority, <=, 15);
}

static void
on_done(const struct mad_client_answer *a, void *data, uint64_t tag)
{
	struct mad_header h;

	if (a->outcome == MAD_CLIENT_TIMED_OUT)
		return;
	g_assert_true(mad_header_read(a->mad, MAD_SIZE, &h));
	g_assert_cmpuint(h.attr_id, ==, MAD_ATTR_NODE_INFO);
}

static void
ask(struct mad_client *x)
{
	const struct mad_addr to = { .lid = LID_PERMISSIVE };
	const struct dr_path here = { .hops = 0 };
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_NODE_INFO, 0, 0, &here);
	mad_client_start(x, &to, mad, on_done, NULL, 0);
}

static void
throw_one(struct transport *t, struct mad_client *x, struct fuzz_input *in)
{
	unsigned flags = fuzz_byte(in);
	size_t len = fuzz_byte(in) + 1u;
	uint8_t mad[MAD_SIZE];
	const struct transport_mad m = {
		.event = flags & 1 ? TRANSPORT_RETURNED : TRANSPORT_RECEIVED,
		.addr = { .lid = flags, .qp = flags >> 7 },
		.mad = mad,
		.len = len,
	};

	if (flags & 4)
		ask(x);
	fuzz_bytes(in, mad, len);
	if (flags & 2 && scripted_count(t) > 0 && len >= 16)
		memcpy(mad + 8, scripted_last(t)->mad + 8, 8);
	scripted_deliver(t, &m, 1);
	scripted_step(t);
}

FUZZ_TARGET(serve)
{
	const struct mad_client_params wire = {
		.timeout_ms = 10, .retries = 1, .max_wire = 4,
	};
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	AUTO(log) *log = log_open("/dev/null", LOG_DEBUG, NULL);
	AUTO(transport) *t = scripted_new();
	struct mad_client *x = mad_client_new(t, &wire);
	struct sm_agent s = {
		.x = x, .log = log, .sm_info = tell_sm_info, .trap = on_trap,
		.control = on_control,
	};

	sm_agent_start(&s);
	while (in.left > 0)
		throw_one(t, x, &in);
	g_assert_true(scripted_run_idle(t, INT64_MAX));
	g_assert_cmpuint(x->pending, ==, 0);
	mad_client_free(x);
	return 0;
}
