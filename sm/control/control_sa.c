// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `groups`, `members`, `services`, `subscriptions`: what clients keep at the
 * SA; and `sms`, the subnet managers.
 */
#include "sm/control/request.h"

#include <arpa/inet.h>
#include <string.h>

#include "sm/mad/sa_record.h"
#include "sm/sa/query.h"
#include "sm/sweep/election.h"
#include "topology/text.h"

#define ALL_TRAPS	0xffffu
#define ALL_PRODUCERS	0xffffffu

/* A GID in the form of IPv6, as saquery prints it. */
static void
put_gid(struct text_report *r, const char *key, const uint8_t gid[16],
	const char *after)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, gid, text, sizeof(text));
	report_text(r, key, text, after);
}

/* The node of an end port; "away" if it is not on the fabric. */
static void
put_node_of(struct text_report *r, const struct sa_db *db, uint32_t port,
	    const char *after)
{
	g_autofree char *name = port == SNAPSHOT_NONE ? NULL :
		snapshot_port_name(db->subnet, port);

	if (r->as_json || name)
		report_text(r, "node", name, after);
	else
		report_say(r, "away%s", after);
}

/* ---- groups ---- */

static void
put_mcast_group(struct text_report *r, const struct group *g)
{
	report_open(r, NULL, '{');
	put_gid(r, "mgid", g->r.mgid, "  MLID ");
	report_hex(r, "mlid", g->r.mlid, 4, "  P_Key ");
	report_hex(r, "pkey", g->r.pkey, 4, "  Q_Key ");
	report_hex(r, "q_key", g->r.q_key, 8, "  MTU ");
	report_number(r, "mtu", port_mtu_bytes(g->r.mtu), "  ");
	report_real(r, "gbps", (double)sa_rate_mbps(g->r.rate) / 1000, 1,
		    " Gb/s  SL ");
	report_number(r, "sl", g->r.sl, "  ");
	report_number(r, "members", g->members->len,
		      g->members->len == 1 ? " member" : " members");
	if (g->permanent)
		report_say(r, ", of the configuration");
	if (r->as_json)
		json_bool(&r->json, "permanent", g->permanent);
	report_say(r, "\n");
	report_close(r, '}');
}

void
control_groups(struct control_request *request)
{
	struct fabric_query q;

	if (!query_open(&q, request))
		return;
	report_open(&q.r, NULL, '{');
	report_open(&q.r, "groups", '[');
	for (guint i = 0; i < q.v.sa->groups->list->len; i++)
		put_mcast_group(&q.r, q.v.sa->groups->list->pdata[i]);
	report_close(&q.r, ']');
	query_close(&q);
}

static void
put_join_state(struct text_report *r, unsigned state)
{
	static const char *const names[] = {
		"full", "non", "send-only-non", "send-only-full",
	};
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (state & 1u << i)
			g_string_append_printf(text, "%s%s",
					       text->len ? "," : "", names[i]);
	report_text(r, "joined", text->str, "  ");
}

static void
put_group_members(struct fabric_query *q, const struct group *g)
{
	for (guint i = 0; i < g->members->len; i++) {
		const struct group_member *m =
			&g_array_index(g->members, struct group_member, i);

		report_open(&q->r, NULL, '{');
		put_gid(&q->r, "mgid", g->r.mgid, "  MLID ");
		report_hex(&q->r, "mlid", g->r.mlid, 4, "  ");
		put_join_state(&q->r, m->join_state);
		report_hex(&q->r, "guid", m->port_guid, 16, "  ");
		put_node_of(&q->r, q->db, sa_db_guid(q->db, m->port_guid),
			    "\n");
		report_close(&q->r, '}');
	}
}

void
control_members(struct control_request *request)
{
	const char *word = request->words[1];
	const struct group *only = NULL;
	struct fabric_query q;
	uint8_t mgid[16];
	uint64_t mlid;

	if (!query_open(&q, request))
		return;
	if (word && inet_pton(AF_INET6, word, mgid) == 1)
		only = groups_find(q.v.sa->groups, mgid);
	else if (word && text_read_number(word, GROUPS_MLID_END - 1, &mlid) &&
		 mlid >= GROUPS_MLID_MIN)
		only = groups_of_mlid(q.v.sa->groups, (uint16_t)mlid);
	if (word && !only) {
		g_autofree char *shown = text_one_line(word);

		request_say(request, CONTROL_USAGE, "%s is the MGID or MLID "
			    "of no group; groups lists them", shown);
		return;
	}
	report_open(&q.r, NULL, '{');
	report_open(&q.r, "members", '[');
	for (guint i = 0; i < q.v.sa->groups->list->len; i++)
		if (!only || only == q.v.sa->groups->list->pdata[i])
			put_group_members(&q,
					  q.v.sa->groups->list->pdata[i]);
	report_close(&q.r, ']');
	query_close(&q);
}

/* ---- services ---- */

static void
put_service(struct fabric_query *q, const struct service *service)
{
	struct service_record s;
	char name[sizeof(s.name) + 1] = "";
	g_autofree char *shown = NULL;

	service_describe(service, q->v.now, &s);
	memcpy(name, s.name, sizeof(s.name));
	shown = text_one_line(name);
	report_open(&q->r, NULL, '{');
	report_hex(&q->r, "id", s.id, 16, "  ");
	report_text(&q->r, "name", shown, "  on ");
	put_node_of(&q->r, q->db, sa_db_gid(q->db, s.gid), "  ");
	put_gid(&q->r, "gid", s.gid, "  P_Key ");
	report_hex(&q->r, "pkey", s.pkey, 4, "  ");
	if (s.lease == UINT32_MAX)
		report_say(&q->r, "for ever\n");
	else
		report_say(&q->r, "for %u s\n", s.lease);
	report_number(&q->r, "lease_s", s.lease, NULL);
	report_close(&q->r, '}');
}

void
control_services(struct control_request *request)
{
	struct fabric_query q;

	if (!query_open(&q, request))
		return;
	report_open(&q.r, NULL, '{');
	report_open(&q.r, "services", '[');
	for (guint i = 0; i < q.v.sa->services->list->len; i++)
		put_service(&q, q.v.sa->services->list->pdata[i]);
	report_close(&q.r, ']');
	query_close(&q);
}

/* ---- subscriptions ---- */

static void
put_subscription(struct fabric_query *q, const struct subscription *s)
{
	const struct inform_info *i = &s->info;
	static const uint8_t any[16];

	report_open(&q->r, NULL, '{');
	put_node_of(&q->r, q->db, sa_db_guid(q->db, s->port_guid), "  ");
	report_hex(&q->r, "guid", s->port_guid, 16, "  QP ");
	report_number(&q->r, "qp", s->qp, i->generic ? "  trap " :
		      "  vendor's trap ");
	if (i->trap == ALL_TRAPS)
		report_say(&q->r, "any");
	else
		report_say(&q->r, "%u%s%s", i->trap, i->generic ? " " : "",
			   i->generic ? notice_trap_name(i->trap) : "");
	if (q->r.as_json)
		json_bool(&q->r.json, "generic", i->generic);
	report_number(&q->r, "trap", i->trap, NULL);
	report_number(&q->r, "producer", i->producer, NULL);
	if (i->lid_begin == LID_PERMISSIVE || i->lid_begin > i->lid_end)
		report_say(&q->r, ", of any LID");
	else if (i->lid_begin)
		report_say(&q->r, ", of LIDs %u to %u", i->lid_begin,
			   MAX(i->lid_begin, i->lid_end));
	report_number(&q->r, "lid_begin", i->lid_begin, NULL);
	report_number(&q->r, "lid_end", i->lid_end, NULL);
	if (memcmp(i->gid, any, sizeof(any))) {
		report_say(&q->r, ", of GID ");
		put_gid(&q->r, "gid", i->gid, "");
	}
	report_say(&q->r, "\n");
	report_close(&q->r, '}');
}

void
control_subscriptions(struct control_request *request)
{
	struct fabric_query q;

	if (!query_open(&q, request))
		return;
	report_open(&q.r, NULL, '{');
	report_open(&q.r, "subscriptions", '[');
	for (guint i = 0; i < q.v.sa->informs->list->len; i++)
		put_subscription(&q, q.v.sa->informs->list->pdata[i]);
	report_close(&q.r, ']');
	query_close(&q);
}

/* ---- subnet managers ---- */

static void
put_sm(struct text_report *r, const struct sm_info *info,
       const struct snapshot *where, const char *own)
{
	uint32_t port = where ? snapshot_find_port(where, info->guid) :
		SNAPSHOT_NONE;

	report_open(r, NULL, '{');
	report_text(r, "state", sm_state_name(info->state), "  priority ");
	report_number(r, "priority", info->priority, "  ");
	report_hex(r, "guid", info->guid, 16, "  ");
	report_text(r, "node", port == SNAPSHOT_NONE ? NULL :
		    snapshot_name_of(where, port), "");
	if (r->as_json)
		json_bool(&r->json, "own", *own != '\0');
	report_say(r, "%s\n", own);
	report_close(r, '}');
}

/* A standby has no fabric to answer from, and knows this all the same. */
void
control_sms(struct control_request *request)
{
	struct text_report r = { .json = { .out = request->body },
				 .as_json = request->json };
	struct control_view v;

	request_look(request, &v);
	report_open(&r, NULL, '{');
	report_open(&r, "sms", '[');
	put_sm(&r, &v.self, v.where, "  (this one)");
	for (guint i = 0; v.peers && i < v.peers->len; i++)
		put_sm(&r, &g_array_index(v.peers, struct election_peer, i)
		       .info, v.where, "");
	report_close(&r, ']');
	report_close(&r, '}');
	if (request->json)
		g_string_append_c(request->body, '\n');
}
