// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `groups`, `members`, `services`, `subscriptions`: the registrations of
 * clients at the SA; and `sms`, the subnet managers.
 */
#include "sm/control/request.h"

#include <arpa/inet.h>
#include <string.h>

#include "sm/mad/sa_record.h"
#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa.h"
#include "sm/sa/service.h"
#include "sm/sweep/election.h"
#include "topology/text.h"

#define ALL_TRAPS	0xffffu

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

void
control_groups(struct control_request *q)
{
	const GPtrArray *list = q->v.sa->groups->all.list;
	struct text_report *r = &q->out;

	request_open_list(q, "groups");
	for (guint i = 0; i < list->len; i++) {
		const struct group *g = list->pdata[i];
		double gbps = (double)sa_rate_mbps(g->r.rate) / 1000;

		report_open(r, NULL, '{');
		put_gid(r, "mgid", g->r.mgid, "  MLID ");
		report_hex(r, "mlid", g->r.mlid, 4, "  P_Key ");
		report_hex(r, "pkey", g->r.pkey, 4, "  Q_Key ");
		report_hex(r, "q_key", g->r.q_key, 8, "  MTU ");
		report_number(r, "mtu", port_mtu_bytes(g->r.mtu), "  ");
		report_real(r, "gbps", gbps, 1, " Gb/s  SL ");
		report_number(r, "sl", g->r.sl, "  ");
		report_number(r, "members", g->members.list->len,
			      g->members.list->len == 1 ? " member" :
			      " members");
		report_bool(r, "permanent", g->permanent);
		report_say(r, "%s\n", g->permanent ?
			   ", of the configuration" : "");
		report_close(r, '}');
	}
	request_close_list(q);
}

static void
put_group_members(struct control_request *q, const struct group *g)
{
	static const char *const states[] = {
		"full", "non", "send-only-non", "send-only-full",
	};
	struct text_report *r = &q->out;

	for (guint i = 0; i < g->members.list->len; i++) {
		const struct group_member *m = g->members.list->pdata[i];
		g_autoptr(GString) joined = g_string_new(NULL);

		for (size_t k = 0; k < G_N_ELEMENTS(states); k++)
			if (m->join_state & 1u << k)
				g_string_append_printf(joined, "%s%s",
						       joined->len ? "," : "",
						       states[k]);
		report_open(r, NULL, '{');
		put_gid(r, "mgid", g->r.mgid, "  MLID ");
		report_hex(r, "mlid", g->r.mlid, 4, "  ");
		report_text(r, "joined", joined->str, "  ");
		report_hex(r, "guid", m->port_guid, 16, "  ");
		put_node_of(r, q->db, sa_db_guid(q->db, m->port_guid), "\n");
		report_close(r, '}');
	}
}

void
control_members(struct control_request *q)
{
	const GPtrArray *list = q->v.sa->groups->all.list;
	const char *word = q->words[1];
	const struct group *only = NULL;
	uint8_t mgid[16];
	uint64_t mlid;

	if (word && inet_pton(AF_INET6, word, mgid) == 1)
		only = sa_store_find(&q->v.sa->groups->all, mgid);
	else if (word &&
		 text_read_number(word, 0, GROUPS_MLID_END - 1, &mlid) &&
		 mlid >= GROUPS_MLID_MIN)
		only = groups_of_mlid(q->v.sa->groups, (uint16_t)mlid);
	if (word && !only) {
		g_autofree char *shown = text_one_line(word);

		request_say(q, CONTROL_USAGE, "%s is the MGID or MLID "
			    "of no group; groups lists them", shown);
		return;
	}
	request_open_list(q, "members");
	for (guint i = 0; i < list->len; i++)
		if (!only || only == list->pdata[i])
			put_group_members(q, list->pdata[i]);
	request_close_list(q);
}

/* ---- services ---- */

void
control_services(struct control_request *q)
{
	const GPtrArray *list = q->v.sa->services->all.list;
	struct text_report *r = &q->out;

	request_open_list(q, "services");
	for (guint i = 0; i < list->len; i++) {
		struct service_record s;
		char name[sizeof(s.name) + 1] = "";
		g_autofree char *shown = NULL;

		service_describe(list->pdata[i], q->v.now, &s);
		memcpy(name, s.name, sizeof(s.name));
		shown = text_one_line(name);
		report_open(r, NULL, '{');
		report_hex(r, "id", s.id, 16, "  ");
		report_say(r, "%s  on ", shown);
		report_text(r, "name", name, NULL);
		put_node_of(r, q->db, sa_db_gid(q->db, s.gid), "  ");
		put_gid(r, "gid", s.gid, "  P_Key ");
		report_hex(r, "pkey", s.pkey, 4, "  ");
		if (s.lease == UINT32_MAX)
			report_say(r, "for ever\n");
		else
			report_say(r, "for %u s\n", s.lease);
		report_number(r, "lease_s", s.lease, NULL);
		report_close(r, '}');
	}
	request_close_list(q);
}

/* ---- subscriptions ---- */

void
control_subscriptions(struct control_request *q)
{
	static const uint8_t any[16];
	const GPtrArray *list = q->v.sa->informs->all.list;
	struct text_report *r = &q->out;

	request_open_list(q, "subscriptions");
	for (guint k = 0; k < list->len; k++) {
		const struct subscription *s = list->pdata[k];
		const struct inform_info *i = &s->info;

		report_open(r, NULL, '{');
		put_node_of(r, q->db, sa_db_guid(q->db, s->port_guid), "  ");
		report_hex(r, "guid", s->port_guid, 16, "  QP ");
		report_number(r, "qp", s->qp, i->generic ? "  trap " :
			      "  vendor's trap ");
		if (i->trap == ALL_TRAPS)
			report_say(r, "any");
		else
			report_say(r, "%u%s%s", i->trap, i->generic ? " " : "",
				   i->generic ? notice_trap_name(i->trap) : "");
		report_bool(r, "generic", i->generic);
		report_number(r, "trap", i->trap, NULL);
		report_number(r, "producer", i->producer, NULL);
		if (i->lid_begin == LID_PERMISSIVE || i->lid_begin > i->lid_end)
			report_say(r, ", of any LID");
		else if (i->lid_begin)
			report_say(r, ", of LIDs %u to %u", i->lid_begin,
				   i->lid_end);
		report_number(r, "lid_begin", i->lid_begin, NULL);
		report_number(r, "lid_end", i->lid_end, NULL);
		if (memcmp(i->gid, any, sizeof(any))) {
			report_say(r, ", of GID ");
			put_gid(r, "gid", i->gid, "");
		}
		report_say(r, "\n");
		report_close(r, '}');
	}
	request_close_list(q);
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
	report_bool(r, "own", *own != '\0');
	report_say(r, "%s\n", own);
	report_close(r, '}');
}

/* Also of a standby, which has no view of the fabric. */
void
control_sms(struct control_request *q)
{
	const GArray *peers = q->v.peers;

	request_open_list(q, "sms");
	put_sm(&q->out, &q->v.self, q->v.where, "  (this one)");
	for (guint i = 0; peers && i < peers->len; i++)
		put_sm(&q->out, &g_array_index(peers, struct election_peer, i)
		       .info, q->v.where, "");
	request_close_list(q);
}
