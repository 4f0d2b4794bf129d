/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A request and its answer, and what commands share. Private to sm/control.
 */
#ifndef MINISM_CONTROL_REQUEST_H
#define MINISM_CONTROL_REQUEST_H

#include "sm/config/command.h"
#include "sm/control/control_view.h"
#include "topology/report.h"

struct control_request {
	const struct control_hooks *hooks;
	const struct command *command;	/* NULL: there is no such word */
	struct control_view v;	/* when the request came */
	const struct sa_db *db;	/* of v: the fabric of the last sweep; NULL:
				   none has read it yet */
	char **words;		/* of the line, `json` and options left out */
	guint n_words;
	unsigned options;	/* 1 << enum command_option: it was given */
	const char *line;	/* without what was before it: "json", and */
	bool is_again;		/* "again", a request that continues, and */
	uint64_t number;	/* what request_again() had */
	enum control_code code;
	struct text_report out;
	GBytes *rest;		/* follows that; a reference, or NULL */
};

/* The answer is one line with the result. */
void request_say(struct control_request *r, enum control_code code,
		 const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The answer is CONTROL_AGAIN, with this request and a number from which it goes
 * on; a list may follow. */
void request_again(struct control_request *r, uint64_t number);

/* That control_request.db is NULL, and why. */
void request_say_no_fabric(struct control_request *r);

/* Answers "BEFORE word AFTER", and the nearest of the names that are valid. */
void request_say_wrong(struct control_request *r, const char *before,
		       const char *word, const char *after,
		       const char *const *names, size_t n);

/* The number of the sweep that the next request will lead to, or of one before
 * it; and the first from `number` on that had this cause. NULL: it has not ended,
 * and the answer is to ask again. */
uint64_t request_next_sweep(const struct control_view *v);
const struct status_sweep *request_swept(struct control_request *r,
					 uint64_t number, const char *cause);

/* Lines of a view: size and age of the fabric, and its nodes and links that are
 * missing or slow, or those of that name and at the node `guid`; with all the
 * state of the subnet and of the manager; its counters. */
void control_put_faults(const struct control_view *v, const char *name,
			uint64_t guid, GString *out);
void control_put_status(const struct control_view *v, GString *out);
void control_put_counts(const struct control_view *v, GString *out);

/* ---- commands ---- */

void control_avoid(struct control_request *r);
void control_partition(struct control_request *r);
void control_view(struct control_request *r);
void control_services(struct control_request *r);
void control_subscriptions(struct control_request *r);

/* "an argument is missing; usage: ..."; in control.c */
void request_say_usage(struct control_request *r);

#endif
