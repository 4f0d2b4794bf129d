/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The partition file, in OpenSM's grammar of partitions.conf: text to rules
 * and back. See minism-partitions.conf(5).
 */
#ifndef MINISM_CONFIG_PARTITIONS_CONF_H
#define MINISM_CONFIG_PARTITIONS_CONF_H

#include <glib.h>
#include <stdbool.h>

#include "topology/partition.h"

enum partitions_conf_error {
	/* each line of the message starts with name:line:column: */
	PARTITIONS_CONF_ERROR_SYNTAX,
};
#define PARTITIONS_CONF_ERROR partitions_conf_error_quark()
GQuark partitions_conf_error_quark(void);

/*
 * The rules of a file; rules->source is `name`. NULL with up to 20 errors, a
 * line each: then nothing is taken. `warnings` gets lines of the same form; it
 * may be NULL. A text that names no partition is as no file at all.
 *
 * The text ends at its NUL: who reads a file looks that there is none in it.
 */
struct partition_rules *partitions_conf_parse(const char *text,
					      const char *name,
					      GPtrArray *warnings,
					      GError **error);

/* True if there is no definition in it: blanks and comments at most. */
bool partitions_conf_is_empty(const char *text);

/* The text of a file that says these rules, all of them explicitly; parsed, it
 * gives the same rules, but for their lines. A new string. */
char *partitions_conf_format(const struct partition_rules *rules);

#endif
