// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * --check-config.
 *
 * It reads what a run would read, by the same functions, and opens no port. A
 * fabric that --simulate names is only looked at: it says which members there
 * are and how large the tables are.
 */
#include "sm/check_config.h"

#include <stdio.h>

#include "sm/backend.h"
#include "sm/plan/pkey_table.h"
#include "sm/site_files.h"

#define EXIT_BAD	2

/* What the partitions would come to on the fabric that --simulate names. */
static void
check_fabric(const struct options *conf, const struct site_files *site,
	     GPtrArray *warnings, GPtrArray *errors)
{
	g_autoptr(GError) error = NULL;
	struct snapshot *fabric = backend_load_fabric(conf, &error);
	const struct qos qos = site_files_qos(conf);
	const struct isolation_params params = {
		.rules = partitions_rules(site_files_partitions(site)),
		.enforce = options_enforce(conf),
		.qos = &qos,
	};
	struct port_tables *held;
	struct isolation *i;

	if (!fabric) {
		g_ptr_array_add(errors, g_strdup(error->message));
		return;
	}
	held = port_tables_new(fabric);
	i = isolation_new(&params, fabric, held);
	for (guint n = 0; n < i->notes->len; n++)
		g_ptr_array_add(warnings, g_strdup(i->notes->pdata[n]));
	isolation_free(i);
	port_tables_unref(held);
	snapshot_unref(fabric);
}

int
check_config_tell(const struct options *conf, GPtrArray *warnings,
		  const GError *bad)
{
	g_autoptr(GPtrArray) errors = g_ptr_array_new_with_free_func(g_free);
	struct site_files *site = NULL;

	if (bad)
		g_ptr_array_add(errors, g_strdup(bad->message));
	else
		site = site_files_read(conf, warnings, errors);
	if (site && conf->simulate)
		check_fabric(conf, site, warnings, errors);
	site_files_free(site);
	/* no name before the lines: an editor jumps to where they say */
	for (guint i = 0; i < warnings->len; i++)
		printf("%s (warning)\n", (char *)warnings->pdata[i]);
	for (guint i = 0; i < errors->len; i++)
		printf("%s\n", (char *)errors->pdata[i]);
	if (errors->len)
		return EXIT_BAD;
	printf("the configuration is good, with %u warnings\n",
	       warnings->len);
	return 0;
}
