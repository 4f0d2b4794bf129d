// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `services`, `subscriptions`: registrations of clients at the SA, which are in
 * no view.
 */
#include "sm/control/request.h"

#include <string.h>

#include "sm/mad/sa_record.h"
#include "sm/sa/informinfo.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa.h"
#include "sm/sa/service.h"
#include "topology/each.h"
#include "topology/text.h"

#define ALL_TRAPS	0xffffu

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

/* ---- services ---- */

void
control_services(struct control_request *q)
{
	const GPtrArray *list = q->v.sa->services->all.list;
	struct text_report *r = &q->out;

	report_open_list(r, "services");
	EACH_PTR(const struct service, service, list) {
		struct service_record s;
		char name[sizeof(s.name) + 1] = "";
		g_autofree char *shown = NULL;

		service_describe(service, q->v.now, &s);
		memcpy(name, s.name, sizeof(s.name));
		shown = text_one_line(name);
		report_open(r, NULL, '{');
		report_hex(r, "id", s.id, 16, "  ");
		report_say(r, "%s  on ", shown);
		report_text(r, "name", name, NULL);
		put_node_of(r, q->db, sa_db_gid(q->db, s.gid), "  ");
		report_gid(r, "gid", s.gid, "  P_Key ");
		report_hex(r, "pkey", s.pkey, 4, "  ");
		if (s.lease == UINT32_MAX)
			report_say(r, "for ever\n");
		else
			report_say(r, "for %u s\n", s.lease);
		report_number(r, "lease_s", s.lease, NULL);
		report_close(r, '}');
	}
	report_close_list(r, "services");
}

/* ---- subscriptions ---- */

void
control_subscriptions(struct control_request *q)
{
	static const uint8_t any[16];
	const GPtrArray *list = q->v.sa->informs->all.list;
	struct text_report *r = &q->out;

	report_open_list(r, "subscriptions");
	EACH_PTR(const struct subscription, s, list) {
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
			report_gid(r, "gid", i->gid, "");
		}
		report_say(r, "\n");
		report_close(r, '}');
	}
	report_close_list(r, "subscriptions");
}
