// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The single questions of osmtest's validation flow, over the simulator: names
 * that nobody has, what only the trusted may see, managers, subscriptions,
 * paths between lists of GIDs, ranges of LIDs; and what the SA must refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "sm/wire/bytes.h"
#include "tests/lib/survey.h"

#define LID		SA_BIT(0)
#define NOBODY		0xffffu
#define LINK_TO_LID	SA_BIT(3)
#define PKEY_BLOCK	SA_BIT(1)
#define OFF_TO_LID	4u

/* A LID where the record of this attribute has it. */
static unsigned
ask_lid(struct survey *b, unsigned method, unsigned attr_id, uint16_t lid)
{
	uint8_t wanted[SA_DATA_LEN] = { 0 };

	bytes_store(wanted, lid, 2);
	return survey_ask(b, method, attr_id, LID, wanted);
}

static void
assert_none(struct survey *b, unsigned attr_id, uint16_t lid)
{
	assert_int_equal(ask_lid(b, SA_METHOD_GET_TABLE, attr_id, lid), 0);
	assert_int_equal(b->c[0].method, 0x92);	/* GetTableResp */
	assert_int_equal(osm_records(&b->c[0], attr_id), 0);
	assert_int_equal(ask_lid(b, MAD_METHOD_GET, attr_id, lid),
			 SA_STATUS_NO_RECORDS);
}

/* LID 0xffff: success with no record in a table. So it is when a host's LID is
 * asked for what only switches have. */
static void
test_names_of_nobody_give_empty_tables(void **state)
{
	static const unsigned all[] = {
		SA_ATTR_NODE, SA_ATTR_PORT_INFO, SA_ATTR_GUID_INFO,
		SA_ATTR_PKEY_TABLE, SA_ATTR_SWITCH_INFO, SA_ATTR_LINEAR_FT,
		SA_ATTR_MULTICAST_FT, SA_ATTR_LINK, SA_ATTR_SL_TO_VL,
		SA_ATTR_VL_ARB, SA_ATTR_SM_INFO,
	};
	static const unsigned of_switches[] = {
		SA_ATTR_SWITCH_INFO, SA_ATTR_LINEAR_FT, SA_ATTR_MULTICAST_FT,
	};
	uint8_t wanted[SA_DATA_LEN] = { 0 };
	struct survey b;
	uint16_t host;

	survey_open(&b, SURVEY_TREE, 0);
	host = osm_lid(&b.o, b.c[0].port);
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		assert_none(&b, all[i], NOBODY);
	for (size_t i = 0; i < G_N_ELEMENTS(of_switches); i++)
		assert_none(&b, of_switches[i], host);
	/* A link to nobody, and one from a host to itself. */
	bytes_store(wanted + OFF_TO_LID, NOBODY, 2);
	assert_int_equal(survey_ask(&b, SA_METHOD_GET_TABLE, SA_ATTR_LINK,
				    LINK_TO_LID, wanted), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_LINK), 0);
	bytes_store(wanted, host, 2);
	bytes_store(wanted + OFF_TO_LID, host, 2);
	assert_int_equal(survey_ask(&b, SA_METHOD_GET_TABLE, SA_ATTR_LINK,
				    LID | LINK_TO_LID, wanted), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_LINK), 0);
	survey_close(&b);
}

/* P_Key tables: with the SM_Key, not with 0; a wrong key gets no answer at
 * all (IBA 15.4.1.1). Only tables: other records are for everybody. */
static void
test_pkeys_are_for_who_has_the_key(void **state)
{
	static const unsigned methods[] = {
		MAD_METHOD_GET, SA_METHOD_GET_TABLE,
	};
	struct osm_question q = { .attr_id = SA_ATTR_PKEY_TABLE };
	struct survey b;
	unsigned status;

	survey_open(&b, SURVEY_TREE, 0);
	bytes_store(q.data, osm_lid(&b.o, b.c[0].port), 2);
	for (unsigned i = 0; i < 4; i++) {
		q.method = methods[i % 2];
		q.mask = i < 2 ? LID | PKEY_BLOCK : 0;
		q.sm_key = 0;
		assert_int_equal(osm_ask(&b.c[0], &q), SA_STATUS_REQ_INVALID);
		q.sm_key = OSM_SM_KEY + 1;
		assert_int_equal(osm_ask(&b.c[0], &q), OSM_SILENT);
		q.sm_key = OSM_SM_KEY;
		status = osm_ask(&b.c[0], &q);
		assert_int_equal(status, q.mask || q.method != MAD_METHOD_GET ?
				 0 : SA_STATUS_TOO_MANY);
	}
	q.attr_id = SA_ATTR_NODE;
	q.mask = 0;
	for (unsigned key = 0; key <= OSM_SM_KEY; key++) {
		q.sm_key = key;
		assert_int_equal(osm_ask(&b.c[0], &q), 0);
		assert_int_equal(osm_records(&b.c[0], SA_ATTR_NODE),
				 b.ends->len);
	}
	survey_close(&b);
}

/* -------------------------------------------------------------- managers */

enum { SM_GUID = 2, SM_PRIORITY = 5, SM_STATE = 6 };
#define OFF_SM_GUID	4u
#define OFF_SM_PRIORITY	24u	/* the upper half: priority; then the state */

static unsigned
managers(struct survey *b, uint64_t mask, const uint8_t *wanted)
{
	assert_int_equal(survey_ask(b, SA_METHOD_GET_TABLE, SA_ATTR_SM_INFO,
				    mask, wanted), 0);
	return osm_records(&b->c[0], SA_ATTR_SM_INFO);
}

/* There is one; it is found by each of its properties and by no others. Nobody
 * can set it here. */
static void
test_the_manager_is_found_by_what_it_is(void **state)
{
	uint8_t wanted[SA_DATA_LEN] = { 0 };
	struct survey b;
	uint32_t port;

	survey_open(&b, SURVEY_TREE, 0);
	port = b.o.w.m.port;
	assert_int_not_equal(survey_ask(&b, MAD_METHOD_SET, SA_ATTR_SM_INFO, 0,
					NULL), 0);
	assert_int_not_equal(b.c[0].status, OSM_SILENT);
	assert_int_equal(managers(&b, 0, NULL), 1);
	assert_int_equal(bytes_load(osm_record(&b.c[0], SA_ATTR_SM_INFO, 0),
				    2), osm_lid(&b.o, port));
	bytes_store(wanted, osm_lid(&b.o, port), 2);
	assert_int_equal(managers(&b, LID, wanted), 1);
	bytes_store(wanted, osm_lid(&b.o, b.c[0].port), 2);
	assert_int_equal(managers(&b, LID, wanted), 0);
	bytes_store(wanted + OFF_SM_GUID, b.o.w.s->ports[port].guid, 8);
	assert_int_equal(managers(&b, SA_BIT(SM_GUID), wanted), 1);
	bytes_store(wanted + OFF_SM_GUID, b.o.w.s->ports[b.c[0].port].guid, 8);
	assert_int_equal(managers(&b, SA_BIT(SM_GUID), wanted), 0);
	for (unsigned i = 0; i < 16; i++) {
		wanted[OFF_SM_PRIORITY] = (uint8_t)(i << 4);
		assert_int_equal(managers(&b, SA_BIT(SM_PRIORITY), wanted),
				 i == 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		wanted[OFF_SM_PRIORITY] = (uint8_t)i;
		assert_int_equal(managers(&b, SA_BIT(SM_STATE), wanted),
				 i == SM_STATE_MASTER);
	}
	survey_close(&b);
}

/* A host of a greater GUID: with the same priority it stands by. */
static uint32_t
host_behind(const struct survey *b, uint32_t master)
{
	for (unsigned i = 0; i < osm_hosts(&b->o); i++) {
		uint32_t port = osm_host(&b->o, i);

		if (b->o.w.s->ports[port].guid > b->o.w.s->ports[master].guid)
			return port;
	}
	fail_msg("the master has the greatest GUID");
	return SUBNET_NONE;
}

/* Another one that stands by is told behind the master, until it goes. */
static void
test_a_standby_is_told_too(void **state)
{
	uint8_t wanted[SA_DATA_LEN] = { 0 };
	struct manager other;
	struct survey b;
	uint32_t port;

	survey_open(&b, SURVEY_TREE, 0);
	port = host_behind(&b, b.o.w.m.port);
	manager_open(&other, b.o.w.sim, port, 0, &b.o.params);
	osm_run(&b.o, 5 * SECOND);
	osm_settle(&b.o);
	assert_int_equal(other.last, SWEEP_END_STANDBY);
	assert_int_equal(managers(&b, 0, NULL), 2);
	assert_int_equal(bytes_load(osm_record(&b.c[0], SA_ATTR_SM_INFO, 0),
				    2), osm_lid(&b.o, b.o.w.m.port));
	wanted[OFF_SM_PRIORITY] = SM_STATE_STANDBY;
	assert_int_equal(managers(&b, SA_BIT(SM_STATE), wanted), 1);
	assert_int_equal(bytes_load(osm_record(&b.c[0], SA_ATTR_SM_INFO, 0),
				    2), osm_lid(&b.o, port));
	bytes_store(wanted + OFF_SM_GUID, b.o.w.s->ports[port].guid, 8);
	assert_int_equal(managers(&b, SA_BIT(SM_GUID), wanted), 1);
	manager_close(&other);
	osm_run(&b.o, 5 * SECOND);
	osm_settle(&b.o);
	assert_int_equal(managers(&b, 0, NULL), 1);
	survey_close(&b);
}

/* --------------------------------------------------------- subscriptions */

enum { SUBSCRIBER_GID = 0, SUBSCRIBER_ENUM = 1 };

/* InformInfo as osmtest sends it: nothing but these is set. */
static unsigned
subscribe(struct survey *b, unsigned client, unsigned yes, uint32_t qpn,
	  uint16_t trap)
{
	const struct inform_info info = {
		.subscribe = (uint8_t)yes, .qpn = qpn, .trap = trap,
	};
	struct osm_question q = {
		.method = MAD_METHOD_SET, .attr_id = SA_ATTR_INFORM_INFO,
	};

	inform_info_encode(q.data, &info);
	return osm_ask(&b->c[client], &q);
}

/* How many the table has by this mask, for client 0. */
static unsigned
subscriptions(struct survey *b, uint64_t mask, uint16_t index)
{
	struct inform_info_record r = { .index = index };
	uint8_t wanted[SA_DATA_LEN] = { 0 };

	osm_gid(&b->o, b->c[0].port, r.subscriber_gid);
	inform_info_record_encode(wanted, &r);
	assert_int_equal(survey_ask(b, SA_METHOD_GET_TABLE,
				    SA_ATTR_INFORM_INFO_RECORD, mask, wanted),
			 0);
	return osm_records(&b->c[0], SA_ATTR_INFORM_INFO_RECORD);
}

static void
test_subscriptions_go_as_in_osmtest(void **state)
{
	const uint64_t by_gid = SA_BIT(SUBSCRIBER_GID);
	const uint64_t by_enum = SA_BIT(SUBSCRIBER_ENUM);
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	assert_int_not_equal(survey_ask(&b, MAD_METHOD_SET,
					SA_ATTR_INFORM_INFO_RECORD, by_enum,
					NULL), 0);
	assert_int_equal(subscriptions(&b, by_enum, 0), 0);
	assert_int_not_equal(survey_ask(&b, MAD_METHOD_GET,
					SA_ATTR_INFORM_INFO, 0, NULL), 0);
	assert_int_not_equal(b.c[0].status, OSM_SILENT);
	assert_int_equal(subscribe(&b, 0, 0, 0, 0), SA_STATUS_REQ_INVALID);

	assert_int_equal(subscribe(&b, 0, 1, 0, 0), 0);
	assert_int_equal(subscribe(&b, 0, 0, 1, 0), 0);
	assert_int_equal(subscribe(&b, 0, 0, 1, 0), SA_STATUS_REQ_INVALID);
	assert_int_equal(subscribe(&b, 0, 1, 1, 0), 0);
	assert_int_equal(subscribe(&b, 0, 1, 0, 0), 0);
	assert_int_equal(subscriptions(&b, by_gid | by_enum, 1), 0);
	assert_int_equal(subscriptions(&b, by_gid | by_enum, 0), 1);
	assert_int_equal(subscriptions(&b, by_enum, 0), 1);
	assert_int_equal(subscriptions(&b, 0, 0), 1);

	assert_int_equal(subscribe(&b, 0, 1, 0, 0x1234), 0);
	assert_int_equal(subscriptions(&b, 0, 0), 2);
	assert_int_equal(subscriptions(&b, by_gid | by_enum, 1), 1);
	assert_int_equal(subscribe(&b, 0, 0, 2, 0x1234),
			 SA_STATUS_REQ_INVALID);
	assert_int_equal(subscribe(&b, 0, 0, 1, 0x1234), 0);
	assert_int_equal(subscriptions(&b, 0, 0), 1);
	assert_int_equal(subscribe(&b, 0, 0, 1, 0), 0);
	assert_int_equal(subscriptions(&b, 0, 0), 0);
	survey_close(&b);
}

/* Each has its own, and nobody can end, or see, those of others. */
static void
test_subscriptions_are_ones_own(void **state)
{
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	assert_int_equal(subscribe(&b, 1, 1, 0, 0x1234), 0);
	assert_int_equal(subscribe(&b, 2, 1, 0, 0x1234), 0);
	assert_int_equal(subscriptions(&b, 0, 0), 0);
	assert_int_equal(subscribe(&b, 0, 0, 1, 0x1234),
			 SA_STATUS_REQ_INVALID);
	assert_int_equal(subscribe(&b, 0, 1, 0, 0x1234), 0);
	assert_int_equal(subscriptions(&b, 0, 0), 1);
	assert_int_equal(subscribe(&b, 1, 0, 1, 0x1234), 0);
	assert_int_equal(subscriptions(&b, 0, 0), 1);
	assert_int_equal(subscribe(&b, 2, 0, 1, 0x1234), 0);
	survey_close(&b);
}

/* ------------------------------------------------------------- MultiPath */

#define COUNTS		(SA_BIT(MULTI_SGID_COUNT) | SA_BIT(MULTI_DGID_COUNT))
#define GIDS_MAX	11u	/* that fit into one MAD */

static const uint8_t ipoib[16] = {
	0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
	0xff, 0xff, 0xff, 0xff,
};

struct lists {
	uint64_t mask;
	unsigned n_sources, n_destinations;
	uint8_t numb_path;
	uint8_t gids[GIDS_MAX][16];
};

static unsigned
multi(struct survey *b, const struct lists *l)
{
	struct multi_path_record r = {
		.path.numb_path = l->numb_path,
		.n_sgids = (uint8_t)l->n_sources,
		.n_dgids = (uint8_t)l->n_destinations,
	};
	struct osm_question q = {
		.method = SA_METHOD_GET_MULTI,
		.attr_id = SA_ATTR_MULTI_PATH, .mask = l->mask,
	};

	multi_path_record_encode(q.data, &r);
	memcpy(q.data + MULTI_PATH_GIDS_OFFSET, l->gids, sizeof(l->gids));
	return osm_ask(&b->c[0], &q);
}

/* Hosts `first`, `first` + 1, ... from place `at` on. */
static void
put_hosts(const struct survey *b, struct lists *l, unsigned at, unsigned n,
	  unsigned first)
{
	for (unsigned i = 0; i < n; i++)
		osm_gid(&b->o, osm_host(&b->o, first + i), l->gids[at + i]);
}

/* A path for each pair, and packets take it. */
static void
assert_joined(const struct survey *b, const struct lists *l)
{
	unsigned n = l->n_sources * l->n_destinations;
	uint64_t seen = 0;

	assert_int_equal(b->c[0].method, 0x94);	/* GetMultiResp */
	assert_int_equal(osm_records(&b->c[0], SA_ATTR_PATH), n);
	for (unsigned i = 0; i < n; i++) {
		struct path_record r;
		unsigned from = 0, to = 0;
		uint32_t port;

		path_record_decode(osm_record(&b->c[0], SA_ATTR_PATH, i), &r);
		while (from < l->n_sources &&
		       memcmp(r.sgid, l->gids[from], 16))
			from++;
		while (to < l->n_destinations &&
		       memcmp(r.dgid, l->gids[l->n_sources + to], 16))
			to++;
		assert_true(from < l->n_sources && to < l->n_destinations);
		assert_false(seen >> (from * l->n_destinations + to) & 1);
		seen |= UINT64_C(1) << (from * l->n_destinations + to);
		port = truth_owner(&b->o, b->ends, r.slid);
		assert_int_not_equal(port, SUBNET_NONE);
		assert_int_equal(sim_probe(b->o.w.sim, port, r.dlid, r.pkey,
					   r.sl, NULL), SIM_DELIVERED);
	}
}

static void
test_multi_path_joins_every_pair(void **state)
{
	static const unsigned shapes[][2] = {
		{ 1, 1 }, { 2, 2 }, { 3, 5 }, { 1, 10 }, { 10, 1 }, { 5, 6 },
	};
	struct lists l = { .mask = COUNTS };
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++) {
		l.n_sources = shapes[i][0];
		l.n_destinations = shapes[i][1];
		put_hosts(&b, &l, 0, l.n_sources, 0);
		put_hosts(&b, &l, l.n_sources, l.n_destinations, 4);
		assert_int_equal(multi(&b, &l), 0);
		assert_joined(&b, &l);
	}
	/* osmtest's own: one port with itself; and twice the same both times,
	 * of which it wants two paths. */
	for (unsigned i = 0; i < 4; i++)
		put_hosts(&b, &l, i, 1, 2);
	l.n_sources = l.n_destinations = 1;
	assert_int_equal(multi(&b, &l), 0);
	assert_joined(&b, &l);
	l.n_sources = l.n_destinations = 2;
	l.mask = COUNTS | SA_BIT(MULTI_NUMB_PATH);
	l.numb_path = 2;
	assert_int_equal(multi(&b, &l), 0);
	assert_true(osm_records(&b.c[0], SA_ATTR_PATH) > 0);
	survey_close(&b);
}

static void
test_multi_path_of_bad_lists_is_refused(void **state)
{
	uint8_t own[16];
	struct lists l;
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	osm_gid(&b.o, b.c[0].port, own);
	memset(&l, 0, sizeof(l));
	assert_int_equal(multi(&b, &l), SA_STATUS_INSUFFICIENT);
	l.mask = COUNTS;
	assert_int_equal(multi(&b, &l), SA_STATUS_INSUFFICIENT);
	l.n_sources = 1;
	memcpy(l.gids[0], own, 16);
	memcpy(l.gids[1], own, 16);
	assert_int_equal(multi(&b, &l), SA_STATUS_INSUFFICIENT);
	l.n_destinations = 1;
	l.mask = SA_BIT(MULTI_SGID_COUNT);
	assert_int_equal(multi(&b, &l), SA_STATUS_INSUFFICIENT);
	l.mask = SA_BIT(MULTI_DGID_COUNT);
	assert_int_equal(multi(&b, &l), SA_STATUS_INSUFFICIENT);

	/* A group, and a GID that nobody has, on either side, also among good
	 * ones. */
	l.mask = COUNTS;
	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned at = 0; at < 5; at++) {
			l.n_sources = 2;
			l.n_destinations = 3;
			put_hosts(&b, &l, 0, 5, 0);
			assert_int_equal(multi(&b, &l), 0);
			if (turn)
				memcpy(l.gids[at], ipoib, 16);
			else
				l.gids[at][8] ^= 0x40;
			assert_int_equal(multi(&b, &l),
					 SA_STATUS_INVALID_GID);
		}
	}
	/* More than the request has, by one, and by as many as can be said. */
	put_hosts(&b, &l, 0, GIDS_MAX, 0);
	l.n_sources = 6;
	l.n_destinations = 6;
	assert_int_equal(multi(&b, &l), SA_STATUS_REQ_INVALID);
	l.n_sources = l.n_destinations = 255;
	assert_int_equal(multi(&b, &l), SA_STATUS_REQ_INVALID);
	/* None of a pair is a wish that is granted. */
	l.n_sources = l.n_destinations = 1;
	l.mask = COUNTS | SA_BIT(MULTI_NUMB_PATH);
	assert_int_equal(multi(&b, &l), 0);
	assert_int_equal(osm_records(&b.c[0], SA_ATTR_PATH), 0);
	survey_close(&b);
}

/* ------------------------------------------------------------- the others */

static void
test_the_sa_says_what_it_can(void **state)
{
	struct sa_class_info info;
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	assert_int_equal(survey_ask(&b, MAD_METHOD_GET,
				    SA_ATTR_CLASS_PORT_INFO, 0, NULL), 0);
	assert_int_equal(b.c[0].data[0], 1);	/* BaseVersion */
	assert_int_equal(b.c[0].data[1], 2);	/* ClassVersion */
	sa_class_info_decode(b.c[0].data, &info);
	assert_true(info.cap_mask & 1u << 10);	/* MultiPath */
	/* No client shall wait for longer than it repeats. */
	assert_in_range(info.resp_time, 1, 18);
	assert_int_not_equal(survey_ask(&b, SA_METHOD_GET_TABLE,
					SA_ATTR_CLASS_PORT_INFO, 0, NULL), 0);
	assert_int_not_equal(b.c[0].status, OSM_SILENT);
	survey_close(&b);
}

/* Methods and attributes that do not go together get an error, not silence:
 * osmtest would wait. */
static void
test_what_is_not_served_is_refused_at_once(void **state)
{
	static const unsigned methods[] = {
		MAD_METHOD_SET, SA_METHOD_DELETE, SA_METHOD_GET_MULTI,
		SA_METHOD_GET_TRACE_TABLE,
	};
	static const unsigned attrs[] = {
		SA_ATTR_NODE, SA_ATTR_PORT_INFO, SA_ATTR_SM_INFO, SA_ATTR_PATH,
		SA_ATTR_LINK, SA_ATTR_PKEY_TABLE, SA_ATTR_INFORM_INFO_RECORD,
		SA_ATTR_CLASS_PORT_INFO, SA_ATTR_TRACE,
	};
	struct survey b;

	survey_open(&b, SURVEY_TREE, 0);
	for (size_t i = 0; i < G_N_ELEMENTS(methods); i++)
		for (size_t k = 0; k < G_N_ELEMENTS(attrs); k++) {
			assert_int_not_equal(survey_ask(&b, methods[i],
							attrs[k], 0, NULL),
					     0);
			assert_int_not_equal(b.c[0].status, OSM_SILENT);
			assert_int_equal(b.c[0].attempts, 1);
		}
	survey_close(&b);
}

static unsigned
path_to_gid(struct survey *b, const uint8_t dgid[16], struct path_record *r)
{
	uint8_t wanted[SA_DATA_LEN] = { 0 };

	*r = (struct path_record){ .numb_path = 0x7f };
	osm_gid(&b->o, b->c[0].port, r->sgid);
	memcpy(r->dgid, dgid, 16);
	path_record_encode(wanted, r);
	survey_ask(b, MAD_METHOD_GET, SA_ATTR_PATH, SA_BIT(PATH_SGID) |
		   SA_BIT(PATH_DGID) | SA_BIT(PATH_NUMB_PATH), wanted);
	path_record_decode(b->c[0].data, r);
	return b->c[0].status;
}

/* The four that osmtest asks for without looking at the answer. */
static void
test_paths_beyond_the_subnet(void **state)
{
	struct mcmember_record m = { .join_state = 1 };
	struct osm_question q = {
		.method = MAD_METHOD_SET, .attr_id = SA_ATTR_MC_MEMBER,
		.mask = SA_BIT(MCM_MGID) | SA_BIT(MCM_PORT_GID) |
			SA_BIT(MCM_JOIN_STATE),
	};
	struct path_record r;
	struct survey b;
	uint8_t gid[16];

	survey_open(&b, SURVEY_TREE, 0);
	memcpy(m.mgid, ipoib, 16);
	osm_gid(&b.o, b.c[0].port, m.port_gid);
	mcmember_record_encode(q.data, &m);
	assert_int_equal(osm_ask(&b.c[0], &q), 0);
	mcmember_record_decode(b.c[0].data, &m);
	assert_int_equal(path_to_gid(&b, ipoib, &r), 0);
	assert_int_equal(r.dlid, m.mlid);
	assert_int_equal(r.slid, osm_lid(&b.o, b.c[0].port));
	assert_int_equal(r.mtu, m.mtu);
	assert_int_equal(r.rate, m.rate);
	/* No such group. */
	memcpy(gid, ipoib, 16);
	gid[1] = 0x15;
	assert_int_equal(path_to_gid(&b, gid, &r), SA_STATUS_NO_RECORDS);
	/* Our own port under prefixes that are not the subnet's. */
	osm_gid(&b.o, b.c[0].port, gid);
	gid[7] = 0xff;
	assert_int_equal(path_to_gid(&b, gid, &r), SA_STATUS_INVALID_GID);
	osm_gid(&b.o, b.c[0].port, gid);
	gid[1] = 0xc0;
	assert_int_equal(path_to_gid(&b, gid, &r), SA_STATUS_INVALID_GID);
	survey_close(&b);
}

/* ------------------------------------------------------------ several LIDs */

static unsigned
path_by_lids(struct survey *b, uint16_t slid, uint16_t dlid)
{
	const struct path_record want = { .slid = slid, .dlid = dlid };
	uint8_t wanted[SA_DATA_LEN] = { 0 };

	path_record_encode(wanted, &want);
	return survey_ask(b, MAD_METHOD_GET, SA_ATTR_PATH, SA_BIT(PATH_SLID) |
			  SA_BIT(PATH_DLID), wanted);
}

static unsigned
lids_of(const struct survey *b, guint i)
{
	return 1u << sim_port_info(b->o.w.sim, survey_end(b, i))->lmc;
}

/* All paths of a fabric with LMC 1: as many of a pair as the end with more
 * LIDs has, and each goes where it says. */
static void
check_all_paths(struct survey *b)
{
	unsigned n = 0;

	for (guint i = 0; i < b->ends->len; i++)
		for (guint k = 0; k < b->ends->len; k++)
			n += MAX(lids_of(b, i), lids_of(b, k));
	assert_int_equal(osm_table(&b->c[0], SA_ATTR_PATH, 0, NULL), 0);
	assert_int_equal(osm_records(&b->c[0], SA_ATTR_PATH), n);
	for (unsigned i = 0; i < n; i++) {
		struct path_record r;
		struct sim_trace t;
		uint32_t from;

		path_record_decode(osm_record(&b->c[0], SA_ATTR_PATH, i), &r);
		from = truth_owner(&b->o, b->ends, r.slid);
		assert_int_equal(sim_probe(b->o.w.sim, from, r.dlid, r.pkey,
					   r.sl, &t), SIM_DELIVERED);
		assert_int_equal(bytes_load(r.sgid + 8, 8),
				 b->o.w.s->ports[from].guid);
		assert_int_equal(bytes_load(r.dgid + 8, 8),
				 b->o.w.s->ports[t.end].guid);
	}
}

/* A port with several LIDs answers to each of them; what is told has the
 * first. */
static void
test_every_lid_of_a_range_names_the_port(void **state)
{
	static const unsigned by_lid[] = {
		SA_ATTR_PORT_INFO, SA_ATTR_GUID_INFO, SA_ATTR_PKEY_TABLE,
		SA_ATTR_LINK, SA_ATTR_NODE, SA_ATTR_SL_TO_VL, SA_ATTR_VL_ARB,
	};
	static const unsigned tables[] = {
		SA_ATTR_NODE, SA_ATTR_PORT_INFO, SA_ATTR_LINK,
		SA_ATTR_LINEAR_FT, SA_ATTR_GUID_INFO,
	};
	struct path_record r;
	struct survey b;
	uint16_t lid;

	survey_open(&b, SURVEY_TREE, 1);
	lid = osm_lid(&b.o, b.c[0].port);
	assert_int_equal(sim_port_info(b.o.w.sim, b.c[0].port)->lmc, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(by_lid); i++) {
		GByteArray *base, *other;

		assert_int_equal(ask_lid(&b, SA_METHOD_GET_TABLE, by_lid[i],
					 lid), 0);
		base = survey_told(&b.c[0], by_lid[i]);
		assert_int_equal(bytes_load(base->data, 2), lid);
		assert_int_equal(ask_lid(&b, SA_METHOD_GET_TABLE, by_lid[i],
					 lid + 1), 0);
		other = survey_told(&b.c[0], by_lid[i]);
		assert_true(survey_same(by_lid[i], base, other) > 0);
		g_byte_array_unref(base);
		g_byte_array_unref(other);
	}
	assert_none(&b, SA_ATTR_SWITCH_INFO, lid + 1);
	assert_none(&b, SA_ATTR_LINEAR_FT, lid + 1);
	assert_none(&b, SA_ATTR_MULTICAST_FT, lid + 1);
	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		g_byte_array_unref(survey_check(&b, tables[i]));
	check_all_paths(&b);
	assert_int_equal(path_by_lids(&b, lid + 1, lid + 1), 0);
	path_record_decode(b.c[0].data, &r);
	assert_int_equal(r.slid, lid + 1);
	assert_int_equal(r.dlid, lid + 1);
	assert_int_equal(path_by_lids(&b, NOBODY, NOBODY),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(path_by_lids(&b, lid + 1, NOBODY),
			 SA_STATUS_NO_RECORDS);
	assert_int_equal(path_by_lids(&b, NOBODY, lid + 1),
			 SA_STATUS_NO_RECORDS);
	survey_close(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_nobody_give_empty_tables),
		cmocka_unit_test(test_pkeys_are_for_who_has_the_key),
		cmocka_unit_test(test_the_manager_is_found_by_what_it_is),
		cmocka_unit_test(test_a_standby_is_told_too),
		cmocka_unit_test(test_subscriptions_go_as_in_osmtest),
		cmocka_unit_test(test_subscriptions_are_ones_own),
		cmocka_unit_test(test_multi_path_joins_every_pair),
		cmocka_unit_test(test_multi_path_of_bad_lists_is_refused),
		cmocka_unit_test(test_the_sa_says_what_it_can),
		cmocka_unit_test(test_what_is_not_served_is_refused_at_once),
		cmocka_unit_test(test_paths_beyond_the_subnet),
		cmocka_unit_test(test_every_lid_of_a_range_names_the_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
