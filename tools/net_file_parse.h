/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Reads what topology/net_file.h writes.
 */
#ifndef MINISM_TOOLS_NET_FILE_PARSE_H
#define MINISM_TOOLS_NET_FILE_PARSE_H

#include "topology/snapshot.h"

#define CUT_OFF		"the view is cut off: "

/*
 * Reads ibnetdiscover's or ibsim's text (no `include`, no `do`). `name` is the
 * file's name for messages. GUIDs that are not given follow from the order of
 * the nodes, as in ibsim. The local port is the first listed port of the first
 * CA; nodes that it does not reach are left out (builder_finish). Returns a new
 * snapshot or NULL with a TEXT_ERROR that names the line, or says that a view has
 * lost its end.
 */
struct snapshot *net_file_parse(const char *text, const char *name,
			     GError **error);

#endif
