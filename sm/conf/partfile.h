/*
 * partitions.conf: text -> rules.
 */
#ifndef MINISM_CONF_PARTFILE_H
#define MINISM_CONF_PARTFILE_H

#include "topology/partition.h"

struct partition_rules *partfile_parse(const char *text, const char *name,
				       GPtrArray *warnings, GError **error);

#endif
