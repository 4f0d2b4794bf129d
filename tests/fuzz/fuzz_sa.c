// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SA requests. The input is a number of requests of up to a MAD and a bit,
 * each behind one byte that picks the requester; they meet one small fabric,
 * one after the other, so that groups, services and subscriptions build up.
 * Besides the partition of all there are others, of a few hosts each: the
 * requester matters.
 *
 * Whatever comes: no crash, an answer is an answer to the request (TID,
 * attribute, response bit), tells no key, and a table ends; its records are as
 * long as the header says.
 */
#include "lab/generate.h"
#include "sm/sa/informinfo.h"
#include "sm/sa/service.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/sa_lab.h"
#include "tests/lib/state_text.h"

#define RECORDS_MAX	100000u

/* Three hosts a partition, every second one limited. */
static void
add_rules(struct lab *l)
{
	struct partition_rule rule = { .who = PARTITION_GUID };
	unsigned n = 0;

	for (uint32_t p = 0; p < l->s->n_ports; p++) {
		if (!l->s->ports[p].num || !snapshot_is_end_port(l->s, p))
			continue;
		rule.guid = l->s->ports[p].guid;
		rule.membership = n % 2 ? PARTITION_LIMITED : PARTITION_BOTH;
		g_array_append_val(partition_rules_get(l->rules,
						       1 + n++ / 3)->rules,
				   rule);
	}
	partition_rules_get(l->rules, 2)->sl = 1;
}

static void
open_lab(struct lab *l)
{
	sa_lab_open_on(l, generate_fabric("PGFT(2,3;1,2)", NULL, NULL), 1);
	l->now = 0;
	l->sa->params.sm_key = 1;
	add_rules(l);
	l->mft = mft_new(l->s->n_switches, 1, 2);
	for (uint32_t sw = 0; sw < l->s->n_switches; sw++)
		mft_add(l->mft, sw, (uint16_t)(0xc000 + 7 * sw), sw % 16);
	lab_publish(l);
}

static void
drain(struct sa_records *r)
{
	uint8_t record[SA_DATA_LEN];
	unsigned n = 0;

	g_assert_cmpuint(sa_records_size(r), <=, sizeof(record));
	g_assert_cmpuint(sa_records_size(r) % 8, ==, 0);
	for (;;) {
		enum sa_draw drawn = sa_records_draw(r, record);

		if (drawn == SA_DRAW_END)
			break;
		n += drawn == SA_DRAW_RECORD;
		g_assert_cmpuint(n, <, RECORDS_MAX);
	}
	sa_records_free(r);
}

static void
ask(struct lab *l, const struct sa_request *request)
{
	struct sa_reply reply;
	struct sa_header h;

	sa_answer(l->sa, request, &reply);
	sa_lab_check(l->sa);
	while (reply.kind == SA_REPLY_LATER)
		sa_resume(&reply);
	if (reply.kind == SA_REPLY_NONE) {
		g_assert_nonnull(reply.why);
		return;
	}
	g_assert_true(sa_header_read(reply.mad, MAD_SIZE, &h));
	g_assert_true(h.mad.method & MAD_METHOD_RESPONSE);
	g_assert_cmpuint(h.sm_key, ==, 0);
	g_assert_cmpmem(reply.mad + 8, 8, request->mad + 8, 8);
	/* GetMulti is answered with paths */
	if (h.mad.method == (SA_METHOD_GET_MULTI | MAD_METHOD_RESPONSE))
		g_assert_true(h.mad.attr_id == SA_ATTR_PATH || h.mad.status);
	else
		g_assert_cmpmem(reply.mad + 16, 2, request->mad + 16, 2);
	g_assert_true((reply.kind == SA_REPLY_TABLE) ==
		      (reply.records != NULL));
	if (!reply.records)
		return;
	g_assert_cmpuint(h.attr_offset, ==, sa_records_size(reply.records) / 8);
	g_assert_cmpuint(h.mad.status, ==, 0);
	drain(reply.records);
}

FUZZ_TARGET(sa)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autoptr(GString) once = g_string_new(NULL);
	g_autoptr(GString) twice = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	uint8_t mad[MAD_SIZE + 64];
	struct sa_report report;
	struct lab l;

	open_lab(&l);
	for (unsigned i = 0; in.left && i < 32; i++) {
		uint8_t who = fuzz_byte(&in);
		struct sa_request request = {
			.mad = mad, .slid = who & 0x3f, .qp = who & 3,
			.len = who & 0x80 ? sizeof(mad) : MAD_SIZE,
			.now = (int64_t)i * G_USEC_PER_SEC,
		};

		fuzz_bytes(&in, mad, sizeof(mad));
		mad[0] = 1;
		mad[1] = MAD_CLASS_SA;
		mad[2] = 2;
		ask(&l, &request);
		while (sa_next_report(l.sa, request.now, &report))
			if (!(who & 0x40))
				informs_drop(l.sa->informs, report.port_guid,
					     report.qp, request.now);
		services_tick(l.sa->services, request.now);
	}
	/* What was built up can be saved and read again. */
	sa_save(l.sa, once, 0);
	sa_load(l.sa, once->str, 0, &error);
	g_assert_no_error(error);
	sa_save(l.sa, twice, 0);
	g_assert_cmpstr(once->str, ==, twice->str);
	sa_lab_close(&l);
	return 0;
}
