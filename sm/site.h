/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A site's files: what the configuration names besides itself. Partitions,
 * lists of GUIDs, the QoS policy, names of nodes, read at the start and again
 * on demand.
 */
#ifndef MINISM_SM_SITE_H
#define MINISM_SM_SITE_H

#include "sm/conf/conf.h"
#include "sm/partitions.h"
#include "sm/route.h"
#include "topology/qos.h"

struct site;

/* Borrows conf. NULL: `errors` has a line or more for each file (and the name
 * of the engine) that is not good. Lines: GPtrArray of char *. */
struct site *site_read(const struct conf *conf, GPtrArray *warnings,
		       GPtrArray *errors);
void site_free(struct site *s);

/* Reads all again. False: `errors` says why, and what was in force stays in
 * force, all of it. */
bool site_reload(struct site *s, GPtrArray *warnings, GPtrArray *errors);

/* Borrowed; the lists in it are until the next reload. */
const struct route_params *site_route(const struct site *s);
struct partitions *site_partitions(const struct site *s);
/* What the site calls nodes, see nodenames.h; NULL: no map. */
GHashTable *site_names(const struct site *s);
/* Which paths get which SL; NULL: none is configured. */
struct qos_policy *site_sls(const struct site *s);

#endif
