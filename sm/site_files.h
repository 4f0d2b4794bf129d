/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A site's files: what the configuration names besides itself. Partitions,
 * lists of GUIDs, the QoS policy, names of nodes, read at the start and again
 * on demand.
 */
#ifndef MINISM_SM_SITE_FILES_H
#define MINISM_SM_SITE_FILES_H

#include "sm/config/options.h"
#include "sm/partitions.h"
#include "sm/sweep/sweep.h"
#include "topology/qos.h"

struct site_files;

/* Borrows conf. NULL: `errors` has a line or more for each file (and the name
 * of the engine) that is not good. Lines: GPtrArray of char *. */
struct site_files *site_files_read(const struct options *conf,
				   GPtrArray *warnings, GPtrArray *errors);
void site_files_free(struct site_files *s);

/* Reads all again. False: `errors` has the reasons, and all values in force
 * stay in force. */
bool site_files_reload(struct site_files *s, GPtrArray *warnings,
		       GPtrArray *errors);

/* Borrowed; the lists in it are until the next reload. */
const struct route_params *site_files_route(const struct site_files *s);
struct partitions *site_files_partitions(const struct site_files *s);
/* The node name map, see guid_files.h; NULL: there is none. */
GHashTable *site_files_names(const struct site_files *s);
/* Which paths get which SL; NULL: none is configured. */
struct qos_policy *site_files_sls(const struct site_files *s);

/* The configuration of ports and VLs as the plan takes it. */
struct policy site_files_policy(const struct options *c);
struct qos site_files_qos(const struct options *c);

#endif
