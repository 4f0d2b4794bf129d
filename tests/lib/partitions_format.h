/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rules as a partition file. */
#ifndef MINISM_TESTS_PARTITIONS_FORMAT_H
#define MINISM_TESTS_PARTITIONS_FORMAT_H

#include "topology/partition.h"

/* The text of a file with these rules, all of them explicit; parsed, it gives
 * the same rules, but for their lines. A new string. */
char *partitions_conf_format(const struct partition_rules *rules);

#endif
