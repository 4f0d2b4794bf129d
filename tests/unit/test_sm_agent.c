// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What others ask of the subnet manager, and what they are told: SM_Key,
 * M_Keys in the answers to traps; and which traps are heard. The steps and what
 * comes of them: tests/golden/sm_agent.
 */
#include <inttypes.h>

#include "sm/mad/bytes.h"
#include "sm/mad/sa_mad.h"
#include "sm/sm_agent.h"
#include "tests/lib/scripted.h"
#include "tests/lib/unit.h"

struct sa_server {
	struct transport *t;
	struct mad_client *x;
	struct log *log;
	struct mkey_db *keys;
	struct sm_agent serve;
	struct sm_info self;
	unsigned controls, traps;
	uint8_t trap[SMP_DATA_LEN];
};

static void
give_sm_info(struct sm_info *out, void *data)
{
	*out = ((struct sa_server *)data)->self;
}

static void
on_trap(const struct notice *n, const uint8_t *raw, void *data)
{
	struct sa_server *d = data;

	d->traps++;
	memcpy(d->trap, raw, SMP_DATA_LEN);
}

static void
on_control(enum sm_control control, const struct sm_info *from, void *data)
{
	((struct sa_server *)data)->controls++;
}

/* LIDs 1 to 9 are given, two to a port. */
static bool
is_issuer(uint16_t lid, uint16_t issuer, void *data)
{
	return lid >= 1 && lid <= 9 && lid / 2 == issuer / 2;
}

static void
desk_open(struct sa_server *d, uint64_t m_key)
{
	const struct mad_client_params wire = {
		.timeout_ms = 10, .retries = 1, .max_wire = 4,
	};

	memset(d, 0, sizeof(*d));
	d->t = scripted_new();
	d->x = mad_client_new(d->t, &wire);
	d->log = log_open("/dev/null", LOG_DEBUG, NULL);
	d->keys = mkey_db_new(m_key, MKEY_DB_ONE);
	d->self = (struct sm_info){ .guid = 1, .state = SM_STATE_MASTER };
	d->serve = (struct sm_agent){
		.x = d->x, .log = d->log, .keys = d->keys,
		.sm_info = give_sm_info, .trap = on_trap,
		.is_issuer = is_issuer, .control = on_control, .data = d,
	};
	sm_agent_start(&d->serve);
}

static void
desk_close(struct sa_server *d)
{
	mad_client_free(d->x);
	transport_free(d->t);
	log_free(d->log);
	mkey_db_free(d->keys);
}

/* What is answered; NULL: nothing. */
static const uint8_t *
hand_in(struct sa_server *d, uint16_t lid, const uint8_t *mad)
{
	const struct transport_mad m = {
		.event = TRANSPORT_RECEIVED, .addr = { .lid = lid },
		.mad = mad, .len = MAD_SIZE,
	};

	scripted_forget(d->t);
	scripted_deliver(d->t, &m, 1);
	scripted_step(d->t);
	return scripted_count(d->t) ? scripted_last(d->t)->mad : NULL;
}

/* LIDADDR is at 10 in trap 128, at 12 in the others. */
static void
make_trap(uint8_t mad[MAD_SIZE], int trap, int issuer, int about)
{
	uint8_t *data;

	smp_build_lid(mad, MAD_METHOD_TRAP, MAD_ATTR_NOTICE, 0, 0);
	data = smp_data(mad);
	data[0] = 0x80 | 2;
	bytes_store16(data + 4, (uint16_t)trap);
	bytes_store16(data + 6, (uint16_t)issuer);
	memset(data + 10, 0xee, SMP_DATA_LEN - 10);
	bytes_store16(data + 10, 3);
	bytes_store16(data + 12, 3);
	bytes_store16(data + (trap == 128 ? 10 : 12), (uint16_t)about);
}

static void
make_control(uint8_t mad[MAD_SIZE], uint64_t sm_key, unsigned control)
{
	const struct sm_info from = { .guid = 5, .sm_key = sm_key,
				      .state = SM_STATE_MASTER };

	smp_build_lid(mad, MAD_METHOD_SET, MAD_ATTR_SM_INFO, control, 0);
	sm_info_encode(smp_data(mad), &from);
}

static void
learn(struct sa_server *d, int lid, uint64_t m_key)
{
	AUTO(snapshot) *s = generate_fabric("single(3)", NULL, NULL);

	s->ports[s->local_port].info.lid = (uint16_t)lid;
	s->ports[s->local_port].info.m_key = m_key;
	mkey_db_learn(d->keys, s);
}

/* As a trap was passed on, and the answer. */
static void
put_outcome(const struct sa_server *d, const uint8_t *mad,
	    const uint8_t *answer, GString *out)
{
	const uint8_t *sent = smp_data_const(mad);
	struct sm_info info;

	if (d->traps)
		g_string_append(out, " heard");
	for (unsigned i = 0; i < SMP_DATA_LEN && d->traps; i++)
		if (d->trap[i] != sent[i])
			g_string_append_printf(out, " [%u]=%u", i, d->trap[i]);
	if (d->controls)
		g_string_append(out, " obeyed");
	if (!answer)
		return;
	g_string_append_printf(out, " answer 0x%x status %u M_Key %" PRIx64,
			       answer[3], bytes_load16(answer + 4),
			       smp_m_key(answer));
	if (bytes_load16(answer + 16) == MAD_ATTR_NOTICE)
		return;
	sm_info_decode(smp_data_const(answer), &info);
	g_string_append_printf(out, " of %" PRIx64 " SM_Key %" PRIx64,
			       info.guid, info.sm_key);
}

static void
play(void *of, const char *step, GString *out)
{
	struct sa_server *d = of;
	int lid = 9, trap, issuer, about, control = SM_CONTROL_HANDOVER;
	uint8_t mad[MAD_SIZE];
	const uint8_t *answer;
	uint64_t key = 0;

	if (sscanf(step, "m_key %" SCNx64, &key) == 1) {
		desk_close(d);
		desk_open(d, key);
		return;
	}
	if (sscanf(step, "port %i %" SCNx64, &lid, &key) == 2) {
		learn(d, lid, key);
		return;
	}
	if (sscanf(step, "sm_key %" SCNx64, &d->self.sm_key) == 1)
		return;
	if (sscanf(step, "ask %" SCNx64, &key) == 1)
		smp_build_lid(mad, MAD_METHOD_GET, MAD_ATTR_SM_INFO, 0, key);
	else if (sscanf(step, "control %" SCNx64 " by %i", &key, &control) >= 1)
		make_control(mad, key, (unsigned)control);
	else if (sscanf(step, "trap %i by %i of %i about %i", &trap, &lid,
			&issuer, &about) == 4)
		make_trap(mad, trap, issuer, about);
	else if (strcmp(step, "repress") == 0)
		smp_build_lid(mad, 0x06, MAD_ATTR_NOTICE, 0, 0);
	else if (strcmp(step, "report") == 0)
		sa_build(mad, SA_METHOD_REPORT, SA_ATTR_NOTICE);
	else
		fail_msg("no step: %s", step);
	d->traps = d->controls = 0;
	answer = hand_in(d, (uint16_t)lid, mad);
	put_outcome(d, mad, answer, out);
}

GOLDEN("sm_agent", transcript)
{
	AUTO_VALUE(desk_close) struct sa_server d;

	desk_open(&d, 0);
	golden_play(text, play, &d, out);
}
