/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the SA has: as text that survives a restart, and in numbers. Part of
 * sm/sa/sa.h.
 */
#ifndef MINISM_SA_SA_STORE_H
#define MINISM_SA_SA_STORE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct sa;

/* What survives a restart: groups, services, subscriptions as text. */
void sa_save(const struct sa *sa, GString *out, int64_t now);
/* False with an error that names the line: nothing is taken then. */
bool sa_load(struct sa *sa, const char *text, int64_t now, GError **error);
uint64_t sa_saved_version(const struct sa *sa);	/* changes with what
						   sa_save() writes */

/* Requests by attribute and outcome, for the metrics. */
struct sa_stats {
	uint64_t requests, answered, refused, dropped;
	uint32_t n_groups, n_members, n_services, n_subscriptions;
};
void sa_stats(const struct sa *sa, struct sa_stats *out);

#define SA_ERROR sa_error_quark()
GQuark sa_error_quark(void);
enum sa_error { SA_ERROR_TEXT };

#endif
