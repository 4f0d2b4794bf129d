/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The partition file, in OpenSM's grammar of partitions.conf: text to rules
 * and back. See minism-partitions.conf(5).
 */
#ifndef MINISM_CONFIG_PARTITIONS_CONF_H
#define MINISM_CONFIG_PARTITIONS_CONF_H

#include <glib.h>

#include "topology/partition.h"

/*
 * The rules of a file; rules->source is `name`. NULL with up to 20 errors, a
 * line each: then nothing is taken. `warnings` gets lines of the same form; it
 * may be NULL. A text without a partition means the same as no file.
 *
 * The text ends at its NUL (text_read_file() refuses a file with one).
 */
struct partition_rules *partitions_conf_parse(const char *text,
					      const char *name,
					      GPtrArray *warnings,
					      GError **error);

#endif
