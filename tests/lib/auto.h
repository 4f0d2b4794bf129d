/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Local variables that are freed at the end of their scope, in the reverse order
 * of their declarations:
 *
 *	AUTO(snapshot) *s = generate_fabric(spec, NULL, NULL);
 *	AUTO_VALUE(fabric_clear) struct fabric f;
 *
 * The second one is called with the address of what it frees; it must have been
 * made by then.
 */
#ifndef MINISM_TESTS_LIB_AUTO_H
#define MINISM_TESTS_LIB_AUTO_H

#include "lab/lft_file.h"
#include "routing/graph.h"
#include "routing/select.h"
#include "sm/config/options.h"
#include "sm/io/transport.h"
#include "sm/log.h"
#include "sm/plan/mkey_db.h"
#include "sm/plan/plan.h"
#include "tools/view.h"

#define AUTO(type)	__attribute__((cleanup(auto_##type))) struct type
#define AUTO_VALUE(fn)	__attribute__((cleanup(fn)))

#define AUTO_DEFINE(type, free) \
	static inline void \
	auto_##type(struct type **p) \
	{ \
		if (*p) \
			free(*p); \
	}

AUTO_DEFINE(builder, builder_free)
AUTO_DEFINE(graph, graph_free)
AUTO_DEFINE(lft, lft_free)
AUTO_DEFINE(lft_file, lft_file_free)
AUTO_DEFINE(lft_seen, lft_seen_free)
AUTO_DEFINE(lid_map, lid_map_free)
AUTO_DEFINE(log, log_free)
AUTO_DEFINE(memberships, memberships_unref)
AUTO_DEFINE(mft, mft_free)
AUTO_DEFINE(mkey_db, mkey_db_free)
AUTO_DEFINE(options, options_free)
AUTO_DEFINE(partition_rules, partition_rules_unref)
AUTO_DEFINE(plan, plan_free)
AUTO_DEFINE(port_tables, port_tables_unref)
AUTO_DEFINE(snapshot, snapshot_unref)
AUTO_DEFINE(tool_view, tool_view_free)
AUTO_DEFINE(transport, transport_free)

#endif
