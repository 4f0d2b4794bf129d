/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * --check-config: what the configuration, and the files that it names, would
 * come to.
 */
#ifndef MINISM_SM_CHECK_CONFIG_H
#define MINISM_SM_CHECK_CONFIG_H

#include "sm/config/options.h"

/* Prints warnings and errors; `bad` is what was wrong with the configuration
 * itself, or NULL. `warnings` are those of its reading; more may be added. The
 * exit status: 0, or 2 if there are errors. */
int check_config_tell(const struct options *conf, GPtrArray *warnings,
		      const GError *bad);

#endif
