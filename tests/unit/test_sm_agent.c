// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What others ask of the subnet manager, and what they are told: SM_Key,
 * M_Keys in the answers to traps.
 */
#include <string.h>

#include "lab/generate.h"
#include "sm/mad/bytes.h"
#include "sm/mad/sa_mad.h"
#include "sm/sm_agent.h"
#include "tests/lib/auto.h"
#include "tests/lib/scripted.h"
#include "tests/lib/unit.h"

#define SM_KEY	UINT64_C(0x1122334455667788)
#define M_KEY	UINT64_C(0x99aabbccddeeff00)

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
	d->self = (struct sm_info){ .guid = 1, .sm_key = SM_KEY,
				    .state = SM_STATE_MASTER };
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

static uint64_t
told_sm_key(struct sa_server *d, uint64_t m_key)
{
	uint8_t mad[MAD_SIZE];
	const uint8_t *answer;
	struct sm_info i;

	smp_build_lid(mad, MAD_METHOD_GET, MAD_ATTR_SM_INFO, 0, m_key);
	answer = hand_in(d, 9, mad);
	assert_non_null(answer);
	sm_info_decode(smp_data_const(answer), &i);
	assert_int_equal(i.guid, 1);
	return i.sm_key;
}

TEST(test_sm_key_is_told_to_holders_of_the_m_key)
{
	struct sa_server d;

	desk_open(&d, M_KEY);
	assert_true(told_sm_key(&d, M_KEY) == SM_KEY);
	assert_true(told_sm_key(&d, M_KEY + 1) == 0);
	assert_true(told_sm_key(&d, 0) == 0);
	desk_close(&d);
	/* without M_Keys no requester can prove anything */
	desk_open(&d, 0);
	assert_true(told_sm_key(&d, 0) == SM_KEY);
	desk_close(&d);
}

static unsigned
control(struct sa_server *d, uint64_t sm_key)
{
	const struct sm_info from = { .guid = 5, .sm_key = sm_key,
				      .state = SM_STATE_MASTER };
	uint8_t mad[MAD_SIZE];
	struct mad_header h;
	const uint8_t *answer;

	smp_build_lid(mad, MAD_METHOD_SET, MAD_ATTR_SM_INFO,
		      SM_CONTROL_HANDOVER, 0);
	sm_info_encode(smp_data(mad), &from);
	answer = hand_in(d, 9, mad);
	assert_non_null(answer);
	assert_true(mad_header_read(answer, MAD_SIZE, &h));
	return h.status;
}

#define DESK_TEST(name, args...) \
	TEST_ON(name, struct sa_server, d, desk_open, desk_close, ##args)

DESK_TEST(test_control_needs_the_sm_key, M_KEY)
{
	assert_int_equal(control(d, SM_KEY + 1), MAD_STATUS_BAD_VALUE);
	assert_int_equal(control(d, 0), MAD_STATUS_BAD_VALUE);
	assert_int_equal(d->controls, 0);
	assert_int_equal(control(d, SM_KEY), MAD_STATUS_OK);
	assert_int_equal(d->controls, 1);
	d->self.sm_key = 0;
	assert_int_equal(control(d, 12345), MAD_STATUS_OK);
	assert_int_equal(d->controls, 2);
}

DESK_TEST(test_reports_are_not_answered, 0)
{
	uint8_t mad[MAD_SIZE];

	sa_build(mad, SA_METHOD_REPORT, SA_ATTR_NOTICE);
	assert_null(hand_in(d, 3, mad));
	smp_build_lid(mad, 0x06, MAD_ATTR_NOTICE, 0, 0);
	assert_null(hand_in(d, 3, mad));
}

static void
make_trap(uint8_t mad[MAD_SIZE], unsigned trap)
{
	uint8_t *data;

	smp_build_lid(mad, MAD_METHOD_TRAP, MAD_ATTR_NOTICE, 0, 0);
	data = smp_data(mad);
	data[0] = 0x80 | 2;
	data[4] = (uint8_t)(trap >> 8);
	data[5] = (uint8_t)trap;
	data[7] = 3;		/* IssuerLID */
	memset(data + 10, 0xee, SMP_DATA_LEN - 10);
	/* LIDADDR, of 128 and of the others */
	data[10] = data[12] = 0;
	data[11] = data[13] = 3;
}

DESK_TEST(test_trap_repress_has_the_key_of_its_port, M_KEY)
{
	AUTO(snapshot) *s = generate_fabric("single(3)", NULL, NULL);
	uint8_t mad[MAD_SIZE];
	const uint8_t *answer;

	make_trap(mad, 129);
	/* the port is not known yet: it will send its trap again */
	assert_null(hand_in(d, 3, mad));
	assert_int_equal(d->traps, 1);
	s->ports[s->local_port].info.lid = 3;
	s->ports[s->local_port].info.m_key = 0x1234;
	mkey_db_learn(d->keys, s);
	answer = hand_in(d, 3, mad);
	assert_non_null(answer);
	assert_true(smp_m_key(answer) == 0x1234);
	assert_null(hand_in(d, 4, mad));
}

DESK_TEST(test_trap_without_keys_is_repressed_at_once, 0)
{
	uint8_t mad[MAD_SIZE];

	make_trap(mad, 129);
	assert_non_null(hand_in(d, 3, mad));
}

/* What was tried as a key stays here, and nothing else of the Notice. */
DESK_TEST(test_key_in_trap_256_is_not_told_on, 0)
{
	uint8_t mad[MAD_SIZE];

	make_trap(mad, 257);
	hand_in(d, 3, mad);
	assert_memory_equal(d->trap, smp_data(mad), SMP_DATA_LEN);
	make_trap(mad, 256);
	hand_in(d, 3, mad);
	for (unsigned i = 0; i < SMP_DATA_LEN; i++)
		assert_int_equal(d->trap[i], i >= 24 && i < 32 ? 0 :
				 smp_data(mad)[i]);
}

DESK_TEST(test_traps_of_the_sa_are_dropped, 0)
{
	uint8_t mad[MAD_SIZE];

	for (unsigned trap = 63; trap <= 68; trap++) {
		make_trap(mad, trap);
		hand_in(d, 3, mad);
	}
	assert_int_equal(d->traps, 2);
}

/* The sender must be the issuer and what a subscriber is told about. 2 and 3 are
 * one port. */
TEST(test_trap_of_or_about_another_port_is_dropped)
{
	static const struct {
		uint16_t trap, sender, issuer, about;
		bool heard;
	} cases[] = {
		{ 128, 3, 3, 3, true }, { 128, 3, 3, 2, true },
		{ 128, 3, 3, 10, false }, { 129, 3, 3, 10, false },
		{ 130, 3, 3, 10, false }, { 131, 3, 3, 10, false },
		{ 144, 3, 3, 2, true }, { 144, 3, 3, 10, false },
		{ 145, 3, 3, 10, false }, { 144, 3, 3, 0xc000, false },
		/* it says nothing */
		{ 144, 3, 3, 0, true }, { 131, 3, 3, 0xffff, true },
		/* the LID of a packet with a wrong key */
		{ 257, 3, 3, 10, true }, { 259, 3, 3, 10, true },
		{ 128, 3, 3, 0, true }, { 128, 10, 3, 0, false },
		{ 128, 3, 10, 0, false }, { 128, 0, 0, 0, true },
		{ 128, 0xffff, 0, 0, true }, { 128, 0, 3, 0, false },
		{ 128, 2, 3, 0, true }, { 128, 4, 3, 0, false },
		/* raised before the port had a LID */
		{ 128, 3, 0, 0, true }, { 128, 10, 0, 0, false },
		{ 128, 0xc000, 3, 0, false }, { 128, 3, 0xfffe, 0, false },
	};
	uint8_t mad[MAD_SIZE];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		AUTO_VALUE(desk_close) struct sa_server d;

		desk_open(&d, 0);
		make_trap(mad, cases[i].trap);
		bytes_store16(smp_data(mad) + 6, cases[i].issuer);
		bytes_store16(smp_data(mad) + (cases[i].trap == 128 ? 10 : 12),
			      cases[i].about);
		hand_in(&d, cases[i].sender, mad);
		assert_int_equal(d.traps, cases[i].heard);
	}
}
