/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A request on its way through, and what commands share. Private to
 * sm/control.
 */
#ifndef MINISM_CONTROL_REQUEST_H
#define MINISM_CONTROL_REQUEST_H

#include "sm/control/control_view.h"
#include "topology/json.h"

struct control_request {
	const struct control_hooks *hooks;
	char **words;		/* of the line, `json` and options left out */
	guint n_words;
	bool json;
	bool options[4];	/* enum request_option: it was given */
	enum control_code code;
	GString *body;
};

enum request_option {
	REQUEST_FORCE,
	REQUEST_WHY,
	REQUEST_WAIT,
	REQUEST_FOLLOW,
};

/* A line that says how it went. */
void request_say(struct control_request *r, enum control_code code,
		 const char *format, ...) G_GNUC_PRINTF(3, 4);
void request_look(const struct control_request *r, struct control_view *v);

/*
 * An end port by name ("NODE", "NODE/PORT"), PortGUID, NodeGUID or, with lids,
 * LID; 0x before it means a GUID first. SNAPSHOT_NONE: there is none or there
 * are several, and it was said; with `absent` a GUID of 16 digits that is on no
 * port is no fault, and *absent is that GUID, else 0.
 */
uint32_t request_find_port(struct control_request *r, const struct snapshot *s,
			   const struct lid_map *lids, const char *word,
			   uint64_t *absent);

/* A command about the fabric of the last sweep. */
struct fabric_query {
	struct control_request *request;
	struct control_view v;
	const struct sa_db *db;
	struct text_report r;
};

/* False: there is no fabric yet, and it was
 * said. */
bool query_open(struct fabric_query *q, struct control_request *r);
/* As request_find_port(), the nth word of the line. */
uint32_t query_find(struct fabric_query *q, unsigned word);
/* Closes the outermost object. */
void query_close(struct fabric_query *q);

/* ---- commands ---- */

void control_avoid(struct control_request *r);
void control_partitions(struct control_request *r);
void control_partition(struct control_request *r);
void control_path(struct control_request *r);
void control_who(struct control_request *r);
void control_nodes(struct control_request *r);
void control_links(struct control_request *r);
void control_errors(struct control_request *r);
void control_report(struct control_request *r);
void control_ports(struct control_request *r);
void control_groups(struct control_request *r);
void control_members(struct control_request *r);
void control_services(struct control_request *r);
void control_subscriptions(struct control_request *r);
void control_sms(struct control_request *r);
void control_config(struct control_request *r);
void control_events(struct control_request *r);
void control_sweep(struct control_request *r);

/* "an argument is missing; usage: ..."; in control.c */
void request_say_usage(struct control_request *r);

#endif
